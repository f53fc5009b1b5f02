//! What keeps an agent from being made, found or put away.

use std::borrow::Cow;

use agentic_model::AgentName;
use agentic_model::guidance::{ErrorClass, Guidance};

/// What keeps an agent from being made, found or put away.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The name is taken.
    #[error("agent `{name}` already exists")]
    Exists {
        /// The name.
        name: AgentName,
    },
    /// There is no such agent.
    #[error("there is no agent `{name}`")]
    Unknown {
        /// The name.
        name: AgentName,
    },
    /// The name belongs to an agent in the archive.
    #[error("the name `{name}` belongs to an archived agent")]
    NameArchived {
        /// The name.
        name: AgentName,
    },
    /// The agent is in the archive.
    #[error("agent `{name}` is archived")]
    Archived {
        /// Its name.
        name: AgentName,
    },
    /// The agent is not in the archive.
    #[error("agent `{agent}` is not archived")]
    NotArchived {
        /// Its name.
        agent: AgentName,
    },
    /// A person renamed the branch of an agent, whose briefing and traces keep the earlier name.
    #[error("the branch of `{name}` is that of agent `{earlier}`, renamed")]
    Renamed {
        /// What the branch is called now.
        name: AgentName,
        /// What the agent is called.
        earlier: AgentName,
    },
    /// The agent has a session that is not over.
    #[error("session {session} of `{agent}` is not over")]
    SessionOpen {
        /// The agent.
        agent: AgentName,
        /// The session.
        session: String,
    },
    /// The agent has trace entries that are bound to no commit.
    #[error("agent `{agent}` has trace entries that are bound to no commit")]
    TracePending {
        /// The agent.
        agent: AgentName,
    },
    /// Others hold for too long what is needed to make the agent, or to bring it back.
    #[error("others are at work that `{name}` would have to wait for")]
    Busy {
        /// The name.
        name: AgentName,
    },
    /// Others hold the lock of a stream for too long.
    #[error("others hold `{stream}` for too long")]
    Held {
        /// Whose lock it is.
        stream: String,
    },
}

impl Guidance for AgentError {
    fn class(&self) -> ErrorClass {
        match self {
            AgentError::Exists { .. }
            | AgentError::NameArchived { .. }
            | AgentError::Busy { .. }
            | AgentError::Held { .. } => ErrorClass::Conflict,
            AgentError::Unknown { .. }
            | AgentError::Archived { .. }
            | AgentError::NotArchived { .. }
            | AgentError::Renamed { .. }
            | AgentError::SessionOpen { .. }
            | AgentError::TracePending { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            AgentError::Exists { .. } => "choose another name; `agentic agents` lists those that are taken".into(),
            AgentError::Unknown { .. } => "`agentic agents` lists the agents; `agentic spawn NAME -m TEXT` makes one".into(),
            AgentError::NameArchived { name } => restore_hint(name).into(),
            AgentError::Archived { name } => restore_hint(name).into(),
            AgentError::NotArchived { .. } => "`agentic archive --list` lists what is archived".into(),
            AgentError::Renamed { name, earlier } => format!("`git branch -m agents/{name} agents/{earlier}` brings its briefing and its traces back").into(),
            AgentError::SessionOpen { session, .. } => format!("let it end, or end it with `agentic session cancel {session}`").into(),
            AgentError::Busy { .. } | AgentError::Held { .. } => "try it again".into(),
            AgentError::TracePending { agent } => format!("bind them with `agentic trace attach COMMIT --agent {agent}`").into(),
        }
    }
}

fn restore_hint(name: &AgentName) -> String {
    format!("`agentic archive --restore {name}` brings it back")
}
