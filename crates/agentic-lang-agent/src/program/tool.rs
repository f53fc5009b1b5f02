//! Tools that models ask for: which agents have them, what they take and what they give.
//!
//! A model's wish is hostile text. The tool must be one of the agent's, somebody must perform it,
//! and the arguments must be those of its signature; what it gives must conform as well.

use std::collections::BTreeSet;

use agentic_model::Value as Model;
use agentic_replay::{ProgramFailure, RequestAnswer};

use crate::data::{Data, json};
use crate::module::AgentModule;
use crate::program::conform::{conforms, find_stranger, quoted};
use crate::program::options::RunOptions;
use crate::program::request::{AGENT_TOOL, tool_payload};
use crate::program::store::AskedWork;
use crate::program::strand::CallPhase;

/// How much of what a model or a tool wrote is shown in an error, in characters.
const SHOWN_CHARS_MAX: usize = 200;
/// How many names that a model made up are shown in an error.
const SHOWN_NAMES_MAX: usize = 8;

/// A call of a tool that makes sense.
#[derive(Debug)]
pub(super) struct CheckedToolCall {
    /// What the model calls it.
    pub id: String,
    pub name: String,
    /// The arguments, as JSON.
    pub args: String,
    pub work: AskedWork,
    /// Whether the store performs it.
    pub is_of_store: bool,
    /// Its place among the declared tools.
    declared: usize,
}

impl CheckedToolCall {
    /// Reads a call that a model asks for, or says what is wrong with it.
    pub fn of(
        module: &AgentModule,
        options: &RunOptions,
        agent: Option<u32>,
        call: &Model,
    ) -> Result<CheckedToolCall, String> {
        let text = |key: &str| call.get(key).and_then(Model::as_text).unwrap_or_default();
        let (id, name) = (text("id").to_owned(), text("name").to_owned());
        let (agent, declared) = find(module, agent, &name)?;
        let args = arguments(module, declared, &name, text("args"))?;
        let verb = options.store.tools.get(&name);
        let work = match verb {
            Some(verb) => AskedWork::of_store(*verb, &args, CallPhase::Tool),
            None => {
                let payload = tool_payload(options, &name, &args, agent)
                    .ok_or_else(|| format!("No runtime handler registered for tool '{name}'."))?;
                AskedWork::new(AGENT_TOOL, payload, CallPhase::Tool)
            }
        };
        Ok(CheckedToolCall { id, name, args, work, is_of_store: verb.is_some(), declared })
    }

    /// Reads what the tool gave, or says why that is nothing.
    pub fn result(&self, module: &AgentModule, answer: RequestAnswer) -> Result<Data, String> {
        let name = &self.name;
        let value = match answer {
            RequestAnswer::Ok(Model::Text(text)) => json::from_text(&text)
                .map_err(|error| format!("Tool '{name}' returned what is {error}."))?,
            RequestAnswer::Ok(other) => {
                return Err(format!("Tool '{name}' returned {}, not JSON text.", other.variant()));
            }
            RequestAnswer::Failed(ProgramFailure { code, message, .. }) => {
                let message = cut(message.trim());
                let colon = if message.is_empty() { "" } else { ": " };
                return Err(format!("Tool '{name}' failed: {code}{colon}{message}"));
            }
            RequestAnswer::TimedOut | RequestAnswer::Cancelled(_) => {
                return Err(format!("Tool '{name}' did not answer."));
            }
        };
        let wanted = module.ast.tools[self.declared].signature.result;
        if !conforms(&module.ast, &value, wanted) {
            let (value, wanted) = (cut(&json::to_text(&value)), module.ast.shown(wanted));
            return Err(format!("Tool '{name}' returned invalid value {value} for type {wanted}."));
        }
        match find_stranger(&module.ast, &value, wanted) {
            Some(stranger) => Err(stranger.shown(&format!("Tool '{name}' result"))),
            None => Ok(value),
        }
    }
}

/// Finds a tool of an agent; returns the agent's name, and the place of the tool.
fn find<'m>(
    module: &'m AgentModule,
    agent: Option<u32>,
    name: &str,
) -> Result<(&'m str, usize), String> {
    let ast = &module.ast;
    let is_meant = |symbol| ast.text(symbol) == name;
    let agent = agent.map(|at| &ast.agents[at as usize]);
    let listed = agent.and_then(|agent| {
        let tool = agent.tools.iter().find(|tool| is_meant(tool.symbol))?;
        Some((ast.text(agent.name.symbol), ast.by_name.tools.get(tool.symbol)?))
    });
    listed.ok_or_else(|| {
        let is_declared = ast.tools.iter().any(|tool| is_meant(tool.signature.name.symbol));
        let who = agent.map(|agent| format!("Agent '{}'", ast.text(agent.name.symbol)));
        match who {
            Some(who) if is_declared => format!("{who} has no tool {}.", shown(name)),
            Some(_) => format!("Tool {} is not declared.", shown(name)),
            None => format!("Nobody has the tool {}: no agent is bound.", shown(name)),
        }
    })
}

/// Reads the arguments of a call and returns them as the JSON that is recorded.
fn arguments(
    module: &AgentModule,
    declared: usize,
    name: &str,
    text: &str,
) -> Result<String, String> {
    // For a tool that takes nothing some models write nothing.
    let text = if text.trim().is_empty() { "{}" } else { text };
    let args = json::from_text(text)
        .map_err(|error| format!("Tool '{name}' was called with arguments that are {error}."))?;
    let Some(fields) = args.fields() else {
        return Err(format!("Tool '{name}' was called with arguments that are no JSON object."));
    };
    let params = &module.ast.tools[declared].signature.params;
    let named = |param: &crate::ast::TaskParameter| module.ast.text(param.name.symbol);
    let known: BTreeSet<&str> = params.iter().map(named).collect();
    let given: BTreeSet<&str> = fields.iter().map(|(field, _)| &**field).collect();
    let list = |names: Vec<&&str>| {
        names.into_iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ")
    };
    if !known.is_subset(&given) {
        let missing = list(known.difference(&given).collect());
        return Err(format!("Tool '{name}' missing arguments: [{missing}]."));
    }
    if !given.is_subset(&known) {
        let unknown = given.difference(&known).take(SHOWN_NAMES_MAX);
        return Err(format!("Tool '{name}' got unknown arguments: [{}].", list(unknown.collect())));
    }
    for param in params {
        let Some(value) = args.get(named(param)) else { continue };
        let place = format!("Tool '{name}' argument '{}'", named(param));
        if !conforms(&module.ast, value, param.declared) {
            let (value, wanted) = (cut(&json::to_text(value)), module.ast.shown(param.declared));
            return Err(format!("{place} has invalid value {value} for type {wanted}."));
        }
        if let Some(stranger) = find_stranger(&module.ast, value, param.declared) {
            return Err(cut(&stranger.shown(&place)));
        }
    }
    Ok(json::to_text(&args))
}

/// Quotes a text that a model wrote, cut.
pub(super) fn shown(text: &str) -> String {
    quoted(&cut(text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
