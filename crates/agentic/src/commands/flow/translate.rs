//! `agentic flow translate`

use agentic_api::LocalVerb as _;
use agentic_api::verb::FlowTranslate;
use agentic_api::view::TranslateAnswer;

use crate::commands::{VerbOutcome, ended};
use crate::context::{Context, read_stdin};
use crate::failure::CommandFailure;
use crate::program::{optional_text, show};

/// Prose, and who completes texts.
#[derive(Debug, clap::Args)]
pub struct TranslateArgs {
    /// What the pipeline is to do, in words; - for standard input
    prose: String,
    /// A command line that completes a text
    #[arg(long, value_name = "CMD")]
    complete_cmd: Option<String>,
    /// The builtins that it may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
    /// How often a reply that does not compile is sent back
    #[arg(long, value_name = "N", default_value_t = FlowTranslate::default_repairs() as u64,
          value_parser = clap::value_parser!(u64).range(..=FlowTranslate::REPAIRS_MAX as u64))]
    max_repairs: u64,
}

/// Runs the verb.
pub fn run(context: &Context, args: TranslateArgs) -> VerbOutcome {
    let complete = args.complete_cmd.ok_or_else(|| {
        CommandFailure::usage(
            "nobody is named who completes texts",
            "name a command with `--complete-cmd`: it reads {\"system\",\"user\"} and prints a reply",
        )
    })?;
    let prose = match args.prose.as_str() {
        "-" => String::from_utf8(read_stdin()?).map_err(|_| {
            CommandFailure::refused("the prose is not UTF-8 text", "save it as UTF-8")
        })?,
        _ => args.prose,
    };
    let registry = optional_text(context, args.registry.as_deref())?;
    let repairs = usize::try_from(args.max_repairs).unwrap_or(FlowTranslate::REPAIRS_MAX);
    let verb = FlowTranslate { prose, complete, registry, repairs };
    let reply = verb.run_here(&context.surroundings())?;
    match &reply.answer {
        TranslateAnswer::Program(view) => context.format.answer_program(view, |view| &view.program),
        TranslateAnswer::Faulty(findings) => show(findings),
    }
    ended(reply.completion)
}
