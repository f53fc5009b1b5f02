//! Holding what a command did against what a case expects.

use agentic_testkit::{FinishedProgram, ProgramEnding};
use serde_json::Value as Json;

use crate::case::{CaptureSource, CaseCommand, Expectation, JsonTest, OutputStream};
use crate::path::JsonPath;
use crate::pattern;
use crate::play::CaseStage;

/// How much of a stream a failure shows, in lines.
const SHOWN_LINES_MAX: usize = 40;
/// The exit code of a Rust program that panicked.
const PANIC_EXIT: i32 = 101;

/// Checks everything that a case expects of a command, and captures what it names.
pub(crate) fn command(
    command: &CaseCommand,
    finished: &FinishedProgram,
    stage: &mut CaseStage,
) -> Result<(), String> {
    check_ending(command.exit, finished)?;
    if let Some(expected) = &command.stdout {
        let expected =
            expected.iter().map(|line| stage.fill(line)).collect::<Result<Vec<_>, _>>()?;
        let text = text_of(OutputStream::Stdout, finished);
        let lines: Vec<&str> = text.lines().collect();
        if !pattern::lines_match(&expected, &lines) {
            let difference = pattern::difference(&expected, &lines);
            return Err(format!("stdout differs (- expected, + found):\n{difference}"));
        }
    }
    for expectation in &command.expectations {
        check_expectation(expectation, finished, stage)?;
    }
    Ok(())
}

/// Shows both streams, indented, for a failure.
pub(crate) fn streams_text(finished: &FinishedProgram) -> String {
    let show = |stream: OutputStream| {
        let text = text_of(stream, finished);
        if text.is_empty() {
            return format!("{}: empty\n", stream.name());
        }
        let shown = text.lines().take(SHOWN_LINES_MAX);
        let lines: String = shown.map(|line| format!("    {line}\n")).collect();
        format!("{}:\n{lines}", stream.name())
    };
    show(OutputStream::Stdout) + show(OutputStream::Stderr).as_str()
}

fn check_ending(expected: i32, finished: &FinishedProgram) -> Result<(), String> {
    match finished.ending {
        ProgramEnding::Exit(PANIC_EXIT) => Err("it panicked".to_owned()),
        ProgramEnding::Exit(code) if code == expected => Ok(()),
        ProgramEnding::Exit(code) => Err(format!("expected exit {expected}, found exit {code}")),
        ProgramEnding::Signal(signal) => {
            Err(format!("expected exit {expected}, found signal {signal}"))
        }
        ProgramEnding::TimeLimit => Err("it did not end within the time limit".to_owned()),
    }
}

fn check_expectation(
    expectation: &Expectation,
    finished: &FinishedProgram,
    stage: &mut CaseStage,
) -> Result<(), String> {
    match expectation {
        Expectation::Has { stream, text } => {
            let text = stage.fill(text)?;
            demand(text_of(*stream, finished).contains(&text), || {
                format!("{} must have: {text}", stream.name())
            })
        }
        Expectation::Lacks { stream, text } => {
            let text = stage.fill(text)?;
            demand(!text_of(*stream, finished).contains(&text), || {
                format!("{} must not have: {text}", stream.name())
            })
        }
        Expectation::Empty { stream } => demand(text_of(*stream, finished).is_empty(), || {
            format!("{} must be empty", stream.name())
        }),
        Expectation::Refused { text } => {
            check_refusal(&text_of(OutputStream::Stderr, finished), &stage.fill(text)?)
        }
        Expectation::Json { stream, path, test } => {
            let json = json_of(*stream, finished)?;
            let found = find(&json, path, stage);
            check_json(found, test, stage).map_err(|wrong| format!("json {path} {wrong}"))
        }
        Expectation::Let { name, source } => {
            let value = match source {
                CaptureSource::Stdout => {
                    text_of(OutputStream::Stdout, finished).trim_end().to_owned()
                }
                CaptureSource::Json(path) => {
                    let json = json_of(OutputStream::Stdout, finished)?;
                    plain(find(&json, path, stage).ok_or(format!("json {path} is not there"))?)
                }
            };
            stage.capture(name, value);
            Ok(())
        }
    }
}

/// An error has three parts: what happened, maybe why, and what to do next.
fn check_refusal(stderr: &str, text: &str) -> Result<(), String> {
    let has_line = |start: &str| stderr.lines().any(|line| line.starts_with(start));
    demand(has_line("error: "), || "stderr must have a line `error: …`".to_owned())?;
    demand(has_line("hint: "), || "stderr must have a line `hint: …`".to_owned())?;
    demand(stderr.contains(text), || format!("stderr must have: {text}"))
}

fn check_json(found: Option<&Json>, test: &JsonTest, stage: &CaseStage) -> Result<(), String> {
    let Some(found) = found else {
        return if matches!(test, JsonTest::Missing) {
            Ok(())
        } else {
            Err("is not there".to_owned())
        };
    };
    let literal = |text: &str| -> Result<Json, String> {
        let filled = stage.fill(text)?;
        serde_json::from_str(&filled).map_err(|error| format!("`{filled}` is not JSON: {error}"))
    };
    let has = |text: &str| -> Result<bool, String> {
        let wanted = literal(text)?;
        Ok(found.as_array().is_some_and(|items| items.contains(&wanted)))
    };
    let (holds, expected) = match test {
        JsonTest::Equals(text) => (*found == literal(text)?, format!("must be {text}")),
        JsonTest::Differs(text) => (*found != literal(text)?, format!("must not be {text}")),
        JsonTest::Like(pattern) => {
            let pattern = stage.fill(pattern)?;
            (pattern::line_matches(&pattern, &plain(found)), format!("must be like {pattern}"))
        }
        JsonTest::Matches(regex) => (regex.is_match(&plain(found)), format!("must match {regex}")),
        JsonTest::Contains(text) => (has(text)?, format!("must contain {text}")),
        JsonTest::Lacks(text) => (!has(text)?, format!("must not contain {text}")),
        JsonTest::Is(shape) => (shape.fits(found), format!("must be {shape:?}").to_lowercase()),
        JsonTest::Items(expected) => {
            let n_items = found.as_array().map(Vec::len);
            let n_items = n_items.or(found.as_object().map(serde_json::Map::len));
            (n_items == Some(*expected), format!("must have {expected} items"))
        }
        JsonTest::Missing => (false, "must not be there".to_owned()),
    };
    demand(holds, || format!("{expected}, but is {found}"))
}

fn demand(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(wrong()) }
}

fn find<'a>(json: &'a Json, path: &JsonPath, stage: &CaseStage) -> Option<&'a Json> {
    path.find(json, |text| stage.fill(text).unwrap_or_else(|_| text.to_owned()))
}

/// Reads a stream as JSON. Standard error is talk; the JSON in it is its last line.
fn json_of(stream: OutputStream, finished: &FinishedProgram) -> Result<Json, String> {
    let text = text_of(stream, finished);
    let json = match stream {
        OutputStream::Stdout => text.as_str(),
        OutputStream::Stderr => text.lines().last().unwrap_or(""),
    };
    serde_json::from_str(json).map_err(|error| format!("{} is not JSON: {error}", stream.name()))
}

fn text_of(stream: OutputStream, finished: &FinishedProgram) -> String {
    let bytes = match stream {
        OutputStream::Stdout => &finished.stdout,
        OutputStream::Stderr => &finished.stderr,
    };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Prints text as it is and anything else as JSON.
fn plain(value: &Json) -> String {
    if let Json::String(text) = value { text.clone() } else { value.to_string() }
}
