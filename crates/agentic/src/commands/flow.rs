//! `agentic flow …`

mod ask;
mod crosscheck;
pub mod detach;
mod plan;
mod run;
pub mod status;
mod translate;
mod worker;

pub use self::run::identity;

use agentic_lang_pipeline::PipelineLanguage;
use clap::Subcommand;

use super::VerbOutcome;
use crate::context::Context;

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
        args: plan::FlowArgs,
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
        args: plan::FlowArgs,
        /// The form
        #[arg(long, value_name = "FORM", default_value = "v1")]
        format: plan::PlanFormat,
    },
    /// Say in words what a pipeline does, and what it needs
    ///
    /// With the id of a stored plan it checks that plan, and says what it does.
    ///
    /// Example: agentic flow explain standup.as
    #[command(verbatim_doc_comment)]
    Explain(plan::FlowArgs),
    /// Lay a pipeline out anew
    ///
    /// Example: agentic flow fmt standup.as --write
    #[command(verbatim_doc_comment)]
    Fmt(super::fmt::FmtArgs),
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
        FlowVerb::Translate(args) => translate::run(context, args),
        FlowVerb::Check { args, diagnostics: None } => plan::check(context, &args),
        FlowVerb::Check { args, diagnostics: Some(_) } => plan::diagnose(context, &args),
        FlowVerb::Plan { args, format } => plan::plan(context, &args, format),
        FlowVerb::Explain(args) => plan::explain(context, args),
        FlowVerb::Fmt(args) => {
            super::fmt::run(context, super::fmt::FmtArgs { lang: Some(&PipelineLanguage), ..args })
        }
    }
}
