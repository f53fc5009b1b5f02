//! What keeps a commit, or the trace that it binds, from being made.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_model::{AgentName, Oid};

/// What keeps a commit, or the trace that it binds, from being made.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// There is nothing to commit.
    #[error("there is nothing to commit for `{agent}`")]
    Nothing {
        /// The agent.
        agent: AgentName,
        /// Git repositories in the folder that are no submodules.
        left_out: Vec<String>,
    },
    /// A draft in a batch takes its tree from a folder, or expects a head of its own.
    #[error("a snapshot, or a commit that expects a head, cannot be one of a batch")]
    NotInBatch,
    /// A commit would say that its agent begins with it.
    #[error("a commit of kind `spawn` begins an agent, and `{agent}` has begun")]
    SecondGenesis {
        /// The agent.
        agent: AgentName,
    },
    /// The configuration asks for a durability that there is none of.
    #[error("`agentic.durability` is `{value}`")]
    UnknownDurability {
        /// What the configuration says.
        value: String,
    },
    /// A path that was named is neither in the folder nor in the tree.
    #[error("the path `{path}` matches no file")]
    NoSuchPath {
        /// The path.
        path: String,
    },
    /// The commit does not belong to the agent.
    #[error("commit `{commit}` is not one of `{agent}`")]
    Foreign {
        /// The commit.
        commit: Oid,
        /// The agent.
        agent: AgentName,
    },
    /// There is no trace to show or bind.
    #[error("{what} has no trace")]
    NoTrace {
        /// What was asked about.
        what: String,
    },
    /// The trace is larger than one commit can bind.
    #[error("the pending trace of `{agent}` would hold more than 64 MiB")]
    TraceTooLong {
        /// The agent.
        agent: AgentName,
    },
}

impl Guidance for CommitError {
    fn class(&self) -> ErrorClass {
        match self {
            CommitError::Nothing { .. }
            | CommitError::NotInBatch
            | CommitError::SecondGenesis { .. }
            | CommitError::UnknownDurability { .. }
            | CommitError::NoSuchPath { .. }
            | CommitError::Foreign { .. }
            | CommitError::NoTrace { .. }
            | CommitError::TraceTooLong { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            CommitError::Nothing { .. } => "change something first, or use `--allow-empty`".into(),
            CommitError::NotInBatch => "commit it by itself".into(),
            CommitError::SecondGenesis { .. } => {
                "take another kind, or begin another agent with `agentic spawn NAME`".into()
            }
            CommitError::UnknownDurability { .. } => {
                "say `git config agentic.durability full` or `git`, or name one with `--durability`"
                    .into()
            }
            CommitError::NoSuchPath { .. } => "paths are relative to the current folder".into(),
            CommitError::Foreign { .. } => {
                "`agentic log AGENT` lists the commits of an agent".into()
            }
            CommitError::NoTrace { .. } => {
                "add entries with `agentic trace add` and bind them with `agentic commit --trace`"
                    .into()
            }
            CommitError::TraceTooLong { .. } => {
                "commit what is pending first, or keep large output in a file".into()
            }
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            CommitError::Nothing { left_out, .. } if !left_out.is_empty() => {
                Some(left_out_words(left_out))
            }
            CommitError::Nothing { .. }
            | CommitError::NotInBatch
            | CommitError::SecondGenesis { .. }
            | CommitError::UnknownDurability { .. }
            | CommitError::NoSuchPath { .. }
            | CommitError::Foreign { .. }
            | CommitError::NoTrace { .. }
            | CommitError::TraceTooLong { .. } => None,
        }
    }
}

/// Says which git repositories a commit does not hold.
pub fn left_out_words(repositories: &[String]) -> String {
    let named: Vec<String> = repositories.iter().map(|path| format!("`{path}`")).collect();
    let what = match named.len() {
        1 => "is a git repository of its own",
        _ => "are git repositories of their own",
    };
    format!("{} {what} and left out", named.join(", "))
}
