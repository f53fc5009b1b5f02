//! What the languages ask of the process that runs them, in memory or durably.
//!
//! Some requests are only computed: the mock tasks of AgentLang, the native functions of
//! pipelines. What they remember is a fold over the answered requests, so a replay that folds them
//! again has the same state. Others are programs: [`Executor::command`] says which, with what on
//! standard input, and [`Executor::read`] makes the answer from what they printed.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agentic_lang_agent::{Data, MockTasks, TASK, answer, argument_text};
use agentic_lang_context::MEMORY_REQUEST;
use agentic_lang_pipeline::native;
use agentic_lang_pipeline::run::{AgentCall, RequestKind};
use agentic_model::{Map, Object, Value, json};
use agentic_providers::configuration::Configuration;
use agentic_providers::host::CancelFlag;
use agentic_providers::model::Piece;
use agentic_providers::provider::{Providers, Stamp};
use agentic_replay::{Answer, Failure, Kinds, PATCH, Request};

use super::context::{Cast, Troupe};
use super::language::{Language, handlers, kinds_of};
use crate::Result;

/// The class of the errors of handlers that break the rules.
const HANDLER_BROKEN: &str = "HandlerError";
/// The code of the failure of a call that nothing is configured for.
const UNCONFIGURED: &str = "unconfigured";
/// How much of what a program printed is shown.
const SHOWN_CHARS_MAX: usize = 200;

/// Performs the requests of one run.
#[derive(Debug)]
pub struct Executor {
    language: Language,
    kinds: Kinds,
    handlers: BTreeMap<String, Vec<String>>,
    mock: MockTasks,
    /// Who answers a program of the context language.
    troupe: Option<Troupe>,
    /// The models, tools and memories outside, once one was needed.
    providers: OnceCell<Configured>,
    /// What memories were asked before the providers were needed.
    recalled: Vec<(Request, Answer)>,
}

/// The providers that are configured, or why there are none.
type Configured = std::result::Result<Arc<Providers>, String>;

/// A call of a provider, which takes its time.
#[derive(Debug)]
pub struct Call {
    providers: Configured,
    request: Request,
    stamp: Stamp,
}

impl Call {
    /// Performs the call.
    pub fn perform(&self, cancel: &CancelFlag) -> Answer {
        self.perform_heard(cancel, None)
    }

    /// Performs the call; a listener hears the reply of a model piece by piece.
    pub fn perform_heard<'a>(
        &self,
        cancel: &'a CancelFlag,
        listener: Option<&'a mut dyn FnMut(Piece<'_>)>,
    ) -> Answer {
        match &self.providers {
            Ok(providers) => {
                let answer = providers.perform_heard(&self.request, &self.stamp, cancel, listener);
                answer.unwrap_or_else(|| {
                    let message = format!("nothing here performs `{}`", self.request.kind);
                    failed("unknown-kind", message)
                })
            }
            Err(message) => failed(UNCONFIGURED, message.clone()),
        }
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

/// What a program left behind.
#[derive(Debug, Clone, Copy)]
pub struct Printed<'p> {
    /// Its status; nothing if a signal ended it.
    pub status: Option<i32>,
    /// What it printed.
    pub stdout: &'p str,
    /// What it complained about.
    pub stderr: &'p str,
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
        let (kinds, handlers) = (kinds_of(flow)?, handlers(flow));
        Ok(Executor {
            language,
            kinds,
            handlers,
            mock: MockTasks::default(),
            troupe: None,
            providers: OnceCell::new(),
            recalled: Vec::new(),
        })
    }

    /// Makes the executor of a program of the context language.
    pub fn of_cast(cast: &Cast) -> Executor {
        Executor {
            language: Language::Context,
            kinds: cast.kinds(),
            handlers: BTreeMap::new(),
            mock: MockTasks::default(),
            troupe: Some(Troupe::new(cast)),
            providers: OnceCell::new(),
            recalled: Vec::new(),
        }
    }

    /// Returns the kinds of requests that the program makes.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Answers a request that is only computed, or that nobody here performs. Nothing for those
    /// that take a program, and for those of the space.
    pub fn compute(&mut self, request: &Request) -> Option<Answer> {
        if request.kind == PATCH {
            return Some(Answer::Ok(Value::Bool(true)));
        }
        match self.language {
            Language::Rhai => None,
            Language::Context => self.troupe.as_mut()?.answer(request),
            Language::AgentLang => self.mock.perform(request),
            Language::Pipeline => match RequestKind::of(request)? {
                RequestKind::Native => Some(perform_native(request)),
                RequestKind::Executable | RequestKind::Hold | RequestKind::Sleep => None,
                RequestKind::Model => {
                    let message = "no model is configured for the roles of loops";
                    Some(failed("ConfigurationError", message.to_owned()))
                }
                RequestKind::Endpoint | RequestKind::Spawn | RequestKind::Agent => {
                    let agent = AgentCall::of(request).map(|call| call.agent);
                    let agent = agent.unwrap_or_default();
                    let message = format!("nothing here performs the agent `{agent}`");
                    Some(failed("AgentNotRegistered", message))
                }
            },
        }
    }

    /// Takes note of a request that was answered before.
    pub fn fold(&mut self, request: &Request, answer: &Answer) {
        if self.language == Language::AgentLang {
            // The recorded answer counts; what is needed is what it left behind.
            let _ = self.mock.perform(request);
        }
        let Some(troupe) = &mut self.troupe else { return };
        match (troupe.is_outside(request), self.providers.get()) {
            (false, _) => troupe.fold(request, answer),
            (true, Some(Ok(providers))) => providers.recall(request, answer),
            (true, None) if request.kind == MEMORY_REQUEST => {
                self.recalled.push((request.clone(), answer.clone()));
            }
            (true, Some(Err(_)) | None) => {}
        }
    }

    /// Returns the call of a provider that performs a request; what it needs is configured in a
    /// folder.
    pub fn call(&self, request: &Request, stamp: Stamp, folder: &Path) -> Option<Call> {
        let is_outside = self.troupe.as_ref()?.is_outside(request);
        is_outside.then(|| Call {
            providers: self.providers.get_or_init(|| self.configured(folder)).clone(),
            request: request.clone(),
            stamp,
        })
    }

    /// Reads which models, tools and memories there are.
    fn configured(&self, folder: &Path) -> Configured {
        let configuration = Configuration::find(folder).map_err(|error| error.to_string())?;
        let providers = Providers::configured(configuration);
        for (request, answer) in &self.recalled {
            providers.recall(request, answer);
        }
        Ok(Arc::new(providers))
    }

    /// Says whether a provider performs a request.
    pub fn is_call(&self, request: &Request) -> bool {
        self.troupe.as_ref().is_some_and(|troupe| troupe.is_outside(request))
    }

    /// Returns the program that performs a request.
    pub fn command(&self, request: &Request) -> Option<CommandLine> {
        match self.language {
            Language::Rhai | Language::Context => None,
            Language::AgentLang if request.kind == TASK => {
                let task = request.payload.get("task").and_then(Value::as_text)?;
                let argv = self.handlers.get(task)?.clone();
                Some(CommandLine { argv, stdin: task_line(task, request) })
            }
            Language::AgentLang => None,
            Language::Pipeline => {
                let kind = RequestKind::of(request);
                let argv = request.payload.get("argv")?.as_list()?;
                let argv: Option<Vec<String>> =
                    argv.iter().map(|word| word.as_text().map(str::to_owned)).collect();
                let call = request.payload.get("call").unwrap_or(&Value::Null);
                let stdin = format!("{}\n", json::to_text(call));
                argv.filter(|_| kind == Some(RequestKind::Executable))
                    .map(|argv| CommandLine { argv, stdin })
            }
        }
    }

    /// Makes the answer of a request from what its program printed.
    pub fn read(&self, printed: Printed<'_>) -> Answer {
        let (crash, garbage) = match self.language {
            Language::AgentLang => (HANDLER_BROKEN, HANDLER_BROKEN),
            Language::Rhai | Language::Pipeline | Language::Context => {
                ("AgentFailed", "InvalidOutput")
            }
        };
        if printed.status != Some(0) {
            let how = printed
                .status
                .map_or("by a signal".to_owned(), |status| format!("with status {status}"));
            let complaint = shown(printed.stderr);
            let colon = if complaint.is_empty() { "" } else { ": " };
            return failed(crash, format!("the program ended {how}{colon}{complaint}"));
        }
        let text = printed.stdout.trim();
        let read = match self.language {
            Language::AgentLang => read_line(text),
            Language::Rhai | Language::Pipeline | Language::Context => {
                json::from_text(text).map(Answer::Ok).map_err(|error| {
                    format!("the program printed {:?}, which is {error}", shown(text))
                })
            }
        };
        read.unwrap_or_else(|what| failed(garbage, what))
    }

    /// Makes the answer of a request whose program could not be run.
    pub fn lost(&self, reason: &str) -> Answer {
        let code = match self.language {
            Language::AgentLang => HANDLER_BROKEN,
            Language::Rhai | Language::Pipeline | Language::Context => "ConfigurationError",
        };
        failed(code, format!("the program cannot be run: {reason}"))
    }
}

/// Performs a native function.
fn perform_native(request: &Request) -> Answer {
    let function = request.payload.get("function").and_then(Value::as_text).unwrap_or_default();
    let outcome = AgentCall::of(request).and_then(|call| native::perform(function, &call));
    match outcome {
        Some(Ok(value)) => Answer::Ok(value),
        Some(Err(failure)) => Answer::Failed(failure),
        None => failed("AgentNotRegistered", format!("there is no native function `{function}`")),
    }
}

/// Writes the line that a handler reads: `{"task","args","agent"?}`. The arguments are JSON
/// already, with their keys in order and their numbers exact.
fn task_line(task: &str, request: &Request) -> String {
    let quoted = |text: &str| json::to_text(&Value::text(text));
    let agent = request.payload.get("agent").and_then(Value::as_text);
    let agent = agent.map(|agent| format!(",\"agent\":{}", quoted(agent))).unwrap_or_default();
    let args = argument_text(request).unwrap_or("{}");
    format!("{{\"task\":{},\"args\":{args}{agent}}}\n", quoted(task))
}

/// Reads the line that a handler printed: `{"ok":RESULT}`, or `{"class","message"}`.
fn read_line(text: &str) -> std::result::Result<Answer, String> {
    let data = agentic_lang_agent::json::from_text(text)
        .map_err(|error| format!("the handler printed {:?}, which is {error}", shown(text)))?;
    if let Some(result) = data.get("ok") {
        return Ok(answer(result));
    }
    let part = |key: &str| data.get(key).and_then(Data::as_text);
    match (part("class"), part("message")) {
        (Some(class), Some(message)) => Ok(Answer::Failed(Failure::new(class, message))),
        _ => Err(format!(
            "the handler printed {:?}, which has neither `ok` nor `class` and `message`",
            shown(text)
        )),
    }
}

fn shown(text: &str) -> String {
    text.trim().chars().take(SHOWN_CHARS_MAX).collect()
}

fn failed(code: &str, message: String) -> Answer {
    Answer::Failed(Failure::new(code, message))
}

impl CommandLine {
    /// Returns the payload of the `exec` that runs the program.
    pub(super) fn to_payload(&self) -> Value {
        let argv = self.argv.iter().map(Value::text).collect();
        Value::Map(Map::from([
            ("argv".to_owned(), Value::List(argv)),
            ("stdin".to_owned(), Value::text(&self.stdin)),
        ]))
    }
}

impl<'p> Printed<'p> {
    /// Reads the answer of an `exec`.
    pub(super) fn of_exec(value: &'p Value) -> Option<Printed<'p>> {
        let status = value.get("status")?.as_int().and_then(|status| i32::try_from(status).ok());
        let text = |key: &str| value.get(key).and_then(Value::as_text);
        Some(Printed { status, stdout: text("stdout")?, stderr: text("stderr")? })
    }
}
