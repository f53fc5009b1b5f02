//! What the trace of its agent is told of a run that another host drives: the same as of any session.

use agentic_model::{Entry, Instant};
use agentic_replay::{End, Hold, ProgramEvent, SessionId};

use crate::trace::{end_line, entries, held_line, said};

/// What the trace is told, which comes with the seal of the records that it stands beside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldLine {
    /// Who says it.
    pub teller: Teller,
    /// What.
    pub text: String,
    /// When.
    pub at: Instant,
}

/// Who says something of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Teller {
    /// Its program.
    Program,
    /// Its host: where it is held, and how it ended.
    Host,
}

impl ToldLine {
    /// Returns what a program said.
    pub fn said(event: &ProgramEvent, at: Instant) -> ToldLine {
        ToldLine { teller: Teller::Program, text: said(event), at }
    }

    /// Says that a run is held.
    pub fn held(session: &SessionId, hold: &Hold, at: Instant) -> ToldLine {
        ToldLine { teller: Teller::Host, text: held_line(session, hold), at }
    }

    /// Says how a run ended.
    pub fn ended(session: &SessionId, end: &End, at: Instant) -> ToldLine {
        ToldLine { teller: Teller::Host, text: end_line(session, end), at }
    }

    /// Returns it as the trace keeps it.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let kind = match self.teller {
            Teller::Program => "log",
            Teller::Host => "session",
        };
        entries(kind, &self.text, self.at)
    }
}
