//! `agentic behaviour trial …`

use std::process::ExitCode;

use agentic_api::verb::{BehaviourTrial, TrialDraft, TrialList, TrialPlan, TrialShow};
use agentic_api::view::{TrialPlanView, TrialView};
use agentic_api::{Caller, Verb as _};
use clap::Subcommand;

use super::VerbOutcome;
use crate::context::Context;
use crate::output::warn_of;

/// A trial, or what is asked of earlier ones.
#[derive(Debug, clap::Args)]
pub struct TrialArgs {
    #[command(subcommand)]
    verb: Option<TrialVerb>,
    /// The name of the trial
    #[arg(long, value_name = "NAME", default_value = "")]
    name: String,
    /// A behaviour, the one that is there first; given twice
    #[arg(long = "arm", value_name = "B")]
    arms: Vec<String>,
    /// A file with the tasks as JSON, or - for standard input
    #[arg(long, value_name = "FILE", default_value = "-")]
    tasks: String,
    /// How often each task is run with each behaviour
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: usize,
    /// The behaviour that scores a run
    #[arg(long = "score", value_name = "B", default_value = "")]
    scorer: String,
    /// Another number, another order of runs
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: i64,
    /// A kind of effect that runs may perform, as far as their behaviour may; may be repeated
    #[arg(long, value_name = "KIND")]
    allow: Vec<String>,
    /// Only say what it would do
    #[arg(long)]
    plan: bool,
}

/// What is asked of earlier trials.
#[derive(Debug, Subcommand)]
enum TrialVerb {
    /// Show what a trial came to
    ///
    /// Example: agentic behaviour trial show first
    #[command(verbatim_doc_comment)]
    Show {
        /// Its name
        name: String,
    },
    /// List trials
    ///
    /// Example: agentic behaviour trial list
    #[command(verbatim_doc_comment)]
    List,
}

/// Runs the verb.
pub(super) fn run(context: &Context, caller: &Caller<'_>, args: TrialArgs) -> VerbOutcome {
    match args.verb {
        Some(TrialVerb::Show { name }) => {
            let reply = TrialShow { name }.run(caller)?;
            warn_of(&reply.notices);
            context.format.answer(&reply.answer, shown);
            return Ok(ExitCode::SUCCESS);
        }
        Some(TrialVerb::List) => {
            let reply = TrialList {}.run(caller)?;
            context.format.answer(reply.answer.as_slice(), |all| {
                all.iter().map(line).collect::<Vec<_>>().join("\n")
            });
            return Ok(ExitCode::SUCCESS);
        }
        None => {}
    }
    let tasks = context.named_text(&args.tasks)?.read(&context.surroundings())?;
    let trial = TrialDraft {
        name: args.name,
        arms: args.arms,
        tasks,
        runs: args.runs,
        scorer: args.scorer,
        seed: args.seed,
        allow: args.allow,
    };
    if args.plan {
        context.format.answer(&TrialPlan { trial }.run(caller)?.answer, planned);
        return Ok(ExitCode::SUCCESS);
    }
    let reply = BehaviourTrial { trial }.run(caller)?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, shown);
    Ok(ExitCode::SUCCESS)
}

fn planned(view: &TrialPlanView) -> String {
    let can = if view.can_show { "can show something" } else { "cannot show anything" };
    format!(
        "{} runs of {} tasks, trial number {} with an arm in force: α {:.4}, {can}. Only --runs bounds what it costs.",
        view.runs, view.tasks, view.attempt, view.alpha
    )
}

fn line(view: &TrialView) -> String {
    format!("{} {} {}", view.name, view.state, view.verdict.as_deref().unwrap_or("-"))
}

fn shown(view: &TrialView) -> String {
    let number = |it: Option<f64>| it.map_or("?".to_owned(), |it| format!("{it:.3}"));
    let mut lines = vec![line(view)];
    if view.verdict.is_some() {
        lines.push(format!(
            "difference {} ({} … {}), p {} at α {:.4}, signs alone {}, trial number {}",
            number(view.difference),
            number(view.low),
            number(view.high),
            number(view.p),
            view.alpha,
            number(view.sign_p),
            view.attempt
        ));
        lines.push(format!(
            "blocks {}, dropped {}, tampered runs {}, tasks {}",
            view.blocks, view.dropped, view.tampered, view.tasks
        ));
    }
    lines.extend(view.cid.clone());
    lines.join("\n")
}
