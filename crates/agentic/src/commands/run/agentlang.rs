//! Programs of AgentLang, in memory or as sessions.

mod hint;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use agentic_api::view::LoweredView;
use agentic_diag::SourceText;
use agentic_lang_agent::{
    Data, MockTasks, Module, RunOptions, TestResult, TraceCapture, code, invocation, json, report,
};
use agentic_model::Value;
use agentic_model::object::OBJECT_BYTES_MAX;
use agentic_providers::model::Adapter;
use agentic_replay::{End, ProgramEvent};
use agentic_session::{AgentLangFlow, RunExecutor, SharedTasks, agents_of};

pub use self::hint::Desk;
use self::hint::no_pipeline;
use super::durable::{self, RunProgress};
use super::handler::{self, Handler};
use super::trace_file::{EndedTrace, TraceKeeper};
use super::{adapter, failed};
use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::frontend::unreadable;
use crate::live::Live;
use crate::memory;
use crate::output::{Format, print_raw, print_text, show_result};
use crate::program::{CheckedProgram, ProgramFile};
use crate::talker::Talker;

/// What the command line asks of a program.
pub struct AgentlangRequest {
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
    /// Who performs which tools.
    pub tools: Vec<Handler>,
    /// Who performs the tasks of agents, where the command line says so.
    pub adapter: Option<Adapter>,
    /// The session that it runs as; in memory without one.
    pub session: Option<durable::DurableSetting>,
    /// What people see while it runs.
    pub live: Live,
    /// Where they are.
    pub desk: Desk,
    /// What the built-in tasks remember of earlier runs.
    pub remembered: MockTasks,
}

/// What became of a program that was started.
pub struct StartOutcome {
    /// The exit code, or how it failed.
    pub outcome: VerbOutcome,
    /// What the built-in tasks remember.
    pub remembered: MockTasks,
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

/// Reads a number of workers.
pub fn workers(text: &str) -> Result<i64, String> {
    invocation::workers(text).map_err(|error| error.message)
}

/// Reads the inputs of a pipeline.
pub fn input(text: &str) -> Result<Data, CommandFailure> {
    invocation::parse_input(text).map_err(|error| {
        CommandFailure::usage(
            &error.message,
            "inputs are one JSON object, such as `{\"topic\": \"tea\"}`",
        )
    })
}

/// Runs a program, or what else is asked of it.
pub fn run(context: &Context, program: &ProgramFile, wish: AgentlangRequest) -> VerbOutcome {
    let input = input(&wish.input)?;
    let source = match agentic_lang_agent::read(&program.name, &program.bytes) {
        Ok(source) => source,
        Err(finding) => {
            unreadable(program, *finding).report(context);
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
            CheckedProgram::of(source, findings).report(context);
            return Ok(ExitCode::from(1));
        }
    };
    // Who reads JSON has them from `agentic check`, and an error here as one value.
    if context.format == Format::Text {
        CheckedProgram::of(source.clone(), module.warnings().to_vec()).show();
    }
    start(context, &module, &source, &name, &input, wish)?.outcome
}

/// Runs a compiled program and prints what it came to.
pub fn start(
    context: &Context,
    module: &Arc<Module>,
    source: &SourceText,
    name: &str,
    input: &Data,
    wish: AgentlangRequest,
) -> Result<StartOutcome, CommandFailure> {
    refuse_strangers(module, &wish)?;
    if wish.session.is_none() {
        refuse_hold(module, &wish, name)?;
    }
    let (act, desk) = (wish.act, wish.desk);
    let input = Value::Text(json::to_text(input));
    let RunPerformance { reached, trace, remembered } =
        perform(context, (module, source), (name, wish), input)?;
    let end = match reached {
        RunProgress::End(end) => end,
        RunProgress::Waiting(code) => return Ok(StartOutcome { outcome: Ok(code), remembered }),
    };
    let outcome = match act {
        Act::Test => test_outcome(context, &end),
        Act::Run | Act::Lower => outcome(context, module, desk, &end),
    };
    if let (Err(failure), Format::Json) = (&outcome, context.format) {
        show_failed(failure, trace);
    }
    Ok(StartOutcome { outcome, remembered })
}

/// What a run came to.
struct RunPerformance {
    reached: RunProgress,
    trace: EndedTrace,
    remembered: MockTasks,
}

impl RunPerformance {
    fn of_session(reached: RunProgress, trace: EndedTrace) -> RunPerformance {
        // What its tasks remember follows from the records of the session.
        RunPerformance { reached, trace, remembered: MockTasks::default() }
    }
}

/// Prints a failure with what happened before it, where that was kept.
fn show_failed(failure: &CommandFailure, trace: EndedTrace) {
    let trace = trace.text().unwrap_or_default();
    // It is an object already; the error goes into it, in front.
    let rest = trace.strip_prefix('{').unwrap_or("\"trace\":[]}");
    let error = serde_json::to_string(&failure.view()).expect("views have text keys");
    print_raw(&format!("{{\"error\":{error},{rest}"));
}

/// Refuses handlers of tasks that the program does not have: what they are for would be made up.
fn refuse_strangers(module: &Module, wish: &AgentlangRequest) -> Result<(), CommandFailure> {
    let names: Vec<String> = module.tasks().into_iter().map(|task| task.name).collect();
    let stranger = wish.handlers.iter().find(|handler| !names.contains(&handler.name));
    let Some(Handler { name, .. }) = stranger else { return Ok(()) };
    let hint = match names.is_empty() {
        true => "the program has no tasks".to_owned(),
        false => format!("the program has these: {}", names.join(", ")),
    };
    Err(CommandFailure::usage(
        &format!("`--handler` names a task `{name}`, and there is none"),
        &hint,
    ))
}

/// Refuses a run in memory that may come to a question to a human.
fn refuse_hold(module: &Module, wish: &AgentlangRequest, name: &str) -> Result<(), CommandFailure> {
    let (what, may_hold) = match wish.act {
        Act::Test => ("a test".to_owned(), module.tests_may_hold()),
        Act::Run | Act::Lower => (format!("`{name}`"), module.may_hold(name)),
    };
    if may_hold { Err(wish.desk.no_hold(&what)) } else { Ok(()) }
}

/// Runs to the end, or to where a session waits, and writes the trace.
fn perform(
    context: &Context,
    (module, source): (&Arc<Module>, &SourceText),
    (name, wish): (&str, AgentlangRequest),
    input: Value,
) -> Result<RunPerformance, CommandFailure> {
    let adapter = adapter::choose(context, module, &wish)?;
    let flow = AgentLangFlow {
        // Only a session keeps the program, which must then fit into an object.
        source: if wish.session.is_some() { source.text().to_owned() } else { String::new() },
        pipeline: (wish.act != Act::Test).then(|| name.to_owned()),
        workers: wish.workers.unwrap_or(RunOptions::default().workers),
        handlers: handler::by_name(wish.handlers),
        tools: handler::by_name(wish.tools),
        adapter,
    };
    let trace = wish.trace.as_deref();
    match wish.session {
        Some(setting) => {
            let context = &context.showing(wish.live);
            in_session(context, setting, &flow, source, input, trace)
        }
        None => {
            let how = (&flow, wish.live, wish.remembered);
            in_memory(context, module, how, input, trace)
        }
    }
}

fn in_session(
    context: &Context,
    setting: durable::DurableSetting,
    flow: &AgentLangFlow,
    source: &SourceText,
    input: Value,
    trace: Option<&str>,
) -> Result<RunPerformance, CommandFailure> {
    if source.text().len() > OBJECT_BYTES_MAX {
        return Err(CommandFailure::refused(
            &format!("the program has more than the {OBJECT_BYTES_MAX} bytes that a session keeps"),
            "split the program, or run it in memory without `--session`",
        ));
    }
    let ran = durable::run(context, setting, flow.to_object()?, input, source.text())?;
    let has_failed = matches!(ran.reached, RunProgress::End(End::Failed(_)));
    let is_shown = has_failed && context.format == Format::Json;
    if trace.is_none() && !is_shown {
        return Ok(RunPerformance::of_session(ran.reached, EndedTrace::None));
    }
    let mut keeper = TraceKeeper::begin(context, trace);
    durable::retell(context, &ran.session, &mut |event| keeper.add(&event))?;
    Ok(RunPerformance::of_session(ran.reached, keeper.end()))
}

fn in_memory(
    context: &Context,
    module: &Arc<Module>,
    (flow, live, remembered): (&AgentLangFlow, Live, MockTasks),
    input: Value,
    trace: Option<&str>,
) -> Result<RunPerformance, CommandFailure> {
    let mut keeper = TraceKeeper::begin(context, trace);
    let options = RunOptions {
        workers: flow.workers,
        handlers: flow.handlers.keys().cloned().collect(),
        tools: flow.tools.keys().cloned().collect(),
        agents: agents_of(flow.adapter),
        trace: if keeper.capture() == TraceCapture::On { TraceCapture::On } else { live.trace },
        progress: live.progress,
        ..RunOptions::default()
    };
    let run = match &flow.pipeline {
        Some(name) => module.run(name, options),
        None => module.run_tests(options),
    };
    let tasks = SharedTasks::new(Mutex::new(remembered));
    let executor = RunExecutor::of_agents(&flow.to_object()?, Arc::clone(&tasks))?;
    let mut talker = Talker::default();
    let mut sink = |event: ProgramEvent| {
        keeper.add(&event);
        if let Some(line) = live.line(&event) {
            talker.say(line);
        }
    };
    let end = memory::run(context, run, input, executor, &mut sink);
    talker.end();
    let remembered = tasks.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(RunPerformance { reached: RunProgress::End(end), trace: keeper.end(), remembered })
}

/// Prints a pipeline as it runs.
pub fn lower(context: &Context, source: &SourceText, name: &str) -> VerbOutcome {
    match agentic_lang_agent::lower(source, name) {
        Ok(text) => {
            let view = LoweredView { pipeline: name.to_owned(), text };
            context.format.answer_program(&view, |view| &view.text);
            Ok(ExitCode::SUCCESS)
        }
        Err(finding) if finding.code == code::PIPELINE_UNKNOWN => {
            let hint = "`agentic check FILE` shows whether the file is right";
            Err(CommandFailure::program(finding.code, &finding.message, hint))
        }
        Err(finding) => {
            CheckedProgram::of(source.clone(), vec![*finding]).report(context);
            Ok(ExitCode::from(1))
        }
    }
}

fn outcome(context: &Context, module: &Module, desk: Desk, end: &End) -> VerbOutcome {
    match end {
        End::Done(_) => {
            let unreadable = |error: report::ReportError| {
                CommandFailure::refused(&error.to_string(), "return less from the pipeline")
            };
            let result = report::result(end).map_err(unreadable)?;
            show_result(context.format, &report::result_text(result).map_err(unreadable)?);
            Ok(ExitCode::SUCCESS)
        }
        End::Failed(failure) => {
            Err(failed(failure, &desk.hint(module, failure)).led_by("Execution error:"))
        }
        End::Cancelled => Err(CommandFailure::refused("the run was cancelled", "run it again")),
    }
}

fn test_outcome(context: &Context, end: &End) -> VerbOutcome {
    if let End::Failed(failure) = end {
        return Err(failed(failure, "`agentic check FILE` shows whether the file is right"));
    }
    let tests = report::test_results(end)
        .map_err(|error| CommandFailure::refused(&error.to_string(), "run fewer tests at once"))?;
    match context.format {
        Format::Json => print_raw(&tests_json(&tests).to_string()),
        Format::Text => print_text(&report::test_text(&tests)),
    }
    let is_passed = tests.iter().all(|test| test.error.is_none());
    Ok(if is_passed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn tests_json(tests: &[TestResult]) -> serde_json::Value {
    let one = |test: &TestResult| {
        let passed = test.error.is_none();
        serde_json::json!({ "name": test.name, "passed": passed, "error": test.error })
    };
    let n_failed = tests.iter().filter(|test| test.error.is_some()).count();
    serde_json::json!({
        "tests": tests.iter().map(one).collect::<Vec<_>>(),
        "passed": tests.len() - n_failed,
        "failed": n_failed,
        "total": tests.len(),
    })
}
