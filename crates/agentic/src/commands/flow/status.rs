//! `agentic flow status`, `result`, `history` and `cancel`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{FlowCancel, FlowHistory, FlowResult, FlowStatus};
use agentic_api::view::{FlowEventView, FlowStatusView, visible_line};

use crate::commands::run::answered;
use crate::commands::{VerbOutcome, ended};
use crate::context::Context;
use crate::engine::Address;
use crate::output::warn_of;

/// Which run.
#[derive(Debug, clap::Args)]
pub struct RunName {
    /// Its key, its agent, or its session
    run: String,
    #[command(flatten)]
    address: Address,
}

/// Which run is to stop, and why.
#[derive(Debug, clap::Args)]
pub struct CancelArgs {
    #[command(flatten)]
    name: RunName,
    /// At once, without a chance to clean up
    #[arg(long)]
    kill: bool,
    /// Why
    #[arg(short, long, value_name = "WHY", default_value = "")]
    message: String,
}

/// Shows how far a run has come.
pub fn status(context: &Context, name: &RunName) -> VerbOutcome {
    let reached = name.address.reach(context)?;
    let verb = FlowStatus { run: name.run.clone() };
    let reply = verb.run(&reached.caller(context))?;
    show(context, &reply.answer);
    ended(reply.completion)
}

/// Prints how far a run has come.
pub fn show(context: &Context, view: &FlowStatusView) {
    context.format.answer(view, text);
}

fn text(view: &FlowStatusView) -> String {
    let mut text = format!("{} of {}: {}\n", view.run, view.agent, view.state);
    for block in &view.blocks {
        let (index, status) = (&block["index"], block["status"].as_str().unwrap_or_default());
        text.push_str(&format!("  block {index}: {status}\n"));
        let nodes = block["node_states"].as_object().into_iter().flatten();
        for (node, state) in nodes {
            text.push_str(&format!("    {node} {}\n", state.as_str().unwrap_or_default()));
        }
    }
    for hold in &view.holds {
        let question = hold.question.as_deref().unwrap_or("may this happen?");
        text.push_str(&format!("  asks at {}: {question} ({})\n", hold.path, hold.request));
    }
    if let Some(until) = &view.until {
        text.push_str(&format!("  waits until {until}\n"));
    }
    if let Some(page) = &view.page {
        text.push_str(&format!("  see {page}\n"));
    }
    if let Some(error) = &view.error {
        text.push_str(&format!("  waits: {}\n", visible_line(&error.message)));
    }
    text
}

/// Prints what a run came to.
pub fn result(context: &Context, name: RunName) -> VerbOutcome {
    let reached = name.address.reach(context)?;
    let reply = FlowResult { run: name.run }.run(&reached.caller(context))?;
    answered(context, reply)
}

/// Tells what happened in a run.
pub fn history(context: &Context, name: &RunName) -> VerbOutcome {
    let reached = name.address.reach(context)?;
    let verb = FlowHistory { run: name.run.clone() };
    let views = verb.run(&reached.caller(context))?.answer;
    context.format.answer(views.as_slice(), |views| views.iter().map(event_line).collect());
    Ok(ExitCode::SUCCESS)
}

fn event_line(view: &FlowEventView) -> String {
    let path = view.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
    let place = view.line.zip(view.col).map(|(line, col)| format!(" ({line}:{col})"));
    let place = place.unwrap_or_default();
    format!("{} {} {}{path} {}{place}\n", view.seq, view.at, view.event, view.note)
}

/// Stops a run.
pub fn cancel(context: &Context, args: &CancelArgs) -> VerbOutcome {
    let reached = args.name.address.reach(context)?;
    let verb =
        FlowCancel { run: args.name.run.clone(), kill: args.kill, why: args.message.clone() };
    let reply = verb.run(&reached.caller(context))?;
    warn_of(&reply.notices);
    show(context, &reply.answer);
    Ok(ExitCode::SUCCESS)
}
