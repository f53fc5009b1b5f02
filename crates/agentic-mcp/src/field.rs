//! What tools take: one list of fields that is the schema, and the check of what is given.

use agentic_api::Refusal;
use agentic_model::{Value, json};
use serde_json::{Map, Value as Json, json};

use crate::page::LIMIT_MAX;

/// A field that a tool takes.
#[derive(Debug)]
pub struct ToolField {
    /// Its name.
    pub name: &'static str,
    /// What it may hold.
    pub kind: FieldKind,
    /// Whether it may be left out.
    pub need: FieldNeed,
    /// What it says.
    pub about: &'static str,
}

/// What a field may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A text.
    Text,
    /// Texts.
    Texts,
    /// Yes or no.
    Flag,
    /// How many items are wanted.
    Limit,
    /// A position, from 0.
    Position,
    /// A map.
    Map,
    /// Any value.
    Data,
}

/// Whether a field may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldNeed {
    /// It must be there.
    Required,
    /// It may be left out.
    Optional,
}

/// What a tool was given, checked against what it takes.
#[derive(Debug, Default)]
pub struct ToolArguments(Map<String, Json>);

/// Makes a field that must be there.
pub const fn required(name: &'static str, kind: FieldKind, about: &'static str) -> ToolField {
    ToolField { name, kind, need: FieldNeed::Required, about }
}

/// Makes a field that may be left out.
pub const fn optional(name: &'static str, kind: FieldKind, about: &'static str) -> ToolField {
    ToolField { name, kind, need: FieldNeed::Optional, about }
}

/// Returns the schema of an object of these fields.
pub fn input_schema(fields: &[ToolField]) -> Map<String, Json> {
    let mut properties = Map::new();
    for field in fields {
        let mut schema = field.kind.schema();
        schema.insert("description".to_owned(), Json::from(field.about));
        properties.insert(field.name.to_owned(), Json::Object(schema));
    }
    let needed = fields.iter().filter(|field| field.need == FieldNeed::Required);
    let needed: Vec<&str> = needed.map(|field| field.name).collect();
    let mut schema = Map::from_iter([
        ("type".to_owned(), Json::from("object")),
        ("properties".to_owned(), Json::Object(properties)),
        ("additionalProperties".to_owned(), Json::Bool(false)),
    ]);
    if !needed.is_empty() {
        schema.insert("required".to_owned(), Json::from(needed));
    }
    schema
}

impl FieldKind {
    fn schema(self) -> Map<String, Json> {
        let schema = match self {
            FieldKind::Text => json!({ "type": "string" }),
            FieldKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            FieldKind::Flag => json!({ "type": "boolean" }),
            FieldKind::Limit => json!({ "type": "integer", "minimum": 1, "maximum": LIMIT_MAX }),
            FieldKind::Position => json!({ "type": "integer", "minimum": 0 }),
            FieldKind::Map => json!({ "type": "object" }),
            FieldKind::Data => json!({}),
        };
        match schema {
            Json::Object(map) => map,
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
                Map::new()
            }
        }
    }

    fn fits(self, value: &Json) -> bool {
        match self {
            FieldKind::Text => value.is_string(),
            FieldKind::Texts => {
                value.as_array().is_some_and(|items| items.iter().all(Json::is_string))
            }
            FieldKind::Flag => value.is_boolean(),
            FieldKind::Limit => {
                value.as_u64().is_some_and(|limit| (1..=LIMIT_MAX as u64).contains(&limit))
            }
            FieldKind::Position => value.is_u64(),
            FieldKind::Map => value.is_object(),
            FieldKind::Data => true,
        }
    }

    fn words(self) -> &'static str {
        match self {
            FieldKind::Text => "a text",
            FieldKind::Texts => "a list of texts",
            FieldKind::Flag => "true or false",
            FieldKind::Limit => "a whole number from 1 to 200",
            FieldKind::Position => "a whole number, not below 0",
            FieldKind::Map => "an object",
            FieldKind::Data => "a value",
        }
    }
}

impl ToolArguments {
    /// Takes what a client gave. Null stands for nothing: what is not given is left out.
    ///
    /// # Errors
    /// Fails with what does not fit, in words for the client.
    pub fn check(
        given: Option<Map<String, Json>>,
        fields: &[ToolField],
    ) -> Result<ToolArguments, String> {
        let given = given.unwrap_or_default();
        for (name, value) in &given {
            let Some(field) = fields.iter().find(|field| field.name == name) else {
                let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
                let name: String = name.chars().take(64).collect();
                return Err(format!("there is no `{name}`, only {}", known.join(", ")));
            };
            if !field.kind.fits(value) {
                return Err(format!("`{}` must be {}", field.name, field.kind.words()));
            }
        }
        let is_missing = |field: &&ToolField| {
            field.need == FieldNeed::Required && !given.contains_key(field.name)
        };
        match fields.iter().find(is_missing) {
            Some(field) => Err(format!("`{}` is missing", field.name)),
            None => Ok(ToolArguments(given)),
        }
    }

    /// Takes a text that may be left out.
    pub fn text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name) {
            Some(Json::String(text)) => Some(text),
            Some(_) | None => None,
        }
    }

    /// Takes a text that must be there.
    pub fn given_text(&mut self, name: &str) -> String {
        self.text(name).expect("BUG: what is required was checked")
    }

    /// Takes a list of texts.
    pub fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let Some(Json::Array(items)) = self.0.remove(name) else { return None };
        Some(items.iter().filter_map(Json::as_str).map(str::to_owned).collect())
    }

    /// Takes yes or no; no where it was left out.
    pub fn flag(&mut self, name: &str) -> bool {
        self.0.remove(name).and_then(|value| value.as_bool()).unwrap_or_default()
    }

    /// Takes a number.
    pub fn number(&mut self, name: &str) -> Option<u64> {
        self.0.remove(name).and_then(|value| value.as_u64())
    }

    /// Takes a map as it was given.
    pub fn map(&mut self, name: &str) -> Option<Map<String, Json>> {
        match self.0.remove(name) {
            Some(Json::Object(map)) => Some(map),
            Some(_) | None => None,
        }
    }

    /// Takes a value.
    ///
    /// # Errors
    /// Fails when it has numbers that no value of ours can hold.
    pub fn value(&mut self, name: &str) -> Result<Option<Value>, Refusal> {
        let Some(given) = self.0.remove(name) else { return Ok(None) };
        let hint = "send whole numbers of 64 bits, finite fractions, and at most 64 levels";
        json::from_json(given)
            .map(Some)
            .map_err(|error| Refusal::schema(&format!("`{name}` is no value: {error}"), hint))
    }
}
