//! `agentic behaviour improve …`

use agentic_api::verb::BehaviourImprove;
use agentic_api::view::ImproveView;
use agentic_api::{Caller, Verb as _};

use super::VerbOutcome;
use crate::commands::ended;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::warn_of;

/// What is improved, and how that is tried.
#[derive(Debug, clap::Args)]
pub struct ImproveArgs {
    /// The name of the behaviour
    name: String,
    /// The model that proposes; else the one that is configured
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// A file with tasks that the model may see, as JSON
    #[arg(long, value_name = "FILE")]
    tasks: Option<String>,
    /// A file with the tasks of the trial, which the model never sees; no trial without
    #[arg(long, value_name = "FILE")]
    holdout: Option<String>,
    /// The behaviour that scores a run of the trial, or who decides its score: user:NAME or role:NAME
    #[arg(long = "score", value_name = "B", default_value = "", hide_default_value = true)]
    scorer: String,
    /// How often each task of the trial is run with each version
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: usize,
    /// Another number, another improvement
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    seed: i64,
    /// A kind of effect that runs of the trial may perform, as far as their behaviour may; may be repeated
    #[arg(long, value_name = "KIND")]
    allow: Vec<String>,
    /// Show the model cases of private agents, too; what is made from them stays here
    #[arg(long)]
    private: bool,
}

/// Runs the verb.
pub(super) fn run(context: &Context, caller: &Caller<'_>, args: ImproveArgs) -> VerbOutcome {
    let read = |file: &Option<String>| match file {
        None => Ok(None),
        Some(file) => {
            let text = context.named_text(file)?.read(&context.surroundings())?;
            Ok::<_, CommandFailure>(Some(text))
        }
    };
    let (tasks, holdout) = (read(&args.tasks)?, read(&args.holdout)?);
    let ImproveArgs { name, model, scorer, runs, seed, allow, private, .. } = args;
    let verb = BehaviourImprove { name, model, tasks, holdout, scorer, runs, seed, allow, private };
    let reply = verb.run(caller)?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, shown);
    ended(reply.completion)
}

fn shown(view: &ImproveView) -> String {
    let mut lines = vec![format!("{} {} {}", view.name, view.agent, view.state)];
    lines.extend(view.proposal.as_ref().map(|cid| format!("proposed {cid}")));
    lines.extend(view.news.iter().map(|one| format!("names {one}")));
    lines.extend(view.verdict.as_ref().map(|verdict| format!("the trial says {verdict}")));
    lines.extend(view.request.as_ref().map(|it| format!("waits: {it}")));
    lines.extend(view.adoption.as_ref().map(|oid| format!("adopted by {oid}")));
    lines.join("\n")
}
