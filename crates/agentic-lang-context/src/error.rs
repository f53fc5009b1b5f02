//! What can go wrong with a program that compiled.

use agentic_replay::{ProgramFailure, ProgramPosition};

use crate::load::FileFinding;

/// The code of the failure of a run that an error in the program ended.
pub const PROGRAM_FAILED: &str = "program";
/// The code of the failure of a run that went beyond a limit.
pub const LIMIT: &str = "limit";

/// Why a program cannot be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The check found faults.
    #[error("the program has {} faults", findings.len())]
    Faulty {
        /// All of them.
        findings: Vec<FileFinding>,
    },
    /// The entry names an agent that is not there.
    #[error("the program has no agent `{agent}`")]
    UnknownAgent {
        /// The name that was asked for.
        agent: String,
    },
    /// The entry names a function that is not there.
    #[error("the agent `{agent}` has no function `{function}`")]
    UnknownFunction {
        /// The agent.
        agent: String,
        /// The name that was asked for.
        function: String,
    },
    /// The entry names no function, and the agent has no main one.
    #[error("the agent `{agent}` has no main func")]
    NoMainFunction {
        /// The agent.
        agent: String,
    },
}

/// An error that ended a run, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFault {
    /// What happened, with the position after ` at `.
    pub message: String,
    /// Which of the module's sources.
    pub file: usize,
    /// The place in it, from 1.
    pub position: ProgramPosition,
}

impl RunFault {
    /// Reads the fault out of the failure with which a run of this language ended.
    pub fn of(failure: &ProgramFailure) -> Option<RunFault> {
        let number = |key| failure.details.get(key)?.as_int();
        let position = ProgramPosition {
            line: u32::try_from(number("line")?).ok()?,
            column: u32::try_from(number("column")?).ok()?,
        };
        let file = usize::try_from(number("file")?).ok()?;
        Some(RunFault { message: failure.message.clone(), file, position })
    }
}
