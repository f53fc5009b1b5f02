//! `agentic flow status`, `result`, `history` and `cancel`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{FlowCancel, FlowHistory, FlowResult, FlowStatus, run_reply};
use agentic_api::view::{FlowEventView, FlowStatusView, RunAnswer, visible_line};
use agentic_lang_pipeline::PlannedRun;
use agentic_replay::engine::{DurableEngine, RunId, RunStatus};

use crate::commands::run::pipeline::show_end;
use crate::commands::{VerbOutcome, ended, said};
use crate::context::Context;
use crate::engine::Address;
use crate::output::{Format, print_raw, show_result, warn_of};

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
    show(context, &verb.run(&context.caller(reached.space()))?.answer);
    Ok(ExitCode::SUCCESS)
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
    if let Some(error) = &view.error {
        text.push_str(&format!("  waits: {}\n", visible_line(&error.message)));
    }
    text
}

/// Prints what a run came to, or how it stands: it waits, or somebody else drives it.
pub fn reached_so_far(
    context: &Context,
    engine: &dyn DurableEngine<PlannedRun>,
    run: &RunId,
) -> VerbOutcome {
    match engine.result(run)? {
        Some(end) => show_end(context, &end, Some(&engine.status(run)?.key)),
        None => standing(context, &engine.status(run)?),
    }
}

/// Prints how a run stands that is not over.
pub fn standing(context: &Context, status: &RunStatus) -> VerbOutcome {
    let reply = run_reply(status);
    show(context, &reply.answer);
    warn_of(&reply.notices);
    Ok(said(&reply.completion))
}

/// Prints what a run came to.
pub fn result(context: &Context, name: RunName) -> VerbOutcome {
    let reached = name.address.reach(context)?;
    let reply = FlowResult { run: name.run }.run(&context.caller(reached.space()))?;
    show_answer(context, &reply.answer);
    warn_of(&reply.notices);
    ended(reply.completion)
}

/// Prints what a run came to, or how it stands.
pub fn show_answer(context: &Context, answer: &RunAnswer) {
    match answer {
        RunAnswer::Ended(ended) => match context.format {
            Format::Json => print_raw(&ended.json),
            Format::Text => show_result(context.format, &ended.text),
        },
        RunAnswer::Standing(view) => show(context, view),
    }
}

/// Tells what happened in a run.
pub fn history(context: &Context, name: &RunName) -> VerbOutcome {
    let reached = name.address.reach(context)?;
    let verb = FlowHistory { run: name.run.clone() };
    let views = verb.run(&context.caller(reached.space()))?.answer;
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
    show(context, &verb.run(&context.caller(reached.space()))?.answer);
    Ok(ExitCode::SUCCESS)
}
