//! Errors of a running program.

use agentic_model::Value as Data;
use agentic_replay::Failure;

use crate::code::CodePlace;
use crate::error::{LIMIT, PROGRAM_FAILED};
use crate::value::Unshowable;

use super::RunWorld;

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

    pub fn unshowable(place: CodePlace, unshowable: Unshowable) -> TaskFault {
        TaskFault::limit(place, unshowable.to_string())
    }
}

impl RunWorld {
    /// Returns the message of a fault with its position.
    pub fn message(&self, fault: &TaskFault) -> String {
        match fault.kind {
            FaultKind::Program | FaultKind::Limit => {
                let position = self.module.position(fault.place);
                format!("{} at {}:{}", fault.message, position.line, position.column)
            }
            FaultKind::Inner => fault.message.clone(),
        }
    }

    pub fn failure(&self, fault: &TaskFault) -> Failure {
        let position = self.module.position(fault.place);
        let code = match fault.kind {
            FaultKind::Program | FaultKind::Inner => PROGRAM_FAILED,
            FaultKind::Limit => LIMIT,
        };
        let details = Data::map([
            ("file", Data::Int(i64::from(fault.place.file))),
            ("line", Data::Int(position.line as i64)),
            ("column", Data::Int(position.column as i64)),
            ("start", Data::Int(i64::from(fault.place.start))),
            ("end", Data::Int(i64::from(fault.place.end))),
        ]);
        Failure { details, ..Failure::new(code, self.message(fault)) }
    }
}
