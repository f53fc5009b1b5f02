//! Commits as JSON.

use std::collections::BTreeMap;

use agentic_git::Conflict;
use agentic_model::{Value, json};
use agentic_session::log::{NamedRecord, SessionCommit};
use agentic_space::commit::CommitOutcome;
use agentic_space::merge::{MergedWork, Target};
use schemars::JsonSchema;
use serde::Serialize;

use crate::view::{AgentView, texts};

/// The answer of `agentic commit`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitView {
    /// The commit.
    pub commit: String,
    /// The agent.
    pub agent: String,
    /// Its kind.
    pub kind: String,
    /// Its tree.
    pub tree: String,
    /// Its parents.
    pub parents: Vec<String>,
    /// The paths that it changes.
    pub changed: Vec<String>,
    /// The id of the trace that is bound to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// One commit of `agentic log`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LogView {
    /// The commit.
    pub commit: String,
    /// Its kind on this branch.
    pub kind: String,
    /// The first line of its message.
    pub subject: String,
    /// The rest of its message, without trailers of ours.
    pub body: String,
    /// When it was made.
    pub at: String,
    /// The name of its author.
    pub author: String,
    /// The agent whose log this is, `REMOTE/NAME` for a remote's; missing outside of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its parents.
    pub parents: Vec<String>,
    /// Open fields.
    pub fields: serde_json::Value,
    /// The agent whose commit it was before it was copied here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<String>,
    /// The agent whose work it merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// The id of the trace that is bound to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Whether it looks like a decision, and no record here says that it is one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
}

/// The answer of `agentic show`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "lowercase")]
pub enum ShowView {
    /// An agent.
    Agent {
        /// Its name.
        id: String,
        /// What is known about it.
        #[serde(flatten)]
        agent: AgentView,
    },
    /// A typed object.
    Object {
        /// Its id.
        id: String,
        /// Its fields.
        object: serde_json::Value,
    },
    /// A commit.
    Commit {
        /// Its id.
        id: String,
        /// What it says.
        #[serde(flatten)]
        commit: LogView,
    },
}

/// The answer of `agentic merge`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum MergeView {
    /// A commit with two parents was made.
    Merged {
        /// The commit.
        commit: String,
        /// What was merged into.
        into: String,
        /// The agent that was merged.
        merged: String,
        /// The two parents.
        parents: Vec<String>,
        /// The id of the trace that is bound to it.
        #[serde(skip_serializing_if = "Option::is_none")]
        trace: Option<String>,
    },
    /// The target had all of it already.
    UpToDate {
        /// The target's head.
        head: String,
    },
    /// Both sides disagree.
    Conflict {
        /// What was merged into.
        #[serde(skip)]
        into: String,
        /// Where.
        conflicts: Vec<ConflictView>,
    },
}

/// A path on which both sides of a merge disagree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConflictView {
    /// The path.
    pub path: String,
    /// The blobs: 1 is the common ancestor's, 2 the target's, 3 the merged agent's.
    pub stages: BTreeMap<String, String>,
}

impl From<&CommitOutcome> for CommitView {
    fn from(done: &CommitOutcome) -> CommitView {
        CommitView {
            commit: done.commit.to_string(),
            agent: done.agent.to_string(),
            kind: done.kind.to_string(),
            tree: done.tree.to_string(),
            parents: texts(&done.parents),
            changed: done.changed.clone(),
            trace: done.trace.map(|cid| cid.to_string()),
        }
    }
}

impl LogView {
    /// Shows one commit; `agent` is the agent whose log it is.
    pub fn new(logged: &SessionCommit, agent: Option<String>) -> LogView {
        LogView {
            commit: logged.info.oid.to_string(),
            kind: logged.kind.to_string(),
            subject: logged.subject.clone(),
            body: logged.body.clone(),
            at: logged.info.at.to_string(),
            author: logged.info.author.clone(),
            agent,
            parents: texts(&logged.info.parents),
            fields: json::to_json(&Value::Map(logged.fields.clone())),
            copied_from: logged.copied_from.as_ref().map(ToString::to_string),
            merged: logged.merged.as_ref().map(ToString::to_string),
            trace: logged.trace.map(|cid| cid.to_string()),
            unverified: logged.is_unverified,
        }
    }
}

impl From<&NamedRecord> for ShowView {
    fn from(found: &NamedRecord) -> ShowView {
        match found {
            NamedRecord::Agent(agent) => {
                ShowView::Agent { id: agent.name.to_string(), agent: AgentView::from(agent) }
            }
            NamedRecord::Object(cid, object) => ShowView::Object {
                id: cid.to_string(),
                object: json::to_json(&Value::Map(object.map().clone())),
            },
            NamedRecord::Commit(logged) => ShowView::Commit {
                id: logged.info.oid.to_string(),
                commit: LogView::new(logged, None),
            },
        }
    }
}

impl MergeView {
    /// Shows what became of merging `merged` into `target`.
    pub fn new(outcome: &MergedWork, merged: &str, target: &Target) -> MergeView {
        match outcome {
            MergedWork::Commit { commit, parents, trace, .. } => MergeView::Merged {
                commit: commit.to_string(),
                into: target.name(),
                merged: merged.to_owned(),
                parents: texts(parents),
                trace: trace.map(|cid| cid.to_string()),
            },
            MergedWork::UpToDate { head } => MergeView::UpToDate { head: head.to_string() },
            MergedWork::Conflict { conflicts } => MergeView::Conflict {
                into: target.name(),
                conflicts: conflicts.iter().map(ConflictView::from).collect(),
            },
        }
    }
}

impl From<&Conflict> for ConflictView {
    fn from(conflict: &Conflict) -> ConflictView {
        let stage = |(stage, oid): (&u8, &agentic_model::Oid)| (stage.to_string(), oid.to_string());
        ConflictView {
            path: conflict.path.clone(),
            stages: conflict.stages.iter().map(stage).collect(),
        }
    }
}
