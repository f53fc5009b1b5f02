//! What runs leave behind, as text.

use agentic_model::Value;
use agentic_replay::{End, Event};

use crate::data::{Data, JsonError, TooLarge, json};
use crate::program::{TRACE, TestResult};

/// Why a result cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The end is not one of a run of this language.
    #[error("the run did not end with a result of AgentLang")]
    NotAResult,
    /// The result is not JSON.
    #[error("the result cannot be read")]
    Json(#[from] JsonError),
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

/// Writes the trace file from the events of a run.
pub fn trace_text<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    let traced = events.into_iter().filter(|event| event.kind == TRACE);
    let entries: Vec<&str> = traced.filter_map(|event| event.data.as_text()).collect();
    format!("{{\"trace\":[{}]}}\n", entries.join(",\n"))
}
