//! `agentic flow worker`

use agentic_api::Verb as _;
use agentic_api::verb::FlowWorker;
use agentic_lang_agent::TraceCapture;

use super::status::show;
use crate::commands::{VerbOutcome, ended};
use crate::context::Context;
use crate::engine::Address;
use crate::follower::{EventPrinter, followed};
use crate::live::Live;
use crate::output::warn_of;

/// Which runs are driven.
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    /// This one alone, until it is over or waits for a human; its key, its agent or its session
    run: Option<String>,
    #[command(flatten)]
    address: Address,
}

/// Runs the verb.
pub fn run(context: &Context, args: WorkerArgs) -> VerbOutcome {
    let stop = context.listen()?;
    let reached = args.address.reach(context)?;
    let mut printer = EventPrinter::new(context, Live::of(context.format, TraceCapture::Off));
    let tell = |event| printer.show(event);
    let reply = followed(context, &stop, tell, |here| {
        let verb = FlowWorker { run: args.run };
        verb.run(&context.caller_at(reached.space(), here))
    })?;
    warn_of(&reply.notices);
    reply.answer.iter().for_each(|view| show(context, view));
    ended(reply.completion)
}
