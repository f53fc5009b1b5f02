//! The mask of secrets in what comes back: in bytes, in JSON and in values.

use std::collections::BTreeMap;

use agentic_model::{Map, Value, json};

use crate::credential::{CredentialSecret, MASKED_BYTES_MIN};
use crate::disguise::end_of;

/// Masks secrets in texts and values, each with the placeholder that stands for it. A secret is
/// known as it is, percent-encoded, and as HTML and JSON escape it.
#[derive(Debug, Clone)]
pub struct Redactor {
    /// Longest first, so that a secret inside another does not tear it apart.
    masks: Vec<(CredentialSecret, String)>,
    /// The shortest secret that is masked inside texts.
    bytes_min: usize,
}

impl Redactor {
    /// Takes secrets with their placeholders. One shorter than [`MASKED_BYTES_MIN`] is masked only
    /// where it is the whole of a text.
    pub fn new(secrets: impl IntoIterator<Item = (CredentialSecret, String)>) -> Redactor {
        let mut masks: Vec<(CredentialSecret, String)> =
            secrets.into_iter().filter(|(secret, _)| !secret.expose().is_empty()).collect();
        masks.sort_by(|(left, _), (right, _)| {
            let (left, right) = (left.expose(), right.expose());
            right.len().cmp(&left.len()).then_with(|| left.cmp(right))
        });
        masks.dedup();
        Redactor { masks, bytes_min: MASKED_BYTES_MIN }
    }

    /// Masks secrets of any length inside texts, for those who know that they are no words.
    pub fn of_any_length(
        secrets: impl IntoIterator<Item = (CredentialSecret, String)>,
    ) -> Redactor {
        Redactor { bytes_min: 1, ..Redactor::new(secrets) }
    }

    /// Masks every secret in a text.
    pub fn text(&self, text: &str) -> String {
        let masked = self.bytes(text.as_bytes());
        // A secret begins and ends where a letter does.
        String::from_utf8(masked)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Masks every secret in bytes, as they stand there.
    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        if self.masks.is_empty() {
            return bytes.to_vec();
        }
        if let Some(mask) = self.whole(bytes) {
            return mask.as_bytes().to_vec();
        }
        let is_long = |secret: &CredentialSecret| secret.expose().len() >= self.bytes_min;
        let long = || self.masks.iter().filter(|(secret, _)| is_long(secret));
        let mut out = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let found = long().find_map(|(secret, mask)| {
                end_of(bytes, at, secret.expose()).map(|end| (end, mask))
            });
            match found {
                Some((end, mask)) => {
                    out.extend_from_slice(mask.as_bytes());
                    at = end;
                }
                None => {
                    out.push(*byte);
                    at += 1;
                }
            }
        }
        out
    }

    /// Masks every secret in what came back: in every text of JSON, keys included, and in the bytes
    /// as they stand there.
    pub fn reply(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.masks.is_empty() {
            return bytes;
        }
        let decoded = std::str::from_utf8(&bytes).ok().filter(|text| json::parse(text).is_ok());
        match decoded {
            Some(text) => self.json(text).into_bytes(),
            None => self.bytes(&bytes),
        }
    }

    /// Masks every secret in a text that may hold JSON.
    pub fn reply_text(&self, text: String) -> String {
        let masked = self.reply(text.into_bytes());
        String::from_utf8(masked)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Masks every secret in the texts, bytes and keys of a value. Keys that become equal are
    /// numbered.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::Text(text) => Value::Text(self.text(text)),
            Value::Bytes(bytes) => Value::Bytes(self.bytes(bytes)),
            Value::List(items) => Value::List(items.iter().map(|item| self.value(item)).collect()),
            Value::Map(map) => {
                let mut keys = Keys::default();
                let masked = map
                    .iter()
                    .map(|(key, item)| (keys.name(self.text(key), key), self.value(item)));
                Value::Map(masked.collect::<Map>())
            }
            Value::Int(number) => match self.whole(number.to_string().as_bytes()) {
                Some(mask) => Value::text(mask),
                None => value.clone(),
            },
            Value::Null | Value::Bool(_) | Value::Float(_) | Value::Link(_) => value.clone(),
        }
    }

    /// Masks JSON text piece by piece, so that the order of keys and the digits of numbers stay.
    fn json(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        let mut out = String::with_capacity(text.len());
        // The keys of each map that is open; nothing for a list.
        let mut open: Vec<Option<Keys>> = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let end = at + token_length(&bytes[at..]);
            let token = &text[at..end];
            match byte {
                b'"' => {
                    let is_key = next_sign(&bytes[end..]) == Some(b':');
                    let keys = open.last_mut().and_then(Option::as_mut).filter(|_| is_key);
                    out.push_str(&self.literal(token, keys));
                }
                b'-' | b'0'..=b'9' => match self.whole(token.as_bytes()) {
                    Some(mask) => out.push_str(&json::to_text(&Value::text(mask))),
                    None => out.push_str(token),
                },
                sign => {
                    match sign {
                        b'{' => open.push(Some(Keys::default())),
                        b'[' => open.push(None),
                        b'}' | b']' => drop(open.pop()),
                        _ => {}
                    }
                    out.push_str(token);
                }
            }
            at = end;
        }
        out
    }

    /// Masks a text of JSON with its quotes: as it is written, and as it is read.
    fn literal(&self, token: &str, keys: Option<&mut Keys>) -> String {
        let Ok(value) = json::from_text(token) else { return self.text(token) };
        let text = value.as_text().unwrap_or_default();
        // What is written may be escaped in ways that undo each other when it is read.
        let read = self.text(text);
        let name = match keys {
            Some(keys) => keys.name(read, text),
            None => read,
        };
        let written =
            if name == text { token.to_owned() } else { json::to_text(&Value::Text(name)) };
        let inside = written.get(1..written.len() - 1).unwrap_or_default();
        let masked = self.text(inside);
        if masked == inside { written } else { json::to_text(&Value::Text(masked)) }
    }

    /// Returns the mask of a secret that is the whole of a text.
    fn whole(&self, bytes: &[u8]) -> Option<&str> {
        let found = self
            .masks
            .iter()
            .find(|(secret, _)| end_of(bytes, 0, secret.expose()) == Some(bytes.len()));
        found.map(|(_, mask)| mask.as_str())
    }
}

/// The keys that a map has so far, and whether each was masked.
#[derive(Debug, Default)]
struct Keys(BTreeMap<String, bool>);

impl Keys {
    /// Returns the name that a key gets which was masked: one that the map does not have yet. Keys
    /// that are not masked keep their names, even if there are two: that is for the reader to see.
    fn name(&mut self, masked: String, original: &str) -> String {
        let is_masked = masked != original;
        let mut name = masked;
        let stem = name.clone();
        let mut number = 1;
        while self.0.get(&name).is_some_and(|before| *before || is_masked) {
            number += 1;
            name = format!("{stem}-{number}");
        }
        self.0.insert(name.clone(), is_masked || number > 1);
        name
    }
}

/// Returns how long the first token of JSON is: a text with its quotes, a number, else one letter.
fn token_length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'"') => {
            let mut at = 1;
            while let Some(byte) = bytes.get(at) {
                match byte {
                    b'"' => return at + 1,
                    b'\\' => at += 2,
                    _ => at += 1,
                }
            }
            bytes.len()
        }
        Some(b'-' | b'0'..=b'9') => {
            let is_digit =
                |byte: &&u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
            bytes.iter().take_while(is_digit).count()
        }
        Some(_) => 1,
        None => 0,
    }
}

fn next_sign(bytes: &[u8]) -> Option<u8> {
    bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}
