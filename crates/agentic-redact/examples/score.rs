//! Prints recall and false alarms over lines that hold secrets and lines that hold none.
//!
//! `cargo run -p agentic-redact --example score [POSITIVE NEGATIVE]`: files of JSON lines as in
//! `corpus/`, from which every `¦` is taken first. Lines that fail are named, never shown.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use agentic_redact::{KnownValues, RedactAllowances, RedactRules, SecretRedactor, TagKey};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let positive = files.next().unwrap_or_else(|| folder.join("positive.jsonl"));
    let negative = files.next().unwrap_or_else(|| folder.join("negative.jsonl"));
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for line in lines(&positive)? {
        let kind = kinds.entry(text(&line, "cat").to_owned()).or_default();
        kind.1 += 1;
        if is_clean(&line) { kind.0 += 1 } else { missed.push(text(&line, "id").to_owned()) }
    }
    let negatives = lines(&negative)?;
    let altered = negatives.iter().filter(|line| redacted(line) != text(line, "text"));
    let altered: Vec<&str> = altered.map(|line| text(line, "id")).collect();
    for (kind, (found, all)) in &kinds {
        println!("{kind:16} {found:4} of {all:4}");
    }
    let all: usize = kinds.values().map(|(_, all)| all).sum();
    let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
    println!(
        "recall       {:.4} ({} of {all})",
        share(all - missed.len(), all),
        all - missed.len()
    );
    println!(
        "false alarms {:.4} ({} of {})",
        share(altered.len(), negatives.len()),
        altered.len(),
        negatives.len()
    );
    println!("missed  {}", missed.join(" "));
    println!("altered {}", altered.join(" "));
    Ok(())
}

fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?.replace('¦', "");
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn text<'v>(line: &'v Value, field: &str) -> &'v str {
    line[field].as_str().unwrap_or_default()
}

fn redacted(line: &Value) -> String {
    let known = line["known"].as_array().map(Vec::as_slice).unwrap_or_default();
    let known = KnownValues::new(known.iter().filter_map(Value::as_str));
    let key = TagKey::new([7; 32]);
    let redactor =
        SecretRedactor::new(RedactRules::built_in(), known, RedactAllowances::default(), key);
    let redacted = match line["key"].as_str() {
        Some(key) => redactor.redact_beside(key, text(line, "text")),
        None => redactor.redact_text(text(line, "text")),
    };
    redacted.text.into_owned()
}

/// Tells whether no secret of a line is left.
fn is_clean(line: &Value) -> bool {
    let redacted = redacted(line);
    let secrets = line["secret"].as_array().map(Vec::as_slice).unwrap_or_default();
    secrets.iter().filter_map(Value::as_str).all(|secret| !redacted.contains(secret))
}
