//! Traces: their entries, and the traces that a commit has had.

use agentic_api::view::{EntryView, TraceBindingView, TraceView, visible, visible_line};
use maud::{Markup, html};

use super::clip::{PageRoom, clip, short_line};
use super::{PageFrame, instant, short};

/// How many entries of a trace stand on a page.
pub const ENTRIES_MAX: usize = 200;
/// How much of an entry is shown among others, in bytes of the page.
const ENTRY_BYTES_MAX: usize = 4 << 10;
/// How much of an entry is shown by itself, in bytes of the page.
const WHOLE_BYTES_MAX: usize = 64 << 10;
/// How many places of entries are named one by one.
const PLACES_MAX: usize = 12;
/// How much room the entries have beside the other parts of a page.
pub const BESIDE_ROOM: PageRoom = PageRoom { bytes: 36 << 10, elements: 810 };
/// How much room they have by themselves.
const OWN_ROOM: PageRoom = PageRoom { bytes: 80 << 10, elements: 1_300 };

/// One entry of a trace.
pub struct EntrySight {
    /// The trace.
    pub trace: TraceView,
    /// The place of the entry, from 1.
    pub place: usize,
}

/// Shows a trace by itself.
pub fn page(frame: &PageFrame, trace: &TraceView, from: usize) -> Markup {
    let address = |from: usize| format!("/traces/{}?from={from}", trace.cid);
    frame.around(&html! {
        h1 { "Trace " code { (short(&trace.cid)) } }
        p.about {
            "of " a href={ "/agents/" (trace.agent) } { (visible_line(&trace.agent)) }
            " · " code { (trace.cid) }
        }
        (entries(trace, from, OWN_ROOM, &address))
    })
}

/// Shows one entry by itself.
pub fn entry_page(frame: &PageFrame, sight: &EntrySight, entry: &EntryView) -> Markup {
    let trace = &sight.trace;
    let whole = entry.text.as_deref().map(|text| clip(text, WHOLE_BYTES_MAX));
    frame.around(&html! {
        h1 { "Entry " (sight.place) " of trace " code { (short(&trace.cid)) } }
        p.about {
            (instant(&entry.at)) " " span.kind { (visible_line(&entry.kind)) }
            " · " a href={ "/traces/" (trace.cid) "?from=" (sight.place - 1) } { "among the others" }
        }
        @if let Some(whole) = &whole {
            pre { (whole.shown) }
            @if whole.is_cut { p.about { "… of " (n_bytes(entry)) " bytes" } }
        } @else {
            p.about { (size(entry)) }
        }
        @if entry.text.is_some() || entry.base64.is_some() {
            p { a href={ "/traces/" (trace.cid) "/entries/" (sight.place) } download { "Download it" } }
        }
    })
}

/// Shows the entries of a trace from one on, as many as there is room for.
pub fn entries(
    trace: &TraceView,
    from: usize,
    mut room: PageRoom,
    address: &dyn Fn(usize) -> String,
) -> Markup {
    let mut shown = Vec::new();
    let first = from.min(trace.entries.len());
    for (at, entry) in trace.entries.iter().enumerate().skip(first).take(ENTRIES_MAX) {
        let item = item(trace, entry, at + 1);
        // One at least is shown: no page is followed by itself.
        if !room.take(item.0.len(), 6) && !shown.is_empty() {
            break;
        }
        shown.push(item);
    }
    let end = first + shown.len();
    html! {
        p.about {
            (trace.entries.len()) @if trace.entries.len() == 1 { " entry" } @else { " entries" }
            @if shown.len() < trace.entries.len() && !shown.is_empty() { ", " (first + 1) " to " (end) " here" }
        }
        ol.trace start=(first + 1) { @for item in &shown { (item) } }
        @if first > 0 {
            p { a rel="prev" href=(address(first.saturating_sub(ENTRIES_MAX))) { "earlier entries" } }
        }
        @if end < trace.entries.len() {
            p { a rel="next" href=(address(end)) { "later entries" } }
        }
    }
}

fn item(trace: &TraceView, entry: &EntryView, place: usize) -> Markup {
    let clipped = entry.text.as_deref().map(|text| clip(text, ENTRY_BYTES_MAX));
    let address = format!("/traces/{}?entry={place}", trace.cid);
    html! {
        li {
            (instant(&entry.at)) " " b.kind { (short_line(&entry.kind, 64)) }
            @if let Some(clipped) = &clipped {
                pre { (clipped.shown) }
                @if clipped.is_cut { a href=(address) { "… all " (n_bytes(entry)) " bytes" } }
            } @else if entry.base64.is_some() {
                " " a href=(address) { (size(entry)) }
            } @else {
                " " (size(entry))
            }
        }
    }
}

fn size(entry: &EntryView) -> String {
    match (&entry.text, &entry.base64) {
        (None, None) => "removed".to_owned(),
        (Some(_), _) | (None, Some(_)) => format!("{} bytes", n_bytes(entry)),
    }
}

fn n_bytes(entry: &EntryView) -> usize {
    let encoded = |text: &str| {
        let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
        (text.len() / 4 * 3).saturating_sub(padding)
    };
    let text = entry.text.as_deref().map(str::len);
    text.unwrap_or_else(|| entry.base64.as_deref().map_or(0, encoded))
}

/// Shows which traces a commit has had.
pub fn history(bindings: &[TraceBindingView]) -> Markup {
    html! {
        @if bindings.is_empty() {
            p { "No trace was ever bound to this commit: " code { "agentic commit --trace" } " binds one." }
        } @else {
            p.about { (bindings.len()) @if bindings.len() == 1 { " binding" } @else { " bindings" } ", newest first" }
        }
        ol.bindings {
            @for (at, one) in bindings.iter().enumerate() { (binding(one, bindings.get(at + 1))) }
        }
    }
}

fn binding(one: &TraceBindingView, before: Option<&TraceBindingView>) -> Markup {
    let cid = one.binding.cid.as_deref();
    let earlier = before.and_then(|before| before.binding.cid.as_deref());
    html! {
        li {
            (instant(&one.binding.at)) " "
            @match cid {
                Some(cid) => { a href={ "/traces/" (cid) } { code { (cid) } } }
                None => { "no trace: the note was removed" }
            }
            p.about {
                "notes commit " code { (short(&one.binding.note_commit)) }
                @match one.entries {
                    None => { " · it cannot be read" }
                    Some(n) => {
                        " · " (n) @if n == 1 { " entry" } @else { " entries" }
                        @if before.is_some() {
                            (places(" · added ", &one.added, cid))
                            (places(" · left out ", &one.left_out, earlier))
                            @if one.added.is_empty() && one.left_out.is_empty() { " · the same entries" }
                        }
                    }
                }
            }
        }
    }
}

/// Names entries by their places, each with a link to it.
fn places(word: &str, places: &[usize], cid: Option<&str>) -> Markup {
    html! {
        @if let (Some(cid), false) = (cid, places.is_empty()) {
            (word) (places.len()) ": "
            @for (at, place) in places.iter().take(PLACES_MAX).enumerate() {
                @if at > 0 { ", " }
                a href={ "/traces/" (cid) "?entry=" (place) } { (place) }
            }
            @if places.len() > PLACES_MAX { " …" }
        }
    }
}

/// Shows a typed object as text.
pub fn object_page(frame: &PageFrame, cid: &str, object: &serde_json::Value) -> Markup {
    let kind = object.get("type").and_then(serde_json::Value::as_str).unwrap_or("object");
    let text = serde_json::to_string_pretty(object).unwrap_or_default();
    let clipped = clip(&text, WHOLE_BYTES_MAX);
    frame.around(&html! {
        h1 { "Object " code { (short(cid)) } " · " (short_line(kind, 128)) }
        p.about { code { (cid) } }
        @if kind == "console-trace" { p { a href={ "/traces/" (cid) } { "as a trace" } } }
        @if kind == "behaviour" || kind == "briefing" {
            @if let Some(source) = object.get("source").and_then(serde_json::Value::as_str) {
                h2 { "Source" }
                pre { (visible(&clip(source, WHOLE_BYTES_MAX / 4).shown)) }
            }
        }
        pre { (clipped.shown) }
        @if clipped.is_cut { p.about { "… of " (text.len()) " bytes" } }
        p { a href={ "/objects/" (cid) "/bytes" } download { "Download its canonical bytes" } }
    })
}
