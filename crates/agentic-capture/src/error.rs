//! What can go wrong with capture. Nobody is told but the error log: it keeps the code.

use agentic_space::error::AgentError;
use agentic_store::error::GitError;

use crate::bind::Binding;
use crate::redaction::RedactionError;

/// An error of a hook.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A verb of the space failed.
    #[error(transparent)]
    Space(#[from] agentic_space::Error),
    /// The disk failed.
    #[error("cannot read or write below the git directory")]
    Io {
        /// Why.
        source: std::io::Error,
    },
    /// All names that a conversation's agent could have are taken.
    #[error("all names that the agent of a conversation could have are taken")]
    NameTaken,
    /// Others hold for too long what it takes to make the agent of a conversation.
    #[error("others hold what the agent `{agent}` of this conversation needs", agent = binding.agent)]
    Busy {
        /// Whose conversation it would be.
        binding: Box<Binding>,
    },
    /// The step panicked.
    #[error("a step of the hook panicked")]
    Panic,
    /// What would redact cannot be had, so that nothing is written.
    #[error("the rules of redaction cannot be loaded")]
    Redaction {
        /// Why.
        source: Box<RedactionError>,
    },
    /// Something else, by its code.
    #[error("`{code}`")]
    Other {
        /// The code.
        code: &'static str,
    },
}

impl From<agentic_store::Error> for CaptureError {
    fn from(error: agentic_store::Error) -> CaptureError {
        CaptureError::Space(error.into())
    }
}

impl From<RedactionError> for CaptureError {
    fn from(error: RedactionError) -> CaptureError {
        match error {
            // The disk is in the way, and not what anybody wrote.
            RedactionError::Key(error) => error.into(),
            error @ (RedactionError::ReadRules { .. }
            | RedactionError::Rules { .. }
            | RedactionError::Files { .. }
            | RedactionError::Rule(_)
            | RedactionError::Allowance(_)) => CaptureError::Redaction { source: Box::new(error) },
        }
    }
}

impl CaptureError {
    /// Tells whether others held something for too long, so that another try may do.
    pub fn is_busy(&self) -> bool {
        use agentic_space::Error;
        matches!(
            self,
            CaptureError::Busy { .. }
                | CaptureError::Space(Error::Agent(
                    AgentError::Busy { .. } | AgentError::Held { .. }
                ))
        )
    }

    /// Returns the code under which the error log has it.
    pub fn code(&self) -> &'static str {
        if self.is_busy() {
            return "busy";
        }
        match self {
            CaptureError::Space(agentic_space::Error::Store(error)) => store_code(error),
            CaptureError::Space(agentic_space::Error::Agent(_)) => "agent",
            CaptureError::Space(agentic_space::Error::Branch(_)) => "branch",
            CaptureError::Space(agentic_space::Error::Worktree(_)) => "worktree",
            CaptureError::Space(
                agentic_space::Error::Object(_)
                | agentic_space::Error::Message(_)
                | agentic_space::Error::Deferred(_)
                | agentic_space::Error::Kind(_)
                | agentic_space::Error::Commit(_)
                | agentic_space::Error::Lookup(_)
                | agentic_space::Error::Relation(_)
                | agentic_space::Error::Remote(_)
                | agentic_space::Error::Library(_),
            ) => "verb",
            CaptureError::Io { .. } => "io",
            CaptureError::NameTaken => "name-taken",
            CaptureError::Busy { .. } => "busy",
            CaptureError::Panic => "panic",
            CaptureError::Redaction { .. } => "no-redaction",
            CaptureError::Other { code } => code,
        }
    }
}

fn store_code(error: &agentic_store::Error) -> &'static str {
    match error {
        agentic_store::Error::File(_) => "io",
        agentic_store::Error::Damage(_) => "damaged",
        agentic_store::Error::Git(GitError::NoIdentity) => "no-identity",
        agentic_store::Error::Git(_) => "git",
        agentic_store::Error::Repository(_) => "repository",
        agentic_store::Error::Ref(_) => "ref",
        agentic_store::Error::Checkout(_) => "checkout",
        agentic_store::Error::Revision(_) => "revision",
        agentic_store::Error::Injected(_) => "injected",
    }
}
