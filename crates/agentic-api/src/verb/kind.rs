//! Kinds of commits and objects.

use agentic_model::kind::AGENT_COMMIT;
use agentic_model::{Kind, KindEntry, Value, json};
use agentic_space::error::{Error as SpaceError, KindError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb, value};
use crate::view::{KindShowView, KindView};
use crate::{Caller, Refusal};

/// List all kinds.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KindList {}

impl Verb for KindList {
    type Answer = Vec<KindView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<KindView>>, Refusal> {
        Ok(Reply::plain(caller.space.kinds()?.entries().map(KindView::from).collect()))
    }
}

/// Register a kind; it never changes afterwards.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KindAdd {
    /// The name: lower-case letters, digits and `-`.
    pub name: String,
    /// The kind it specialises; `agent-commit` without.
    #[serde(default)]
    pub parent: Option<String>,
    /// One line that describes it.
    #[serde(default)]
    pub description: String,
    /// A JSON Schema for its open fields.
    #[serde(default, deserialize_with = "value::read_given")]
    #[schemars(with = "serde_json::Value")]
    pub schema: Option<Value>,
}

impl KindAdd {
    /// Reads a schema from a file.
    ///
    /// # Errors
    /// Fails when it is no JSON.
    pub fn read_schema(bytes: &[u8]) -> Result<Value, Refusal> {
        json::from_text(&String::from_utf8_lossy(bytes))
            .map_err(|error| Refusal::schema(&format!("the schema is {error}"), SCHEMA_HINT))
    }
}

/// What a schema is, for whoever gave something else.
const SCHEMA_HINT: &str = "give a JSON Schema";

impl Verb for KindAdd {
    type Answer = KindView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<KindView>, Refusal> {
        let parent = self.parent.as_deref().unwrap_or(AGENT_COMMIT);
        let (name, parent) = (kind_name(&self.name)?, kind_name(parent)?);
        if self.schema.as_ref().is_some_and(|schema| schema.as_map().is_none()) {
            return Err(Refusal::schema("the schema is not a JSON object", SCHEMA_HINT));
        }
        let (description, schema) = (self.description, self.schema);
        let entry = KindEntry { name, parent: Some(parent), description, schema };
        let view = KindView::from(&entry);
        let written = caller.space.register_kind(entry)?;
        Ok(Reply::written(view, &written))
    }
}

/// Show one kind.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KindShow {
    /// The name.
    pub name: String,
}

impl Verb for KindShow {
    type Answer = KindShowView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<KindShowView>, Refusal> {
        let (kind, root) = (kind_name(&self.name)?, AGENT_COMMIT);
        let tree = caller.space.kinds()?;
        let entry = tree.get(&kind);
        let unknown = || SpaceError::Kind(KindError::Unknown { kind: kind.clone(), root });
        Ok(Reply::plain(KindShowView::new(entry.ok_or_else(unknown)?, &tree)))
    }
}

fn kind_name(text: &str) -> Result<Kind, Refusal> {
    let hint = "a kind has lower-case letters, digits and `-`";
    Kind::parse(text).map_err(|error| Refusal::usage(&error.to_string(), hint))
}
