//! What a run is told.

use agentic_replay::{AnswerSource, Path, Performance, RequestAnswer};

use crate::decision::{CancelAsk, SettledHold};
use crate::workflow::desk::DecidedHold;

/// Something that a run is told.
pub enum Event {
    /// An effect has an answer.
    Answered(Path, RequestAnswer, AnswerSource),
    /// Nobody could answer, for this reason.
    Unanswered(Path, String),
    /// Whoever performed an effect is lost.
    Lost(Path),
    /// An instant has come that the program waits for.
    Due(Path),
    /// An effect may be tried again.
    Again(Box<Performance>),
    /// So many records are sealed.
    Sealed(usize),
    /// The deadline of a hold has come.
    Overdue(String),
    /// A hold has expired, if it has.
    Expired(String, Option<SettledHold>),
    /// A hold that nobody waits for is closed, by this commit.
    Withdrawn(Path, Option<String>),
    /// Somebody decided.
    Decided(DecidedHold),
    /// Somebody asks it to stop.
    Cancel(CancelAsk),
    /// Something of the host failed, and cannot be mended by trying again.
    Broken(String),
    /// Somebody looks at it.
    Looked,
}
