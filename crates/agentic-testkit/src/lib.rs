//! Temporary spaces for tests.
//!
//! A [`Sandbox`] is a folder of its own with an environment of its own: no configuration, identity
//! or variable of the person who runs the tests reaches what runs inside. A [`Setup`] fills it with
//! repositories, [`run`] runs a program in it within a time limit, and [`GroundState`] is what must
//! not change when a command is refused.

mod browser;
mod cost;
pub mod crash;
mod kills;
mod process;
mod sandbox;
mod setup;
mod state;
mod temporal;
mod webdriver;

pub use crate::browser::{Browser, ENTER_KEY, SPACE_KEY, TAB_KEY};
pub use crate::cost::{CostBench, MeasuredCommand, has_valgrind, peak_memory};
pub use crate::kills::{KillReport, Kills, kill_at_random};
pub use crate::process::{FinishedProgram, ProgramEnding, run, write_program};
pub use crate::sandbox::Sandbox;
pub use crate::setup::{Setup, Templates};
pub use crate::state::GroundState;
pub use crate::temporal::{LeftServer, TemporalServer};

/// Why a test could not be prepared or observed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error("cannot {attempt}")]
    File {
        /// What was attempted.
        attempt: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A program that prepares the sandbox failed.
    #[error("`{command}` failed: {said}")]
    Command {
        /// The program and its arguments.
        command: String,
        /// What it said on standard error.
        said: String,
    },
    /// A browser did not do what it was asked.
    #[error("the browser says: {said}")]
    Browser {
        /// What it said.
        said: String,
    },
}

impl Error {
    /// Says what was attempted when the file system refused.
    pub fn file(attempt: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let attempt = attempt.into();
        move |source| Error::File { attempt, source }
    }
}
