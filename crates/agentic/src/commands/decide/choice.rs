//! Holds of pipelines, as they are spoken of there: the node of a run, and a choice.

use std::process::ExitCode;

use agentic_api::view::DecideView;
use agentic_lang_pipeline::PlannedRun;
use agentic_replay::SessionId;
use agentic_replay::engine::{DurableEngine, RunDecision, RunId};
use agentic_session::engine::Embedded;
use agentic_session::{SessionSpace, go_on};

use super::Args;
use crate::commands::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Format, print_text, warn};

/// Decides a hold of a run by one of its choices.
pub fn run(
    context: &Context,
    space: &SessionSpace,
    args: &Args,
    (choice, actor): (&str, String),
) -> Outcome {
    let engine = Embedded::new(space, "cli");
    let name = args.request.as_deref().unwrap_or_default();
    let (run, hold) = meant(&engine, name, args.hold.as_deref())?;
    let decision = RunDecision {
        hold,
        choice: choice.to_owned(),
        actor,
        note: args.message.clone(),
        expect: args.expect.clone(),
    };
    let decided = engine.decide(&run, &decision)?;
    decided.remark.iter().for_each(|remark| warn(remark));
    // The human is told at once; what follows is the run's.
    if context.format == Format::Text {
        print_text(&format!("{} {}", decided.action, decided.receipt));
    }
    // Whoever drives it is told, and not waited for.
    let session = SessionId::parse(decided.run.as_str()).filter(|_| !args.only);
    if let Some(Err(error)) = session.map(|id| go_on(space, &id)) {
        warn(&format!("the decision stands; the session cannot go on: {error}"));
    }
    if context.format == Format::Json {
        let status = engine.status(&decided.run)?;
        let view = DecideView {
            request: decided.request,
            action: decided.action,
            commit: decided.receipt,
            agent: status.agent.to_string(),
            principal: decided.actor,
            state: status.state.as_str().to_owned(),
            session: status.id.to_string(),
        };
        context.format.answer(&view, |view| view.commit.clone());
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds the run that is meant, and the hold: a request as `agentic pending` prints it names both.
fn meant(
    engine: &dyn DurableEngine<PlannedRun>,
    name: &str,
    hold: Option<&str>,
) -> Result<(RunId, Option<String>), Failure> {
    let session = name.split_once('.').and_then(|(session, _)| engine.find(session).ok());
    Ok(match (session, hold) {
        (Some(run), None) => (run, Some(name.to_owned())),
        (_, hold) => (engine.find(name)?, hold.map(str::to_owned)),
    })
}
