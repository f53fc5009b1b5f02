//! The languages of durable programs.
//!
//! A program is pinned as an object of type `behaviour`. Beside its source the object holds all
//! that a replay needs and that the source does not say: which pipeline runs, who performs which
//! task, what the builtins mean. Its field `language` decides who reads the rest.

use std::collections::BTreeMap;

use agentic_lang_agent::{Agents, Capture, RunOptions};
use agentic_model::{AgentName, Map, Object, Value};
use agentic_providers::model::Adapter;
use agentic_replay::{Engine, HOLD, Kinds, Program, SUSPEND, StartRecord};

use super::beginning::Beginning;
use super::context::Cast;
use super::flow_of;
use super::folder::Folder;
use super::listing::with_key;
use crate::error::ProgramError;
use crate::policy::{check_hold, check_policy};
use crate::{Error, Result, SessionSpace};

/// The name of AgentLang, as sessions pin it.
const AGENTLANG: &str = "agentlang";
/// The version of its meaning. Every change that can alter a request raises it.
const AGENTLANG_SEMANTICS: u32 = 1;

/// A language that sessions run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// Scripts.
    Rhai,
    /// Typed tasks, agents and pipelines.
    AgentLang,
    /// Calls joined to plans.
    Pipeline,
    /// Agents that declare what a model may see.
    Context,
}

/// A run of an AgentLang program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLangFlow {
    /// The program.
    pub source: String,
    /// The pipeline; all tests without one.
    pub pipeline: Option<String>,
    /// How many branches run at once.
    pub workers: i64,
    /// The programs that perform tasks, with their arguments.
    pub handlers: BTreeMap<String, Vec<String>>,
    /// The programs that are the tools of agents, with their arguments.
    pub tools: BTreeMap<String, Vec<String>>,
    /// Who performs the tasks of agents.
    pub adapter: Adapter,
}

impl AgentLangFlow {
    /// Makes the object that names the run.
    ///
    /// # Errors
    /// Fails when the source is too long for an object.
    pub fn to_object(&self) -> Result<Object> {
        let argv = |argv: &Vec<String>| Value::List(argv.iter().map(Value::text).collect());
        let programs = |programs: &BTreeMap<String, Vec<String>>| {
            Value::Map(programs.iter().map(|(name, words)| (name.clone(), argv(words))).collect())
        };
        // A run without tools is named as it was when there were none.
        let tools = (!self.tools.is_empty()).then(|| ("tools", programs(&self.tools)));
        let pipeline = self.pipeline.as_ref().map_or(Value::Null, Value::text);
        behaviour(
            AGENTLANG,
            &self.source,
            [
                ("pipeline", pipeline),
                ("workers", Value::Int(self.workers)),
                ("handlers", programs(&self.handlers)),
                ("agents", Value::text(self.adapter.as_str())),
            ]
            .into_iter()
            .chain(tools),
        )
    }
}

/// Wraps the source of a script into the object that names it.
///
/// # Errors
/// Fails when the source is too long for an object.
pub fn flow_object(source: &str) -> Result<Object> {
    behaviour(agentic_flow::LANGUAGE, source, [])
}

pub(super) fn behaviour<'k>(
    language: &str,
    source: &str,
    further: impl IntoIterator<Item = (&'k str, Value)>,
) -> Result<Object> {
    let mut map = Map::from([
        ("type".to_owned(), Value::text("behaviour")),
        ("language".to_owned(), Value::text(language)),
        ("source".to_owned(), Value::text(source)),
    ]);
    let further = further.into_iter();
    map.extend(further.map(|(key, value)| (key.to_owned(), value)));
    Ok(Object::new(map)?)
}

impl Language {
    /// Reads the language of a program.
    pub fn of(flow: &Object) -> Result<Language> {
        match flow.map().get("language").and_then(Value::as_text) {
            Some(agentic_flow::LANGUAGE) => Ok(Language::Rhai),
            Some(AGENTLANG) => Ok(Language::AgentLang),
            Some(agentic_lang_pipeline::LANGUAGE) => Ok(Language::Pipeline),
            Some(agentic_lang_context::LANGUAGE) => Ok(Language::Context),
            Some(_) | None => {
                Err(Error::Program(ProgramError::NotAFlow { id: flow.cid().to_string() }))
            }
        }
    }

    /// Returns what runs programs of the language that begin now.
    pub fn engine(self) -> Engine {
        let (language, semantics) = match self {
            Language::Rhai => return agentic_flow::engine(),
            Language::AgentLang => (AGENTLANG, AGENTLANG_SEMANTICS),
            Language::Pipeline => {
                (agentic_lang_pipeline::LANGUAGE, agentic_lang_pipeline::SEMANTICS_VERSION)
            }
            Language::Context => {
                (agentic_lang_context::LANGUAGE, agentic_lang_context::SEMANTICS_VERSION)
            }
        };
        Engine { language: language.to_owned(), semantics }
    }

    /// Returns what goes on with a run that began with an engine: that one where programs of the
    /// language can still mean what they meant to it, else the one of today, which then refuses.
    pub fn engine_since(self, began: &Engine) -> Engine {
        let today = self.engine();
        let oldest = match self {
            Language::Pipeline => agentic_lang_pipeline::SEMANTICS_OLDEST,
            Language::Context => agentic_lang_context::SEMANTICS_OLDEST,
            Language::Rhai => agentic_flow::limits::SEMANTICS_OLDEST,
            Language::AgentLang => today.semantics,
        };
        let is_known = (oldest..=today.semantics).contains(&began.semantics);
        if is_known && began.language == today.language { began.clone() } else { today }
    }
}

/// Returns what runs a program that began with a start record.
pub(super) fn engine_of(flow: &Object, start: &StartRecord) -> Result<Engine> {
    Ok(Language::of(flow)?.engine_since(&start.engine))
}

/// Returns the kinds of requests that a program makes.
pub(crate) fn kinds_of(flow: &Object) -> Result<Kinds> {
    let mut kinds = checked_kinds();
    match Language::of(flow)? {
        Language::Rhai => {}
        Language::AgentLang => agentic_lang_agent::register_kinds(&mut kinds),
        Language::Pipeline => agentic_lang_pipeline::run::add_kinds(&mut kinds),
        Language::Context => return Ok(Cast::of(flow)?.kinds()),
    }
    Ok(kinds)
}

/// Returns the built-in kinds, whose holds are checked before anybody is asked.
pub(crate) fn checked_kinds() -> Kinds {
    let mut kinds = Kinds::built_in();
    kinds.set_check(HOLD, check_hold);
    kinds.set_check(SUSPEND, check_policy);
    kinds
}

/// Makes a run of an AgentLang program.
pub(super) fn agentlang(flow: &Object, source: &str, trace: Capture) -> Result<Box<dyn Program>> {
    let source = agentic_lang_agent::read(AGENTLANG, source.as_bytes())
        .map_err(|finding| broken(flow, Some(&finding.message)))?;
    let module = agentic_lang_agent::compile(&source).map_err(|findings| {
        broken(flow, findings.first().map(|finding| finding.message.as_str()))
    })?;
    let defaults = RunOptions::default();
    let options = RunOptions {
        workers: flow.map().get("workers").and_then(Value::as_int).unwrap_or(defaults.workers),
        handlers: handlers(flow).into_keys().collect(),
        tools: tools(flow).into_keys().collect(),
        agents: agents_of(adapter(flow)?),
        progress: Capture::On,
        trace,
        ..defaults
    };
    Ok(Box::new(match flow.map().get("pipeline").and_then(Value::as_text) {
        Some(name) => module.run(name, options),
        None => module.run_tests(options),
    }))
}

/// Reads who performs which task of an AgentLang program.
pub(super) fn handlers(flow: &Object) -> BTreeMap<String, Vec<String>> {
    programs(flow, "handlers")
}

/// Reads which programs are the tools of the agents of an AgentLang program.
pub(super) fn tools(flow: &Object) -> BTreeMap<String, Vec<String>> {
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

/// Reads who performs the tasks of agents of an AgentLang program. The first flows did not say so:
/// there was the mock only.
pub(super) fn adapter(flow: &Object) -> Result<Adapter> {
    match flow.map().get("agents") {
        None => Ok(Adapter::Mock),
        Some(pinned) => pinned
            .as_text()
            .and_then(Adapter::parse)
            .ok_or_else(|| broken(flow, Some("nobody knows who performs the tasks of agents"))),
    }
}

/// Returns who performs the tasks of agents in the session that was started as an agent with a key;
/// nothing where there is none.
///
/// # Errors
/// Fails when the sessions cannot be read.
pub fn pinned_adapter(
    space: &SessionSpace,
    agent: &AgentName,
    key: &str,
) -> Result<Option<Adapter>> {
    let Some(id) = with_key(space, agent, key)?.pop() else { return Ok(None) };
    let flow = Beginning::of(space, &id)?.start.flow;
    let flow = flow_of(space, &Folder::of(space, &id), &flow)?;
    match Language::of(&flow)? {
        Language::AgentLang => adapter(&flow).map(Some),
        Language::Rhai | Language::Pipeline | Language::Context => Ok(None),
    }
}

/// Tells a program who performs the tasks of its agents.
pub fn agents_of(adapter: Adapter) -> Agents {
    match adapter {
        Adapter::Mock => Agents::Mock,
        Adapter::Live | Adapter::Anthropic => Agents::Models,
    }
}

pub(super) fn broken(flow: &Object, reason: Option<&str>) -> Error {
    Error::Program(ProgramError::BrokenFlow {
        id: flow.cid().to_string(),
        reason: reason.unwrap_or_default().to_owned(),
    })
}
