//! What waits for people, as one of them sees it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::view::PendingView;

/// What waits for people, in the order in which one of them may want to look at it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InboxView {
    /// Who looks; missing where git does not know who that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decider: Option<DeciderView>,
    /// What of it was asked for.
    pub holds: Vec<InboxHoldView>,
    /// What `after` is for the rest, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How many wait, whoever is to answer.
    pub waiting: usize,
    /// For how many of them it is this person's turn.
    pub mine: usize,
    /// How many are overdue.
    pub overdue: usize,
    /// The agents that ask.
    pub agents: Vec<String>,
    /// The kinds of what is asked.
    pub kinds: Vec<String>,
    /// Why they wait.
    pub reasons: Vec<String>,
    /// What cannot be read, so that holds may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One open hold, for one person.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InboxHoldView {
    /// The hold.
    #[serde(flatten)]
    pub hold: PendingView,
    /// Whether it is this person's turn: they may decide it and have not voted yet.
    pub mine: bool,
}

/// Who decides: who logged in, else the person whom git knows here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeciderView {
    /// As decisions name them.
    pub principal: String,
    /// The address in whose name git makes the commit.
    pub address: String,
    /// The key that signs the commit, if it is signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How it is known who they are, where a login says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
}
