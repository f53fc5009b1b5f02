//! Marks of redaction in an input that a person edited: what they stand for is put back.
//!
//! A person sees the input without its secrets, and edits that. In the place of each mark belongs
//! what stands there in the call that asks now. A mark that cannot be placed stops the call: nobody
//! can say what was meant.

use std::ops::Range;

use serde_json::Value as Json;

/// A text without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafRedaction {
    /// The text as people see it.
    pub text: String,
    /// What stood where, in bytes of the text as it was given, and the mark that stands there now.
    pub hidden: Vec<(Range<usize>, String)>,
}

/// Takes secrets out of a text that stands beside a key.
pub type LeafRedactor<'r> = dyn Fn(&str, &str) -> LeafRedaction + 'r;

/// What every mark begins with, and what it ends with.
const MARK: (&str, &str) = ("[redacted:", "]");
/// How deep inputs are looked through.
const NESTING_MAX: usize = 64;

/// A mark that nothing belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnplacedMark {
    /// The mark.
    pub mark: String,
}

/// Returns an input as people see it.
pub fn redacted(input: &Json, key: &str, redactor: &LeafRedactor<'_>) -> Json {
    match input {
        Json::String(text) => Json::String(redactor(key, text).text),
        Json::Array(items) => items.iter().map(|item| redacted(item, key, redactor)).collect(),
        Json::Object(members) => members
            .iter()
            .map(|(key, value)| (redactor("", key).text, redacted(value, key, redactor)))
            .collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) => input.clone(),
    }
}

/// Puts back what marks of an edited input stand for, by the input that asks.
///
/// # Errors
/// Fails with a mark that nothing belongs to.
pub fn restored(
    edited: &Json,
    asking: Option<&Json>,
    key: &str,
    redactor: &LeafRedactor<'_>,
) -> Result<Json, UnplacedMark> {
    restored_at(edited, asking, (key, NESTING_MAX), redactor)
}

fn restored_at(
    edited: &Json,
    asking: Option<&Json>,
    (key, depth): (&str, usize),
    redactor: &LeafRedactor<'_>,
) -> Result<Json, UnplacedMark> {
    let deeper = depth.checked_sub(1);
    Ok(match (edited, deeper) {
        (Json::String(text), _) => {
            Json::String(restored_text(text, asking.and_then(Json::as_str), key, redactor)?)
        }
        (Json::Array(items), Some(depth)) => {
            let item = |(at, item): (usize, &Json)| {
                let asking = asking.and_then(|list| list.get(at));
                restored_at(item, asking, (key, depth), redactor)
            };
            Json::Array(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
        }
        (Json::Object(members), Some(depth)) => {
            let member = |(key, value): (&String, &Json)| {
                let asking = asking.and_then(|map| map.get(key));
                let value = restored_at(value, asking, (key, depth), redactor)?;
                Ok((restored_text(key, None, "", redactor)?, value))
            };
            Json::Object(members.iter().map(member).collect::<Result<_, _>>()?)
        }
        (Json::Array(_) | Json::Object(_), None) => {
            return Err(UnplacedMark { mark: "a value that is too deep".to_owned() });
        }
        (Json::Null | Json::Bool(_) | Json::Number(_), _) => edited.clone(),
    })
}

fn restored_text(
    edited: &str,
    asking: Option<&str>,
    key: &str,
    redactor: &LeafRedactor<'_>,
) -> Result<String, UnplacedMark> {
    let hidden = asking.filter(|_| edited.contains(MARK.0)).map(|text| {
        let hidden = redactor(key, text).hidden;
        hidden.into_iter().map(|(range, mark)| (text[range].to_owned(), mark)).collect()
    });
    let hidden: Vec<(String, String)> = hidden.unwrap_or_default();
    let (mut out, mut rest) = (String::new(), edited);
    while let Some(start) = rest.find(MARK.0) {
        let Some(length) = rest[start..].find(MARK.1) else { break };
        let mark = &rest[start..start + length + 1];
        let Some((value, _)) = hidden.iter().find(|(_, known)| known == mark) else {
            return Err(UnplacedMark { mark: mark.to_owned() });
        };
        out.push_str(&rest[..start]);
        out.push_str(value);
        rest = &rest[start + mark.len()..];
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{LeafRedaction, redacted, restored};

    /// Hides every `sEcret…` up to a blank.
    fn redactor(_: &str, text: &str) -> LeafRedaction {
        let (mut shown, mut hidden, mut at) = (String::new(), Vec::new(), 0);
        for word in text.split_inclusive(' ') {
            let plain = word.trim_end();
            if plain.starts_with("sEcret") {
                let mark = format!("[redacted:test:{}]", plain.len());
                hidden.push((at..at + plain.len(), mark.clone()));
                shown.push_str(&mark);
                shown.push_str(&word[plain.len()..]);
            } else {
                shown.push_str(word);
            }
            at += word.len();
        }
        LeafRedaction { text: shown, hidden }
    }

    fn back(edited: &Json, asking: &Json) -> Option<Json> {
        restored(edited, Some(asking), "", &redactor).ok()
    }

    #[test]
    fn what_a_person_left_of_the_marks_is_put_back() {
        let asking = json!({"command": "curl -H sEcret1 x sEcret22", "n": 1, "l": ["sEcret333"]});
        let shown = redacted(&asking, "", &redactor);
        assert!(!shown.to_string().contains("sEcret"), "{shown}");
        assert_eq!(back(&shown, &asking), Some(asking.clone()));
        let edited = json!({"command": "curl [redacted:test:8] -v", "n": 2});
        assert_eq!(back(&edited, &asking), Some(json!({"command": "curl sEcret22 -v", "n": 2})));
    }

    #[test]
    fn a_mark_that_belongs_elsewhere_stops_the_call() {
        let asking = json!({"command": "sEcret1", "other": "x"});
        for edited in [
            json!({"command": "[redacted:test:99]"}),
            json!({"other": "[redacted:test:7]"}),
            json!({"new": "[redacted:test:7]"}),
            json!({"[redacted:test:7]": 1}),
        ] {
            assert_eq!(back(&edited, &asking), None, "{edited}");
        }
    }
}
