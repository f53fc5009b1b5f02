//! What the trace of its agent is told of a session: what the program says, where it is held, how
//! it ended.

use agentic_model::{AgentName, Entry, Instant, Kind, Value};
use agentic_replay::{End, Event, Hold};

use super::drive::Driver;
use super::seal;
use crate::Result;

/// How many characters of a value a trace entry shows.
const SHOWN_CHARS_MAX: usize = 200;

impl Driver<'_> {
    /// Writes what the program said into the agent's trace.
    pub(super) fn tell(&self, events: &[Event]) -> Result<()> {
        let entries = events.iter().map(|event| {
            let text =
                event.data.as_text().map_or_else(|| format!("{:?}", event.data), str::to_owned);
            ("log", text)
        });
        self.trace(entries)
    }

    pub(super) fn trace(
        &self,
        entries: impl Iterator<Item = (&'static str, String)>,
    ) -> Result<()> {
        let agent: &AgentName = &self.session.started().agent;
        for (kind, text) in entries {
            if self.space.head(agent).is_ok() {
                let kind = Kind::parse(kind).expect("a valid name");
                self.space.add_trace(agent, &kind, text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Tells the trace where the session stands now, and seals it where it will stand for a while.
    pub(super) fn settle_down(&mut self) -> Result<()> {
        let id = self.folder.id;
        let start = self.session.started().clone();
        let holds = self.session.pending();
        let told = |hold: &Hold| {
            let question = hold.request.payload.get("question").and_then(Value::as_text);
            let what = question.unwrap_or(&hold.request.kind).to_owned();
            ("session", format!("held {}: {}", id.short_request(&hold.id), shown(&what)))
        };
        let fresh: Vec<Hold> =
            holds.iter().filter(|hold| self.told.insert(hold.id)).cloned().collect();
        self.trace(fresh.iter().map(told))?;
        let Some(end) = self.session.end().cloned() else {
            if !holds.is_empty() {
                seal::seal(self.space, &start.agent, &self.folder)?;
            }
            return Ok(());
        };
        let how = match &end {
            End::Done(value) => format!("ended {}: {}", id.short(), shown(&format!("{value:?}"))),
            End::Failed(failure) => format!("failed {}: {}", id.short(), shown(&failure.message)),
            End::Cancelled => format!("cancelled {}", id.short()),
        };
        self.trace(std::iter::once(("session", how)))?;
        seal::seal(self.space, &start.agent, &self.folder)?;
        self.folder.retire(self.space)
    }
}

/// Cuts a text for a trace entry, which is one line.
fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The entry that a decision's own trace holds.
pub fn decision_entry(text: String, at: Instant) -> Entry {
    let kind = Kind::parse("session").expect("a valid name");
    Entry { kind, at, body: Value::Text(text), continues: false }
}
