//! `agentic flow worker`

use std::num::NonZeroUsize;

use agentic_api::Verb as _;
use agentic_api::verb::FlowWorker;
use agentic_lang_agent::TraceCapture;
use agentic_providers::host::CancelFlag;

use super::status::show;
use crate::commands::{VerbOutcome, ended};
use crate::context::Context;
use crate::engine::Address;
#[cfg(feature = "temporal")]
use crate::engine::ServerWork;
use crate::failure::CommandFailure;
use crate::follower::{EventPrinter, followed};
use crate::live::RunDisplay;
use crate::output::warn_of;

/// Which runs are driven.
#[derive(Debug, clap::Args)]
pub struct WorkerArgs {
    /// This one alone, until it is over or waits for a human; its key, its agent or its session
    run: Option<String>,
    /// End when standard input does: whoever keeps a worker holds its other end, and lets go of it
    /// however it dies
    #[arg(long, hide = true)]
    kept: bool,
    #[command(flatten)]
    address: Address,
    /// Of a server, only this queue; may be given again. Without one those of this repository, and of
    /// what needs none
    #[arg(long = "queue", value_name = "Q", conflicts_with = "run")]
    queues: Vec<String>,
    /// How much is performed at once for each queue of a server
    #[arg(long, value_name = "N", conflicts_with = "run")]
    concurrency: Option<NonZeroUsize>,
    /// Make the server know by what runs are searched for, and end
    #[arg(long, conflicts_with_all = ["run", "queues", "concurrency", "kept"])]
    setup: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: WorkerArgs) -> VerbOutcome {
    let stop = context.listen()?;
    if args.kept {
        end_with_stdin(stop.clone())
            .map_err(|error| CommandFailure::io("start a thread", &error))?;
    }
    let address = args.address.or_configured(context)?;
    #[cfg(feature = "temporal")]
    if let Some(address) = address.remote() {
        if args.setup {
            crate::engine::set_up(context, address)?;
            return Ok(std::process::ExitCode::SUCCESS);
        }
        let work = ServerWork { queues: args.queues, concurrency: args.concurrency };
        crate::engine::work(context, address, work, stop)?;
        return Ok(std::process::ExitCode::SUCCESS);
    }
    let is_of_server = !args.queues.is_empty() || args.concurrency.is_some() || args.setup;
    if address.remote().is_none() && is_of_server {
        let hint = "name the server with `--sibyl-addr`";
        return Err(CommandFailure::usage("the embedded engine has no queues", hint));
    }
    let reached = address.reach(context)?;
    reached.space().repository().follow_configuration();
    let mut printer = EventPrinter::new(context, RunDisplay::of(context.format, TraceCapture::Off));
    let tell = |event| printer.show(event);
    let reply = followed(context, &stop, tell, |here| {
        let verb = FlowWorker { run: args.run };
        verb.run(&reached.caller_at(context, here))
    })?;
    warn_of(&reply.notices);
    reply.answer.iter().for_each(|view| show(context, view));
    ended(reply.completion)
}

/// Has a worker end as by a signal, once nobody holds the other end of standard input.
fn end_with_stdin(stop: CancelFlag) -> std::io::Result<()> {
    let wait = move || {
        // Nobody writes there; what cannot be read has ended too.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        stop.set();
    };
    std::thread::Builder::new().name("agentic-keeper".to_owned()).spawn(wait).map(drop)
}
