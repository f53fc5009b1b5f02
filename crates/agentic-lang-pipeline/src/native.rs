//! The native functions of the standard builtins: plain work on texts, without any effect.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use agentic_model::{Map, Value};
use agentic_plan::text_of;
use agentic_replay::ProgramFailure;

use crate::run::AgentCall;

/// The longest text that a native function makes, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// A native function: takes a call, gives its output.
pub type Native = fn(&AgentCall) -> Result<Value, ProgramFailure>;

/// The native functions of a host, by name.
#[derive(Debug, Clone)]
pub struct Natives {
    functions: BTreeMap<String, Native>,
}

impl Default for Natives {
    /// Returns the functions of the standard builtins.
    fn default() -> Natives {
        let functions: [(&str, Native); 6] = [
            ("echo", |call| Ok(Value::Text(echo(call)))),
            ("upper", |call| Ok(Value::Text(text_of(&call.input).to_uppercase()))),
            ("wrap", wrap),
            ("repeat", repeat),
            ("concat", concat),
            ("pick", pick),
        ];
        let functions = functions.into_iter();
        Natives { functions: functions.map(|(name, native)| (name.to_owned(), native)).collect() }
    }
}

impl Natives {
    /// Adds a function, or replaces the one of its name.
    pub fn with(mut self, name: impl Into<String>, native: Native) -> Natives {
        self.functions.insert(name.into(), native);
        self
    }

    /// Says whether there is a function of this name.
    pub fn knows(&self, function: &str) -> bool {
        self.functions.contains_key(function)
    }

    /// Performs a function; nothing if there is none of that name. One that panics has failed,
    /// and so has its node, nothing else.
    pub fn perform(
        &self,
        function: &str,
        call: &AgentCall,
    ) -> Option<Result<Value, ProgramFailure>> {
        let native = self.functions.get(function)?;
        // A function has only the call, which it cannot change: nothing is left half done.
        let outcome = catch_unwind(AssertUnwindSafe(|| native(call)));
        Some(outcome.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let said = text.unwrap_or_else(|| "it said nothing".to_owned());
            Err(ProgramFailure::new("panicked", format!("`{function}` panicked: {said}")))
        }))
    }
}

fn wrap(call: &AgentCall) -> Result<Value, ProgramFailure> {
    let (left, right) = (text(&call.params, "left")?, text(&call.params, "right")?);
    Ok(Value::Text(format!("{left}{}{right}", text_of(&call.input))))
}

/// Gives its argument and its input, whichever there is.
fn echo(call: &AgentCall) -> String {
    let argument = call.params.get("text").map(text_of).unwrap_or_default();
    let input = text_of(&call.input);
    match (argument.is_empty(), input.is_empty()) {
        (false, false) => format!("{argument} | {input}"),
        (false, true) => argument,
        (true, _) => input,
    }
}

fn repeat(call: &AgentCall) -> Result<Value, ProgramFailure> {
    let times = call.params.get("times").and_then(Value::as_int);
    let times = times.and_then(|times| usize::try_from(times).ok());
    let times = times.ok_or_else(|| invalid("`times` is not a count"))?;
    let separator = text(&call.params, "sep")?;
    let input = text_of(&call.input);
    if times.saturating_mul(input.len() + separator.len()) > TEXT_BYTES_MAX {
        return Err(invalid("the text would be too long"));
    }
    Ok(Value::Text(vec![input; times].join(separator)))
}

/// Joins the texts of a tuple, or of the one input, and the further arguments.
fn concat(call: &AgentCall) -> Result<Value, ProgramFailure> {
    let separator = text(&call.params, "sep")?;
    let mut texts: Vec<String> = match &call.input {
        Value::List(items) => items.iter().map(text_of).collect(),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Map(_)
        | Value::Link(_)) => vec![text_of(other)],
    };
    texts.extend(call.args.iter().map(text_of));
    Ok(Value::Text(texts.join(separator)))
}

fn pick(call: &AgentCall) -> Result<Value, ProgramFailure> {
    let index = call.params.get("index").and_then(Value::as_int);
    let index = index.and_then(|index| usize::try_from(index).ok());
    let index = index.ok_or_else(|| invalid("`index` is not a place in a tuple"))?;
    let items = call.input.as_list().ok_or_else(|| invalid("the input is not a tuple"))?;
    items.get(index).cloned().ok_or_else(|| invalid("the tuple has no such item"))
}

fn text<'a>(params: &'a Map, key: &str) -> Result<&'a str, ProgramFailure> {
    let found = params.get(key).and_then(Value::as_text);
    found.ok_or_else(|| invalid(&format!("`{key}` is not text")))
}

fn invalid(message: &str) -> ProgramFailure {
    ProgramFailure::new("InvalidInput", message)
}
