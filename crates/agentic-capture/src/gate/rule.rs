//! Rules about which calls are held: `[[hold]]` of `agentic.toml` and of the user's `holds.toml`.
//!
//! A rule that cannot be read holds everything up: the gate then says no and names the line.

use std::path::{Path, PathBuf};

use agentic_model::Value;
use regex::Regex;
use serde_json::Value as Json;

use super::tool;
use crate::Source;

/// How strictly a call is held, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Enforcement {
    /// The vendor's own dialog decides.
    Ask,
    /// The run is put down until it is decided, where that can be.
    Defer,
    /// The gate waits for the decision.
    Wait,
    /// The call is denied until it is decided.
    Strict,
}

/// A rule.
#[derive(Debug, Clone)]
pub struct HoldRule {
    /// Its number in its file, from one.
    pub number: usize,
    /// How strictly it holds.
    pub enforce: Enforcement,
    /// Who may decide; anyone, if empty.
    pub assignees: Vec<String>,
    /// How long there is to decide, in milliseconds.
    pub deadline_ms: Option<i64>,
    /// The value when nobody decides in time.
    pub on_expiry: Option<String>,
    tool: Option<(String, Regex)>,
    pattern: Option<Regex>,
    path: Option<Regex>,
}

/// A file of rules that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file} cannot be read: {reason}")]
pub struct BadRules {
    /// The file.
    pub file: String,
    /// Why, with the line or the number of the rule.
    pub reason: String,
}

/// A call that a rule may be about.
#[derive(Debug, Clone, Copy)]
pub struct HeldCall<'c> {
    /// Whose.
    pub source: Source,
    /// The tool, by the vendor's name.
    pub tool: &'c str,
    /// What it is given.
    pub input: &'c Value,
    /// The folder in which it would run.
    pub folder: &'c Path,
    /// The top of the worktree.
    pub checkout: &'c Path,
    /// The user's home, for paths that begin with a tilde.
    pub home: Option<&'c Path>,
}

impl HeldCall<'_> {
    /// Lists the files that it names, as they lie on the disk.
    pub fn files(&self) -> Vec<PathBuf> {
        tool::files(self.input, self.folder, self.home)
    }
}

/// Reads the rules of a file.
///
/// # Errors
/// Fails when it is no TOML, or has a rule that says something unknown.
pub fn read_rules(text: &str, file: &str) -> Result<Vec<HoldRule>, BadRules> {
    let bad = |reason: String| BadRules { file: file.to_owned(), reason };
    let settings = agentic_providers::configuration::toml_value(text).map_err(bad)?;
    let rules = match settings.get("hold") {
        None => return Ok(Vec::new()),
        Some(Json::Array(rules)) => rules,
        Some(_) => return Err(bad("`hold` is no list of tables".to_owned())),
    };
    let read = |(at, rule): (usize, &Json)| {
        HoldRule::read(at + 1, rule).map_err(|reason| bad(format!("rule {}: {reason}", at + 1)))
    };
    rules.iter().enumerate().map(read).collect()
}

impl HoldRule {
    fn read(number: usize, rule: &Json) -> Result<HoldRule, String> {
        let fields = rule.as_object().ok_or("it is no table")?;
        let known = ["tool", "match", "path", "enforce", "assignees", "deadline", "on_expiry"];
        if let Some(field) = fields.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("`{field}` is unknown; there is {}", known.join(", ")));
        }
        let text = |key: &str| match fields.get(key) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(format!("`{key}` is no text")),
        };
        let expression = |text: &str| {
            Regex::new(text).map_err(|error| {
                let said = error.to_string();
                let last = said.lines().last().unwrap_or_default().trim().to_owned();
                format!("`{text}` is no expression: {last}")
            })
        };
        let whole = |text: &str| expression(&format!("^(?:{text})$"));
        let tool = text("tool")?.map(|tool| Ok::<_, String>((tool.to_owned(), whole(tool)?)));
        Ok(HoldRule {
            number,
            enforce: enforcement(text("enforce")?)?,
            assignees: people(fields.get("assignees"))?,
            deadline_ms: text("deadline")?.map(duration_ms).transpose()?,
            on_expiry: text("on_expiry")?.map(str::to_owned),
            tool: tool.transpose()?,
            pattern: text("match")?.map(expression).transpose()?,
            path: text("path")?.map(|glob| expression(&of_glob(glob))).transpose()?,
        })
    }

    /// Returns the expression on tools, as it was written.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_ref().map(|(text, _)| text.as_str())
    }

    /// Tells whether a call is held by it. `canonical` is the canonical text of the input.
    pub fn holds(&self, call: &HeldCall<'_>, canonical: &str) -> bool {
        let names = [call.tool, tool::common_name(call.source, call.tool)];
        let is_tool = self
            .tool
            .as_ref()
            .is_none_or(|(_, wanted)| names.iter().any(|name| wanted.is_match(name)));
        let is_match = self.pattern.as_ref().is_none_or(|pattern| {
            let commands = tool::commands(call.input);
            match commands.is_empty() {
                true => pattern.is_match(canonical),
                false => commands.iter().any(|command| pattern.is_match(command)),
            }
        });
        is_tool
            && is_match
            && self.path.as_ref().is_none_or(|path| {
                let files = call.files();
                let real = call.checkout.canonicalize();
                let tops = [Some(call.checkout), real.as_deref().ok()];
                files.iter().any(|file| {
                    let inside = tops.iter().flatten().find_map(|top| file.strip_prefix(top).ok());
                    let name = inside.unwrap_or(file.as_path());
                    name.to_str().is_none_or(|name| path.is_match(name))
                })
            })
    }
}

fn enforcement(word: Option<&str>) -> Result<Enforcement, String> {
    match word {
        None | Some("strict") => Ok(Enforcement::Strict),
        Some("wait") => Ok(Enforcement::Wait),
        Some("defer") => Ok(Enforcement::Defer),
        Some("ask") => Ok(Enforcement::Ask),
        Some(other) => Err(format!("`enforce` is `{other}`; there is strict, wait, defer, ask")),
    }
}

fn people(names: Option<&Json>) -> Result<Vec<String>, String> {
    let Some(names) = names else { return Ok(Vec::new()) };
    let read = |name: &Json| {
        let name = name.as_str().filter(|it| it.starts_with("user:") || it.starts_with("role:"));
        name.map(str::to_owned).ok_or_else(|| "`assignees` are `user:…` or `role:…`".to_owned())
    };
    let names = names.as_array().ok_or("`assignees` is no list")?;
    names.iter().map(read).collect()
}

/// Reads a time like `90s`, `30m`, `8h` or `2d`.
fn duration_ms(text: &str) -> Result<i64, String> {
    let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let read = |(unit, ms): (&str, i64)| {
        let count: i64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        count.checked_mul(ms).filter(|ms| *ms > 0)
    };
    let found = units.into_iter().find_map(read);
    found.ok_or_else(|| format!("`deadline` is `{text}`; write something like `30m` or `8h`"))
}

/// Makes an expression of a pattern of paths: `*` and `?` stay in a folder, `**` goes anywhere.
pub(super) fn of_glob(glob: &str) -> String {
    let mut out = String::from("^");
    let mut rest = glob.trim_start_matches("./");
    while let Some(letter) = rest.chars().next() {
        let taken = match letter {
            '*' if rest.starts_with("**/") => {
                out.push_str("(?:.*/)?");
                3
            }
            '*' if rest.starts_with("**") => {
                out.push_str(".*");
                2
            }
            '*' => {
                out.push_str("[^/]*");
                1
            }
            '?' => {
                out.push_str("[^/]");
                1
            }
            letter => {
                out.push_str(&regex::escape(&letter.to_string()));
                letter.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    out + "$"
}

#[cfg(test)]
mod tests;
