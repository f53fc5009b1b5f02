//! What a new text of a behaviour names that the old one does not, and that reaches outward: whoever
//! decides is told of it first.
//!
//! Words are compared, nothing is understood. What is put together while a program runs is not seen, so
//! what it may do at all is bounded by what it is allowed.

use std::collections::BTreeSet;
use std::fmt;

use super::StoredBehaviour;

/// The language whose texts stand in quotes; of others the whole source is looked at.
const QUOTING: &str = "rhai";
/// What separates words.
const BREAKS: &[char] =
    &['"', '\'', '`', '<', '>', '(', ')', '[', ']', '{', '}', ',', ';', '|', '&', '$', '='];
/// What may stand at the end of a word and is not a part of it.
const ENDS: &[char] = &['.', ':', '!', '?'];
/// Programs that are named in instructions without any mark.
const PROGRAMS: [&str; 22] = [
    "bash", "chmod", "chown", "cp", "curl", "dd", "docker", "eval", "git", "mv", "nc", "node",
    "npm", "perl", "pip", "python", "python3", "rm", "sh", "ssh", "sudo", "wget",
];
/// What the name of a request that runs a program is.
const EXEC: &str = "exec";

/// Something that a text names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum BehaviourNews {
    /// An address with its scheme.
    Url(String),
    /// A host, or what looks like one.
    Host(String),
    /// A program.
    Command(String),
    /// A path.
    Path(String),
}

impl fmt::Display for BehaviourNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BehaviourNews::Url(text) => write!(f, "address {text}"),
            BehaviourNews::Host(text) => write!(f, "host {text}"),
            BehaviourNews::Command(text) => write!(f, "command {text}"),
            BehaviourNews::Path(text) => write!(f, "path {text}"),
        }
    }
}

/// Lists what the second text names and the first does not.
pub fn news(before: &StoredBehaviour, after: &StoredBehaviour) -> Vec<BehaviourNews> {
    let known = named(before);
    named(after).into_iter().filter(|one| !known.contains(one)).collect()
}

fn named(behaviour: &StoredBehaviour) -> BTreeSet<BehaviourNews> {
    let source = behaviour.source.as_deref().unwrap_or_default();
    let mut found = BTreeSet::new();
    if behaviour.language.as_deref() != Some(QUOTING) {
        add_words(source, &mut found);
        found.extend(source.split(|c: char| !c.is_alphanumeric()).filter_map(program));
        // What stands in backticks is what somebody is told to run.
        let quoted = source.split('`').skip(1).step_by(2);
        quoted.for_each(|text| add_commands(text, &mut found));
        return found;
    }
    let runs_programs = source.contains(EXEC);
    for text in quoted_texts(source) {
        add_words(&text, &mut found);
        if runs_programs {
            add_commands(&text, &mut found);
        }
    }
    found
}

/// Adds addresses, hosts and paths.
fn add_words(text: &str, found: &mut BTreeSet<BehaviourNews>) {
    for word in text.split(|c: char| c.is_whitespace() || "\"'`<>()[]{}".contains(c)) {
        if let Some(at) = word.find("://") {
            let before = word[..at].char_indices().rev().find(|(_, c)| !is_scheme(*c));
            let begin = before.map_or(0, |(last, c)| last + c.len_utf8());
            found.insert(BehaviourNews::Url(word[begin..].trim_end_matches(ENDS).to_owned()));
        }
    }
    for word in text.split(|c: char| c.is_whitespace() || BREAKS.contains(&c)) {
        let word = word.trim_end_matches(ENDS).trim_start_matches("//");
        if word.contains("://") {
            continue;
        }
        if is_path(word) {
            found.insert(BehaviourNews::Path(word.to_owned()));
        } else if is_host(word) {
            found.insert(BehaviourNews::Host(word.to_owned()));
        }
    }
}

/// Adds the first word of each command that a text has if it is one for a shell.
fn add_commands(text: &str, found: &mut BTreeSet<BehaviourNews>) {
    for part in text.split(['\n', ';', '|', '&', '(']) {
        let mut words = part.split_whitespace();
        // Variables stand before a command.
        if let Some(word) = words.find(|word| !word.contains('=')) {
            let word = word.trim_matches(BREAKS);
            if !word.is_empty() {
                found.insert(BehaviourNews::Command(word.to_owned()));
            }
        }
    }
}

fn program(word: &str) -> Option<BehaviourNews> {
    PROGRAMS.contains(&word).then(|| BehaviourNews::Command(word.to_owned()))
}

fn is_scheme(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+-.".contains(c)
}

fn is_path(word: &str) -> bool {
    let is_separator = |c: char| c == '/' || c == '\\';
    (word.contains(is_separator) && word.contains(|c| !is_separator(c))) || word.starts_with('~')
}

fn is_host(word: &str) -> bool {
    let host = word.rsplit_once('@').map_or(word, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    if host == "localhost" {
        return true;
    }
    let labels: Vec<&str> = host.split('.').collect();
    let is_label =
        |label: &&str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let last = labels.last().copied().unwrap_or_default();
    let is_name = last.len() >= 2 && last.chars().all(char::is_alphabetic);
    let is_number = |label: &&str| label.parse::<u8>().is_ok();
    let is_address = labels.len() == 4 && labels.iter().all(is_number);
    labels.len() >= 2 && labels.iter().all(is_label) && (is_name || is_address)
}

/// Lists the texts that stand in quotes, without what is filled in.
fn quoted_texts(source: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = source.chars().peekable();
    while let Some(open) = rest.next() {
        if open == '/' && rest.peek() == Some(&'/') {
            // A remark runs nothing, and a quote in it begins no text.
            rest.by_ref().find(|c| *c == '\n');
        }
        if !matches!(open, '"' | '`' | '\'') {
            continue;
        }
        let (mut text, mut depth) = (String::new(), 0_usize);
        while let Some(c) = rest.next() {
            match c {
                '\\' if open != '`' => text.extend(rest.next()),
                '$' if open == '`' && rest.peek() == Some(&'{') => depth += 1,
                '}' if depth > 0 => {
                    depth -= 1;
                    text.push(' ');
                }
                _ if depth > 0 => {}
                c if c == open => break,
                c => text.push(c),
            }
        }
        texts.push(text);
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::BehaviourForm;

    fn check(language: Option<&str>, before: &str, after: &str, expected: &[&str]) {
        let of = |source: &str| StoredBehaviour {
            form: language.map_or(BehaviourForm::Prompt, |_| BehaviourForm::Flow),
            language: language.map(str::to_owned),
            source: Some(source.to_owned()),
            modules: Default::default(),
            allow: None,
        };
        let told: Vec<String> =
            news(&of(before), &of(after)).iter().map(ToString::to_string).collect();
        assert_eq!(told, expected, "{after}");
    }

    #[test]
    fn a_prompt_that_reaches_further_says_so() {
        check(None, "Read it.", "Read it twice.", &[]);
        check(
            None,
            "See docs/a.md.",
            "See docs/a.md and docs/b.md, (https://evil.example/x?a=1&b=2).",
            &["address https://evil.example/x?a=1&b=2", "path docs/b.md"],
        );
        check(
            None,
            "x",
            "Ask evil.example:443 or 10.0.0.1, root@h.io.",
            &["host 10.0.0.1", "host evil.example:443", "host root@h.io"],
        );
        check(
            None,
            "x",
            "First curl it, then run `A=1 make all | tee log`.",
            &["command curl", "command make", "command tee"],
        );
        check(None, "Use git.", "Always use git.", &[]);
        check(None, "x", "Read ~ and C:\\keys", &["path C:\\keys", "path ~"]);
    }

    #[test]
    fn a_flow_is_looked_at_in_its_texts() {
        let before = r#"let found = exec("grep -n TODO a.md"); commit(#{message: "Look"})"#;
        check(Some("rhai"), before, &before.replace("TODO", "FIXME"), &[]);
        check(Some("rhai"), before, &before.replace("grep", "curl"), &["command curl"]);
        check(
            Some("rhai"),
            before,
            &format!(
                "{before}; // see b.md \"http://c.de\"\nlet t = `${{a.b}}/x`; exec('rm /etc/x')"
            ),
            &["command /x", "command rm", "path /etc/x", "path /x"],
        );
        check(
            Some("rhai"),
            "exec(\"make\")",
            "exec(\"make; nc h.io 1\")",
            &["host h.io", "command nc"],
        );
        check(Some("rhai"), "1", "task.base.len()", &[]);
    }
}
