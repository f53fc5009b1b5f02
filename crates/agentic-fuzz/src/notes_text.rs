//! Notes that agents and people write into.
//!
//! Putting our text into any note: it is found there, a second time changes nothing, and every line
//! that stands in no text of ours stays, in its order.

use agentic_model::trace::{cid_in_note, holds_note, ours_in_note, replace_in_note, split_entry};
use agentic_model::{AgentName, Cid, ConsoleTrace, Instant, Kind};

use crate::{take_byte, text_of};

/// Checks one input: the body of our entry, a zero, and what the note says so far. A line `@` there
/// stands for a text of ours.
pub fn check(mut data: &[u8]) {
    let n_entries = usize::from(take_byte(&mut data)) % 24;
    let at = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (body, note) = data.split_at(at);
    let Some(note) = text_of(note) else { return };
    let ours = text_of_ours(body, n_entries);
    let earlier = text_of_ours(b"earlier", 2);
    let existing: String = note
        .split_inclusive('\n')
        .map(|line| if line == "@\n" { &earlier } else { line })
        .collect();
    let cid = cid_in_note(&ours).expect("our text begins with its id");

    let united = replace_in_note(&existing, &ours);
    assert_eq!(cid_in_note(&united), Some(cid));
    assert!(holds_note(&united, &ours));
    assert_eq!(ours_in_note(&united).as_deref(), Some(ours.as_str()));
    assert_eq!(replace_in_note(&united, &ours), united, "a second time");

    let kept = united.strip_suffix(&ours).expect("ours comes last");
    if cid_in_note(&existing).is_none() {
        let lines = |text: &str| text.trim_end().lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(kept), lines(&existing), "what people wrote stays");
    }
}

fn text_of_ours(body: &[u8], n_entries: usize) -> String {
    let kind = Kind::parse("log").expect("a kind");
    let entry = || split_entry(&kind, Instant::from_millis(1_000), body);
    let agent = AgentName::parse("alice").expect("a name");
    let trace = ConsoleTrace::new(agent, (0..n_entries).flat_map(|_| entry()).collect());
    trace.note_text(Cid::of(body))
}
