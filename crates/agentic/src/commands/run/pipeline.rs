//! Programs of the pipeline language, in memory.

use std::process::ExitCode;
use std::sync::Arc;

use agentic_lang_pipeline::run::{FlowProgram, Options, RunResult};
use agentic_lang_pipeline::{Compiled, Needs, compile, source_text};
use agentic_model::{Value, json};
use agentic_plan::{Backend, Registry};
use agentic_replay::{End, Failure as Failed};
use agentic_space::session::{Executor, pipeline_object};

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
    /// The input, as JSON text.
    pub input: Option<String>,
    /// The file of the registry.
    pub registry: Option<String>,
    /// Where all blocks run, whatever they say.
    pub backend: Option<Backend>,
    /// The session that it runs as; in memory without one.
    pub session: Option<durable::Setting>,
}

/// Runs the blocks of a program, one after the other.
pub fn run(context: &Context, program: &Program, wish: Wish) -> Outcome {
    let input = match &wish.input {
        Some(text) => json::from_text(text)
            .map_err(|error| Failure::usage(&error.to_string(), "give a smaller JSON value"))?,
        None => Value::Null,
    };
    let registry = registry::read(context, wish.registry.as_deref())?;
    let Some(compiled) = compiled(context, program, &registry) else {
        return Ok(ExitCode::from(1));
    };
    let text = program.text()?;
    let object = pipeline_object(text, &registry)?;
    let reached = match wish.session {
        Some(setting) => durable::run(context, setting, object, input, text)?.reached,
        None => {
            refuse_durable(&compiled, wish.backend)?;
            let run = FlowProgram::new(&compiled, Options::default());
            let (executor, folder) = (Executor::new(&object)?, context.directory.clone());
            Reached::End(memory::run(run, input, executor, folder, &mut |_| {}))
        }
    };
    let end = match reached {
        Reached::End(end) => end,
        Reached::Waiting(code) => return Ok(code),
    };
    match end {
        End::Done(result) => {
            print_result(context, &result);
            Ok(ExitCode::SUCCESS)
        }
        End::Failed(failure) => Err(fail(context, &failure)),
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

/// Refuses blocks that ask for what a run in memory cannot give.
fn refuse_durable(compiled: &Compiled, backend: Option<Backend>) -> Result<(), Failure> {
    let is_durable =
        |block: &&agentic_lang_pipeline::CompiledBlock| block.plan.backend() == Backend::Temporal;
    if backend.is_none() && compiled.blocks.iter().any(|block| is_durable(&block)) {
        return Err(Failure::refused(
            "the program asks for a durable run, and this one is in memory",
            "run it with `--session`, or all the same in memory with `--backend memory`",
        ));
    }
    if Needs::of(compiled).n_holds > 0 {
        return Err(Failure::refused(
            "the program asks a human, and a run in memory cannot wait for one",
            "run it as a session with `--session`",
        ));
    }
    Ok(())
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
    failed(failure, "`agentic --json run FILE` shows how far each node came")
}
