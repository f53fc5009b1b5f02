//! AgentLang, as whoever runs its programs durably sees the language.
//!
//! Beside its source a pinned program says which pipeline runs, how many branches at once, which
//! programs perform tasks or are tools, and who performs the tasks of agents.

use std::collections::BTreeMap;

use agentic_model::{Object, Value};
use agentic_replay::{
    Kinds, Language, PinnedProgram, Program, ProgramFault, TraceDetail, source_of,
};

use crate::module::{compile, read};
use crate::program::{RunOptions, StoreHandlers, TaskAgents, TraceCapture, register_kinds};

/// The name of the language, as sessions pin it.
pub const LANGUAGE: &str = "agentlang";
/// The version of its meaning. Every change that can alter a request raises it.
pub const SEMANTICS_VERSION: u32 = 1;

/// The language of typed tasks, agents and pipelines.
#[derive(Debug, Clone, Copy)]
pub struct AgentLang;

impl Language for AgentLang {
    fn name(&self) -> &'static str {
        LANGUAGE
    }

    fn summary(&self) -> &'static str {
        "Typed tasks, agents, pipelines and workflows: `.agent`"
    }

    fn semantics(&self) -> u32 {
        SEMANTICS_VERSION
    }

    fn claims(&self, extension: &str, _text: &[u8]) -> bool {
        extension == "agent"
    }

    fn add_kinds(&self, _flow: &Object, kinds: &mut Kinds) -> Result<(), ProgramFault> {
        register_kinds(kinds);
        Ok(())
    }

    fn program(&self, pinned: &PinnedProgram<'_>) -> Result<Box<dyn Program>, ProgramFault> {
        let flow = pinned.flow;
        let source = read(LANGUAGE, source_of(flow)?.as_bytes())
            .map_err(|finding| ProgramFault::found(Some(&finding.message)))?;
        let module = compile(&source).map_err(|findings| {
            ProgramFault::found(findings.first().map(|finding| finding.message.as_str()))
        })?;
        let defaults = RunOptions::default();
        let options = RunOptions {
            workers: flow.map().get("workers").and_then(Value::as_int).unwrap_or(defaults.workers),
            handlers: pinned_handlers(flow).into_keys().collect(),
            tools: pinned_tools(flow).into_keys().collect(),
            store: StoreHandlers::of(&pinned_handlers(flow), &pinned_tools(flow)),
            agents: pinned_agents(flow)?,
            progress: TraceCapture::On,
            trace: match pinned.detail {
                TraceDetail::Everything => TraceCapture::On,
                TraceDetail::Told => TraceCapture::Off,
            },
            ..defaults
        };
        Ok(Box::new(match flow.map().get("pipeline").and_then(Value::as_text) {
            Some(name) => module.run(name, options),
            None => module.run_tests(options),
        }))
    }
}

/// Reads which programs perform which task of a pinned program, with their arguments.
pub fn pinned_handlers(flow: &Object) -> BTreeMap<String, Vec<String>> {
    programs(flow, "handlers")
}

/// Reads which programs are the tools of the agents of a pinned program, with their arguments.
pub fn pinned_tools(flow: &Object) -> BTreeMap<String, Vec<String>> {
    programs(flow, "tools")
}

fn programs(flow: &Object, key: &str) -> BTreeMap<String, Vec<String>> {
    let pinned = flow.map().get(key).and_then(Value::as_map);
    let words = |argv: &Value| -> Option<Vec<String>> {
        argv.as_list()?.iter().map(|word| word.as_text().map(str::to_owned)).collect()
    };
    let programs = pinned.into_iter().flatten();
    programs.filter_map(|(name, argv)| Some((name.clone(), words(argv)?))).collect()
}

/// Reads who performs the tasks of agents. The first programs did not say so: there was the mock
/// only.
fn pinned_agents(flow: &Object) -> Result<TaskAgents, ProgramFault> {
    match flow.map().get("agents").map(Value::as_text) {
        None | Some(Some("mock")) => Ok(TaskAgents::Mock),
        Some(Some("live" | "anthropic")) => Ok(TaskAgents::Models),
        Some(_) => Err(ProgramFault::broken("nobody knows who performs the tasks of agents")),
    }
}
