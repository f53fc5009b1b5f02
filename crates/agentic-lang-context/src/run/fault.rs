//! Errors of a running program.

use crate::code::CodePlace;
use crate::value::DisplayLimit;

/// An error that ends a task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TaskFault {
    /// What happened, without the position.
    pub message: String,
    pub place: CodePlace,
    pub kind: FaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// Of the program; it carries its position in its text.
    Program,
    /// Of iterations or of a child, whose messages carry their positions already.
    Inner,
    Limit,
}

impl TaskFault {
    pub fn new(place: CodePlace, message: impl Into<String>) -> TaskFault {
        TaskFault { message: message.into(), place, kind: FaultKind::Program }
    }

    pub fn limit(place: CodePlace, message: impl Into<String>) -> TaskFault {
        TaskFault { kind: FaultKind::Limit, ..TaskFault::new(place, message) }
    }

    pub fn unshowable(place: CodePlace, unshowable: DisplayLimit) -> TaskFault {
        TaskFault::limit(place, unshowable.to_string())
    }
}
