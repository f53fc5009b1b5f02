//! Programs of the context language, in memory.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use agentic_lang_context::json::{self, Json};
use agentic_lang_context::provider::{
    Memory, MockMemory, MockModel, ScriptedModel, Stamp, mock_tool,
};
use agentic_lang_context::{
    EntryPoint, INPUT_REQUEST, MEMORY_REQUEST, MODEL_REQUEST, Module, RunFault, RunOptions,
    TOOL_REQUEST, trace,
};
use agentic_providers::host::{CancelFlag, Executor, Place};
use agentic_replay::{Answer, End, Failure as Failed, Request, RequestId};
use agentic_space::Clock;

use super::failed;
use crate::commands::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::frontend::compile_context;
use crate::memory;
use crate::output::{print_text, talk};
use crate::program::Program;

/// What the command line asks of a program.
pub struct Wish {
    /// The input, as JSON text.
    pub input: Option<String>,
    /// Whether models, tools and memories are made up.
    pub mock: bool,
    /// The file with the replies of models.
    pub script: Option<String>,
    /// Whether people see what happened.
    pub trace: bool,
    /// Whether the value alone is printed.
    pub quiet: bool,
    /// Where the run begins.
    pub entry: Option<String>,
    /// Which candidate each choice takes.
    pub variant: BTreeMap<String, String>,
}

/// Reads `CHOICE=NAME`.
pub fn choice(text: &str) -> Result<(String, String), String> {
    let (site, name) = text.rsplit_once('=').ok_or("a variant is CHOICE=NAME")?;
    Ok((site.to_owned(), name.to_owned()))
}

/// Runs a program and prints its value, with the trace unless it is to be quiet.
pub fn run(context: &Context, program: &Program, wish: Wish) -> Outcome {
    let input = match &wish.input {
        Some(text) => json::parse(text).map_err(|fault| {
            Failure::usage(&format!("the input is no JSON: {fault}"), "give a JSON object")
        })?,
        None => Json::object::<&str>([]),
    };
    let module = match compile_context(context, program)? {
        Ok(module) => module,
        Err(checked) => {
            checked.report(context);
            return Ok(ExitCode::from(1));
        }
    };
    let entry = wish.entry.as_deref().map(EntryPoint::parse).unwrap_or_default();
    let options = RunOptions { variant: wish.variant.clone(), ..RunOptions::default() };
    let run = module.run(&entry, options).map_err(|error| {
        Failure::refused(&error.to_string(), "choose another place with `--entry AGENT[.FUNC]`")
    })?;
    let providers = Providers::new(context, &module, &wish)?;
    let mut events = Vec::new();
    let end = memory::drive(run, json::to_value(&input), providers, &mut |event| {
        events.push(event);
    });
    let traced = trace::collect(&events);
    if wish.trace {
        talk(&trace::pretty(&traced));
    }
    match end {
        End::Done(value) => {
            let value = json::from_value(&value).map_err(|fault| {
                Failure::refused(&format!("the value cannot be read: {fault}"), "return less")
            })?;
            let shown = match wish.quiet {
                true => value,
                false => Json::object([("value", value), ("trace", Json::List(traced))]),
            };
            print_text(&json::pretty(&shown));
            Ok(ExitCode::SUCCESS)
        }
        End::Failed(failure) => Err(fault(&module, &failure)),
        End::Cancelled => Err(Failure::refused("the run was cancelled", "run it again")),
    }
}

/// Makes the failure of a run, with its place in the program.
fn fault(module: &Module, failure: &Failed) -> Failure {
    let hint = match RunFault::of(failure) {
        Some(fault) => {
            let name = module.sources().get(fault.file).map_or("", |source| source.name());
            format!("look at {name}:{}:{}", fault.position.line, fault.position.column)
        }
        None => "`--trace` shows what happened before".to_owned(),
    };
    failed(failure, &hint)
}

/// Who answers the requests of a run.
struct Providers {
    state: Mutex<State>,
    is_mock: bool,
}

/// Who answers models.
enum Model {
    Mock(MockModel),
    Scripted(ScriptedModel),
    Nobody,
}

struct State {
    model: Model,
    mock_memory: MockMemory,
    memory: Memory,
}

impl Providers {
    fn new(context: &Context, module: &Module, wish: &Wish) -> Result<Providers, Failure> {
        let model = match (&wish.script, wish.mock) {
            (Some(file), _) => Model::Scripted(read_script(context, file)?),
            (None, true) => Model::Mock(MockModel::new(module.dialect().version)),
            (None, false) => Model::Nobody,
        };
        let (mock_memory, memory) = (MockMemory::default(), Memory::default());
        let state = State { model, mock_memory, memory };
        Ok(Providers { state: Mutex::new(state), is_mock: wish.mock })
    }
}

fn read_script(context: &Context, file: &str) -> Result<ScriptedModel, Failure> {
    let text = std::fs::read_to_string(context.directory.join(file))
        .map_err(|error| Failure::io(&format!("read `{file}`"), &error))?;
    match json::parse(&text) {
        Ok(Json::List(replies)) => Ok(ScriptedModel::from_json(&replies)),
        Ok(_) | Err(_) => Err(Failure::refused(
            &format!("`{file}` is no JSON list of replies"),
            r#"write [{"text":"…"},{"value":…},{"error":"…"}]"#,
        )),
    }
}

impl Executor for Providers {
    fn perform(&self, request: &Request, _cancel: &CancelFlag) -> Answer {
        // A panic under the lock leaves a state that is whole.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let payload = &request.payload;
        match request.kind.as_str() {
            MODEL_REQUEST => match &mut state.model {
                Model::Scripted(script) => script.answer(payload),
                Model::Mock(mock) => mock.answer(payload),
                Model::Nobody => {
                    nobody("no model is configured; run it with `--mock` or `--script`")
                }
            },
            TOOL_REQUEST if self.is_mock => mock_tool(payload),
            MEMORY_REQUEST if self.is_mock => state.mock_memory.answer(payload),
            MEMORY_REQUEST => match request.hash() {
                Ok(hash) => {
                    let id = RequestId::derive("memory", &request.path, &hash);
                    let stamp = Stamp { request_id: id.as_bytes(), at: Clock::System.now() };
                    state.memory.answer(payload, stamp)
                }
                Err(error) => nobody(&error.to_string()),
            },
            INPUT_REQUEST => nobody("the input lacks a field, and nobody can be asked"),
            _ => nobody("no tool is configured; run it with `--mock`"),
        }
    }

    fn place(&self, _request: &Request) -> Place {
        Place::Inline
    }
}

fn nobody(message: &str) -> Answer {
    Answer::Failed(Failed::new("no-provider", message))
}
