//! Behaviours as JSON.

use agentic_model::{AboutBehaviour, Cid, LibraryPointer, Oid, Value};
use agentic_space::library::NameChange;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Refusal;
use crate::behaviours::FoundBehaviour;
use crate::view::TriedView;

/// What a name means, and who says so.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BehaviourVersionView {
    /// The behaviour.
    pub cid: String,
    /// Who adopted it: `user:NAME`.
    pub by: String,
    /// When.
    pub at: String,
    /// The commit of the library that did.
    pub adoption: Option<String>,
}

/// A name of behaviours.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BehaviourView {
    /// The name; `REMOTE/NAME` of another space.
    pub name: String,
    /// `here`, or the remote of the space that means it so.
    pub origin: String,
    /// `flow` or `prompt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// The language of a flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What is in force; nothing if nothing was adopted here.
    pub adopted: Option<BehaviourVersionView>,
    /// What another clone adopted since, if nobody here took that over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<BehaviourVersionView>,
    /// What another clone adopted where this one did, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contested: Option<BehaviourVersionView>,
    /// Whether what is in force was adopted here alone: no push says so.
    pub here_alone: bool,
    /// How many versions were added under the name.
    pub versions: usize,
    /// Why it cannot be read, if it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

/// The answer of `agentic behaviour add`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BehaviourAddView {
    /// The name that it was added under.
    pub name: String,
    /// The behaviour.
    pub cid: String,
    /// `flow` or `prompt`.
    pub form: String,
    /// The language of a flow.
    pub language: Option<String>,
    /// Whether anything was written.
    pub changed: bool,
}

/// The answer of `agentic behaviour show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BehaviourShowView {
    /// The behaviour.
    pub cid: String,
    /// `flow` or `prompt`.
    pub form: String,
    /// The language of a flow.
    pub language: Option<String>,
    /// The text; nothing of a flow that is kept in pieces.
    pub source: Option<String>,
    /// The kinds of effects that it may be granted at most; nothing where that is not limited.
    pub allow: Option<Vec<String>>,
    /// The names that it was added under.
    pub names: Vec<String>,
    /// The names by which it is in force here.
    pub adopted_as: Vec<String>,
    /// The behaviours that it was made from.
    pub parents: Vec<String>,
    /// What is to be known of it; may be empty.
    pub note: String,
    /// Who added it first.
    pub proposed_by: Option<String>,
    /// What speaks for it.
    pub evidence: Vec<String>,
    /// The trials that it was in, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<TriedView>,
    /// A prompt, filled with the fields of a briefing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// What another clone adopted since, if nobody here took that over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<BehaviourVersionView>,
    /// The text of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_source: Option<String>,
    /// What another clone adopted where this one did, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contested: Option<BehaviourVersionView>,
    /// The text of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contested_source: Option<String>,
}

/// One adoption.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdoptionView {
    /// The commit of the library.
    pub commit: String,
    /// When.
    pub at: String,
    /// Who decided: `user:NAME`.
    pub decided_by: String,
    /// Why.
    pub reason: String,
    /// What was in force before.
    pub from: Option<String>,
    /// What was adopted.
    pub to: Option<String>,
    /// The adoption before.
    pub prior: Option<String>,
    /// The adoption of another clone that it passed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// What speaks for it.
    pub evidence: Vec<String>,
    /// Whether this is the one in force here.
    pub in_force: bool,
    /// Whether the commit carries a signature.
    pub signed: bool,
}

/// The answer of `agentic behaviour adopt`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdoptView {
    /// The name.
    pub name: String,
    /// What it means now.
    pub cid: String,
    /// What it meant before.
    pub before: Option<String>,
    /// The commit of the library that says so.
    pub adoption: Option<String>,
    /// Whether anything changed.
    pub changed: bool,
    /// Whether it holds here alone: what speaks for it is of a private agent.
    pub here_alone: bool,
}

/// The answer of `agentic behaviour use`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BehaviourUseView {
    /// The agent.
    pub agent: String,
    /// The behaviour that it has now.
    pub cid: String,
    /// The one that it had before.
    pub before: Option<String>,
    /// The commit that says so; nothing if it had this one.
    pub commit: Option<String>,
}

/// The answer of `agentic behaviour diff`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BehaviourDiffView {
    /// The one.
    pub left: String,
    /// The other.
    pub right: String,
    /// Whether they are the same.
    pub same: bool,
    /// The fields that differ, the text aside.
    pub fields: Vec<FieldChangeView>,
    /// The whole text, in pieces that are the same and pieces that differ.
    pub words: Vec<WordChangeView>,
}

/// A field that differs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FieldChangeView {
    /// The field.
    pub field: String,
    /// What the one says, as JSON.
    pub old: Option<String>,
    /// What the other says.
    pub new: Option<String>,
}

/// A piece of a text: the same in both, or what went and what came in its place.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct WordChangeView {
    /// What both have.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub same: String,
    /// What the one has.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub old: String,
    /// What the other has.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub new: String,
}

/// A version of a name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BehaviourNodeView {
    /// The behaviour.
    pub cid: String,
    /// How far below a version that was made from none.
    pub depth: usize,
    /// `in force`, `offered` or `contested` by another clone, `before` if it was adopted once, else
    /// `added`.
    pub state: String,
    /// The behaviours that it was made from.
    pub parents: Vec<String>,
    /// Who added it first.
    pub proposed_by: Option<String>,
    /// What is to be known of it; may be empty.
    pub note: String,
}

impl BehaviourVersionView {
    /// Describes what a name means.
    pub fn of(pointer: &LibraryPointer, adoption: Option<Oid>) -> BehaviourVersionView {
        BehaviourVersionView {
            cid: pointer.cid.to_string(),
            by: pointer.by.to_string(),
            at: pointer.at.to_string(),
            adoption: adoption.map(|oid| oid.to_string()),
        }
    }
}

impl BehaviourView {
    /// Describes a name by which nothing is adopted.
    pub fn unadopted(name: String, versions: usize) -> BehaviourView {
        BehaviourView {
            name,
            origin: "here".to_owned(),
            form: None,
            language: None,
            adopted: None,
            offered: None,
            contested: None,
            here_alone: false,
            versions,
            damaged: None,
        }
    }

    /// Describes what another space means by a name.
    pub(crate) fn of(
        name: String,
        remote: &str,
        found: Result<FoundBehaviour, Refusal>,
        version: BehaviourVersionView,
    ) -> BehaviourView {
        let mut view = BehaviourView::unadopted(name, 0);
        view.origin = remote.to_owned();
        view.describe(found);
        view.adopted = Some(version);
        view
    }

    /// Says what the behaviour is, or why that cannot be told.
    pub(crate) fn describe(&mut self, found: Result<FoundBehaviour, Refusal>) {
        match found {
            Ok(found) => {
                self.form = Some(found.read.form.word().to_owned());
                self.language = found.read.language;
            }
            Err(refusal) => self.damaged = Some(refusal.because.unwrap_or(refusal.message)),
        }
    }
}

impl BehaviourShowView {
    /// Describes a behaviour.
    pub(crate) fn of(found: &FoundBehaviour, about: &AboutBehaviour) -> BehaviourShowView {
        BehaviourShowView {
            cid: found.cid().to_string(),
            form: found.read.form.word().to_owned(),
            language: found.read.language.clone(),
            source: found.read.source.clone(),
            allow: found.read.allow.clone(),
            names: about.names.iter().map(ToString::to_string).collect(),
            adopted_as: Vec::new(),
            parents: about.parents.iter().map(ToString::to_string).collect(),
            note: about.note.clone(),
            proposed_by: about.proposed_by.as_ref().map(ToString::to_string),
            evidence: about.evidence.iter().map(ToString::to_string).collect(),
            trials: Vec::new(),
            instructions: None,
            offered: None,
            offered_source: None,
            contested: None,
            contested_source: None,
        }
    }
}

impl BehaviourNodeView {
    /// Describes a version.
    pub fn of(cid: Cid, depth: usize, state: &str, about: &AboutBehaviour) -> BehaviourNodeView {
        BehaviourNodeView {
            cid: cid.to_string(),
            depth,
            state: state.to_owned(),
            parents: about.parents.iter().map(ToString::to_string).collect(),
            proposed_by: about.proposed_by.as_ref().map(ToString::to_string),
            note: about.note.clone(),
        }
    }
}

impl AdoptionView {
    /// Describes an adoption.
    pub fn of(change: &NameChange, in_force: Option<Oid>) -> AdoptionView {
        let text = |field: &str| change.fields.get(field).and_then(Value::as_text);
        let own = |field: &str| text(field).map(str::to_owned);
        let by = change.by.as_ref().map_or_else(|| change.author.clone(), ToString::to_string);
        AdoptionView {
            commit: change.commit.to_string(),
            at: change.at.to_string(),
            decided_by: own("decided_by").unwrap_or(by),
            reason: own("reason").unwrap_or_else(|| change.why.clone()),
            from: own("from"),
            to: change.cid.map(|cid| cid.to_string()),
            prior: own("prior"),
            over: own("over"),
            evidence: change.evidence().map(str::to_owned).collect(),
            in_force: in_force == Some(change.commit),
            signed: change.is_signed,
        }
    }
}
