//! Replies of models: finding the JSON in them, converting it, holding it to its contract.
//!
//! A reply is hostile text. What is said about it here goes back to the model when it is asked
//! again, so the wording of these messages is part of prompts and never changes.

use std::sync::Arc;

use crate::ast::TypeExpr;
use crate::code::{CodePlace, ContractCode, Validation};
use crate::json::{self, Json, OrderedMap};

/// The longest reply that is read, in bytes: 32 MiB.
pub(crate) const REPLY_BYTES_MAX: usize = 32 << 20;
/// The longest part of a reply that an error shows, in characters.
const SHOWN_MAX: usize = 160;

/// Why a reply does not fit its contract.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ContractMismatch {
    pub message: String,
    /// The field it is about; nothing for the reply as a whole.
    pub place: Option<CodePlace>,
}

/// Finds the JSON in a reply: the whole text, a fenced block, or the first balanced object.
pub(crate) fn extract(text: &str) -> Result<Json, String> {
    if text.len() <= REPLY_BYTES_MAX {
        let candidates = std::iter::once(text.trim()).chain(fenced_blocks(text));
        for candidate in candidates.chain(first_object(text)) {
            if let Ok(json) = json::parse(candidate) {
                return Ok(json);
            }
        }
    }
    Err(format!("LLM provider did not return JSON: {}", shown(text)))
}

/// Collapses blanks and cuts a text for an error message.
fn shown(text: &str) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        if count > 0 {
            out.push(' ');
            count += 1;
        }
        out.push_str(&word.chars().take(SHOWN_MAX + 1).collect::<String>());
        count += word.chars().take(SHOWN_MAX + 1).count();
        if count > SHOWN_MAX {
            let cut: String = out.chars().take(SHOWN_MAX - 3).collect();
            return format!("{cut}...");
        }
    }
    out
}

/// Returns the content of every block between three backticks.
fn fenced_blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once("```")?;
        let (block, after) = after.split_once("```")?;
        rest = after;
        let block = block.trim();
        let unnamed = block.strip_prefix("json").unwrap_or(block);
        Some(unnamed.trim())
    })
}

/// Returns the first `{…}` whose braces balance, braces inside texts left aside.
fn first_object(text: &str) -> Option<&str> {
    let start = text.find('{')?;
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[start..=at]);
                }
            }
            _ => {}
        }
    }
    None
}

/// Converts clean texts in declared fields to the numbers and truth values that they spell.
pub(crate) fn coerce(reply: Json, contract: &ContractCode) -> Json {
    let Json::Object(entries) = reply else { return reply };
    let kind_of = |name: &str| {
        contract.fields.iter().find(|field| *field.name == *name).map(|field| &field.kind)
    };
    let converted = entries.iter().map(|(key, value)| {
        let value = value.clone();
        (
            key.clone(),
            match kind_of(key) {
                Some(kind) => coerce_to(value, kind),
                None => value,
            },
        )
    });
    Json::Object(converted.collect::<OrderedMap<Json>>())
}

fn coerce_to(value: Json, kind: &TypeExpr) -> Json {
    match (value, kind) {
        (Json::Text(text), TypeExpr::Number) => match clean_number(text.trim()) {
            Some(number) => Json::Number(number),
            None => Json::Text(text),
        },
        (Json::Text(text), TypeExpr::Boolean) => clean_boolean(text),
        (Json::List(items), TypeExpr::List(Some(kind))) => {
            Json::List(items.into_iter().map(|item| coerce_to(item, kind)).collect())
        }
        (
            value,
            TypeExpr::Text
            | TypeExpr::Number
            | TypeExpr::Boolean
            | TypeExpr::Json
            | TypeExpr::List(_),
        ) => value,
    }
}

fn clean_boolean(text: Arc<str>) -> Json {
    let word = text.trim();
    if word.eq_ignore_ascii_case("true") {
        return Json::Bool(true);
    }
    if word.eq_ignore_ascii_case("false") {
        return Json::Bool(false);
    }
    Json::Text(text)
}

/// Reads `-?(0|[1-9][0-9]*)(\.[0-9]+)?`.
fn clean_number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    if !digits(whole) || !digits(fraction) || leading_zero {
        return None;
    }
    text.parse().ok()
}

/// Holds a reply to its contract.
pub(crate) fn validate(
    reply: &Json,
    contract: &ContractCode,
    validation: Validation,
) -> Result<(), ContractMismatch> {
    let Json::Object(entries) = reply else {
        let noun = if validation == Validation::First { "shape" } else { "contract" };
        let message = format!("LLM result must be an object matching the generate return {noun}");
        return Err(ContractMismatch { message, place: None });
    };
    if validation != Validation::Lenient {
        let declared = |name: &str| contract.fields.iter().any(|field| *field.name == *name);
        if let Some((name, _)) = entries.iter().find(|(name, _)| !declared(name)) {
            let message = format!("LLM result contains unexpected field '{name}'");
            return Err(ContractMismatch { message, place: None });
        }
    }
    for field in &contract.fields {
        let misfit = |message: String| Err(ContractMismatch { message, place: Some(field.place) });
        let Some(value) = entries.get(&field.name) else {
            return misfit(format!("LLM result is missing required field '{}'", field.name));
        };
        if let Some(expected) = wrong_type(value, &field.kind, validation) {
            return misfit(format!("LLM result field must be a {expected}"));
        }
    }
    Ok(())
}

/// Names the type that a value should have, if it has another.
pub(crate) fn wrong_type(
    value: &Json,
    kind: &TypeExpr,
    validation: Validation,
) -> Option<&'static str> {
    match (kind, value) {
        (TypeExpr::Json, _)
        | (TypeExpr::Text, Json::Text(_))
        | (TypeExpr::Number, Json::Number(_))
        | (TypeExpr::Boolean, Json::Bool(_))
        | (TypeExpr::List(None), Json::List(_)) => None,
        (TypeExpr::Text, _) => Some("string"),
        (TypeExpr::Number, _) => Some("number"),
        (TypeExpr::Boolean, _) => Some("boolean"),
        (TypeExpr::List(Some(kind)), Json::List(items)) => {
            items.iter().find_map(|item| wrong_type(item, kind, validation))
        }
        // Lenient replies were never held to a bare `list`; programs rely on it.
        (TypeExpr::List(None), _) if validation == Validation::Lenient => None,
        (TypeExpr::List(_), _) => Some("list"),
    }
}

/// Appends to an instruction what was wrong with the last reply.
pub(crate) fn repair(instruction: &Json, previous: Option<&Json>, error: &str) -> Json {
    let mut parts = vec!["Previous generation failed.".to_owned()];
    if let Some(previous) = previous {
        parts.push(format!("Previous output:\n{}", json::pretty(previous)));
    }
    parts.push(format!("Error:\n{error}"));
    parts.push("Return corrected JSON matching the requested schema only.".to_owned());
    let text = parts.join("\n\n");
    match instruction {
        Json::Text(instruction) => Json::text(format!("{instruction}\n\n{text}")),
        Json::Object(entries) => {
            let mut entries = entries.clone();
            entries.set("repair".into(), Json::text(text));
            Json::Object(entries)
        }
        other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_)) => {
            Json::object([("input", other.clone()), ("repair", Json::text(text))])
        }
    }
}

#[cfg(test)]
mod tests;
