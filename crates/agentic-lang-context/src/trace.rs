//! What a run reported: a list of `{kind, data}` events in the order in which they completed.

mod prompts;

use agentic_replay::ProgramEvent;

pub use crate::trace::prompts::prompts;

use crate::json::{self, Json, compact};
use crate::run::{TRACE_BYTES_MAX, TRACE_EVENT, left_out};

/// How deep the events of a run may nest, with the values in them.
const TRACE_NESTING_MAX: usize = 512;
/// The longest text that a line shows in full, in characters.
const LINE_TEXT_MAX: usize = 72;
/// What a line says when there is nothing to show.
const EMPTY: &str = "(empty trace)";

/// Collects the trace out of the events of a run; events of other kinds are left out.
pub fn collect<'a>(events: impl IntoIterator<Item = &'a ProgramEvent>) -> Vec<Json> {
    let texts = events.into_iter().filter_map(text_of);
    texts.filter_map(|text| json::parse_within(text, TRACE_NESTING_MAX).ok()).collect()
}

/// Collects the trace of a run while it runs, up to [`TRACE_BYTES_MAX`]. What comes then is only
/// counted, so that a long run does not fill the memory with what it did.
#[derive(Debug, Default)]
pub struct Collector {
    trace: Vec<Json>,
    n_bytes: u64,
    n_left_out: u64,
}

impl Collector {
    /// Takes in an event; those of other kinds are left aside.
    pub fn take(&mut self, event: &ProgramEvent) {
        let Some(text) = text_of(event) else { return };
        if self.n_bytes >= TRACE_BYTES_MAX {
            self.n_left_out += 1;
            return;
        }
        self.n_bytes += text.len() as u64;
        self.trace.extend(json::parse_within(text, TRACE_NESTING_MAX));
    }

    /// Returns the trace so far; a last event says how many were left out.
    pub fn trace(&self) -> Vec<Json> {
        let rest = (self.n_left_out > 0).then(|| left_out(self.n_left_out));
        self.trace.iter().cloned().chain(rest).collect()
    }
}

/// Returns the JSON of one event of the trace; nothing for an event of another kind.
pub fn text_of(event: &ProgramEvent) -> Option<&str> {
    json::wire_text(&event.data).filter(|_| event.kind == TRACE_EVENT)
}

/// Prints a trace as an indented list, one line for every event.
pub fn pretty(trace: &[Json]) -> String {
    let mut lines = Vec::new();
    write_events(trace, 0, &mut lines);
    if lines.is_empty() { EMPTY.to_owned() } else { lines.join("\n") }
}

fn write_events(events: &[Json], depth: usize, lines: &mut Vec<String>) {
    for event in events {
        let kind = event.get("kind").and_then(Json::as_text).unwrap_or_default();
        let data = event.get("data").cloned().unwrap_or_default();
        lines.push(format!("{}- {}", "  ".repeat(depth), headline(kind, &data)));
        let inner = |json: &Json| json.get("trace").and_then(Json::as_list).map(<[Json]>::to_vec);
        if let Some(trace) = inner(&data) {
            write_events(&trace, depth + 1, lines);
        }
        let iterations = data.get("iterations").and_then(Json::as_list).unwrap_or_default();
        for iteration in iterations {
            let ok = iteration.get("ok") == Some(&Json::Bool(true));
            let outcome = if ok { "ok" } else { "failed" };
            let index = text(iteration, "index");
            let indent = "  ".repeat(depth + 1);
            lines.push(format!("{indent}- iteration [{index}] {outcome}"));
            if let Some(trace) = inner(iteration) {
                write_events(&trace, depth + 2, lines);
            }
        }
    }
}

fn headline(kind: &str, data: &Json) -> String {
    match kind {
        "agent" => format!("agent {}.{}", text(data, "agent"), text(data, "function")),
        "generate" => format!("generate {}", text(data, "instruction")),
        "tool" => format!("tool {}.{}", text(data, "tool"), text(data, "method")),
        "memory" => format!("memory {}.{}", text(data, "memory"), text(data, "operation")),
        "input" => format!("input {}", text(data, "path")),
        "for" => format!("for {}[{}]", text(data, "item"), text(data, "index")),
        "use" => format!("use {}", text(data, "source")),
        "parallel_for" => format!(
            "parallel for {} ({} items, concurrency {})",
            text(data, "item"),
            text(data, "items"),
            text(data, "concurrency")
        ),
        "error" => format!("error {}", text(data, "error")),
        "left_out" => format!("and {} events that are left out", text(data, "events")),
        other => shortened(other),
    }
}

/// Returns a member as one short line of text.
fn text(data: &Json, key: &str) -> String {
    match data.get(key) {
        Some(Json::Text(text)) => shortened(text),
        Some(other) => shortened(&compact(other)),
        None => "null".to_owned(),
    }
}

fn shortened(text: &str) -> String {
    let line = text.replace(['\n', '\r', '\t'], " ");
    if line.chars().count() <= LINE_TEXT_MAX {
        return line;
    }
    let cut: String = line.chars().take(LINE_TEXT_MAX - 3).collect();
    format!("{cut}...")
}
