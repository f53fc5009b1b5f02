//! What is wrong with the branch, or the two branches, that a verb is about.

use std::borrow::Cow;

use agentic_model::Oid;
use agentic_model::guidance::{ErrorClass, Guidance};

/// What is wrong with the branch, or the two branches, that a verb is about.
#[derive(Debug, thiserror::Error)]
pub enum BranchError {
    /// There is no such branch.
    #[error("there is no agent or branch `{name}`")]
    Unknown {
        /// The name as it was given.
        name: String,
    },
    /// An agent and a plain branch have the same name.
    #[error("`{name}` is an agent and a branch")]
    Ambiguous {
        /// The name as it was given.
        name: String,
    },
    /// The branch is not where the caller expected it to be.
    #[error("the head of `{branch}` is not `{expected}`")]
    HeadMoved {
        /// The branch or agent.
        branch: String,
        /// Where it was expected.
        expected: String,
        /// Where it is.
        found: Option<Oid>,
    },
    /// The two have no commit in common.
    #[error("`{left}` and `{right}` have no commit in common")]
    NoForkPoint {
        /// The one.
        left: String,
        /// The other.
        right: String,
    },
    /// An agent cannot be merged into itself.
    #[error("`{name}` cannot be merged into itself")]
    SelfMerge {
        /// The name.
        name: String,
    },
}

impl Guidance for BranchError {
    fn class(&self) -> ErrorClass {
        match self {
            BranchError::Unknown { .. }
            | BranchError::Ambiguous { .. }
            | BranchError::NoForkPoint { .. }
            | BranchError::SelfMerge { .. } => ErrorClass::Refused,
            BranchError::HeadMoved { .. } => ErrorClass::Conflict,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            BranchError::Unknown { .. } => "`agentic agents` lists the agents, `git branch` the branches".into(),
            BranchError::Ambiguous { .. } => "say `agents/NAME` for the agent, `heads/NAME` for the branch".into(),
            BranchError::HeadMoved { found, .. } => moved_hint(found.as_ref()),
            BranchError::NoForkPoint { .. } => "agents have a common commit when one was forked from the other, or both from one commit".into(),
            BranchError::SelfMerge { .. } => "name another agent or branch with `--into`".into(),
        }
    }
}

fn moved_hint(found: Option<&Oid>) -> Cow<'static, str> {
    match found {
        Some(found) => format!("it is at {found}; look at what is new, then try again").into(),
        None => "it does not exist any more; `agentic agents` lists the agents".into(),
    }
}
