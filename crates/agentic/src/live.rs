//! What people see on standard error while an AgentLang program runs.

use agentic_lang_agent::{PROGRESS, TraceCapture, report};
use agentic_replay::ProgramEvent;

use crate::output::Format;

/// The variable that asks for the trace while the program runs.
const LIVE_VARIABLE: &str = "AGENTLANG_TRACE_LIVE";
/// The values of a variable that mean no.
const NO: [&str; 5] = ["", "0", "false", "no", "off"];

/// What people see of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunDisplay {
    /// Whether they see which tasks begin.
    pub progress: TraceCapture,
    /// Whether they see every event of the trace.
    pub trace: TraceCapture,
}

impl RunDisplay {
    /// Decides what people see: the trace where a flag or the environment asks for it, and which
    /// tasks begin unless a program reads along.
    pub fn of(format: Format, flag: TraceCapture) -> RunDisplay {
        let asked = std::env::var_os(LIVE_VARIABLE).is_some_and(|value| {
            !NO.contains(&value.to_string_lossy().trim().to_lowercase().as_str())
        });
        RunDisplay {
            progress: if format == Format::Text { TraceCapture::On } else { TraceCapture::Off },
            trace: if asked { TraceCapture::On } else { flag },
        }
    }

    /// Returns the line that an event is to people.
    pub fn line(self, event: &ProgramEvent) -> Option<String> {
        match (self.progress, event.data.as_text()) {
            (TraceCapture::On, Some(line)) if event.kind == PROGRESS => Some(line.to_owned()),
            _ if self.trace == TraceCapture::On => report::live_line(event),
            _ => None,
        }
    }
}
