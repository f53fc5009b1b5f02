//! Errors of scripts: what a script sees of a failure, and what a run shows of an error.

use agentic_model::Value;
use agentic_model::canonical::CanonicalError;
use agentic_replay::{NOT_DATA, ProgramFailure, RequestAnswer};
use rhai::{Dynamic, EvalAltResult, Position};

use crate::limits::LIMIT;
use crate::value::{NotData, from_value, to_value};

/// The code of the failure of a script that threw something else than a failure.
pub const THROWN: &str = "thrown";
/// The code of the failure of a script that did something wrong.
pub const SCRIPT_ERROR: &str = "script-error";
/// The code of an error inside the interpreter.
pub const INTERNAL: &str = "internal";
/// The code that a script sees when the time limit of a request passed.
pub const TIMED_OUT: &str = "timeout";
/// The code that a script sees when it is asked to stop.
pub const CANCELLED: &str = "cancelled";
/// The code that a script sees when it calls a function of the host wrongly.
pub const BAD_CALL: &str = "bad-call";
/// The code that a script sees when an answer does not fit its limits.
pub const TOO_LARGE: &str = "too-large";

/// Makes an error that a script can catch: a map of code, message and details.
pub(crate) fn catchable(failure: ProgramFailure, position: Position) -> Box<EvalAltResult> {
    let mut map = rhai::Map::new();
    map.insert("code".into(), failure.code.into());
    map.insert("message".into(), failure.message.into());
    map.insert("details".into(), from_value(failure.details));
    Box::new(EvalAltResult::ErrorRuntime(Dynamic::from_map(map), position))
}

pub(crate) fn bad_call(message: impl Into<String>, position: Position) -> Box<EvalAltResult> {
    catchable(ProgramFailure::new(BAD_CALL, message), position)
}

pub(crate) fn not_data(error: &NotData, position: Position) -> Box<EvalAltResult> {
    catchable(ProgramFailure::new(NOT_DATA, error.to_string()), position)
}

pub(crate) fn not_settled(error: &CanonicalError, position: Position) -> Box<EvalAltResult> {
    catchable(ProgramFailure::new(NOT_DATA, error.to_string()), position)
}

/// Makes the error that ends a branch for good.
pub(crate) fn terminated() -> Box<EvalAltResult> {
    Box::new(EvalAltResult::ErrorTerminated(Dynamic::UNIT, Position::NONE))
}

/// Gives a script the value of an answer, or the failure as an error.
pub(crate) fn value_of_answer(
    answer: RequestAnswer,
    position: Position,
) -> Result<Value, Box<EvalAltResult>> {
    let failure = match answer {
        RequestAnswer::Ok(value) => return Ok(value),
        RequestAnswer::Failed(failure) => failure,
        RequestAnswer::TimedOut => {
            ProgramFailure::new(TIMED_OUT, "the time limit of the request passed")
        }
        RequestAnswer::Cancelled(_) => ProgramFailure::new(CANCELLED, "the request was cancelled"),
    };
    Err(catchable(failure, position))
}

/// Shows an error that nothing caught as the failure that a run ends with.
pub(crate) fn failure_of_error(error: &EvalAltResult) -> ProgramFailure {
    let inner = innermost(error);
    if let EvalAltResult::ErrorRuntime(thrown, _) = inner {
        return failure_of_thrown(thrown, error);
    }
    let code = if inner.is_system_exception() { LIMIT } else { SCRIPT_ERROR };
    ProgramFailure::new(code, error.to_string())
}

/// Returns the error at the bottom of a chain of calls.
pub(crate) fn innermost(error: &EvalAltResult) -> &EvalAltResult {
    if let EvalAltResult::ErrorInFunctionCall(_, _, inner, _)
    | EvalAltResult::ErrorInModule(_, inner, _) = error
    {
        innermost(inner)
    } else {
        error
    }
}

/// A failure that a script let pass, or threw again, stays what it was.
fn failure_of_thrown(thrown: &Dynamic, error: &EvalAltResult) -> ProgramFailure {
    let value = to_value(thrown);
    let field = |name: &str| value.as_ref().ok()?.get(name)?.as_text().map(str::to_owned);
    if let (Some(code), Some(message)) = (field("code"), field("message")) {
        let details = value.as_ref().ok().and_then(|value| value.get("details")).cloned();
        return ProgramFailure { code, message, details: details.unwrap_or(Value::Null) };
    }
    let details = value.unwrap_or(Value::Null);
    ProgramFailure { details, ..ProgramFailure::new(THROWN, error.to_string()) }
}
