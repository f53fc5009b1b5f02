//! Bytes and values of the model.

use std::borrow::Cow;

use agentic_model::{Map, Value};

use crate::finding::SecretFinding;
use crate::redactor::SecretRedactor;

impl SecretRedactor {
    /// Redacts bytes that may be text: every stretch of text in them is scanned.
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> (Cow<'t, [u8]>, Vec<SecretFinding>) {
        let mut findings = Vec::new();
        let mut out: Vec<u8> = Vec::new();
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            let redacted = self.redact_text(chunk.valid());
            findings.extend(redacted.findings.into_iter().map(|mut finding| {
                finding.start += at;
                finding.end += at;
                finding
            }));
            out.extend_from_slice(redacted.text.as_bytes());
            out.extend_from_slice(chunk.invalid());
            at += chunk.valid().len() + chunk.invalid().len();
        }
        if findings.is_empty() {
            return (Cow::Borrowed(bytes), findings);
        }
        (Cow::Owned(out), findings)
    }

    /// Redacts a value: its texts, each with its key as context, its bytes and its keys.
    pub fn redact_value(&self, value: &Value) -> (Value, Vec<SecretFinding>) {
        let mut findings = Vec::new();
        let value = self.value(None, value, &mut findings);
        (value, findings)
    }

    /// Redacts a map as [`SecretRedactor::redact_value`] does.
    pub fn redact_map(&self, map: &Map) -> (Map, Vec<SecretFinding>) {
        let mut findings = Vec::new();
        let map = self.members(map, &mut findings);
        (map, findings)
    }

    fn value(&self, key: Option<&str>, value: &Value, findings: &mut Vec<SecretFinding>) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Link(_) => {
                value.clone()
            }
            Value::Text(text) => {
                let redacted = match key {
                    Some(key) => self.redact_beside(key, text),
                    None => self.redact_text(text),
                };
                findings.extend(redacted.findings);
                Value::Text(redacted.text.into_owned())
            }
            Value::Bytes(bytes) => {
                let (bytes, found) = self.redact_bytes(bytes);
                findings.extend(found);
                Value::Bytes(bytes.into_owned())
            }
            Value::List(items) => {
                Value::List(items.iter().map(|item| self.value(key, item, findings)).collect())
            }
            Value::Map(members) => Value::Map(self.members(members, findings)),
        }
    }

    fn members(&self, members: &Map, findings: &mut Vec<SecretFinding>) -> Map {
        let mut out = Map::new();
        for (key, member) in members {
            let redacted = self.redact_text(key);
            findings.extend(redacted.findings);
            let mut name = redacted.text.into_owned();
            while out.contains_key(&name) {
                name.push('~');
            }
            out.insert(name, self.value(Some(key), member, findings));
        }
        out
    }
}
