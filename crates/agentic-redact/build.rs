//! Turns `rules.toml` into a table that is there when a program starts: reading the file then would
//! cost more than looking for secrets in a usual text.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

/// Slots of the table of words, and how the three bytes of a word find theirs: as in `trigger.rs`.
const SLOTS: usize = 1 << 13;

/// The file: rules in the format of gitleaks, and words of the other layers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    words: BTreeMap<String, Vec<String>>,
    rules: Vec<RuleRow>,
}

/// A rule of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RuleRow {
    id: String,
    regex: String,
    #[serde(default)]
    secret_group: usize,
    #[serde(default)]
    entropy: f64,
    keywords: Vec<String>,
    #[serde(default)]
    allowlists: Vec<AllowRow>,
}

/// What a rule leaves alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowRow {
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=rules.toml");
    println!("cargo::rerun-if-changed=build.rs");
    let table: RuleTable = toml::from_str(&std::fs::read_to_string("rules.toml")?)?;
    let folder = std::env::var_os("OUT_DIR").ok_or("cargo names no folder")?;
    std::fs::write(Path::new(&folder).join("rules.rs"), rules(&table)?)?;
    let (words, slots) = words(&table)?;
    std::fs::write(Path::new(&folder).join("words.rs"), words)?;
    std::fs::write(Path::new(&folder).join("slots.rs"), slots)?;
    Ok(())
}

/// Writes the rules as a constant.
fn rules(table: &RuleTable) -> Result<String, Box<dyn Error>> {
    let mut out = String::from("&[\n");
    for rule in &table.rules {
        let regexes: Vec<&String> =
            rule.allowlists.iter().flat_map(|allow| &allow.regexes).collect();
        let words: Vec<&String> =
            rule.allowlists.iter().flat_map(|allow| &allow.stopwords).collect();
        writeln!(
            out,
            "BuiltInRule {{ id: {:?}, regex: {:?}, secret_group: {}, entropy: {:?}, \
             allowed: &{regexes:?}, stopwords: &{words:?} }},",
            rule.id, rule.regex, rule.secret_group, rule.entropy,
        )?;
    }
    out.push_str("]\n");
    Ok(out)
}

/// Writes the table of words as two constants: the words, and the first one of each slot.
fn words(table: &RuleTable) -> Result<(String, String), Box<dyn Error>> {
    let mut slots = vec![0; SLOTS];
    let mut out = String::from("&[\n");
    let of_layers = table
        .words
        .iter()
        .flat_map(|(layer, words)| words.iter().map(move |word| (word, trigger(layer))));
    let of_rules = table.rules.iter().enumerate().flat_map(|(at, rule)| {
        rule.keywords.iter().map(move |word| (word, Ok(format!("Trigger::Rule({at})"))))
    });
    for (number, (word, trigger)) in of_layers.chain(of_rules).enumerate() {
        let word = word.to_ascii_lowercase();
        if word.len() < 3 {
            return Err(format!("`{word}` is too short for a word").into());
        }
        let slot: &mut usize = &mut slots[slot(word.as_bytes())];
        let (trigger, next) = (trigger?, *slot);
        writeln!(out, "TableWord {{ word: b{word:?}, trigger: {trigger}, next: {next} }},")?;
        *slot = number + 1;
    }
    out.push_str("]\n");
    Ok((out, format!("&{slots:?}")))
}

/// Returns what the words of a layer ask for.
fn trigger(layer: &str) -> Result<String, Box<dyn Error>> {
    let name = match layer {
        "name" => "Name",
        "bearer" => "Bearer",
        "scheme" => "Scheme",
        "block" => "Block",
        "putty-lines" => "PuttyLines",
        "command" => "Command",
        "pipe" => "Pipe",
        "sql" => "Sql",
        other => return Err(format!("no layer is called `{other}`").into()),
    };
    Ok(format!("Trigger::{name}"))
}

fn slot(bytes: &[u8]) -> usize {
    let lower = |at: usize| u32::from(bytes[at] | 0x20);
    let key = lower(0) | lower(1) << 8 | lower(2) << 16;
    (key.wrapping_mul(0x9E37_79B1) >> 19) as usize
}
