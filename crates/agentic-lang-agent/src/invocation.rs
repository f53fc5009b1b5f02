//! The command line of the original, so that calls of it keep their meaning.

use crate::code;
use crate::data::{Data, json};

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// The file.
    pub source: String,
    /// The pipeline, or what to lower.
    pub pipeline: Option<String>,
    /// What to do.
    pub action: FileAction,
    /// The inputs, an object.
    pub input: Data,
    /// How many branches run at once.
    pub workers: i64,
    /// Who serves agents and models.
    pub adapter: Option<String>,
    /// Where to write the trace.
    pub trace_path: Option<String>,
}

/// What to do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAction {
    /// Run a pipeline.
    Run,
    /// Run the tests.
    Test,
    /// Print a pipeline as it runs.
    Lower,
}

/// A command line that has no meaning. Its exit code is 2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UsageError {
    /// One of the codes of family `A07`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
}

/// The adapters that can be named.
const ADAPTERS: [&str; 3] = ["mock", "live", "anthropic"];

/// Reads a command line, without the name of the program.
///
/// # Errors
/// Fails on unknown flags, on missing names, and on an input that is not a JSON object.
pub fn parse(words: &[String]) -> Result<Invocation, UsageError> {
    let mut names = Vec::new();
    let (mut input, mut adapter, mut trace_path) = (None, None, None);
    let (mut is_lower, mut is_test) = (false, false);
    let mut workers = crate::program::RunOptions::default().workers;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (flag, inline) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let mut value = || {
            let value = inline.clone().or_else(|| words.next().cloned());
            value.ok_or_else(|| usage(code::USAGE_FLAG, format!("`{flag}` needs a value")))
        };
        match flag {
            "--lower" => is_lower = true,
            "--test" => is_test = true,
            "--trace-live" => {}
            "--input" => input = Some(value()?),
            "--output-trace" => trace_path = Some(value()?),
            "--workers" => workers = self::workers(&value()?)?,
            "--adapter" => adapter = Some(known_adapter(value()?)?),
            _ if flag.starts_with('-') && flag.len() > 1 => {
                return Err(usage(code::USAGE_FLAG, format!("there is no flag `{flag}`")));
            }
            _ => names.push(word.clone()),
        }
    }
    let input = parse_input(input.as_deref().unwrap_or("{}"))?;
    let mut names = names.into_iter();
    let (source, pipeline) = (names.next(), names.next());
    if let Some(name) = names.next() {
        return Err(usage(code::USAGE_FLAG, format!("`{name}` is one name too many")));
    }
    let source =
        source.ok_or_else(|| usage(code::USAGE_NO_PIPELINE, "no file is named".to_owned()))?;
    let action = match (is_lower, is_test) {
        (true, _) => FileAction::Lower,
        (false, true) => FileAction::Test,
        (false, false) => FileAction::Run,
    };
    if pipeline.is_none() && action == FileAction::Lower {
        return Err(usage(code::USAGE_LOWER, "`--lower` needs a name".to_owned()));
    }
    if pipeline.is_none() && action == FileAction::Run {
        return Err(usage(code::USAGE_NO_PIPELINE, "no pipeline is named".to_owned()));
    }
    Ok(Invocation { source, pipeline, action, input, workers, adapter, trace_path })
}

fn usage(code: &'static str, message: String) -> UsageError {
    UsageError { code, message }
}

/// Reads a number of workers: any whole number, for a run refuses those below 1 itself. More than
/// can be counted are as many as can.
///
/// # Errors
/// Fails on anything else.
pub fn workers(text: &str) -> Result<i64, UsageError> {
    let wrong = || usage(code::USAGE_FLAG, format!("`{text}` is not a whole number"));
    let number = crate::data::Integer::parse(text.trim()).ok_or_else(wrong)?;
    let nearest = if number.is_negative() { i64::MIN } else { i64::MAX };
    Ok(number.to_i64().unwrap_or(nearest))
}

fn known_adapter(name: String) -> Result<String, UsageError> {
    if ADAPTERS.contains(&name.as_str()) {
        return Ok(name);
    }
    let message = format!("there is no adapter `{name}`; choose one of {}", ADAPTERS.join(", "));
    Err(usage(code::USAGE_FLAG, message))
}

/// Reads the text of `--input`.
///
/// # Errors
/// Fails on anything but a JSON object.
pub fn parse_input(text: &str) -> Result<Data, UsageError> {
    let data = json::from_text(text)
        .map_err(|error| usage(code::USAGE_INPUT_JSON, format!("the input is {error}")))?;
    if data.fields().is_none() {
        let message = "the input must be a JSON object".to_owned();
        return Err(usage(code::USAGE_INPUT_OBJECT, message));
    }
    Ok(data)
}
