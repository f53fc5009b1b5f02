//! Requests of AgentLang programs and how hosts answer them.
//!
//! | kind | payload |
//! | --- | --- |
//! | [`MOCK`] | `task`, `args`, `agent` if one is bound, `result` for the task of an agent |
//! | [`TASK`] | `task`, `args`, `agent` if one is bound |
//! | [`AGENT_TASK`] | `task`, `args`, `result`, `agent` and `tools` if one is bound, its `model`, `turns` after the first round |
//! | [`AGENT_TOOL`] | `tool`, `args`, `agent`, `by`: `program` or [`BY_WEB`] |
//! | `hold` | `question` |
//! | `sleep` | `until`, in milliseconds since 1970 |
//!
//! `args` is one text: the arguments as JSON, whole numbers exact and keys in order. `result` is
//! the JSON Schema of the result, as text. `tools` lists the names of the agent's tools with the
//! schemas of their inputs, as JSON text. The answer is one text, too: the result as JSON. A model
//! that asks for tools answers with a map instead: `calls`, a list of `id`, `name` and `args`, the
//! text that it wrote, and what it `said`. It is asked again with `turns`, one JSON text that lists
//! for each round what was `said`, the `calls` with `args` as JSON, and their `results`.

use agentic_model::{Map, Value};
use agentic_replay::{EffectClass, Handling, KindRule, Kinds, Request, RequestAnswer};

use crate::ast::Ast;
use crate::data::{Data, json};
use crate::program::TaskCode;
use crate::program::conform::schema;
use crate::program::options::{RunOptions, TaskAgents};

/// The kind of a task that needs no world: built in, or made up for an agent.
pub const MOCK: &str = "mock";
/// The kind of a task that a handler of the host performs.
pub const TASK: &str = "task";
/// The kind of a task that a model performs.
pub const AGENT_TASK: &str = "agent-task";

/// The kind of a tool that a model asked for.
pub const AGENT_TOOL: &str = "agent-tool";
/// Who performs a tool that only reads the web.
pub const BY_WEB: &str = "web";
/// Who performs a tool that the host has a handler for.
const BY_PROGRAM: &str = "program";
/// The tools that need no handler where models are asked.
const WEB_TOOLS: [&str; 2] = ["fetch_url", "web_search"];

/// Tells a host the kinds of this language: asking a model or reading the web again does no harm;
/// what a handler does, nobody knows, so after a crash a human decides.
pub fn register_kinds(kinds: &mut Kinds) {
    kinds.set(MOCK, KindRule::new(Handling::Effect(EffectClass::Pure)));
    kinds.set(TASK, KindRule::new(Handling::Effect(EffectClass::Once)));
    kinds.set(AGENT_TASK, KindRule::new(Handling::Effect(EffectClass::Read)));
    kinds.set_classes(AGENT_TOOL, |request| {
        match request.payload.get("by").and_then(Value::as_text) {
            Some(BY_WEB) => EffectClass::Read,
            Some(_) | None => EffectClass::Once,
        }
    });
}

/// Makes the answer of a task from its result.
pub fn answer(result: &Data) -> RequestAnswer {
    RequestAnswer::Ok(Value::Text(json::to_text(result)))
}

/// Returns the arguments of a task's request as JSON text.
pub fn argument_text(request: &Request) -> Option<&str> {
    request.payload.get("args")?.as_text()
}

/// The agent that a task is bound to.
pub(crate) struct BoundAgent<'a> {
    pub name: &'a str,
    pub model: Option<&'a str>,
    pub tools: String,
}

/// What is asked of whoever performs a task.
pub(super) struct TaskRequest<'a> {
    /// The arguments, as JSON.
    pub args: &'a str,
    pub agent: Option<&'a BoundAgent<'a>>,
    /// What model and tools have said to each other, as JSON.
    pub turns: Option<String>,
}

/// Makes the payload of a task's request.
pub(super) fn payload(ast: &Ast, task: &TaskCode, asked: TaskRequest<'_>, kind: &str) -> Value {
    let TaskRequest { args, agent, turns } = asked;
    let mut map = Map::new();
    map.extend(turns.map(|turns| ("turns".to_owned(), Value::Text(turns))));
    map.insert("args".to_owned(), Value::text(args));
    map.insert("task".to_owned(), Value::text(&*task.name));
    if let Some(agent) = agent {
        map.insert("agent".to_owned(), Value::text(agent.name));
    }
    if kind == AGENT_TASK || (kind == MOCK && task.is_agent_task) {
        let schema = task.schema.get_or_init(|| schema(ast, task.result));
        map.insert("result".to_owned(), Value::text(schema.as_str()));
        if let (AGENT_TASK, Some(agent)) = (kind, agent) {
            map.insert("tools".to_owned(), Value::text(agent.tools.as_str()));
            if let Some(model) = agent.model {
                map.insert("model".to_owned(), Value::text(model));
            }
        }
    }
    Value::Map(map)
}

/// Makes the payload of a tool's request; nothing where nobody performs the tool.
pub(super) fn tool_payload(
    options: &RunOptions,
    tool: &str,
    args: &str,
    agent: &str,
) -> Option<Value> {
    let by = match options.agents {
        _ if options.tools.contains(tool) => BY_PROGRAM,
        TaskAgents::Models if WEB_TOOLS.contains(&tool) => BY_WEB,
        TaskAgents::Models | TaskAgents::Mock => return None,
    };
    Some(Value::map([
        ("tool", Value::text(tool)),
        ("args", Value::text(args)),
        ("agent", Value::text(agent)),
        ("by", Value::text(by)),
    ]))
}
