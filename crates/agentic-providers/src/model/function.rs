//! Functions that a model may call: how they are offered, and what model and functions have said to
//! each other.

use agentic_model::{Map, Value};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map as JsonMap, Value as Json, json};

/// A function that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFunction {
    /// Its name.
    pub name: String,
    /// The JSON Schema of its arguments, which are an object.
    pub parameters: Json,
}

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCall {
    /// What the model calls it; empty where its protocol has no such names.
    pub id: String,
    /// The name of the function.
    pub name: String,
    /// The arguments as the model wrote them. Nothing says that they are JSON.
    pub args: String,
}

/// What a model asked for at once, and what it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionTurn {
    /// What the model said beside its calls.
    pub said: String,
    /// The calls, whose arguments are JSON.
    pub calls: Vec<FunctionCall>,
    /// The result of each call, as JSON text.
    pub results: Vec<String>,
}

impl FunctionTurn {
    /// Returns each call with its result.
    pub fn answered(&self) -> impl Iterator<Item = (&FunctionCall, &str)> {
        self.calls.iter().zip(self.results.iter().map(String::as_str))
    }
}

impl FunctionCall {
    /// Makes a call from what a reply holds: arguments are JSON, or a text that is.
    pub(super) fn new(id: Option<String>, name: Option<String>, args: Option<&RawValue>) -> Self {
        let raw = args.map(RawValue::get).unwrap_or_default();
        let args = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
        FunctionCall { id: id.unwrap_or_default(), name: name.unwrap_or_default(), args }
    }

    /// Returns the arguments as JSON.
    pub(super) fn input(&self) -> Json {
        serde_json::from_str(&self.args).unwrap_or_else(|_| json!({}))
    }
}

/// Reads the tools of a request for a task: their names and the schemas of their parameters.
pub(super) fn functions(payload: &Value) -> Vec<ModelFunction> {
    #[derive(Deserialize)]
    struct ModelTool {
        name: String,
        #[serde(default)]
        params: JsonMap<String, Json>,
    }
    let tools: Vec<ModelTool> = read(payload, "tools");
    let function = |tool: ModelTool| {
        let required: Vec<&String> = tool.params.keys().collect();
        let required = json!(required);
        let parameters = json!({
            "type": "object",
            "properties": tool.params,
            "required": required,
            "additionalProperties": false,
        });
        ModelFunction { name: tool.name, parameters }
    };
    tools.into_iter().map(function).collect()
}

/// Reads what model and tools have said to each other before a request.
pub(super) fn turns(payload: &Value) -> Vec<FunctionTurn> {
    #[derive(Deserialize)]
    struct Round {
        said: String,
        calls: Vec<AskedCall>,
        results: Vec<Box<RawValue>>,
    }
    #[derive(Deserialize)]
    struct AskedCall {
        id: String,
        name: String,
        args: Box<RawValue>,
    }
    let call =
        |AskedCall { id, name, args }| FunctionCall { id, name, args: args.get().to_owned() };
    let turn = |round: Round| FunctionTurn {
        said: round.said,
        calls: round.calls.into_iter().map(call).collect(),
        results: round.results.iter().map(|result| result.get().to_owned()).collect(),
    };
    read::<Vec<Round>>(payload, "turns").into_iter().map(turn).collect()
}

/// Reads a field that is JSON; one that is not there, or is not well formed, has nothing in it.
fn read<T: Default + for<'de> Deserialize<'de>>(payload: &Value, key: &str) -> T {
    let text = payload.get(key).and_then(Value::as_text).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

/// Makes the answer of a model that asks for functions: what it `said`, and its `calls`.
pub(super) fn wish(said: &str, calls: Vec<FunctionCall>) -> Map {
    let call = |call: FunctionCall| {
        Value::map([
            ("id", Value::Text(call.id)),
            ("name", Value::Text(call.name)),
            ("args", Value::Text(call.args)),
        ])
    };
    let calls = calls.into_iter().map(call).collect();
    Map::from([("said".to_owned(), Value::text(said)), ("calls".to_owned(), Value::List(calls))])
}
