//! Stored rules as JSON.

use std::collections::BTreeMap;

use agentic_model::LibraryPointer;
use agentic_space::library::NameChange;
use schemars::JsonSchema;
use serde::Serialize;

/// What a name means in a library, and who says so.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleVersionView {
    /// The object.
    pub cid: String,
    /// Who set it: an agent, or `user:NAME`.
    pub by: String,
    /// When.
    pub at: String,
}

/// Rules that have a name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleView {
    /// The name that they are asked for by.
    pub name: String,
    /// `shipped` with the program, stored `here`, or the remote of the space that has them.
    pub origin: String,
    /// What they are for: the comment that they begin with.
    pub purpose: String,
    /// The version that counts; nothing of shipped ones, and where the name was removed here.
    #[serde(flatten)]
    pub version: Option<RuleVersionView>,
    /// What another clone means by the name, where it was moved here and there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contested: Option<RuleVersionView>,
    /// Why they cannot be read, if they cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

/// The answer of `agentic rule add` and `agentic rule remove`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleMoveView {
    /// The name.
    pub name: String,
    /// The object that it means now; nothing if it was removed.
    pub cid: Option<String>,
    /// The object that it meant before.
    pub before: Option<String>,
    /// Whether anything changed.
    pub changed: bool,
    /// The stored rules that these use, each with the version that they go on using.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub uses: BTreeMap<String, String>,
}

/// The answer of `agentic rule show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleShowView {
    /// The rules.
    #[serde(flatten)]
    pub rule: RuleView,
    /// `datalog-1`.
    pub language: String,
    /// The text; nothing where the name was removed here.
    pub source: Option<String>,
    /// The stored rules that these use, each with the version.
    pub uses: BTreeMap<String, String>,
    /// The parameters.
    pub params: Vec<RuleParamView>,
    /// The text that another clone has, where the name was moved here and there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contested_source: Option<String>,
}

/// A parameter of rules.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleParamView {
    /// Its name.
    pub name: String,
    /// Its type.
    pub r#type: String,
    /// Whether a value has to be given.
    pub required: bool,
}

/// One change of a name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleChangeView {
    /// The commit of the library.
    pub commit: String,
    /// When.
    pub at: String,
    /// Who: an agent, or `user:NAME`; of a removal the author of the commit.
    pub by: String,
    /// Why; may be empty.
    pub why: String,
    /// The object that the name means since then; nothing if it was removed.
    pub cid: Option<String>,
    /// Whether the commit carries a signature.
    pub signed: bool,
}

impl From<&LibraryPointer> for RuleVersionView {
    fn from(pointer: &LibraryPointer) -> RuleVersionView {
        RuleVersionView {
            cid: pointer.cid.to_string(),
            by: pointer.by.to_string(),
            at: pointer.at.to_string(),
        }
    }
}

impl From<&NameChange> for RuleChangeView {
    fn from(change: &NameChange) -> RuleChangeView {
        RuleChangeView {
            commit: change.commit.to_string(),
            at: change.at.to_string(),
            by: change.by.as_ref().map_or_else(|| change.author.clone(), ToString::to_string),
            why: change.why.clone(),
            cid: change.cid.map(|cid| cid.to_string()),
            signed: change.is_signed,
        }
    }
}
