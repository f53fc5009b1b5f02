//! Typed objects: storing them, reading them, telling their ids.

use agentic_model::object::ObjectError;
use agentic_model::{Object, Value, json};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::redaction::refuse_secrets;
use crate::verb::{LocalVerb, Reply, Verb, value};
use crate::view::{CidView, ObjectView, PutView};
use crate::{Caller, Refusal, Surroundings};

/// The types whose objects have an effect by themselves: records, relations, names and permissions.
const MADE_BY_VERBS: [&str; 5] = ["session-segment", "edge", "type", "capability", "tombstone"];

/// An object as it comes from outside.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectSource {
    /// A map with a `type`.
    Data(
        #[serde(deserialize_with = "value::read_value")]
        #[schemars(with = "serde_json::Value")]
        Value,
    ),
    /// Its canonical bytes, from a surface that has them as they are.
    #[serde(skip)]
    Canonical(Vec<u8>),
}

impl ObjectSource {
    /// Reads JSON from a file or a stream.
    ///
    /// # Errors
    /// Fails when it is no JSON.
    pub fn of_json(bytes: &[u8]) -> Result<ObjectSource, Refusal> {
        let hint = "give a JSON map such as {\"type\": \"plan\", \"steps\": []}";
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Refusal::schema("the object is not UTF-8 text", hint))?;
        let value = json::from_text(text);
        let value = value.map_err(|error| Refusal::schema(&error.to_string(), hint))?;
        Ok(ObjectSource::Data(value))
    }

    fn object(self) -> Result<Object, Refusal> {
        let refuse = |error: ObjectError| agentic_session::Error::from(error);
        Ok(match self {
            ObjectSource::Data(value) => Object::from_value(value).map_err(refuse)?,
            ObjectSource::Canonical(bytes) => Object::decode(&bytes).map_err(refuse)?,
        })
    }
}

/// Store an object with an agent.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectPut {
    /// The object.
    pub object: ObjectSource,
    /// The agent; else the caller's.
    #[serde(default)]
    pub agent: Option<String>,
}

impl Verb for ObjectPut {
    type Answer = PutView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PutView>, Refusal> {
        let object = self.object.object()?;
        if MADE_BY_VERBS.contains(&object.kind().as_str()) {
            let message = format!("objects of type `{}` are not put by hand", object.kind());
            return Err(Refusal::refused(&message, "the verbs that mean them make them"));
        }
        let agent = caller.agent(self.agent.as_deref())?;
        refuse_secrets(caller, "the object", &Value::Map(object.map().clone()))?;
        let written = caller.space.put_object(&agent, &object)?;
        Ok(Reply::written(PutView::new(&object, &agent), &written))
    }
}

/// Read an object.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectGet {
    /// The id, or a unique prefix of ten or more characters.
    pub cid: String,
}

impl ObjectGet {
    /// Reads the object with its canonical bytes.
    ///
    /// # Errors
    /// Fails when the id names none, or several.
    pub fn read(&self, caller: &Caller<'_>) -> Result<Object, Refusal> {
        Ok(caller.space.object(caller.space.find_object(&self.cid)?)?)
    }
}

impl Verb for ObjectGet {
    type Answer = ObjectView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<ObjectView>, Refusal> {
        let object = self.read(caller)?;
        Ok(Reply::plain(ObjectView(json::to_json(&Value::Map(object.map().clone())))))
    }
}

/// Tell the id of an object without storing it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectCid {
    /// The object.
    pub object: ObjectSource,
}

impl LocalVerb for ObjectCid {
    type Answer = CidView;

    fn run_here(self, _: &Surroundings) -> Result<Reply<CidView>, Refusal> {
        Ok(Reply::plain(CidView::from(&self.object.object()?)))
    }
}
