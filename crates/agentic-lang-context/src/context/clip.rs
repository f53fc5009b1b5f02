//! Cutting a value to its budget without breaking its structure.
//!
//! Texts lose their end; lists and objects lose whole items from their end; numbers and truth
//! values stay. Sizes count UTF-16 units.

use std::sync::Arc;

use super::measure::{self, MeasuredLength, ValueBudget};
use crate::code::ContextCode;
use crate::json::{self, Json};
use crate::value::{ContextValue, DisplayLimit, WalkMeasure};

/// A value that was held to its budget.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClippedValue {
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

/// Holds a value to a budget; a limit of 0 means none. Also counts what was looked at.
pub(crate) fn clip(
    value: &ContextValue,
    code: &ContextCode,
    budget: ValueBudget,
) -> Result<(ClippedValue, WalkMeasure), DisplayLimit> {
    let measured = match value {
        ContextValue::List(items) if budget.limit > 0 => measure::list(items, code, budget)?,
        ContextValue::Object(entries) if budget.limit > 0 => {
            measure::object(entries, code, budget)?
        }
        ContextValue::Null
        | ContextValue::Bool(_)
        | ContextValue::Number(_)
        | ContextValue::Text(_)
        | ContextValue::List(_)
        | ContextValue::Object(_)
        | ContextValue::Handle(_) => {
            let (json, seen) = value.to_json_counted(code, budget.addresses)?;
            return Ok((clip_shown(json, code, budget)?, seen));
        }
    };
    let MeasuredLength { size: original_size, n_fitting, n_items, seen } = measured;
    let is_whole = original_size <= budget.limit || n_fitting == n_items;
    let n_kept = if is_whole { n_items } else { n_fitting };
    let expected = if is_whole { original_size } else { budget.limit };
    let kept = value.first_to_json(n_kept, code, budget.addresses)?;
    let text = json::pretty_sized(&kept, usize::try_from(expected).unwrap_or_default());
    let clipped_size = if is_whole { original_size } else { size(&text) };
    let clipped = !is_whole;
    Ok((
        ClippedValue { value: kept, text: text.into(), clipped, original_size, clipped_size },
        seen,
    ))
}

/// Holds what was copied already to a budget: a value that is no list and no object, or has no
/// limit.
fn clip_shown(
    json: Json,
    code: &ContextCode,
    budget: ValueBudget,
) -> Result<ClippedValue, DisplayLimit> {
    let text = render(&json);
    let original_size = size(&text);
    let kept = match &json {
        _ if budget.limit == 0 || original_size <= budget.limit => None,
        Json::Text(text) => Some(prefix(text, budget.limit)),
        // What describes something that acts is an object.
        Json::Object(_) | Json::List(_) => {
            return clip(&ContextValue::from_json(&json), code, budget).map(|(clipped, _)| clipped);
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    };
    let Some(kept) = kept else {
        let clipped_size = original_size;
        return Ok(ClippedValue { value: json, text, clipped: false, original_size, clipped_size });
    };
    let (kept, clipped_size) = (Arc::<str>::from(kept), size(kept));
    let value = Json::Text(kept.clone());
    Ok(ClippedValue { value, text: kept, clipped: true, original_size, clipped_size })
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
