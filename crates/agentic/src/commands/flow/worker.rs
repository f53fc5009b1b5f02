//! `agentic flow worker`

use agentic_api::verb::FlowWorker;
use agentic_api::{Verb as _, VerbEvent};

use super::status::show;
use crate::commands::{VerbOutcome, ended};
use crate::context::Context;
use crate::engine::Address;
use crate::follower::{followed, show_notice};
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
    let tell = |event: VerbEvent| match &event {
        VerbEvent::Run(view) => show(context, view),
        VerbEvent::Record(_) | VerbEvent::Notice(_) => show_notice(&event),
    };
    let reply = followed(context, &stop, tell, |here| {
        let verb = FlowWorker { run: args.run };
        verb.run(&context.caller_at(reached.space(), here))
    })?;
    warn_of(&reply.notices);
    reply.answer.iter().for_each(|view| show(context, view));
    ended(reply.completion)
}
