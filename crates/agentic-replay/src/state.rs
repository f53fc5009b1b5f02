//! How far a session has come.

/// How a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Something can be done for it, or is being done.
    Running,
    /// It waits for a human.
    Held,
    /// It waits for an instant or for a child.
    Waiting,
    /// It ended with a result.
    Done,
    /// It ended with an error.
    Failed,
    /// It was stopped.
    Cancelled,
    /// Its records were made by a version of its language that does not run here. It is not over.
    Diverged,
}

impl SessionState {
    /// Says whether nothing will ever be done for the session again.
    pub fn is_over(self) -> bool {
        match self {
            SessionState::Done | SessionState::Failed | SessionState::Cancelled => true,
            SessionState::Running
            | SessionState::Held
            | SessionState::Waiting
            | SessionState::Diverged => false,
        }
    }

    /// Returns the word that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionState::Running => "running",
            SessionState::Held => "held",
            SessionState::Waiting => "waiting",
            SessionState::Done => "done",
            SessionState::Failed => "failed",
            SessionState::Cancelled => "cancelled",
            SessionState::Diverged => "diverged",
        }
    }
}
