//! How far a session has come.

/// How a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
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

impl State {
    /// Says whether nothing will ever be done for the session again.
    pub fn is_over(self) -> bool {
        match self {
            State::Done | State::Failed | State::Cancelled => true,
            State::Running | State::Held | State::Waiting | State::Diverged => false,
        }
    }

    /// Returns the word that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Held => "held",
            State::Waiting => "waiting",
            State::Done => "done",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
            State::Diverged => "diverged",
        }
    }
}
