//! How many secrets of each rule were taken out, counted while they are.
//!
//! A file for each coding agent, a line for each rule. It is locked while it is changed; who does not
//! get the lock at once counts nothing, for nobody may wait for a statistic.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use agentic_model::{Entry, Value};
use agentic_store::Layout;
use agentic_store::file::{open_regular, write_over};

use crate::Source;
use crate::heard::read_small;

/// What every mark of redaction begins with.
const MARK: &str = "[redacted:";
/// How many rules are counted.
const RULES_MAX: usize = 1024;
/// The longest name of a rule, in bytes.
const RULE_BYTES_MAX: usize = 64;
/// The longest file that is read, in bytes.
const TALLY_BYTES_MAX: u64 = 128 << 10;
/// How often the lock is tried for.
const TRIES_MAX: usize = 8;

/// How many secrets of each rule were taken out of some entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactionTally {
    counts: BTreeMap<String, u64>,
}

impl RedactionTally {
    /// Counts the marks that entries have.
    pub fn of(entries: &[Entry]) -> RedactionTally {
        let mut counts = BTreeMap::new();
        for entry in entries {
            count_in(&entry.body, &mut counts);
            entry.meta.values().for_each(|value| count_in(value, &mut counts));
        }
        RedactionTally { counts }
    }

    /// Adds it to what was counted before, once the entries are kept. It is no error if it cannot be.
    pub fn keep(&self, layout: &Layout, source: Source) {
        if !self.counts.is_empty() {
            let _nobody_waits_for_it = add(layout, source, &self.counts);
        }
    }
}

/// Returns how many secrets of each rule were taken out of what a coding agent said.
pub fn redactions(layout: &Layout, source: Source) -> BTreeMap<String, u64> {
    parse(&read_small(&path(layout, source), TALLY_BYTES_MAX).unwrap_or_default())
}

fn count_in(value: &Value, counts: &mut BTreeMap<String, u64>) {
    match value {
        Value::Text(text) => {
            for (at, _) in text.match_indices(MARK) {
                let rule = text[at + MARK.len()..].split(':').next().unwrap_or_default();
                if is_rule(rule) {
                    *counts.entry(rule.to_owned()).or_default() += 1;
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| count_in(item, counts)),
        Value::Map(map) => map.values().for_each(|item| count_in(item, counts)),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Link(_) => {}
    }
}

fn add(layout: &Layout, source: Source, new: &BTreeMap<String, u64>) -> std::io::Result<()> {
    let path = path(layout, source);
    std::fs::create_dir_all(path.parent().expect("in a folder"))?;
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = open_regular(&path, options)?;
    if !(0..TRIES_MAX).any(|_| is_locked(&file)) {
        return Ok(());
    }
    let mut text = Vec::new();
    std::io::Read::by_ref(&mut file).take(TALLY_BYTES_MAX).read_to_end(&mut text)?;
    let mut all = parse(&String::from_utf8_lossy(&text));
    for (rule, n) in new {
        if all.len() < RULES_MAX || all.contains_key(rule) {
            let count = all.entry(rule.clone()).or_default();
            *count = count.saturating_add(*n);
        }
    }
    let text: String = all.iter().map(|(rule, n)| format!("{rule} {n}\n")).collect();
    write_over(&file, text.as_bytes())
}

fn is_locked(file: &File) -> bool {
    let is_locked = file.try_lock().is_ok();
    if !is_locked {
        std::thread::yield_now();
    }
    is_locked
}

fn parse(text: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (rule, n) = line.split_once(' ')?;
        Some((rule.to_owned(), n.parse().ok()?)).filter(|_| is_rule(rule))
    };
    text.lines().filter_map(line).take(RULES_MAX).collect()
}

fn is_rule(name: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !name.is_empty() && name.len() <= RULE_BYTES_MAX && name.bytes().all(is_plain)
}

fn path(layout: &Layout, source: Source) -> PathBuf {
    layout.capture().join("redactions").join(source.as_str())
}

#[cfg(test)]
mod tests;
