//! Programs of the pipeline language, in memory and durably.

use std::process::ExitCode;
use std::sync::Arc;

use agentic_lang_pipeline::PlannedRun;
use agentic_lang_pipeline::run::{BlockOrder, PartsPlace, PipelineProgram, RunResult};
use agentic_lang_pipeline::{CompiledSource, Needs, compile, source_text};
use agentic_model::{Value, json};
use agentic_plan::{Backend, Registry};
use agentic_replay::engine::{RunAttendance, RunStart};
use agentic_replay::{End, ProgramEvent, ProgramFailure as Failed};
use agentic_session::engine::unperformed;
use agentic_session::error::ProgramError;
use agentic_session::{RunExecutor, retell};

use super::durable;
use super::failed;
use super::trace_file::TraceFile;
use crate::commands::VerbOutcome;
use crate::commands::flow::detach::go_on_elsewhere;
use crate::commands::flow::status::{reached_so_far, standing};
use crate::context::Context;
use crate::engine::Address;
use crate::failure::CommandFailure;
use crate::frontend::of_pipeline;
use crate::memory;
use crate::output::{Format, print_raw, show_result, talk};
use crate::program::ProgramFile;
use crate::registry;

/// How many digits of the id of a run people are told.
const SESSION_DIGITS: usize = 12;

/// What the command line asks of a program.
pub struct PipelineRequest {
    /// The input, as it was given: JSON text.
    pub input: Option<String>,
    /// The file of the registry.
    pub registry: Option<String>,
    /// Where it runs.
    pub place: RunPlace,
    /// As whom and under which key, where it runs durably.
    pub setting: durable::DurableSetting,
    /// In whose name.
    pub invoked_by: Option<String>,
    /// In which order its blocks run.
    pub blocks: BlockOrder,
    /// The file that the trace goes to.
    pub output_trace: Option<String>,
}

/// Where a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPlace {
    /// In memory, unless a block says that it is durable.
    AsDeclared,
    /// In memory, whatever its blocks say.
    Memory,
    /// As a session.
    Session,
}

/// A program that is ready to run.
pub struct Ready {
    /// What runs.
    pub run: PlannedRun,
    /// The input.
    pub input: Value,
    /// The file that the trace goes to.
    pub output_trace: Option<String>,
}

/// Runs the blocks of a program, one after the other.
pub fn run(context: &Context, program: &ProgramFile, wish: PipelineRequest) -> VerbOutcome {
    let Some(ready) = prepare(context, program, &wish)? else { return Ok(ExitCode::from(1)) };
    if ready.is_durable(wish.place) {
        let how = (wish.setting, RunAttendance::Attended);
        return ready.run_durably(context, &Address::default(), how);
    }
    if !wish.setting.is_empty() {
        return Err(CommandFailure::usage(
            "a run in memory has neither agent nor key",
            "run it with `--session`, or make its block `temporal`",
        ));
    }
    ready.run_in_memory(context, wish.place)
}

/// Compiles a program and reads its input; nothing if the program is wrong, which is shown then.
pub fn prepare(
    context: &Context,
    program: &ProgramFile,
    wish: &PipelineRequest,
) -> Result<Option<Ready>, CommandFailure> {
    let input = match &wish.input {
        Some(text) => json::from_text(text).map_err(|error| {
            CommandFailure::usage(&error.to_string(), "give a smaller JSON value")
        })?,
        None => Value::Null,
    };
    let registry = registry::read(context, wish.registry.as_deref())?;
    let Some(compiled) = compiled(context, program, &registry) else { return Ok(None) };
    let run = PlannedRun {
        source: program.text()?.to_owned(),
        compiled,
        order: wish.blocks,
        invoked_by: wish.invoked_by.clone(),
        script: None,
    };
    Ok(Some(Ready { run, input, output_trace: wish.output_trace.clone() }))
}

impl Ready {
    /// Says whether it is recorded.
    pub fn is_durable(&self, place: RunPlace) -> bool {
        match place {
            RunPlace::Session => true,
            RunPlace::Memory => false,
            RunPlace::AsDeclared => self.has_durable_block(),
        }
    }

    /// Says whether a block asks to be durable.
    pub fn has_durable_block(&self) -> bool {
        self.run.compiled.blocks.iter().any(|block| block.plan.backend() == Backend::Temporal)
    }

    /// Refuses a program that acts in the name of somebody who was not named.
    fn refuse_nobody(&self) -> Result<(), CommandFailure> {
        let needs = Needs::of(&self.run.compiled);
        match needs.identities.first() {
            Some(provider) if self.run.invoked_by.is_none() => Err(CommandFailure::program(
                "MissingIdentity",
                &format!("`{provider}` acts in somebody's name, and nobody is named"),
                "say who runs it with `agentic flow run --as user:NAME`",
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Runs it in an engine; a detached run goes on in a process of its own.
    pub fn run_durably(
        self,
        context: &Context,
        address: &Address,
        (setting, attendance): (durable::DurableSetting, RunAttendance),
    ) -> VerbOutcome {
        let reached = address.reach(context)?;
        self.refuse_nobody()?;
        let engine = reached.engine();
        let output_trace = self.output_trace.clone();
        let run = engine.start(self.start(context, setting)?, attendance)?;
        let status = engine.status(&run)?;
        talk(&format!("session {} of {}", &run.as_str()[..SESSION_DIGITS], status.agent));
        reached.tell_mended();
        match attendance {
            RunAttendance::Attended => {
                if let Some(name) = output_trace {
                    let mut events = Vec::new();
                    let id = reached.space().find_session(run.as_str())?;
                    retell(reached.space(), &id, &mut |event| events.push(event))?;
                    write_trace(context, &name, events, engine.result(&run)?.as_ref());
                }
                reached_so_far(context, &*engine, &run)
            }
            RunAttendance::Detached => {
                if !status.state.is_over() {
                    go_on_elsewhere(context, address, &run)?;
                }
                standing(context, &status)
            }
        }
    }

    /// Says what the run begins with.
    pub fn start(
        self,
        context: &Context,
        setting: durable::DurableSetting,
    ) -> Result<RunStart<PlannedRun>, CommandFailure> {
        let agent = context.named_agent(setting.agent.as_ref())?;
        Ok(RunStart { run: self.run, input: self.input, key: setting.key, agent })
    }

    /// Runs it here and now, and keeps nothing.
    pub fn run_in_memory(self, context: &Context, place: RunPlace) -> VerbOutcome {
        if Needs::of(&self.run.compiled).n_holds > 0 {
            return Err(CommandFailure::refused(
                "the program asks a human, and a run in memory cannot wait for one",
                match place {
                    RunPlace::Memory => "run it without `--backend memory`",
                    RunPlace::AsDeclared | RunPlace::Session => {
                        "run it as a session with `--session`"
                    }
                },
            ));
        }
        self.refuse_nobody()?;
        if let Some(reason) = unperformed(&self.run, Backend::Memory) {
            return Err(
                agentic_session::Error::Program(ProgramError::Unperformed { reason }).into()
            );
        }
        let mut events = Vec::new();
        let mut sink = |event| events.push(event);
        let end = self.run_heard(context, memory::fresh_id(), &mut sink)?;
        if let Some(name) = &self.output_trace {
            write_trace(context, name, events, Some(&end));
        }
        show_end(context, &end, None)
    }

    /// Runs it in memory to its end, as the run of this name.
    pub fn end_in_memory(&self, context: &Context, run_id: String) -> Result<End, CommandFailure> {
        self.run_heard(context, run_id, &mut |_| {})
    }

    fn run_heard(
        &self,
        context: &Context,
        run_id: String,
        sink: &mut dyn FnMut(ProgramEvent),
    ) -> Result<End, CommandFailure> {
        let run = PipelineProgram::new(&self.run.compiled, self.run.options(PartsPlace::Contexts));
        let executor = RunExecutor::of_pipeline(&self.run, run_id)?;
        Ok(memory::run(context, run, self.input.clone(), executor, sink))
    }
}

/// Writes what became of each node, in order, and behind that what became of the blocks of a run
/// that is over.
fn write_trace(context: &Context, name: &str, events: Vec<ProgramEvent>, end: Option<&End>) {
    let outcome = match end {
        Some(End::Done(result)) => Some(result),
        Some(End::Failed(failure)) => Some(&failure.details),
        Some(End::Cancelled) | None => None,
    };
    let blocks = outcome.and_then(|outcome| outcome.get("blocks")).and_then(Value::as_list);
    let blocks = blocks.unwrap_or_default().iter().map(|block| ("block", block));
    let events = events.iter().map(|event| (event.kind.as_str(), &event.data)).chain(blocks);
    let lines = events.map(|(kind, data)| {
        json::to_text(&Value::map([("kind", Value::text(kind)), ("data", data.clone())]))
    });
    let lines: Vec<String> = lines.collect();
    TraceFile::write_whole(context, name, &format!("{{\"trace\":[{}]}}\n", lines.join(",\n")));
}

/// Prints what a run came to; the blocks of one that is kept say by which name.
pub fn show_end(context: &Context, end: &End, run_id: Option<&str>) -> VerbOutcome {
    match end {
        End::Done(result) => {
            print_result(context, &named(result, run_id));
            Ok(ExitCode::SUCCESS)
        }
        End::Failed(failure) => {
            let details = named(&failure.details, run_id);
            Err(fail(context, &Failed { details, ..failure.clone() }))
        }
        End::Cancelled => Err(CommandFailure::refused("the run was cancelled", "run it again")),
    }
}

/// Returns a result whose blocks say by which name their run is found again.
fn named(result: &Value, run_id: Option<&str>) -> Value {
    let (Some(run_id), Some(result)) = (run_id, result.as_map()) else { return result.clone() };
    let mut result = result.clone();
    if let Some(Value::List(blocks)) = result.get_mut("blocks") {
        for block in blocks {
            if let Value::Map(block) = block {
                block.insert("run_id".to_owned(), Value::text(run_id));
            }
        }
    }
    Value::Map(result)
}

/// Compiles a program, or shows what is wrong with it.
pub fn compiled(
    context: &Context,
    program: &ProgramFile,
    registry: &Arc<Registry>,
) -> Option<CompiledSource> {
    let text = source_text(&program.bytes);
    let findings = match text.and_then(|text| compile(text, Arc::clone(registry))) {
        Ok(compiled) => return Some(compiled),
        Err(findings) => findings,
    };
    of_pipeline(program, findings).report(context);
    None
}

/// Prints the whole result as JSON, or the result of each block for people.
fn print_result(context: &Context, result: &Value) {
    match context.format {
        Format::Json => print_raw(&json::to_text(result)),
        Format::Text => {
            for value in RunResult::values_of(result) {
                if let Value::Text(text) = value {
                    show_result(context.format, &format!("{text}\n"))
                } else {
                    show_result(context.format, &format!("{}\n", json::to_text(&value)))
                }
            }
        }
    }
}

/// Returns the failure; with JSON the result so far goes to standard output.
fn fail(context: &Context, failure: &Failed) -> CommandFailure {
    let cause = || {
        let blocks = failure.details.get("blocks")?.as_list()?;
        let error = blocks.last()?.get("error")?.get("details")?;
        error.get("cause")?.get("code")?.as_text()
    };
    let hint = match cause() {
        Some("ConfigurationError") => {
            "`agentic flow explain FILE` says what it needs, `agentic providers` which models there are"
        }
        Some("MissingCredential" | "InsecureCredentialFile") => {
            "`agentic flow explain FILE` says which credentials it needs"
        }
        Some(_) | None => "`agentic --json run FILE` shows how far each node came",
    };
    let shown = match cause() {
        Some(code) => failed(failure, hint).because_of(code),
        None => failed(failure, hint),
    };
    if context.format == Format::Json
        && let (Some(_), Value::Map(mut so_far)) =
            (failure.details.get("blocks"), failure.details.clone())
    {
        let error = serde_json::to_string(&shown.view()).expect("views have text keys");
        so_far.extend(json::from_text(&error).map(|error| ("error".to_owned(), error)));
        print_raw(&json::to_text(&Value::Map(so_far)));
    }
    shown
}
