//! Prints how fast texts are scanned, how long a redactor takes to begin, and what was found by rule.
//!
//! `cargo run --release -p agentic-redact --example speed [FOLDER]`: all files of source below the
//! folder, each as one text; without one, the crates of this workspace.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agentic_redact::{KnownValues, RedactAllowances, RedactRules, SecretRedactor, TagKey};

/// Ends of the names of files that are read.
const ENDS: [&str; 8] = ["rs", "md", "toml", "json", "py", "js", "ts", "c"];

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = std::env::args_os().nth(1).map_or(here, PathBuf::from);
    let mut texts = Vec::new();
    read(&folder, &mut texts)?;
    let begin = Instant::now();
    let redactor = redactor();
    let nothing = redactor.redact_text("The first text has nothing to hide.").findings.len();
    let began = begin.elapsed();
    // Once, so that expressions are compiled before the clock runs.
    texts.iter().for_each(|text| drop(redactor.redact_text(text)));
    let begin = Instant::now();
    let mut rules: BTreeMap<String, usize> = BTreeMap::new();
    for text in &texts {
        for finding in redactor.redact_text(text).findings {
            *rules.entry(finding.rule.to_string()).or_default() += 1;
        }
    }
    let took = begin.elapsed();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("start and a text of {nothing} secrets: {} µs", began.as_micros());
    println!(
        "{} files, {bytes} bytes: {:.1} MB/s",
        texts.len(),
        bytes as f64 / 1e6 / took.as_secs_f64()
    );
    for (rule, found) in rules {
        println!("{rule:32} {found:6}");
    }
    Ok(())
}

fn redactor() -> SecretRedactor {
    let known = KnownValues::new(["tulip-orbit-94", "p@ss/w0rd+1"]);
    let key = TagKey::new([7; 32]);
    SecretRedactor::new(RedactRules::built_in(), known, RedactAllowances::default(), key)
}

fn read(folder: &Path, texts: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                read(&path, texts)?;
            }
            continue;
        }
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        if ENDS.contains(&end)
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            texts.push(text);
        }
    }
    Ok(())
}
