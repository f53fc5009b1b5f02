//! Cutting a value to its budget without breaking its structure.
//!
//! Texts lose their end; lists and objects lose whole items from their end; numbers and truth
//! values stay. Sizes count UTF-16 units.

use std::sync::Arc;

use crate::json::{self, Json, Ordered};

/// The cost of the brackets of a list or object.
const BRACKETS_COST: u64 = 4;
/// The cost of indenting one line.
const INDENT_COST: u64 = 2;
/// The cost of the comma and line break before an item.
const SEPARATOR_COST: u64 = 2;

/// How the size of an item is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Texts count without quotation marks and escapes, so that lists of texts may overshoot.
    Estimated,
    /// Items count as they are rendered, as in 0.1.0.
    Exact,
}

/// A value that was held to its budget.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clipped {
    pub value: Json,
    pub text: Arc<str>,
    /// Whether the text changed.
    pub clipped: bool,
    pub original_size: u64,
    pub clipped_size: u64,
}

/// Renders a value as prompts show it: a text as it is, anything else as indented JSON.
pub(crate) fn render(value: &Json) -> Arc<str> {
    match value {
        Json::Text(text) => text.clone(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_) | Json::Object(_) => {
            json::pretty(value).into()
        }
    }
}

/// Counts UTF-16 units.
pub(crate) fn size(text: &str) -> u64 {
    /// Every byte adds at most 2, so that the sum of a chunk fits one byte.
    const CHUNK: usize = 120;
    text.as_bytes()
        .chunks(CHUNK)
        .map(|chunk| {
            let units = chunk.iter().fold(0u8, |units, byte| {
                units + u8::from((*byte as i8) >= -0x40) + u8::from(*byte >= 0xf0)
            });
            u64::from(units)
        })
        .sum()
}

/// Holds a value to a limit; 0 means no limit.
pub(crate) fn clip(value: Json, limit: u64, measure: Measure) -> Clipped {
    let (text, ends): (Arc<str>, Vec<usize>) = match &value {
        Json::Text(text) => (text.clone(), Vec::new()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_) | Json::Object(_) => {
            let (text, ends) = json::pretty_with_ends(&value);
            (text.into(), ends)
        }
    };
    let original_size = size(&text);
    if limit == 0 || original_size <= limit {
        return Clipped { value, text, clipped: false, original_size, clipped_size: original_size };
    }
    let (kept, kept_text): (Json, Arc<str>) = match value {
        Json::Text(text) => {
            let kept: Arc<str> = prefix(&text, limit).into();
            (Json::Text(kept.clone()), kept)
        }
        Json::List(mut items) => {
            let costs = items.iter().enumerate().map(|(at, item)| match (item, measure) {
                (Json::Text(item), Measure::Estimated) => bare_cost(None, item),
                _ => size(piece(&text, &ends, at)),
            });
            let count = count_that_fits(costs, limit);
            items.truncate(count);
            (Json::List(items), joined(&text, &ends[..count], "[]"))
        }
        Json::Object(entries) => {
            let costs = entries.iter().enumerate().map(|(at, (key, item))| match (item, measure) {
                (Json::Text(item), Measure::Estimated) => bare_cost(Some(key), item),
                _ => size(piece(&text, &ends, at)),
            });
            let count = count_that_fits(costs, limit);
            let kept = entries.iter().take(count);
            let kept = kept.map(|(key, item)| (key.clone(), item.clone()));
            (Json::Object(kept.collect::<Ordered<Json>>()), joined(&text, &ends[..count], "{}"))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => (value, text.clone()),
    };
    let clipped_size = size(&kept_text);
    Clipped {
        value: kept,
        clipped: kept_text != text,
        text: kept_text,
        original_size,
        clipped_size,
    }
}

/// Returns an item as it stands in the text of its container, with the indentation of its first
/// line: its size is its cost.
fn piece<'a>(text: &'a str, ends: &[usize], at: usize) -> &'a str {
    /// An opening bracket or a comma, and a line break.
    const BEFORE: usize = 2;
    let start = if at == 0 { BEFORE } else { ends[at - 1] + BEFORE };
    &text[start..ends[at]]
}

/// Returns the text of a container that holds only the items that end here.
fn joined(text: &str, ends: &[usize], brackets: &str) -> Arc<str> {
    match ends.last() {
        None => brackets.into(),
        Some(end) => format!("{}\n{}", &text[..*end], &brackets[1..]).into(),
    }
}

/// Returns the first `limit` units; half of a surrogate pair is dropped.
fn prefix(text: &str, limit: u64) -> &str {
    let mut units = 0;
    let end = text.char_indices().find(|(_, character)| {
        units += character.len_utf16() as u64;
        units > limit
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

fn count_that_fits(costs: impl Iterator<Item = u64>, limit: u64) -> usize {
    let mut total = BRACKETS_COST;
    let mut count = 0;
    for cost in costs {
        total += cost + if count > 0 { SEPARATOR_COST } else { 0 };
        if total > limit {
            break;
        }
        count += 1;
    }
    count
}

/// Returns what a text costs that is an item, or the value under a key: its quotation marks and
/// escapes do not count.
fn bare_cost(key: Option<&str>, text: &str) -> u64 {
    let mut label = String::new();
    if let Some(key) = key {
        json::write_text(key, &mut label);
        label.push_str(": ");
    }
    let lines = 1 + text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    size(&label) + size(text) + INDENT_COST * lines
}
