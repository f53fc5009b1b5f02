//! `agentic flow …`

mod ask;
mod crosscheck;
pub mod detach;
mod run;
pub mod status;
mod translate;
mod worker;

pub use self::run::identity;

use std::process::ExitCode;
use std::sync::Arc;

use agentic_api::{Surroundings, program};
use agentic_flow::Rhai;
use agentic_lang_pipeline::{CompiledSource, PipelineLanguage, explain, explain_stored};
use agentic_model::{Cid, Value, json};
use agentic_plan::Registry;
use agentic_replay::Language;
use agentic_session::engine::stored_plan;
use clap::{Subcommand, ValueEnum};

use super::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::{Format, print_raw, print_text};
use crate::program::{optional_text, report, source};

/// Work with flows
#[derive(Debug, Subcommand)]
pub enum FlowVerb {
    /// Run a pipeline; durably, if a block of it is temporal
    ///
    /// Example: agentic flow run standup.as --as user:alice --run-id monday
    #[command(verbatim_doc_comment)]
    Run(Box<run::FlowRunArgs>),
    /// Show how far a durable run has come
    ///
    /// Example: agentic flow status monday
    #[command(verbatim_doc_comment)]
    Status(status::RunName),
    /// Print what a durable run came to
    ///
    /// Exits with 4 while it waits for a human, and with 1 while it is not over.
    ///
    /// Example: agentic flow result monday
    #[command(verbatim_doc_comment)]
    Result(status::RunName),
    /// Tell what happened in a durable run, oldest first
    ///
    /// Example: agentic flow history monday
    #[command(verbatim_doc_comment)]
    History(status::RunName),
    /// Stop a durable run, its children first
    ///
    /// Example: agentic flow cancel monday -m "the data was wrong"
    #[command(verbatim_doc_comment)]
    Cancel(status::CancelArgs),
    /// Drive durable runs: those that were detached, those whose pause is over, answered holds
    ///
    /// Runs until it is told to stop by SIGTERM or ctrl-c; it then ends what it performs. Any number
    /// of workers may run side by side. With RUN it drives that one, until it is over or waits for a
    /// human.
    ///
    /// Example: agentic flow worker monday
    #[command(verbatim_doc_comment)]
    Worker(worker::WorkerArgs),
    /// Put what waits for a human before people, through the channels of agentic.toml
    ///
    /// Everybody to whom a route leads is told, and of channels that bring answers the first that
    /// counts decides. Exits with 4 while somebody is still to decide.
    ///
    /// Example: agentic flow ask monday
    #[command(verbatim_doc_comment)]
    Ask(ask::AskArgs),
    /// Run a pipeline in memory and durably, and compare the results
    ///
    /// The durable run is in a repository of its own, which is removed again. Exits with 5 when the
    /// results differ. What may happen only once has to be answered from a script.
    ///
    /// Example: agentic flow crosscheck standup.as --script answers.json
    #[command(verbatim_doc_comment)]
    Crosscheck(crosscheck::CrosscheckArgs),
    /// Turn prose into a pipeline, by a command that completes texts
    ///
    /// The command reads one line of JSON, {"system","user"}, and prints its reply. What it replies
    /// is printed only if it compiles.
    ///
    /// Example: agentic flow translate "sum up the news" --complete-cmd ./complete
    #[command(verbatim_doc_comment)]
    Translate(translate::TranslateArgs),
    /// Find what is wrong with a flow, without running it
    ///
    /// A file that ends with .as is a pipeline, any other a script.
    ///
    /// Example: agentic flow check review.rhai
    #[command(verbatim_doc_comment)]
    Check {
        #[command(flatten)]
        args: FlowArgs,
        /// Print what is wrong with a pipeline as lines of JSON, with all that is known about it
        #[arg(long, value_name = "FORM", value_parser = ["json"])]
        diagnostics: Option<String>,
    },
    /// Print the plan that a pipeline compiles to
    ///
    /// One line for each block of the program.
    ///
    /// Example: agentic flow plan standup.as --format dot
    #[command(verbatim_doc_comment)]
    Plan {
        #[command(flatten)]
        args: FlowArgs,
        /// The form
        #[arg(long, value_name = "FORM", default_value = "v1")]
        format: PlanForm,
    },
    /// Say in words what a pipeline does, and what it needs
    ///
    /// With the id of a stored plan it checks that plan, and says what it does.
    ///
    /// Example: agentic flow explain standup.as
    #[command(verbatim_doc_comment)]
    Explain(FlowArgs),
    /// Lay a pipeline out anew
    ///
    /// Example: agentic flow fmt standup.as --write
    #[command(verbatim_doc_comment)]
    Fmt(super::fmt::FmtArgs),
}

/// A program, and what it may call.
#[derive(Debug, clap::Args)]
pub struct FlowArgs {
    /// A file, or - for standard input
    file: String,
    /// The builtins that a pipeline may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
}

/// The forms of plans.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PlanForm {
    /// The canonical one, which is stored and runs
    V1,
    /// For engines that know calls and joins only
    Sibyl,
    /// A drawing, for Graphviz
    Dot,
}

/// Runs the verb.
pub fn run(context: &Context, verb: FlowVerb) -> VerbOutcome {
    match verb {
        FlowVerb::Run(args) => run::run(context, *args),
        FlowVerb::Status(name) => status::status(context, &name),
        FlowVerb::Result(name) => status::result(context, name),
        FlowVerb::History(name) => status::history(context, &name),
        FlowVerb::Cancel(args) => status::cancel(context, &args),
        FlowVerb::Worker(args) => worker::run(context, args),
        FlowVerb::Ask(args) => ask::run(context, args),
        FlowVerb::Crosscheck(args) => crosscheck::run(context, &args),
        FlowVerb::Translate(args) => translate::run(context, &args),
        FlowVerb::Check { args, diagnostics: None } => check(context, &args),
        FlowVerb::Check { args, diagnostics: Some(_) } => check_for_tools(context, &args),
        FlowVerb::Plan { args, format } => {
            with_compiled(context, &args, |compiled| print_plans(context, compiled, format))
        }
        FlowVerb::Explain(args) if args.file.starts_with(Cid::PREFIX) => {
            let (_, registry) = inputs(context, &args)?;
            let (plan, places) = stored_plan(&context.space()?, &args.file)?;
            print_text(&explain_stored(&plan, &places, &registry));
            Ok(ExitCode::SUCCESS)
        }
        FlowVerb::Explain(args) => with_compiled(context, &args, |compiled| {
            print_text(&explain(compiled));
            Ok(())
        }),
        FlowVerb::Fmt(args) => {
            super::fmt::run(context, super::fmt::FmtArgs { lang: Some(&PipelineLanguage), ..args })
        }
    }
}

fn check(context: &Context, args: &FlowArgs) -> VerbOutcome {
    let is_pipeline = args.file.ends_with(".as");
    let language: &'static dyn Language = if is_pipeline { &PipelineLanguage } else { &Rhai };
    let (here, registry) = inputs(context, args)?;
    let program = source(context, &args.file, None)?.read(&here, Some(language))?;
    let checked = program::check(&program, &registry)?;
    report(context, &checked);
    Ok(if checked.is_sound() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Prints one line of JSON for everything that is wrong with a pipeline.
fn check_for_tools(context: &Context, args: &FlowArgs) -> VerbOutcome {
    let (here, registry) = inputs(context, args)?;
    let program = source(context, &args.file, None)?.read(&here, Some(&PipelineLanguage))?;
    let findings = program::pipeline_findings(&program, &registry);
    let lines: String =
        findings.iter().map(|finding| format!("{}\n", json::to_text(finding))).collect();
    print_raw(&lines);
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Does something with a pipeline that compiles.
fn with_compiled(
    context: &Context,
    args: &FlowArgs,
    act: impl FnOnce(&CompiledSource) -> Result<(), CommandFailure>,
) -> VerbOutcome {
    let (here, registry) = inputs(context, args)?;
    let program = source(context, &args.file, None)?.read(&here, Some(&PipelineLanguage))?;
    match program::compile_pipeline(&program, &registry) {
        Ok(compiled) => act(&compiled).map(|()| ExitCode::SUCCESS),
        Err(findings) => {
            report(context, &findings);
            Ok(ExitCode::from(1))
        }
    }
}

/// Says where the command stands, and reads what a pipeline may call.
fn inputs(
    context: &Context,
    args: &FlowArgs,
) -> Result<(Surroundings, Arc<Registry>), CommandFailure> {
    let here = context.surroundings();
    let registry = optional_text(context, args.registry.as_deref())?;
    let registry = program::read_registry(registry.as_ref(), &here)?;
    Ok((here, registry))
}

/// Prints a line for each block; with `--json` one list.
fn print_plans(
    context: &Context,
    compiled: &CompiledSource,
    form: PlanForm,
) -> Result<(), CommandFailure> {
    let mut texts = Vec::new();
    for block in &compiled.blocks {
        texts.push(match form {
            PlanForm::V1 => block.plan.to_json(),
            PlanForm::Sibyl => json::to_text(&sibyl(block, &compiled.registry)?),
            PlanForm::Dot => block.plan.to_dot(),
        });
    }
    match (context.format, form) {
        (Format::Json, PlanForm::V1 | PlanForm::Sibyl) => {
            print_raw(&format!("[{}]", texts.join(",")))
        }
        (Format::Json, PlanForm::Dot) => {
            let drawings = texts.iter().map(Value::text).collect();
            print_raw(&json::to_text(&Value::List(drawings)));
        }
        (Format::Text, _) => texts.iter().for_each(|text| print_raw(text)),
    }
    Ok(())
}

fn sibyl(
    block: &agentic_lang_pipeline::CompiledBlock,
    registry: &Registry,
) -> Result<Value, CommandFailure> {
    block.plan.to_sibyl(registry).map_err(|error| {
        CommandFailure::refused(&error.to_string(), "print the plan with `--format v1`")
    })
}
