//! Programs of AgentLang, in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use agentic_diag::Source;
use agentic_lang_agent::{
    Capture, MOCK, MockTasks, Module, PROGRESS, RunOptions, TASK, code, invocation, json, report,
};
use agentic_model::Value;
use agentic_providers::host::{CancelFlag, Executor, Host, Limits, Place};
use agentic_replay::{Answer, End, Event, Failure as Failed, Request};

use super::handler::Handler;
use super::{failed, start};
use crate::commands::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::frontend::unreadable;
use crate::output::{Format, print_bytes, talk, warn};
use crate::program::{self, Program};

/// How many handlers run at once, beyond what programs themselves allow.
const HANDLERS_MAX: usize = 256;

/// What the command line asks of a program.
pub struct Wish {
    /// The pipeline.
    pub pipeline: Option<String>,
    /// What to do.
    pub act: Act,
    /// The inputs, as JSON text.
    pub input: String,
    /// Where the trace goes.
    pub trace: Option<String>,
    /// How many branches run at once.
    pub workers: Option<i64>,
    /// Who performs which tasks.
    pub handlers: Vec<Handler>,
}

/// What to do with a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Run a pipeline.
    Run,
    /// Run the tests.
    Test,
    /// Print a pipeline as it runs.
    Lower,
}

impl Act {
    /// Reads the flags; `--lower` wins.
    pub fn of(lower: bool, test: bool) -> Act {
        match (lower, test) {
            (true, _) => Act::Lower,
            (false, true) => Act::Test,
            (false, false) => Act::Run,
        }
    }
}

/// Runs a program, or what else is asked of it.
pub fn run(context: &Context, program: &Program, wish: Wish) -> Outcome {
    let input = invocation::parse_input(&wish.input)
        .map_err(|error| Failure::usage(&error.message, "give a JSON object to `--input`"))?;
    let source = match agentic_lang_agent::read(&program.name, &program.bytes) {
        Ok(source) => source,
        Err(finding) => {
            let checked = unreadable(program, *finding);
            program::report(context, &checked.source, &checked.findings);
            return Ok(ExitCode::from(1));
        }
    };
    let name = match (&wish.pipeline, wish.act) {
        (Some(name), _) => name.clone(),
        (None, Act::Test) => String::new(),
        (None, Act::Lower | Act::Run) => return Err(no_pipeline(&source)),
    };
    if wish.act == Act::Lower {
        return lower(context, &source, &name);
    }
    let module = match agentic_lang_agent::compile(&source) {
        Ok(module) => module,
        Err(findings) => {
            program::report(context, &source, &findings);
            return Ok(ExitCode::from(1));
        }
    };
    program::show(&source, module.warnings());
    if wish.act == Act::Run && module.may_hold(&name) {
        return Err(Failure::refused(
            &format!("`{name}` may ask a human, and a run in memory cannot wait for one"),
            "remove `approve` from the pipeline and from those that it calls",
        ));
    }
    let input = Value::Text(json::to_text(&input));
    let (end, events) = perform(context, &module, &name, &wish, input);
    if let Some(path) = &wish.trace {
        write_trace(context, path, &events);
    }
    match wish.act {
        Act::Test => test_outcome(&end),
        Act::Run | Act::Lower => outcome(&module, &end),
    }
}

/// Runs to the end and returns what was traced.
fn perform(
    context: &Context,
    module: &Arc<Module>,
    name: &str,
    wish: &Wish,
    input: Value,
) -> (End, Vec<Event>) {
    let defaults = RunOptions::default();
    let options = RunOptions {
        workers: wish.workers.unwrap_or(defaults.workers),
        handlers: wish.handlers.iter().map(|handler| handler.task.clone()).collect(),
        trace: if wish.trace.is_some() { Capture::On } else { Capture::Off },
        progress: if context.format == Format::Text { Capture::On } else { Capture::Off },
        ..defaults
    };
    let run = match wish.act {
        Act::Test => module.run_tests(options),
        Act::Run | Act::Lower => module.run(name, options),
    };
    let handlers = wish.handlers.iter().cloned();
    let tasks = Tasks {
        mock: Mutex::default(),
        // The last one that is named performs the task.
        handlers: handlers.map(|handler| (handler.task.clone(), handler)).collect(),
        folder: context.directory.clone(),
    };
    let limits = Limits { workers_max: HANDLERS_MAX, ..Limits::default() };
    let mut traced = Vec::new();
    let mut sink = |event: Event| match event.data.as_text() {
        Some(line) if event.kind == PROGRESS => talk(line),
        _ => traced.push(event),
    };
    let host = Host::new(tasks).with_limits(limits);
    let end = host.run(run, &start(input), &CancelFlag::new(), &mut sink);
    (end, traced)
}

/// Who performs the tasks of a run.
struct Tasks {
    mock: Mutex<MockTasks>,
    handlers: BTreeMap<String, Handler>,
    folder: PathBuf,
}

impl Executor for Tasks {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> Answer {
        let task = request.payload.get("task").and_then(Value::as_text).unwrap_or_default();
        if request.kind == TASK
            && let Some(handler) = self.handlers.get(task)
        {
            return handler.perform(request, &self.folder, cancel);
        }
        // A panic under the lock leaves counters, never half of one.
        let mut mock = self.mock.lock().unwrap_or_else(PoisonError::into_inner);
        mock.perform(request).unwrap_or_else(|| {
            let message = format!("nobody here performs `{task}`");
            Answer::Failed(Failed::new("unknown-kind", message))
        })
    }

    fn place(&self, request: &Request) -> Place {
        if request.kind == MOCK { Place::Inline } else { Place::Pool }
    }
}

fn lower(context: &Context, source: &Source, name: &str) -> Outcome {
    match agentic_lang_agent::lower(source, name) {
        Ok(text) => {
            print_bytes(text.as_bytes());
            Ok(ExitCode::SUCCESS)
        }
        Err(finding) if finding.code == code::PIPELINE_UNKNOWN => {
            let hint = "`agentic check FILE` shows whether the file is right";
            Err(Failure::program(finding.code, &finding.message, hint))
        }
        Err(finding) => {
            program::report(context, source, &[*finding]);
            Ok(ExitCode::from(1))
        }
    }
}

fn outcome(module: &Module, end: &End) -> Outcome {
    match end {
        End::Done(_) => {
            let unreadable = |error: report::ReportError| {
                Failure::refused(&error.to_string(), "return less from the pipeline")
            };
            let result = report::result(end).map_err(unreadable)?;
            print_bytes(report::result_text(result).map_err(unreadable)?.as_bytes());
            Ok(ExitCode::SUCCESS)
        }
        End::Failed(failure) => Err(failed(failure, &hint(module, &failure.code))),
        End::Cancelled => Err(Failure::refused("the run was cancelled", "run it again")),
    }
}

fn test_outcome(end: &End) -> Outcome {
    if let End::Failed(failure) = end {
        return Err(failed(failure, "`agentic check FILE` shows whether the file is right"));
    }
    let tests = report::test_results(end)
        .map_err(|error| Failure::refused(&error.to_string(), "run fewer tests at once"))?;
    print_bytes(report::test_text(&tests).as_bytes());
    let is_passed = tests.iter().all(|test| test.error.is_none());
    Ok(if is_passed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Says what to do about a failure.
fn hint(module: &Module, code: &str) -> String {
    match code {
        code::PIPELINE_UNKNOWN => {
            let names: Vec<String> =
                module.pipelines().into_iter().map(|pipeline| pipeline.name).collect();
            format!("the file has these: {}", names.join(", "))
        }
        code::INPUTS_MISSING | code::INPUTS_UNKNOWN | code::INPUT_INVALID => {
            "give the inputs of the pipeline as the fields of `--input`".to_owned()
        }
        _ => "`--output-trace PATH` shows what happened before".to_owned(),
    }
}

fn no_pipeline(source: &Source) -> Failure {
    let names = agentic_lang_agent::compile(source).map(|module| module.pipelines());
    let names: Vec<String> =
        names.unwrap_or_default().into_iter().map(|pipeline| pipeline.name).collect();
    let hint = match names.is_empty() {
        true => "`agentic run FILE PIPELINE` runs one, `agentic run FILE --test` the tests".into(),
        false => format!("name one of these behind the file: {}", names.join(", ")),
    };
    Failure::usage("no pipeline is named", &hint)
}

/// Writes the trace; a path that cannot be written changes nothing about the run.
fn write_trace(context: &Context, path: &str, events: &[Event]) {
    let written = std::fs::write(context.directory.join(path), report::trace_text(events));
    if let Err(error) = written {
        warn(&format!("the trace cannot be written to `{path}`: {error}"));
    }
}
