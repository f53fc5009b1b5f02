//! What runs leave behind, as text.

use agentic_model::Value;
use agentic_replay::{End, ProgramEvent};

use crate::data::{Data, DataJsonError, TooLarge, json};
use crate::program::{TRACE, TestResult};

/// How a trace file begins.
const TRACE_HEAD: &str = "{\"trace\":[";
/// How much of a value a line for people shows, in characters.
const SHOWN_CHARS_MAX: usize = 200;

/// Why a result cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The end is not one of a run of this language.
    #[error("the run did not end with a result of AgentLang")]
    NotAResult,
    /// The result is not JSON.
    #[error("the result cannot be read")]
    Json(#[from] DataJsonError),
    /// The result does not fit into a report.
    #[error("the report is too large")]
    TooLarge(#[from] TooLarge),
}

/// Reads the result of a run that is done.
///
/// # Errors
/// Fails when the run ended otherwise.
pub fn result(end: &End) -> Result<Data, ReportError> {
    match end {
        End::Done(Value::Text(text)) => Ok(json::from_text(text)?),
        End::Done(_) | End::Failed(_) | End::Cancelled => Err(ReportError::NotAResult),
    }
}

/// Prints a result as the command line does: `{"result": …}` over several lines.
///
/// # Errors
/// Fails when the result is too large.
pub fn result_text(result: Data) -> Result<String, ReportError> {
    let wrapped = Data::object(vec![("result".into(), result)])?;
    Ok(format!("{}\n", json::to_pretty(&wrapped)))
}

/// Reads the results of a run of tests.
///
/// # Errors
/// Fails when the run ended otherwise.
pub fn test_results(end: &End) -> Result<Vec<TestResult>, ReportError> {
    let report = result(end)?;
    let tests = report.get("tests").and_then(Data::items).ok_or(ReportError::NotAResult)?;
    let read = |test: &Data| {
        let name = test.get("name")?.as_text()?.to_owned();
        let error = test.get("error")?.as_text().map(str::to_owned);
        Some(TestResult { name, error })
    };
    tests.iter().map(|test| read(test).ok_or(ReportError::NotAResult)).collect()
}

/// Prints the results of tests, one to a line, and their sum.
pub fn test_text(tests: &[TestResult]) -> String {
    let mut out = String::new();
    for test in tests {
        match &test.error {
            None => out.push_str(&format!("  PASS: {}\n", test.name)),
            Some(error) => out.push_str(&format!("  FAIL: {} — {error}\n", test.name)),
        }
    }
    let n_failed = tests.iter().filter(|test| test.error.is_some()).count();
    let n_passed = tests.len() - n_failed;
    out.push_str(&format!("\n{n_passed} passed, {n_failed} failed, {} total\n", tests.len()));
    out
}

/// Puts a trace file together piece by piece, so that nobody has to hold all of it.
#[derive(Debug, Default)]
pub struct TraceText {
    n_events: u64,
}

impl TraceText {
    /// Returns what an event adds to the text: what comes before it, and the event itself. Nothing
    /// for events that are not of the trace.
    pub fn add<'a>(&mut self, event: &'a ProgramEvent) -> Option<[&'a str; 2]> {
        let text = traced(event)?;
        let before = if self.n_events == 0 { TRACE_HEAD } else { ",\n" };
        self.n_events += 1;
        Some([before, text])
    }

    /// Returns how the text ends.
    pub fn end(self) -> [&'static str; 2] {
        [if self.n_events == 0 { TRACE_HEAD } else { "" }, "]}\n"]
    }
}

/// Writes the trace file from the events of a run.
pub fn trace_text<'a>(events: impl IntoIterator<Item = &'a ProgramEvent>) -> String {
    let mut trace = TraceText::default();
    let mut text: String =
        events.into_iter().filter_map(|event| trace.add(event)).flatten().collect();
    text.extend(trace.end());
    text
}

/// Returns the line that tells people of an event of the trace; nothing for other events. Values
/// are cut, and nothing in it can steer a terminal.
pub fn live_line(event: &ProgramEvent) -> Option<String> {
    let text = traced(event)?;
    let entry = json::from_text(text).unwrap_or_else(|_| Data::text(text));
    let Some(fields) = entry.fields() else { return Some(format!("[trace] {}", cut(text))) };
    let mut line = String::from("[trace]");
    for (name, value) in fields {
        match &**name {
            "timestamp" => {}
            "type" => line.extend([" ", value.as_text().unwrap_or_default()]),
            name => line.extend([" ", name, "=", &cut(&json::to_text(value))]),
        }
    }
    Some(line)
}

fn traced(event: &ProgramEvent) -> Option<&str> {
    event.data.as_text().filter(|_| event.kind == TRACE)
}

fn cut(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = chars.by_ref().take(SHOWN_CHARS_MAX).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}
