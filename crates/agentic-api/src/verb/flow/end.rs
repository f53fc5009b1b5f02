//! What pipelines came to, as it is told.

use agentic_lang_pipeline::run::RunResult;
use agentic_model::{Value, json};
use agentic_replay::{End, ProgramFailure};

use crate::Refusal;
use crate::verb::{Reply, VerbCompletion};
use crate::view::{RunAnswer, RunResultView};

/// Tells what a run came to; the blocks of one that is kept say by which name.
pub(crate) fn end_reply(end: &End, run_id: Option<&str>) -> Result<Reply<RunAnswer>, Refusal> {
    match end {
        End::Done(result) => {
            let result = named(result, run_id);
            let text = RunResult::values_of(&result).iter().map(line).collect();
            let ended = RunResultView { text, json: json::to_text(&result) };
            Ok(Reply::plain(RunAnswer::Ended(ended)))
        }
        End::Failed(failure) => failed(failure, named(&failure.details, run_id)),
        End::Cancelled => Err(Refusal::refused("the run was cancelled", "run it again")),
    }
}

/// Returns the result of a block as people see it.
fn line(value: &Value) -> String {
    match value.as_text() {
        Some(text) => format!("{text}\n"),
        None => format!("{}\n", json::to_text(value)),
    }
}

/// Returns a result whose blocks say by which name their run is found again.
fn named(result: &Value, run_id: Option<&str>) -> Value {
    let (Some(run_id), Some(result)) = (run_id, result.as_map()) else { return result.clone() };
    let mut result = result.clone();
    if let Some(Value::List(blocks)) = result.get_mut("blocks") {
        for block in blocks {
            if let Value::Map(block) = block {
                block.insert("run_id".to_owned(), Value::text(run_id));
            }
        }
    }
    Value::Map(result)
}

/// Tells why a run failed; how far its blocks came is the answer.
fn failed(failure: &ProgramFailure, details: Value) -> Result<Reply<RunAnswer>, Refusal> {
    let cause = cause_of(&details);
    let hint = match cause {
        Some("ConfigurationError") => {
            "`agentic flow explain FILE` says what it needs, `agentic providers` which models there are"
        }
        Some("MissingCredential" | "InsecureCredentialFile") => {
            "`agentic flow explain FILE` says which credentials it needs"
        }
        Some(_) | None => "`agentic --json run FILE` shows how far each node came",
    };
    let refusal = Refusal::program(&failure.code, &failure.message, hint);
    let refusal = match cause {
        Some(code) => refusal.because_of(code),
        None => refusal,
    };
    let Value::Map(mut so_far) = details else { return Err(refusal) };
    if !so_far.contains_key("blocks") {
        return Err(refusal);
    }
    let error = serde_json::to_string(&refusal.view()).expect("views have text keys");
    so_far.extend(json::from_text(&error).map(|error| ("error".to_owned(), error)));
    let ended = RunResultView { text: String::new(), json: json::to_text(&Value::Map(so_far)) };
    let completion = VerbCompletion::Short(refusal);
    Ok(Reply { completion, ..Reply::plain(RunAnswer::Ended(ended)) })
}

/// Returns the code of what made the last block fail.
fn cause_of(details: &Value) -> Option<&str> {
    let blocks = details.get("blocks")?.as_list()?;
    let error = blocks.last()?.get("error")?.get("details")?;
    error.get("cause")?.get("code")?.as_text()
}
