//! Programs of the pipeline language, in memory and durably.

use std::process::ExitCode;
use std::sync::Arc;

use agentic_lang_pipeline::native::Natives;
use agentic_lang_pipeline::run::{BlockOrder, Children, FlowProgram, RunResult};
use agentic_lang_pipeline::{Compiled, Needs, compile, source_text};
use agentic_model::{Value, json};
use agentic_plan::{Backend, BuiltinKind, Implementation, Registry};
use agentic_replay::{End, Failure as Failed};
use agentic_space::Space;
use agentic_space::session::{Executor, PipelineFlow};

use super::durable::{self, Reached};
use super::failed;
use crate::commands::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::frontend::of_pipeline;
use crate::memory;
use crate::output::{Format, print_text};
use crate::program::Program;
use crate::registry;

/// What the command line asks of a program.
pub struct Wish {
    /// The input, as it was given: JSON text.
    pub input: Option<String>,
    /// The file of the registry.
    pub registry: Option<String>,
    /// Where it runs.
    pub place: Place,
    /// As whom and under which key, where it runs durably.
    pub setting: durable::Setting,
    /// In whose name.
    pub invoked_by: Option<String>,
    /// In which order its blocks run.
    pub blocks: BlockOrder,
}

/// Where a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
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
    pub compiled: Compiled,
    /// What is pinned.
    pub flow: PipelineFlow,
    /// The input.
    pub input: Value,
}

/// Runs the blocks of a program, one after the other.
pub fn run(context: &Context, program: &Program, wish: Wish) -> Outcome {
    match prepare(context, program, &wish)? {
        Some(ready) => run_ready(context, ready, wish),
        None => Ok(ExitCode::from(1)),
    }
}

/// Runs a program that was prepared.
pub fn run_ready(context: &Context, ready: Ready, wish: Wish) -> Outcome {
    if !ready.is_durable(wish.place) {
        if !wish.setting.is_empty() {
            return Err(Failure::usage(
                "a run in memory has neither agent nor key",
                "run it with `--session`, or make its block `temporal`",
            ));
        }
        return in_memory(context, &ready, wish.place);
    }
    let ready = ready.pinned(&context.space()?)?;
    ready.refuse_nobody()?;
    ready.refuse_unperformed(Backend::Temporal)?;
    let object = ready.flow.to_object().map_err(|error| {
        Failure::refused(
            &format!("a durable run pins its program with its registry: {error}"),
            "split the program, or run it in memory with `agentic run --backend memory`",
        )
    })?;
    let ran = durable::run(context, wish.setting, object, ready.input, &ready.flow.source)?;
    match ran.reached {
        Reached::End(end) => show_end(context, &end),
        Reached::Waiting(code) => Ok(code),
    }
}

/// Compiles a program and reads its input; nothing if the program is wrong, which is shown then.
pub fn prepare(
    context: &Context,
    program: &Program,
    wish: &Wish,
) -> Result<Option<Ready>, Failure> {
    let input = match &wish.input {
        Some(text) => json::from_text(text)
            .map_err(|error| Failure::usage(&error.to_string(), "give a smaller JSON value"))?,
        None => Value::Null,
    };
    let registry = registry::read(context, wish.registry.as_deref())?;
    let Some(compiled) = compiled(context, program, &registry) else { return Ok(None) };
    let flow = PipelineFlow {
        source: program.text()?.to_owned(),
        registry,
        invoked_by: wish.invoked_by.clone(),
        blocks: wish.blocks,
        script: None,
    };
    Ok(Some(Ready { compiled, flow, input }))
}

impl Ready {
    /// Says whether it is recorded.
    pub fn is_durable(&self, place: Place) -> bool {
        match place {
            Place::Session => true,
            Place::Memory => false,
            Place::AsDeclared => self.has_durable_block(),
        }
    }

    /// Says whether a block asks to be durable.
    pub fn has_durable_block(&self) -> bool {
        self.compiled.blocks.iter().any(|block| block.plan.backend() == Backend::Temporal)
    }

    /// Refuses a program that acts in the name of somebody who was not named.
    pub fn refuse_nobody(&self) -> Result<(), Failure> {
        let needs = Needs::of(&self.compiled);
        match needs.identities.first() {
            Some(provider) if self.flow.invoked_by.is_none() => Err(Failure::program(
                "MissingIdentity",
                &format!("`{provider}` acts in somebody's name, and nobody is named"),
                "say who runs it with `agentic flow run --as user:NAME`",
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses a program with an agent whom nobody performs where it runs, before anything happens.
    pub fn refuse_unperformed(&self, backend: Backend) -> Result<(), Failure> {
        let natives = Natives::default();
        for agent in &Needs::of(&self.compiled).agents {
            let is_scripted =
                self.flow.script.as_ref().is_some_and(|all| all.get(agent.as_str()).is_some());
            let spec = self.flow.registry.by_agent(agent);
            let Some(spec) = spec.filter(|spec| spec.kind == BuiltinKind::Activity && !is_scripted)
            else {
                continue;
            };
            let missing = match (&spec.run, backend) {
                (None, _) => format!("nothing here performs the agent `{agent}`"),
                (Some(Implementation::Native(name)), _) if !natives.knows(name) => {
                    format!("there is no native function `{name}`")
                }
                (Some(Implementation::Agent { name, .. }), Backend::Memory) => {
                    format!("`{name}` is an agent of a space, and a run in memory has none")
                }
                (Some(_), _) => continue,
            };
            return Err(Failure::program(
                "AgentNotRegistered",
                &missing,
                "say in the registry who does: `\"run\"` of its entry; agents of a space need `--session`",
            ));
        }
        Ok(())
    }

    /// Names the flow of every agent of the space that is called: the one that it ran last, unless
    /// the registry names one. So the run does the same whatever the agent does later.
    pub fn pinned(mut self, space: &Space) -> Result<Ready, Failure> {
        self.flow.registry = registry::with_flows(space, &self.flow.registry)?;
        Ok(self)
    }
}

fn in_memory(context: &Context, ready: &Ready, place: Place) -> Outcome {
    if Needs::of(&ready.compiled).n_holds > 0 {
        return Err(Failure::refused(
            "the program asks a human, and a run in memory cannot wait for one",
            match place {
                Place::Memory => "run it without `--backend memory`",
                Place::AsDeclared | Place::Session => "run it as a session with `--session`",
            },
        ));
    }
    ready.refuse_nobody()?;
    ready.refuse_unperformed(Backend::Memory)?;
    let run = FlowProgram::new(&ready.compiled, ready.flow.options(Children::Contexts));
    let executor = Executor::of_pipeline(&ready.flow)?;
    let folder = context.directory.clone();
    show_end(context, &memory::run(run, ready.input.clone(), executor, folder, &mut |_| {}))
}

/// Prints what a run came to.
pub fn show_end(context: &Context, end: &End) -> Outcome {
    match end {
        End::Done(result) => {
            print_result(context, result);
            Ok(ExitCode::SUCCESS)
        }
        End::Failed(failure) => Err(fail(context, failure)),
        End::Cancelled => Err(Failure::refused("the run was cancelled", "run it again")),
    }
}

/// Compiles a program, or shows what is wrong with it.
pub fn compiled(
    context: &Context,
    program: &Program,
    registry: &Arc<Registry>,
) -> Option<Compiled> {
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
        Format::Json => print_text(&json::to_text(result)),
        Format::Text => {
            for value in RunResult::values_of(result) {
                match value {
                    Value::Text(text) => print_text(&format!("{text}\n")),
                    other => print_text(&format!("{}\n", json::to_text(&other))),
                }
            }
        }
    }
}

/// Returns the failure; with JSON the result so far goes to standard output.
fn fail(context: &Context, failure: &Failed) -> Failure {
    if context.format == Format::Json && failure.details.get("blocks").is_some() {
        print_text(&json::to_text(&failure.details));
    }
    let cause = || {
        let blocks = failure.details.get("blocks")?.as_list()?;
        let error = blocks.last()?.get("error")?.get("details")?;
        error.get("cause")?.get("code")?.as_text()
    };
    failed(
        failure,
        match cause() {
            Some("ConfigurationError") => {
                "`agentic flow explain FILE` says what it needs, `agentic providers` which models there are"
            }
            Some(_) | None => "`agentic --json run FILE` shows how far each node came",
        },
    )
}
