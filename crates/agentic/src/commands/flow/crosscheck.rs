//! `agentic flow crosscheck`

use agentic_api::verb::FlowCrosscheck;
use agentic_api::view::CrosscheckAnswer;
use agentic_api::{LocalVerb as _, Surroundings};
use agentic_lang_agent::TraceCapture;
use agentic_providers::host::CancelFlag;

use crate::commands::{VerbOutcome, ended};
use crate::context::Context;
use crate::engine::Address;
use crate::follower::{EventPrinter, followed};
use crate::live::RunDisplay;
use crate::output::warn_of;
use crate::program::{self, input_text, optional_text};

/// A pipeline, and what its agents answer.
#[derive(Debug, clap::Args)]
pub struct CrosscheckArgs {
    /// A file, or - for standard input
    file: String,
    /// The pipeline of an AgentLang program, where a server is compared with the embedded engine
    pipeline: Option<String>,
    /// The input, as JSON or as a file with JSON
    #[arg(long, value_name = "JSON|@FILE")]
    input: Option<String>,
    /// The builtins that it may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
    /// What agents answer, by their ids: {"team/x":[{"ok":VALUE},{"failed":{"code","message"}}]}
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    #[command(flatten)]
    address: Address,
}

/// Runs the verb.
pub fn run(context: &Context, args: &CrosscheckArgs) -> VerbOutcome {
    let verb = FlowCrosscheck {
        program: program::source(context, &args.file, None)?,
        input: input_text(context, args.input.as_deref())?,
        registry: optional_text(context, args.registry.as_deref())?,
        script: optional_text(context, args.script.as_deref())?,
        pipeline: args.pipeline.clone(),
    };
    let engine = args.address.server()?.map(str::to_owned);
    let mut printer = EventPrinter::new(context, RunDisplay::of(context.format, TraceCapture::Off));
    let reply = followed(
        context,
        &CancelFlag::new(),
        |event| printer.show(event),
        |here| verb.run_here(&Surroundings { engine, ..here }),
    )?;
    warn_of(&reply.notices);
    match &reply.answer {
        CrosscheckAnswer::Compared(view) => context.format.answer(view, |view| match view.same {
            true => "same".to_owned(),
            false => format!("memory: {}\ndurable: {}\n", view.memory, view.durable),
        }),
        CrosscheckAnswer::Faulty(findings) => program::report(context, findings),
    }
    ended(reply.completion)
}
