//! `agentic flow status`, `result`, `history` and `cancel`

use std::process::ExitCode;

use agentic_replay::record::CancelMode;
use agentic_replay::{End, SessionId};
use agentic_space::Space;
use agentic_space::session::{self, State, Summary, blocks, find_run};
use agentic_view::{FlowEventView, FlowStatusView};

use crate::commands::Outcome;
use crate::commands::run::pipeline::show_end;
use crate::commands::session::{answer, principal};
use crate::context::Context;
use crate::failure::Failure;

/// Which run.
#[derive(Debug, clap::Args)]
pub struct RunName {
    /// Its key, its agent, or its session
    run: String,
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
pub fn status(context: &Context, name: &RunName) -> Outcome {
    let (space, id) = find(context, name)?;
    let summary = space.session(&id)?;
    let view = FlowStatusView::new(&summary, &blocks(&space, &id)?);
    context.format.answer(&view, text);
    Ok(ExitCode::SUCCESS)
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
    text
}

/// Prints what a run came to.
pub fn result(context: &Context, name: &RunName) -> Outcome {
    let (space, id) = find(context, name)?;
    let summary = space.session(&id)?;
    match ended(&summary) {
        Some(end) => show_end(context, &end),
        None if summary.state == State::Held => answer(context, &space, &id),
        None => Err(Failure::refused(
            &format!("the run {} is not over", id.short()),
            "`agentic flow status RUN` shows how far it came, `agentic session tick` goes on with it",
        )),
    }
}

fn ended(summary: &Summary) -> Option<End> {
    match summary.state {
        State::Done => summary.result.clone().map(End::Done),
        State::Failed => summary.failure.clone().map(End::Failed),
        State::Cancelled => Some(End::Cancelled),
        State::Running | State::Held | State::Waiting | State::Diverged => None,
    }
}

/// Tells what happened in a run.
pub fn history(context: &Context, name: &RunName) -> Outcome {
    let (space, id) = find(context, name)?;
    let views: Vec<FlowEventView> =
        session::history(&space, &id)?.iter().map(FlowEventView::from).collect();
    context.format.answer(views.as_slice(), |views| {
        let line = |view: &FlowEventView| {
            let path = view.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
            format!("{} {} {}{path} {}\n", view.seq, view.at, view.event, view.note)
        };
        views.iter().map(line).collect()
    });
    Ok(ExitCode::SUCCESS)
}

/// Stops a run.
pub fn cancel(context: &Context, args: &CancelArgs) -> Outcome {
    let (space, id) = find(context, &args.name)?;
    let mode = if args.kill { CancelMode::Kill } else { CancelMode::Cooperative };
    session::cancel(&space, &id, mode, &principal(&space)?, &args.message)?;
    let view = FlowStatusView::new(&space.session(&id)?, &blocks(&space, &id)?);
    context.format.answer(&view, text);
    Ok(ExitCode::SUCCESS)
}

fn find(context: &Context, name: &RunName) -> Result<(Space, SessionId), Failure> {
    let space = context.space()?;
    let id = find_run(&space, &name.run)?;
    Ok((space, id))
}
