//! `agentic run`

mod agentlang;
mod handler;
mod pipeline;

pub use self::pipeline::compiled;

use agentic_model::Instant;
use agentic_plan::Backend;
use agentic_replay::Seed;
use agentic_space::Clock;

use super::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::language::Language;
use crate::program::Program;

/// Run a program
///
/// A run is in memory: nothing of it is kept. It needs no repository. The language follows from
/// the name of the file, `.agent` or `.as`. A program of AgentLang needs the name of one of its
/// pipelines, or --test.
///
/// Example: agentic run review.agent main --input '{"topic":"parsers"}'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A file, or - for standard input
    file: String,
    /// The pipeline of an AgentLang program
    pipeline: Option<String>,
    /// The language, where the name of the file does not tell it
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<Language>,
    /// The input, as JSON or as a file with JSON
    #[arg(long, value_name = "JSON|@FILE")]
    input: Option<String>,
    /// Print the pipeline as it runs, its workflows lowered, and run nothing
    #[arg(long)]
    lower: bool,
    /// Run the tests of the program
    #[arg(long)]
    test: bool,
    /// Write what happened as JSON
    #[arg(long, value_name = "PATH")]
    output_trace: Option<String>,
    /// How many branches of a parallel block run at once
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    workers: Option<i64>,
    /// Let a program perform a task; it reads and prints one line of JSON; may be repeated
    #[arg(long, value_name = "TASK=PROGRAM", value_parser = handler::parse)]
    handler: Vec<handler::Handler>,
    /// Who performs what agents do in an AgentLang program
    #[arg(long, value_name = "ADAPTER", value_parser = ["mock"])]
    adapter: Option<String>,
    /// The builtins that a pipeline may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
    /// Run all blocks of a pipeline here, also those that ask to be durable
    #[arg(long, value_name = "BACKEND", value_parser = ["memory"])]
    backend: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    // Inputs are looked at before the program is.
    let input = input_text(context, args.input.as_deref())?;
    if let Some(text) = &input {
        agentic_lang_agent::json::from_text(text).map_err(|error| {
            Failure::usage(&format!("the input is {error}"), "give one JSON value to `--input`")
        })?;
    }
    let program = Program::read(context, &args.file, args.lang)?;
    refuse_foreign(&args, program.language)?;
    match program.language {
        Language::Agentlang => {
            let wish = agentlang::Wish {
                pipeline: args.pipeline,
                act: agentlang::Act::of(args.lower, args.test),
                input: input.unwrap_or_else(|| "{}".to_owned()),
                trace: args.output_trace,
                workers: args.workers,
                handlers: args.handler,
            };
            agentlang::run(context, &program, wish)
        }
        Language::Pipeline => {
            let wish = pipeline::Wish {
                input,
                registry: args.registry,
                backend: args.backend.and_then(|backend| Backend::parse(&backend)),
            };
            pipeline::run(context, &program, &wish)
        }
        Language::Rhai => Err(Failure::usage(
            "a script runs on behalf of an agent",
            "use `agentic session start AGENT --flow FILE`",
        )),
        Language::Context => Err(crate::frontend::no_context()),
    }
}

/// Returns the text of the input: what stands there, or behind `@` in a file.
fn input_text(context: &Context, given: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(given) = given else { return Ok(None) };
    let Some(file) = given.strip_prefix('@') else { return Ok(Some(given.to_owned())) };
    let text = std::fs::read_to_string(context.directory.join(file));
    text.map(Some).map_err(|error| Failure::io(&format!("read `{file}`"), &error))
}

/// Refuses what means nothing to a language, so that nobody believes that it did something.
fn refuse_foreign(args: &Args, language: Language) -> Result<(), Failure> {
    use Language::{Agentlang, Pipeline};
    let given = [
        ("a name of a pipeline", args.pipeline.is_some(), Agentlang),
        ("--lower", args.lower, Agentlang),
        ("--test", args.test, Agentlang),
        ("--output-trace", args.output_trace.is_some(), Agentlang),
        ("--workers", args.workers.is_some(), Agentlang),
        ("--adapter", args.adapter.is_some(), Agentlang),
        ("--handler", !args.handler.is_empty(), Agentlang),
        ("--registry", args.registry.is_some(), Pipeline),
        ("--backend", args.backend.is_some(), Pipeline),
    ];
    let foreign = given.iter().find(|(_, is_given, owner)| *is_given && *owner != language);
    match foreign {
        None => Ok(()),
        Some((what, _, owner)) => Err(Failure::usage(
            &format!("{what} means nothing to a program of the language `{}`", language.name()),
            &format!("it is for programs of the language `{}`", owner.name()),
        )),
    }
}

/// What a run in memory begins with: the time, and randomness that no other run has.
fn start(input: agentic_model::Value) -> agentic_replay::Start {
    let at: Instant = Clock::System.now();
    let unique = format!("{} {}", at.millis(), std::process::id());
    let unique = agentic_model::Cid::of(unique.as_bytes());
    let seed = Seed(unique.digest().try_into().expect("a content id is a hash of 32 bytes"));
    agentic_replay::Start { input, seed, at }
}

/// The failure that a program ended with.
fn failed(failure: &agentic_replay::Failure, hint: &str) -> Failure {
    Failure::program(&failure.code, &failure.message, hint)
}
