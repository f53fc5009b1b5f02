//! What keeps a program from running, or one of its requests from being performed.

use std::borrow::Cow;

use agentic_model::AgentName;
use agentic_model::guidance::{ErrorClass, Guidance};

/// What keeps a program from running, or one of its requests from being performed.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// An object is no plan that can run.
    #[error("object {id} is no plan that can run (Plan{kind}): {reason}")]
    NotAPlan {
        /// Its id.
        id: String,
        /// The name of what is wrong.
        kind: String,
        /// What is wrong.
        reason: String,
    },
    /// Nobody performs an agent of a run.
    #[error("{reason}")]
    Unperformed {
        /// Which, and why.
        reason: String,
    },
    /// A builtin stands for an agent whose flow is not known.
    #[error("the agent `{agent}` of builtin `{builtin}` has run no flow yet")]
    NoFlowOf {
        /// The agent.
        agent: AgentName,
        /// The builtin.
        builtin: String,
    },
    /// The object is no flow.
    #[error("object `{id}` is no flow")]
    NotAFlow {
        /// Its id.
        id: String,
    },
    /// The flow does not parse.
    #[error("the flow `{id}` does not parse: {reason}")]
    BrokenFlow {
        /// Its id.
        id: String,
        /// The first finding.
        reason: String,
    },
    /// A program would be granted more than it may be.
    #[error("behaviour `{id}` may not be granted `{kind}`")]
    BeyondAllow {
        /// Its id.
        id: String,
        /// The kind of effect.
        kind: String,
    },
    /// A request of a program cannot be performed as it is.
    #[error("{reason}")]
    BadRequest {
        /// What is wrong with it.
        reason: String,
    },
    /// A script of answers cannot be read.
    #[error("the script of answers cannot be used: {reason}")]
    BadScript {
        /// What is wrong with it.
        reason: String,
    },
}

impl Guidance for ProgramError {
    fn class(&self) -> ErrorClass {
        match self {
            ProgramError::BeyondAllow { .. } => ErrorClass::NotAllowed,
            ProgramError::NotAPlan { .. }
            | ProgramError::Unperformed { .. }
            | ProgramError::NoFlowOf { .. }
            | ProgramError::NotAFlow { .. }
            | ProgramError::BrokenFlow { .. }
            | ProgramError::BadRequest { .. }
            | ProgramError::BadScript { .. } => ErrorClass::Refused,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            ProgramError::BeyondAllow { .. } => "allow less; `agentic behaviour show CID` says what it may be granted".into(),
            ProgramError::NotAPlan { .. } => "`schemas/object-plan.json` says what a plan holds; `agentic flow plan FILE` makes one".into(),
            ProgramError::Unperformed { .. } => "say in the registry who does: `\"run\"` of its entry; agents of a space need `--session`".into(),
            ProgramError::NoFlowOf { .. } => r#"name one: {"run":{"agent":NAME,"flow":CID}}, or run one as that agent"#.into(),
            ProgramError::NotAFlow { .. } => "`agentic session start --flow FILE` stores a flow and pins it".into(),
            ProgramError::BrokenFlow { .. } => "`agentic flow check FILE` shows where".into(),
            ProgramError::BadRequest { .. } => "`docs/commands.md` says what each request takes".into(),
            ProgramError::BadScript { .. } => r#"write {"AGENT":[{"ok":VALUE},{"failed":{"code":…,"message":…}}]}"#.into(),
        }
    }
}
