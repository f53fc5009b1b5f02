//! Briefings: what an agent is asked to do, as an object.

use crate::object::{ObjectError, ObjectFields};
use crate::{Map, Object, Value};

/// The object that seeds an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Briefing {
    /// What the agent is asked to do.
    pub text: String,
    /// Any further fields, kept as they are.
    pub fields: Map,
}

impl Briefing {
    /// Makes a briefing of text alone.
    pub fn of_text(text: &str) -> Briefing {
        Briefing { text: text.to_owned(), fields: Map::new() }
    }

    /// Turns the briefing into its object.
    ///
    /// # Errors
    /// Fails when it is too long or too deep for an object.
    pub fn to_object(&self) -> Result<Object, ObjectError> {
        let mut map = self.fields.clone();
        map.insert("type".to_owned(), Value::text("briefing"));
        map.insert("text".to_owned(), Value::text(&self.text));
        Object::new(map)
    }

    /// Reads a briefing from its object.
    ///
    /// # Errors
    /// Fails when there is no text.
    pub fn from_object(object: &Object) -> Result<Briefing, ObjectError> {
        let fields = ObjectFields { kind: "briefing", map: object.map() };
        let text = fields.text("text")?.to_owned();
        let rest = object.map().iter().filter(|(key, _)| !matches!(key.as_str(), "type" | "text"));
        Ok(Briefing { text, fields: rest.map(|(key, item)| (key.clone(), item.clone())).collect() })
    }

    /// Returns the first line that is not blank, at most 72 characters of it.
    pub fn headline(&self) -> String {
        let line = self.text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
        line.chars().take(72).collect()
    }
}
