//! Files and variables from which values come.

use crate::exempt::is_placeholder;
use crate::known::KNOWN_VALUE_BYTES_MIN;
use crate::name::strength;

/// How a file writes its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownFormat {
    /// `NAME=value`, as `.env` and `.envrc` have it.
    Environment,
    /// `key = value`, as `.npmrc` and `.pypirc` have it.
    Settings,
    /// `login NAME password VALUE`, as `.netrc` has it.
    Netrc,
}

/// A file whose values are known.
#[derive(Debug, Clone, Copy)]
pub struct KnownFile<'t> {
    /// How it writes them.
    pub format: KnownFormat,
    /// What it holds.
    pub text: &'t str,
}

impl KnownFormat {
    /// Returns the format of a file of this name, if its values are known.
    pub fn of(name: &str) -> Option<KnownFormat> {
        match name {
            ".npmrc" | ".pypirc" => Some(KnownFormat::Settings),
            ".netrc" => Some(KnownFormat::Netrc),
            ".envrc" => Some(KnownFormat::Environment),
            _ if name == ".env" || name.starts_with(".env.") => Some(KnownFormat::Environment),
            _ => None,
        }
    }
}

impl KnownFile<'_> {
    /// Returns the values of the file, in order; which of them count is for
    /// [`super::KnownValues::new`] to say.
    pub fn values(&self) -> Vec<String> {
        match self.format {
            KnownFormat::Environment => self.text.lines().filter_map(environment_value).collect(),
            KnownFormat::Settings => self.text.lines().filter_map(settings_value).collect(),
            KnownFormat::Netrc => netrc_values(self.text),
        }
    }
}

/// Tells whether a variable of this name has a secret.
pub fn is_secret_variable(name: &str) -> bool {
    strength(name.as_bytes()).is_some()
}

/// Tells whether a value can be a secret.
pub(super) fn can_be_secret(value: &str) -> bool {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || b".,-+:eE ".contains(&byte));
    value.len() >= KNOWN_VALUE_BYTES_MIN
        && !is_number
        && !is_word(value)
        && !is_path(value)
        && !is_open_address(value)
        && !is_placeholder(value.as_bytes())
}

/// Tells whether a value is made of common words: letters only, or names of rules.
fn is_word(value: &str) -> bool {
    const WORDS: [&str; 12] = [
        "us-east-1",
        "us-east-2",
        "us-west-1",
        "us-west-2",
        "eu-west-1",
        "eu-central-1",
        "key-value",
        "known-value",
        "private-key",
        "url-password",
        "url-query",
        "0.0.0.0:8080",
    ];
    let is_name = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_one_case = !value.bytes().any(|byte| byte.is_ascii_lowercase())
        || !value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    WORDS.contains(&value) || value.len() <= 16 && is_one_case && value.bytes().all(is_name)
}

fn is_path(value: &str) -> bool {
    let is_rooted = ["/", "./", "../", "~/", "C:\\"].iter().any(|start| value.starts_with(start));
    is_rooted && !value.contains(['=', '+', ' '])
}

/// Tells whether a value is an address without a password.
fn is_open_address(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else { return false };
    let is_scheme =
        scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte));
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let has_query = rest.contains('?');
    is_scheme && !has_query && !host.split_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Returns the value of a line `export NAME="value" # why`.
fn environment_value(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if !name.trim().bytes().all(is_name) {
        return None;
    }
    let value = value.trim();
    match value.chars().next() {
        Some('\'') => value[1..].split_once('\'').map(|(inner, _)| inner.to_owned()),
        Some('"') => Some(unescaped(&value[1..])),
        Some(_) | None => Some(value.split(" #").next().unwrap_or(value).trim().to_owned()),
    }
}

/// Returns a text in double quotation marks up to its end, without its escapes.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => match letters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other) => out.push(other),
                None => {}
            },
            _ => out.push(letter),
        }
    }
    out
}

/// Returns the value of a line `key = value` whose key names a secret.
fn settings_value(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with(['#', ';']) {
        return None;
    }
    let (key, value) = line.split_once('=')?;
    let name = key.trim().rsplit(['/', ':']).next().unwrap_or(key).trim();
    let is_secret = is_secret_variable(name) || is_secret_variable(name.trim_start_matches('_'));
    is_secret.then(|| value.trim().trim_matches(['"', '\'']).to_owned())
}

/// Returns the passwords of a `.netrc`.
fn netrc_values(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let pairs = words.windows(2).filter(|pair| matches!(pair[0], "password" | "account"));
    pairs.map(|pair| pair[1].to_owned()).collect()
}
