//! Kinds of commits and objects.

use agentic_federation::peer_kind::{PeerKind, adopt_kind, kinds_of_peer, origin_of, own_kinds};
use agentic_model::kind::AGENT_COMMIT;
use agentic_model::{Kind, KindEntry, Value, json};
use agentic_space::error::{Error as SpaceError, KindError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::redaction::{CallerRedactor, refuse_secret_text};
use crate::verb::{Reply, Verb, value};
use crate::view::{KindActivityView, KindOriginView, KindShowView, KindView};
use crate::{Caller, Refusal};

/// List all kinds, or those that a peer announced.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KindList {
    /// The peer, as its agents are read: `bob` or `bob+NICK`. Ours without.
    pub peer: Option<String>,
}

impl Verb for KindList {
    type Answer = Vec<KindView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<KindView>>, Refusal> {
        let Some(label) = self.peer else {
            return Ok(Reply::plain(caller.space.kinds()?.entries().map(KindView::from).collect()));
        };
        let kinds = kinds_of_peer(caller.space, &label)?;
        let view = |kind: &PeerKind| KindView {
            name: format!("{label}/{}", kind.entry.name),
            built_in: false,
            cid: Some(kind.cid.to_string()),
            ..KindView::from(&kind.entry)
        };
        Ok(Reply::plain(kinds.iter().map(view).collect()))
    }
}

/// Show kinds as the activities that defined them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KindActivities {
    /// The peer, as its agents are read; the kinds that were registered here without.
    pub peer: Option<String>,
}

impl Verb for KindActivities {
    type Answer = Vec<KindActivityView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<KindActivityView>>, Refusal> {
        let kinds = match &self.peer {
            Some(label) => kinds_of_peer(caller.space, label)?,
            None => own_kinds(caller.space)?,
        };
        let activities = |kind: &PeerKind| KindActivityView::of(&kind.entry, kind.cid);
        Ok(Reply::plain(kinds.iter().flat_map(activities).collect()))
    }
}

/// Register a kind of a peer here. Later changes there do not reach it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KindAdopt {
    /// The kind as it is listed: `PEER/KIND`.
    pub kind: String,
    /// The name that it gets here; its own without.
    #[serde(default)]
    pub name: Option<String>,
}

impl Verb for KindAdopt {
    type Answer = KindShowView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<KindShowView>, Refusal> {
        caller.require_person("adopt a kind")?;
        let (label, named) = self.kind.rsplit_once('/').ok_or_else(|| {
            Refusal::usage(
                &format!("`{}` names no kind of a peer", self.kind),
                "write `PEER/KIND`; `agentic kind list --peer PEER` lists them",
            )
        })?;
        let name = self.name.as_deref().map(kind_name).transpose()?;
        if let Some(name) = &name {
            refuse_secret_text(caller, "the name", name.as_str())?;
        }
        let adopted = adopt_kind(caller.space, [label, named], name)?;
        let tree = caller.space.kinds()?;
        let mut view = KindShowView::new(&adopted.entry, &tree);
        view.entry.cid = Some(adopted.cid.to_string());
        view.origin = Some(KindOriginView::from(&adopted.origin));
        Ok(match &adopted.written {
            Some(written) => Reply::written(view, written),
            None => Reply::plain(view),
        })
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
        let mut redactor = CallerRedactor::new(caller)?;
        redactor.refuse_text("the name", name.as_str())?;
        self.schema.iter().try_for_each(|schema| redactor.refuse("the schema", schema))?;
        let description = redactor.text("the description", self.description);
        let entry = KindEntry { name, parent: Some(parent), description, schema: self.schema };
        let view = KindView::from(&entry);
        let written = caller.space.register_kind(entry)?;
        let mut reply = Reply::written(view, &written);
        reply.notices.extend(redactor.notices());
        Ok(reply)
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
        let mut view = KindShowView::new(entry.ok_or_else(unknown)?, &tree);
        view.origin = origin_of(caller.space, &kind)?.as_ref().map(KindOriginView::from);
        Ok(Reply::plain(view))
    }
}

fn kind_name(text: &str) -> Result<Kind, Refusal> {
    let hint = "a kind has lower-case letters, digits and `-`";
    Kind::parse(text).map_err(|error| Refusal::usage(&error.to_string(), hint))
}
