//! What a run is told.

use agentic_replay::{AnswerSource, Path, Performance, RequestAnswer};

use crate::decision::{CancelAsk, ChildEnd, SettledHold, SignalAsk};
use crate::wire::{ChildAsk, LostReply};
use crate::workflow::desk::DecidedHold;

/// Where an effect was performed whose worker was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostPlace {
    /// On the machine that owns the space, where its program can be found.
    Space,
    /// Anywhere.
    Elsewhere,
}

/// Something that a run is told.
pub enum Event {
    /// An effect has an answer.
    Answered(Path, RequestAnswer, AnswerSource),
    /// Nobody could answer, for this reason; who is to stop takes the answer.
    Unanswered(Path, RequestAnswer, String),
    /// An effect may be tried again, for this reason; else it has the answer.
    Faulted(Box<Performance>, RequestAnswer, String),
    /// Whoever performed an effect is lost.
    Lost(Box<Performance>, LostPlace),
    /// What is known of an effect whose worker was lost.
    Probed(Path, LostReply),
    /// A session is the child of a request.
    Spawned(Path, Box<ChildAsk>),
    /// A child has ended, and says so.
    ChildEnded(ChildEnd),
    /// The server says that a child is closed, whatever it said itself.
    ChildClosed(String),
    /// What was to be told to another run has reached it; nothing where there is none.
    Told(Option<String>),
    /// An instant has come that the program waits for.
    Due(Path),
    /// An effect may be tried again.
    Again(Box<Performance>),
    /// So many records are sealed.
    Sealed(usize),
    /// Something has happened for a while that is not sealed.
    SealDue,
    /// A task has begun that takes more inputs.
    NextTask,
    /// The deadline of a hold has come.
    Overdue(String),
    /// A hold has expired, if it has.
    Expired(String, Option<SettledHold>),
    /// A hold that nobody waits for is closed, by this commit.
    Withdrawn(Path, Option<String>),
    /// Somebody decided.
    Decided(DecidedHold),
    /// Something came that the program waits for, or will.
    Signal(SignalAsk),
    /// Somebody asks it to stop.
    Cancel(CancelAsk),
    /// Something of the host failed, and cannot be mended by trying again.
    Broken(String),
    /// Nothing that it waits for, or somebody looks at it.
    Looked,
}
