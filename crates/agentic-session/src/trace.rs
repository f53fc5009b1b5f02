//! What the trace of its agent is told of a session: what the program says, where it is held, how
//! it ended.

use agentic_model::trace::split_entry;
use agentic_model::{AgentName, Entry, Instant, Kind, Value, json};
use agentic_replay::{End, Hold, ProgramEvent, SessionId};

use super::drive::Driver;
use super::{block, seal};
use crate::Result;

/// How many characters of a value a trace entry shows.
const SHOWN_CHARS_MAX: usize = 200;
/// The longest text of a program that the trace keeps as it is, in bytes.
const SAID_BYTES_MAX: usize = 256 << 10;

impl Driver<'_> {
    /// Writes what the program said into the agent's trace, and lets it be heard.
    pub(super) fn tell(&self, events: &[ProgramEvent]) -> Result<()> {
        self.append_entries(self.heard(events))
    }

    /// Lets what the program said be heard, and turns it into entries.
    pub(super) fn heard(&self, events: &[ProgramEvent]) -> Vec<Entry> {
        self.observed.say(events);
        let is_for_all = |event: &&ProgramEvent| !self.observed.keeps(event);
        let told = events.iter().filter(is_for_all);
        told.flat_map(|event| self.entry("log", &said(event))).collect()
    }

    pub(super) fn entry(&self, kind: &str, text: &str) -> Vec<Entry> {
        entries(kind, text, self.space.now())
    }

    /// Appends entries to the trace of the agent, if it is still there.
    pub(super) fn append_entries(&self, entries: Vec<Entry>) -> Result<()> {
        let agent = &self.session.started().agent;
        if entries.is_empty() || self.space.head(agent).is_err() {
            return Ok(());
        }
        Ok(self.space.add_entries(agent, entries)?)
    }

    /// Tells the trace where the session stands now, and seals it where it will stand for a while.
    pub(super) fn settle_down(&mut self) -> Result<()> {
        self.flush()?;
        let id = self.folder.id;
        let start = self.session.started().clone();
        let holds = self.session.pending();
        let fresh: Vec<Hold> =
            holds.iter().filter(|hold| self.told.insert(hold.id)).cloned().collect();
        let entries =
            fresh.iter().flat_map(|hold| self.entry("session", &held_line(&id, hold))).collect();
        self.append_entries(entries)?;
        let Some(end) = self.session.end().cloned() else {
            if !holds.is_empty() {
                self.seal(&start.agent)?;
            }
            return Ok(());
        };
        self.append_entries(self.entry("session", &end_line(&id, &end)))?;
        self.seal(&start.agent)?;
        self.room.clear();
        self.folder.retire(self.space)
    }

    /// Seals the records. Their log then holds them as shortly as the seal does.
    fn seal(&mut self, agent: &AgentName) -> Result<()> {
        let packed = seal::seal(self.space, agent, &self.folder)?;
        block::shorten(self.space, &self.folder, &mut self.log, &packed)
    }
}

/// Makes entries of a text, as many as it takes.
pub(super) fn entries(kind: &str, text: &str, at: Instant) -> Vec<Entry> {
    let kind = Kind::parse(kind).expect("a valid name");
    split_entry(&kind, at, text.as_bytes())
}

/// Says where a session is held.
pub(super) fn held_line(id: &SessionId, hold: &Hold) -> String {
    let question = hold.request.payload.get("question").and_then(Value::as_text);
    let what = question.unwrap_or(&hold.request.kind);
    format!("held {}: {}", id.short_request(&hold.id), shown(what))
}

/// Says how a session ended.
pub(super) fn end_line(id: &SessionId, end: &End) -> String {
    match end {
        End::Done(value) => format!("ended {}: {}", id.short(), shown(&format!("{value:?}"))),
        End::Failed(failure) => format!("failed {}: {}", id.short(), shown(&failure.message)),
        End::Cancelled => format!("cancelled {}", id.short()),
    }
}

/// Returns what the trace keeps of what a program said: texts as they are, the events of the
/// context language and everything else as JSON. What is too long stands in the records only.
pub(super) fn said(event: &ProgramEvent) -> String {
    let text = match agentic_lang_context::trace::text_of(event) {
        Some(text) => text.to_owned(),
        None => event.data.as_text().map_or_else(|| json::to_text(&event.data), str::to_owned),
    };
    match text.len() {
        0..=SAID_BYTES_MAX => text,
        n => format!("{}… ({n} bytes)", shown(&text)),
    }
}

/// Cuts a text for a trace entry, which is one line.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The entry that a decision's own trace holds.
pub fn decision_entry(text: String, at: Instant) -> Entry {
    let kind = Kind::parse("session").expect("a valid name");
    Entry::new(kind, at, Value::Text(text))
}

#[cfg(test)]
mod tests;
