//! Errors of a running program.

use agentic_model::Value as Data;
use agentic_replay::Failure;

use crate::code::Place;
use crate::error::{LIMIT, PROGRAM_FAILED};
use crate::value::Unshowable;

use super::World;

/// An error that ends a task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    /// What happened, without the position.
    pub message: String,
    pub place: Place,
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

impl Fault {
    pub fn new(place: Place, message: impl Into<String>) -> Fault {
        Fault { message: message.into(), place, kind: FaultKind::Program }
    }

    pub fn limit(place: Place, message: impl Into<String>) -> Fault {
        Fault { kind: FaultKind::Limit, ..Fault::new(place, message) }
    }

    pub fn unshowable(place: Place, unshowable: Unshowable) -> Fault {
        Fault::limit(place, unshowable.to_string())
    }
}

impl World {
    /// Returns the message of a fault with its position.
    pub fn message(&self, fault: &Fault) -> String {
        match fault.kind {
            FaultKind::Program | FaultKind::Limit => {
                let position = self.module.position(fault.place);
                format!("{} at {}:{}", fault.message, position.line, position.column)
            }
            FaultKind::Inner => fault.message.clone(),
        }
    }

    pub fn failure(&self, fault: &Fault) -> Failure {
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
