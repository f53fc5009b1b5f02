//! Values of JSON: every text with its key beside it, and every key.

use serde_json::{Map, Value};

use crate::finding::SecretFinding;
use crate::redactor::SecretRedactor;

/// How deep lists and objects may stand inside one another; what is deeper is taken as a text.
const NESTING_MAX: usize = 128;

/// A value without secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct RedactedJson {
    /// The value.
    pub value: Value,
    /// What was found where.
    pub findings: Vec<JsonFinding>,
}

/// A place in a value where a secret stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonFinding {
    /// Where the text stands in the value as it is now (RFC 6901).
    pub pointer: String,
    /// Where the secret stood in that text as it was.
    pub finding: SecretFinding,
}

impl SecretRedactor {
    /// Redacts a value: its texts, each with its key as context, and its keys.
    pub fn redact_json(&self, value: &Value) -> RedactedJson {
        let mut walk = JsonWalk { redactor: self, path: Vec::new(), findings: Vec::new() };
        let value = walk.value(None, value);
        RedactedJson { value, findings: walk.findings }
    }
}

/// On the way through a value.
struct JsonWalk<'r> {
    redactor: &'r SecretRedactor,
    path: Vec<String>,
    findings: Vec<JsonFinding>,
}

impl JsonWalk<'_> {
    fn value(&mut self, key: Option<&str>, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => Value::String(self.text(key, text)),
            Value::Array(_) | Value::Object(_) if self.path.len() >= NESTING_MAX => {
                Value::String(self.text(key, &value.to_string()))
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Value::Array(
                    items.map(|(at, item)| self.child(at.to_string(), key, item)).collect(),
                )
            }
            Value::Object(members) => Value::Object(self.object(key, members)),
        }
    }

    fn object(&mut self, key: Option<&str>, members: &Map<String, Value>) -> Map<String, Value> {
        // Lists of variables have the name in one member and the value in another; of one variable
        // the name stands before all members.
        let named =
            ["name", "key", "Name", "Key"].iter().find_map(|name| members.get(*name)?.as_str());
        let named = named.or(key);
        let mut out = Map::new();
        for (key, member) in members {
            let is_value = matches!(key.as_str(), "value" | "Value" | "default");
            let context = if is_value { named.unwrap_or(key) } else { key };
            let mut name = self.text(None, key);
            while out.contains_key(&name) {
                name.push('~');
            }
            let value = self.child(name.clone(), Some(context), member);
            out.insert(name, value);
        }
        out
    }

    fn child(&mut self, step: String, key: Option<&str>, value: &Value) -> Value {
        self.path.push(step);
        let value = self.value(key, value);
        self.path.pop();
        value
    }

    fn text(&mut self, key: Option<&str>, text: &str) -> String {
        let redacted = match key {
            Some(key) => self.redactor.redact_beside(key, text),
            None => self.redactor.redact_text(text),
        };
        if !redacted.findings.is_empty() {
            let steps = self.path.iter().map(|step| step.replace('~', "~0").replace('/', "~1"));
            let pointer: String = steps.flat_map(|step| ["/".to_owned(), step]).collect();
            let found = redacted.findings.into_iter();
            self.findings
                .extend(found.map(|finding| JsonFinding { pointer: pointer.clone(), finding }));
        }
        redacted.text.into_owned()
    }
}
