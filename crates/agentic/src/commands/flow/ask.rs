//! `agentic flow ask`

use agentic_api::Verb as _;
use agentic_api::verb::FlowAsk;
use agentic_api::view::FlowAskedView;
use agentic_lang_agent::TraceCapture;

use crate::commands::{VerbOutcome, ended};
use crate::context::Context;
use crate::engine::Address;
use crate::follower::{EventPrinter, followed};
use crate::live::RunDisplay;
use crate::output::warn_of;

/// Which runs ask.
#[derive(Debug, clap::Args)]
pub struct AskArgs {
    /// Only this one and its children; its key, its agent or its session
    run: Option<String>,
    #[command(flatten)]
    address: Address,
}

/// Runs the verb.
pub fn run(context: &Context, args: AskArgs) -> VerbOutcome {
    let reached = args.address.reach(context)?;
    reached.space().repository().follow_configuration();
    // Before signals are listened to, and anybody is asked.
    context.caller(reached.space()).require_person("decide")?;
    let stop = context.listen()?;
    let mut printer = EventPrinter::new(context, RunDisplay::of(context.format, TraceCapture::Off));
    let reply = followed(
        context,
        &stop,
        |event| printer.show(event),
        |here| FlowAsk { run: args.run }.run(&context.caller_at(reached.space(), here)),
    )?;
    warn_of(&reply.notices);
    context.format.answer(reply.answer.as_slice(), |views| views.iter().map(line).collect());
    ended(reply.completion)
}

fn line(view: &FlowAskedView) -> String {
    let came = match (&view.verdict, &view.decision) {
        (Some(verdict), Some(_)) => {
            format!("{} by {} through {}", verdict.choice, verdict.actor, verdict.channel)
        }
        _ if !view.open => "decided elsewhere".to_owned(),
        (Some(verdict), None) => format!("put off by {}", verdict.actor),
        (None, _) => "open".to_owned(),
    };
    format!("{} {}: {came}\n", view.request, view.title)
}
