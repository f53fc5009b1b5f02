//! The languages of durable programs: the list of them, and what is pinned of a program.
//!
//! A language that sessions run is one line of [`LANGUAGES`]: its front end, and who performs what
//! its programs ask. Nothing else here knows a language by name.

use std::collections::BTreeMap;
use std::path::Path;

use agentic_flow::Rhai;
use agentic_host::performer::{NewPerformer, agents, answerers, roles, scripts};
use agentic_lang_agent::{AgentLang, TaskAgents};
use agentic_lang_context::ContextLanguage;
use agentic_lang_pipeline::PipelineLanguage;
use agentic_model::{Object, Value};
use agentic_providers::model::Adapter;
use agentic_replay::{
    Engine, HOLD, Kinds, Language, ProgramFault, SUSPEND, StartRecord, behaviour, language_name,
};

use crate::error::ProgramError;
use crate::policy::{check_hold, check_policy};
use crate::{Error, Result};

/// A language that sessions run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LanguageEntry {
    /// Its front end.
    pub language: &'static dyn Language,
    /// Makes who performs what a program of it asks.
    pub performer: NewPerformer,
}

/// All languages that sessions run.
static LANGUAGES: &[LanguageEntry] = &[
    LanguageEntry { language: &Rhai, performer: scripts::performer },
    LanguageEntry { language: &AgentLang, performer: agents::performer },
    LanguageEntry { language: &PipelineLanguage, performer: roles::performer },
    LanguageEntry { language: &ContextLanguage, performer: answerers::performer },
    #[cfg(test)]
    tests::LINES,
];

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
        let further = [
            ("pipeline", pipeline),
            ("workers", Value::Int(self.workers)),
            ("handlers", programs(&self.handlers)),
            ("agents", Value::text(self.adapter.as_str())),
        ];
        let further = further.into_iter().chain(tools);
        Ok(behaviour(agentic_lang_agent::LANGUAGE, &self.source, further)?)
    }
}

/// Wraps the source of a script into the object that names it.
///
/// # Errors
/// Fails when the source is too long for an object.
pub fn flow_object(source: &str) -> Result<Object> {
    Ok(behaviour(agentic_flow::LANGUAGE, source, [])?)
}

/// Lists all languages that sessions run.
pub fn languages() -> impl Iterator<Item = &'static dyn Language> {
    LANGUAGES.iter().map(|registered| registered.language)
}

/// Finds the language that a file is a program of, by its name and how its text begins.
pub fn language_of_file(file: &str, text: &[u8]) -> Option<&'static dyn Language> {
    let extension = Path::new(file).extension()?.to_str()?;
    languages().find(|language| language.claims(extension, text))
}

/// Finds the language of a program, and who performs what it asks.
pub(crate) fn registered(flow: &Object) -> Result<&'static LanguageEntry> {
    let name = language_name(flow);
    let found = LANGUAGES.iter().find(|registered| Some(registered.language.name()) == name);
    found.ok_or_else(|| not_a_flow(flow))
}

/// Finds the language of a program.
pub(crate) fn language_of(flow: &Object) -> Result<&'static dyn Language> {
    Ok(registered(flow)?.language)
}

/// Returns what runs a program that began with a start record.
pub(super) fn engine_of(flow: &Object, start: &StartRecord) -> Result<Engine> {
    Ok(language_of(flow)?.engine_since(&start.engine))
}

/// Returns the kinds of requests that a program makes.
pub(crate) fn kinds_of(flow: &Object) -> Result<Kinds> {
    let mut kinds = checked_kinds();
    language_of(flow)?.add_kinds(flow, &mut kinds).map_err(|fault| of_fault(flow, fault))?;
    Ok(kinds)
}

/// Returns the built-in kinds, whose holds are checked before anybody is asked.
pub(crate) fn checked_kinds() -> Kinds {
    let mut kinds = Kinds::built_in();
    kinds.set_check(HOLD, check_hold);
    kinds.set_check(SUSPEND, check_policy);
    kinds
}

/// Tells a program who performs the tasks of its agents.
pub fn agents_of(adapter: Adapter) -> TaskAgents {
    match adapter {
        Adapter::Mock => TaskAgents::Mock,
        Adapter::Live | Adapter::Anthropic => TaskAgents::Models,
    }
}

/// Says in our words why a language does not run a program.
pub(crate) fn of_fault(flow: &Object, fault: ProgramFault) -> Error {
    let id = flow.cid().to_string();
    Error::Program(match fault {
        ProgramFault::NotAProgram => ProgramError::NotAFlow { id },
        ProgramFault::Broken { reason } => ProgramError::BrokenFlow { id, reason },
        ProgramFault::TooLarge { reason } => ProgramError::BadRequest { reason },
        ProgramFault::BadScript { reason } => ProgramError::BadScript { reason },
        fault @ ProgramFault::MissingPart { .. } => {
            ProgramError::BrokenFlow { id, reason: fault.to_string() }
        }
    })
}

fn not_a_flow(flow: &Object) -> Error {
    Error::Program(ProgramError::NotAFlow { id: flow.cid().to_string() })
}

#[cfg(test)]
mod tests;
