//! What an agent saw and said.

use agentic_api::view::{EntryView, TraceView};
use agentic_model::Instant;

use super::{clip, short};
use crate::age::since;
use crate::line::{LineTarget, PaneLine, Tone};

/// How many entries are shown.
const ENTRIES_MAX: usize = 200;
/// How much of each.
const ENTRY_CHARS_MAX: usize = 4_096;

/// Shows the entries that are bound to no commit yet, the newest of them, oldest first.
pub fn pending(agent: &str, entries: &[EntryView], now: Instant) -> Vec<PaneLine> {
    let head = PaneLine::default()
        .say(Tone::Strong, agent)
        .say(Tone::Faint, &format!(" · {} entries that no commit has yet", entries.len()));
    let mut lines = vec![head];
    let n_left = entries.len().saturating_sub(ENTRIES_MAX);
    if n_left > 0 {
        let text = format!("{n_left} earlier ones: `agentic trace pending --agent {agent}`");
        lines.push(PaneLine::default().say(Tone::Faint, &text));
    }
    lines.extend(entries.iter().skip(n_left).flat_map(|entry| entry_lines(entry, now)));
    lines
}

/// Shows a trace that is bound, from its beginning.
pub fn trace(view: &TraceView, now: Instant) -> Vec<PaneLine> {
    let head = PaneLine::default()
        .say(Tone::Strong, "Trace ")
        .say(Tone::Id, &short(&view.cid))
        .say(Tone::Faint, &format!(" of {}, {} entries", view.agent, view.entries.len()));
    let mut lines = vec![match &view.commit {
        Some(commit) => head.to(LineTarget::Commit(commit.clone())),
        None => head,
    }];
    let shown = view.entries.iter().take(ENTRIES_MAX);
    lines.extend(shown.flat_map(|entry| entry_lines(entry, now)));
    if view.entries.len() > ENTRIES_MAX {
        let text = format!("the first {ENTRIES_MAX}: `agentic trace show {}`", view.cid);
        lines.push(PaneLine::default().say(Tone::Faint, &text));
    }
    lines
}

fn entry_lines(entry: &EntryView, now: Instant) -> Vec<PaneLine> {
    let said = match (&entry.text, &entry.base64) {
        (Some(text), _) => clip(text, ENTRY_CHARS_MAX),
        // Four characters stand for three bytes.
        (None, Some(bytes)) => format!("about {} bytes that are no text", bytes.len() / 4 * 3),
        (None, None) => String::new(),
    };
    let mut said = said.trim_end().split('\n');
    let head = PaneLine::default()
        .say(Tone::Kind, &entry.kind)
        .say(Tone::Faint, &format!(" {} ", since(&entry.at, now)))
        .say(Tone::Plain, said.next().unwrap_or_default());
    let rest = said.map(|line| PaneLine::of(&format!("    {line}")));
    [head].into_iter().chain(rest).collect()
}
