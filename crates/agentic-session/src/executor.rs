//! What the languages ask of the process that runs them, in memory or durably.
//!
//! Some requests are only computed: the mock tasks of AgentLang, the native functions of
//! pipelines. What they remember is a fold over the answered requests, so a replay that folds them
//! again has the same state. Others are programs and endpoints: [`Executor::command`] and
//! [`Executor::call`] say which and what they get, and [`Executor::printed`] and
//! [`Executor::responded`] make the answer from what they gave.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentic_lang_agent::{AGENT_TOOL, MockTasks, TASK, argument_text};
use agentic_lang_context::{INPUT_REQUEST, MODEL_REQUEST};
use agentic_lang_pipeline::PlannedRun;
use agentic_lang_pipeline::native::Natives;
use agentic_lang_pipeline::run::{AgentCall, RequestKind};
use agentic_model::{Cid, Object, Value, json};
use agentic_plan::{AuthSource, Registry};
use agentic_providers::credential::{Caller, Keyring, Result as CredentialResult, Settings};
use agentic_providers::endpoint::{Call, Reply};
use agentic_providers::executable::Outcome;
use agentic_providers::model::Repeats;
use agentic_providers::provider::{Response, Stamp};
use agentic_replay::record::is_allowed;
use agentic_replay::{Answer, Failure, Kinds, PATCH, Request, StartRecord};

use super::children::run_id;
use super::context::Cast;
use super::folder::Folder;
use super::language::{Language, adapter, checked_kinds, handlers, kinds_of, tools};
use super::performer::{Expected, Performer, ProviderCall};
use super::pipeline::Shelf;
use super::script::Script;
use super::terminal::Terminal;
use crate::{Result, SessionSpace};

/// Performs the requests of one run.
#[derive(Debug)]
pub struct Executor {
    language: Language,
    kinds: Kinds,
    handlers: BTreeMap<String, Vec<String>>,
    /// The programs that are the tools of agents.
    tools: BTreeMap<String, Vec<String>>,
    mock: MockTasks,
    natives: Natives,
    script: Script,
    /// The run that agents are told they are called by.
    run_id: String,
    /// In whose name agents are called.
    invoked_by: Option<String>,
    /// What the agents need that need a credential.
    auth: BTreeMap<String, AuthSource>,
    /// Who answers models, tools and memories.
    performer: Option<Performer>,
    /// Who is asked for what an input lacks.
    terminal: Option<Terminal>,
}

/// What an executor is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Assignment<'a> {
    /// The program.
    pub flow: &'a Object,
    /// The start key of its session.
    pub key: &'a str,
    /// The kinds of effects that the session may perform unasked.
    pub allow: &'a [String],
}

impl<'a> Assignment<'a> {
    /// Returns the assignment of a session that has begun.
    pub fn of(flow: &'a Object, start: &'a StartRecord) -> Assignment<'a> {
        Assignment { flow, key: &start.key, allow: &start.allow }
    }
}

/// A program to be run for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What it reads.
    pub stdin: String,
}

impl Executor {
    /// Makes the executor of a program.
    ///
    /// # Errors
    /// Fails when the object is no program.
    pub fn new(flow: &Object) -> Result<Executor> {
        let language = Language::of(flow)?;
        if language == Language::Context {
            return Ok(Executor::of_cast(&Cast::of(flow)?));
        }
        let (kinds, handlers, tools) = (kinds_of(flow)?, handlers(flow), tools(flow));
        let script = flow.map().get("script").map(Script::read).transpose()?.unwrap_or_default();
        let (mock, natives) = (MockTasks::default(), Natives::default());
        let invoked_by = flow.map().get("invoked_by").and_then(Value::as_text).map(str::to_owned);
        let performer = match language {
            Language::AgentLang => Some(Performer::of_agents(adapter(flow)?)),
            Language::Pipeline => Some(Performer::of_roles()),
            Language::Rhai => Some(Performer::of_scripts(Expected::No)),
            Language::Context => None,
        };
        Ok(Executor {
            language,
            kinds,
            handlers,
            tools,
            mock,
            natives,
            script,
            run_id: String::new(),
            invoked_by,
            auth: BTreeMap::new(),
            performer,
            terminal: None,
        })
    }

    /// Makes the executor of a session.
    ///
    /// # Errors
    /// Fails when its object is no program.
    pub(super) fn of_session(
        space: &SessionSpace,
        folder: &Folder,
        Assignment { flow, key, allow }: Assignment<'_>,
    ) -> Result<Executor> {
        let executor = Executor::new(flow)?.with_terminal(space.terminal());
        if executor.language == Language::Rhai && is_allowed(allow, MODEL_REQUEST) {
            let performer = Some(Performer::of_scripts(Expected::Yes));
            return Ok(Executor { performer, ..executor });
        }
        if executor.language != Language::Pipeline {
            return Ok(executor);
        }
        let registry = Shelf { space, folder, given: &[] }.registry(flow)?;
        let run_id = run_id(space, key);
        Ok(Executor { auth: auth_of(&registry), run_id, ..executor })
    }

    /// Makes the executor of a program of the context language.
    pub fn of_cast(cast: &Cast) -> Executor {
        Executor {
            language: Language::Context,
            kinds: cast.kinds(),
            handlers: BTreeMap::new(),
            tools: BTreeMap::new(),
            mock: MockTasks::default(),
            natives: Natives::default(),
            script: Script::default(),
            run_id: String::new(),
            invoked_by: None,
            auth: BTreeMap::new(),
            performer: Some(Performer::new(cast)),
            terminal: None,
        }
    }

    /// Makes the executor of a program of the pipeline language that runs in memory: it is pinned
    /// nowhere, so it may be longer than an object.
    ///
    /// # Errors
    /// Fails when its script is none.
    pub fn of_pipeline(run: &PlannedRun) -> Result<Executor> {
        let mut kinds = checked_kinds();
        agentic_lang_pipeline::run::add_kinds(&mut kinds);
        Ok(Executor {
            language: Language::Pipeline,
            kinds,
            handlers: BTreeMap::new(),
            tools: BTreeMap::new(),
            mock: MockTasks::default(),
            natives: Natives::default(),
            script: run.script.as_ref().map(Script::read).transpose()?.unwrap_or_default(),
            run_id: String::new(),
            invoked_by: run.invoked_by.clone(),
            auth: auth_of(&run.compiled.registry),
            performer: Some(Performer::of_roles()),
            terminal: None,
        })
    }

    /// Returns who makes the call of a request in a run: with what its agent needs.
    pub fn caller(&self, request: &Request, folder: PathBuf, run: String) -> Caller {
        let agent = AgentCall::of(request).map(|call| call.agent);
        let auth = agent.and_then(|agent| self.auth.get(&agent)).cloned().unwrap_or_default();
        let settings = Settings::of_process(folder);
        Caller { keyring: Keyring::new(settings, self.invoked_by.clone()), auth, run }
    }

    /// Names the run that agents are told they are called by.
    pub fn with_run_id(self, run_id: String) -> Executor {
        Executor { run_id, ..self }
    }

    /// Lets the built-in tasks of AgentLang remember what they did in an earlier run.
    pub fn with_mock(self, mock: MockTasks) -> Executor {
        Executor { mock, ..self }
    }

    /// Returns what the built-in tasks of AgentLang remember.
    pub fn mock(&self) -> &MockTasks {
        &self.mock
    }

    /// Replaces the native functions of pipelines.
    pub fn with_natives(self, natives: Natives) -> Executor {
        Executor { natives, ..self }
    }

    /// Lets a person be asked for what an input lacks.
    pub fn with_terminal(self, terminal: Option<Terminal>) -> Executor {
        Executor { terminal, ..self }
    }

    /// Returns the kinds of requests that the program makes.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Answers a request that is only computed, or that nobody here performs. Nothing for those
    /// that take a program, and for those of the space.
    pub fn compute(&mut self, request: &Request) -> Option<Answer> {
        let scripted = self.script.next(request);
        // A refused request takes its turn in the script all the same, as it will when it is folded.
        if let Some(failure) = self.kinds.refusal(request) {
            return Some(Answer::Failed(failure));
        }
        if scripted.is_some() {
            return scripted;
        }
        if request.kind == PATCH {
            return Some(Answer::Ok(Value::Bool(true)));
        }
        match self.language {
            Language::Rhai => None,
            Language::Context => match self.asked(request) {
                Some(line) => Some(Answer::Ok(Value::Text(line))),
                None => self.performer.as_mut()?.answer(request),
            },
            Language::AgentLang => self.mock.perform(request),
            Language::Pipeline => match RequestKind::of(request)? {
                RequestKind::Native => Some(self.perform_native(request)),
                RequestKind::Executable
                | RequestKind::Endpoint
                | RequestKind::Spawn
                | RequestKind::Model
                | RequestKind::Hold
                | RequestKind::Sleep => None,
                RequestKind::Agent => {
                    let agent = AgentCall::of(request).map(|call| call.agent);
                    let agent = agent.unwrap_or_default();
                    let message = format!("nothing here performs the agent `{agent}`");
                    Some(Answer::Failed(Failure::new("AgentNotRegistered", message)))
                }
            },
        }
    }

    /// Asks the person at the terminal for a field that the input lacks.
    fn asked(&self, request: &Request) -> Option<String> {
        let terminal = self.terminal.filter(|_| request.kind == INPUT_REQUEST)?;
        (terminal.ask)(request.payload.get("path").and_then(Value::as_text)?)
    }

    /// Says whether a request is answered from a script.
    pub fn is_scripted(&self, request: &Request) -> bool {
        self.script.knows(request)
    }

    /// Takes note of a request that was answered before.
    pub fn fold(&mut self, request: &Request, answer: &Answer) {
        // What was answered from a script took its turn.
        let _ = self.script.next(request);
        if self.language == Language::AgentLang {
            // The recorded answer counts; what is needed is what it left behind.
            let _ = self.mock.perform(request);
        }
        if let Some(performer) = &mut self.performer {
            performer.fold(request, answer);
        }
    }

    /// Says whether a provider performs a request.
    pub fn is_provided(&self, request: &Request) -> bool {
        let is_outside = |performer: &Performer| performer.is_outside(request);
        !self.is_scripted(request) && self.performer.as_ref().is_some_and(is_outside)
    }

    /// Reads what is configured in a folder, before the first effect. Returns what whoever runs the
    /// program should know before.
    pub fn configure(&self, folder: impl FnOnce() -> PathBuf) -> Option<String> {
        self.performer.as_ref()?.configure(folder)
    }

    /// Returns the digest of what is configured in a folder, where the program is known to need that.
    /// It is read once for both.
    pub(super) fn pinned(&self, folder: impl FnOnce() -> PathBuf) -> Option<Cid> {
        self.performer.as_ref()?.pinned(folder)
    }

    /// Says that a session goes on under another configuration than it was started with, if it does.
    pub(super) fn changed_since(
        &self,
        start: &StartRecord,
        folder: impl FnOnce() -> PathBuf,
    ) -> Option<String> {
        let pinned = start.configuration?;
        let id = start.session.short();
        (self.pinned(folder)? != pinned).then(|| {
            format!("warning: the configuration is another one than session {id} was started with: other models, tools or servers may answer from here on")
        })
    }

    /// Returns the call of a provider that performs a request; what it needs is configured in a
    /// folder.
    pub fn provided(
        &self,
        request: &Request,
        made: (Stamp, Repeats),
        folder: &Path,
    ) -> Option<ProviderCall> {
        self.performer.as_ref()?.call(request, made, folder)
    }

    /// Returns the program that performs a request.
    pub fn command(&self, request: &Request) -> Option<CommandLine> {
        match self.language {
            Language::Rhai | Language::Context => None,
            Language::AgentLang if request.kind == TASK => {
                let task = request.payload.get("task").and_then(Value::as_text)?;
                let argv = self.handlers.get(task)?.clone();
                Some(CommandLine { argv, stdin: line("task", task, request) })
            }
            Language::AgentLang if request.kind == AGENT_TOOL => {
                let tool = request.payload.get("tool").and_then(Value::as_text)?;
                let argv = self.tools.get(tool)?.clone();
                Some(CommandLine { argv, stdin: line("tool", tool, request) })
            }
            Language::AgentLang => None,
            Language::Pipeline => {
                let is_program = RequestKind::of(request) == Some(RequestKind::Executable);
                if !is_program || self.is_scripted(request) {
                    return None;
                }
                let argv = request.payload.get("argv")?.as_list()?;
                let argv: Option<Vec<String>> =
                    argv.iter().map(|word| word.as_text().map(str::to_owned)).collect();
                let stdin = format!("{}\n", self.received(request));
                argv.map(|argv| CommandLine { argv, stdin })
            }
        }
    }

    /// Returns the call of an endpoint that performs a request.
    pub fn call(&self, request: &Request) -> Option<Call> {
        let is_call = self.language == Language::Pipeline
            && RequestKind::of(request) == Some(RequestKind::Endpoint);
        if !is_call || self.is_scripted(request) {
            return None;
        }
        let text = |key: &str| request.payload.get(key).and_then(Value::as_text);
        Some(Call {
            url: text("url")?.to_owned(),
            method: text("method")?.to_owned(),
            body: self.received(request).into_bytes(),
        })
    }

    /// Returns what the agent of a request receives, as JSON on one line.
    fn received(&self, request: &Request) -> String {
        let input = AgentCall::of(request).map(|call| call.to_input(&self.run_id));
        json::to_text(&input.unwrap_or(Value::Null))
    }

    /// Tells what came of a request from what became of its program.
    pub fn printed(&self, program: &str, outcome: CredentialResult<Outcome>) -> Response {
        self.language.printed(program, outcome)
    }

    /// Tells what came of a request from what an endpoint said.
    pub fn responded(&self, url: &str, reply: CredentialResult<Reply>) -> Response {
        self.language.responded(url, reply)
    }

    /// Performs a native function.
    fn perform_native(&self, request: &Request) -> Answer {
        let function = request.payload.get("function").and_then(Value::as_text).unwrap_or_default();
        let outcome = AgentCall::of(request).and_then(|call| self.natives.perform(function, &call));
        match outcome {
            Some(Ok(value)) => Answer::Ok(value),
            Some(Err(failure)) => Answer::Failed(failure),
            None => {
                let message = format!("there is no native function `{function}`");
                Answer::Failed(Failure::new("AgentNotRegistered", message))
            }
        }
    }
}

/// Collects which agents of a pipeline need which credential.
fn auth_of(registry: &Registry) -> BTreeMap<String, AuthSource> {
    let needing = registry.builtins().filter(|spec| spec.auth != AuthSource::None);
    needing.map(|spec| (spec.agent.to_string(), spec.auth.clone())).collect()
}

/// Writes the line that a handler reads: `{"task","args","agent"?}`, or `tool` for `task`. The
/// arguments are JSON already, with their keys in order and their numbers exact.
fn line(what: &str, name: &str, request: &Request) -> String {
    let quoted = |text: &str| json::to_text(&Value::text(text));
    let agent = request.payload.get("agent").and_then(Value::as_text);
    let agent = agent.map(|agent| format!(",\"agent\":{}", quoted(agent))).unwrap_or_default();
    let args = argument_text(request).unwrap_or("{}");
    format!("{{\"{what}\":{},\"args\":{args}{agent}}}\n", quoted(name))
}
