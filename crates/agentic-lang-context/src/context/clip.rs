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
    let text = render(&value);
    let original_size = size(&text);
    if limit == 0 || original_size <= limit {
        return Clipped { value, text, clipped: false, original_size, clipped_size: original_size };
    }
    let kept = match value {
        Json::Text(text) => Json::text(prefix(&text, limit)),
        Json::List(items) => {
            let costs = items.iter().map(|item| cost("", item, measure));
            let count = count_that_fits(costs, limit);
            Json::List(items.into_iter().take(count).collect())
        }
        Json::Object(entries) => {
            let costs = entries.iter().map(|(key, item)| {
                let mut label = String::new();
                json::write_text(key, &mut label);
                label.push_str(": ");
                cost(&label, item, measure)
            });
            let count = count_that_fits(costs, limit);
            let kept = entries.iter().take(count);
            Json::Object(
                kept.map(|(key, item)| (key.clone(), item.clone())).collect::<Ordered<Json>>(),
            )
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value,
    };
    let kept_text = render(&kept);
    let clipped_size = size(&kept_text);
    let clipped = kept_text != text;
    Clipped { value: kept, text: kept_text, clipped, original_size, clipped_size }
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

/// Returns what an item costs, rendered on its own after `label`.
fn cost(label: &str, item: &Json, measure: Measure) -> u64 {
    let text = match (item, measure) {
        (Json::Text(_), Measure::Exact) => json::pretty(item).into(),
        _ => render(item),
    };
    let lines = 1 + text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    size(label) + size(&text) + INDENT_COST * lines
}
