//! What a server does not understand, and is not told again.
//!
//! Servers that speak one protocol differ in what they take: a temperature, how long to think, a schema,
//! the name of the longest reply. What one refuses is left out, or said as it wants, for the rest
//! of the run; everything else is still said.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;

use super::{ModelFault, ModelPrompt, Think};

/// What is conceded to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Concessions {
    /// The temperature is left out.
    pub temperature: bool,
    /// How long to think is left out.
    pub think: bool,
    /// The schema is left out; that an object is wanted is still said.
    pub schema: bool,
    /// The longest reply goes by its newer name.
    pub limit: bool,
}

impl Concessions {
    /// Adds what a server refuses of a body. They say so in many ways, and all of them name what
    /// they do not take. Nothing if it is about something else, or was conceded already.
    pub fn after(self, body: &Json, fault: &ModelFault) -> Option<Concessions> {
        let said = fault.message.to_lowercase();
        let has = |key: &str| body.get(key).is_some() || body["options"].get(key).is_some();
        let thinks = ["reasoning_effort", "thinking", "think"].into_iter().any(has);
        let is_schema = body["response_format"]["type"] == "json_schema";
        let names = |words: [&str; 2]| words.into_iter().any(|word| said.contains(word));
        let more = Concessions {
            limit: self.limit || has("max_tokens") && said.contains("max_completion_tokens"),
            schema: self.schema || is_schema && names(["schema", "response_format"]),
            temperature: self.temperature || has("temperature") && said.contains("temperature"),
            think: self.think || thinks && names(["reasoning", "think"]),
        };
        (more != self).then_some(more)
    }

    /// Names what of a prompt is left out.
    pub fn left_out(self, prompt: &ModelPrompt) -> Vec<&'static str> {
        let options = &prompt.options;
        let left_out = [
            ("temperature", self.temperature && options.temperature.is_some()),
            ("think", self.think && options.think != Think::Off),
            ("schema", self.schema && options.strict && prompt.schema.is_some()),
        ];
        left_out.into_iter().filter(|(_, is_left)| *is_left).map(|(name, _)| name).collect()
    }
}

/// What a model has refused in a run: known to all who ask it.
#[derive(Debug, Clone, Default)]
pub struct Refusals(Arc<Mutex<Concessions>>);

impl Refusals {
    pub(super) fn known(&self) -> Concessions {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, concessions: Concessions) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = concessions;
    }
}

/// What was learned is no part of who is asked.
impl PartialEq for Refusals {
    fn eq(&self, _other: &Refusals) -> bool {
        true
    }
}

impl Eq for Refusals {}
