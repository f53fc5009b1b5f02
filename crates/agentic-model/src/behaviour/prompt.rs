//! Prompts: `{name}` stands for a field of a briefing, and `{{` for a brace.

use crate::{Map, Value};

/// What keeps a prompt from being filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptFault {
    /// A brace that begins no name.
    #[error("line {line} has a `{{` that begins no name")]
    StrayBrace {
        /// The line, from 1.
        line: usize,
    },
    /// The briefing has no such field.
    #[error("the briefing has no field `{name}`, which the prompt asks for")]
    MissingField {
        /// The name.
        name: String,
    },
}

/// Lists the fields that a prompt asks for, each once, in the order of their names.
///
/// # Errors
/// Fails on a brace that begins no name.
pub fn check_prompt(source: &str) -> Result<Vec<String>, PromptFault> {
    let mut names = std::collections::BTreeSet::new();
    for piece in pieces(source) {
        match piece? {
            PromptPiece::Text(_) => {}
            PromptPiece::Field(name) => _ = names.insert(name.to_owned()),
        }
    }
    Ok(names.into_iter().collect())
}

/// Fills a prompt from the fields of a briefing, in one pass: what a field says is not looked into.
///
/// # Errors
/// Fails when a field is missing.
pub fn fill_prompt(source: &str, fields: &Map) -> Result<String, PromptFault> {
    let mut filled = String::with_capacity(source.len());
    for piece in pieces(source) {
        match piece? {
            PromptPiece::Text(text) => filled.push_str(text),
            PromptPiece::Field(name) => {
                let missing = || PromptFault::MissingField { name: name.to_owned() };
                let value = fields.get(name).filter(|value| **value != Value::Null);
                let value = value.ok_or_else(missing)?;
                match value.as_text() {
                    Some(text) => filled.push_str(text),
                    None => filled.push_str(&crate::json::to_text(value)),
                }
            }
        }
    }
    Ok(filled)
}

enum PromptPiece<'a> {
    Text(&'a str),
    Field(&'a str),
}

/// Takes a prompt apart.
fn pieces(source: &str) -> impl Iterator<Item = Result<PromptPiece<'_>, PromptFault>> {
    let mut rest = source;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let brace = rest.find('{').unwrap_or(rest.len());
        if brace > 0 {
            let (text, after) = rest.split_at(brace);
            rest = after;
            return Some(Ok(PromptPiece::Text(text)));
        }
        if let Some(after) = rest.strip_prefix("{{") {
            rest = after;
            return Some(Ok(PromptPiece::Text("{")));
        }
        let inside = &rest[1..];
        match inside.split_once('}').filter(|(name, _)| is_field_name(name)) {
            Some((name, after)) => {
                rest = after;
                Some(Ok(PromptPiece::Field(name)))
            }
            None => {
                let before = source.len() - rest.len();
                let line = source[..before].matches('\n').count() + 1;
                rest = "";
                Some(Err(PromptFault::StrayBrace { line }))
            }
        }
    })
}

fn is_field_name(name: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_inner)
}
