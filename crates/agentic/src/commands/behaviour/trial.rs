//! `agentic behaviour trial …`

use std::process::ExitCode;

use agentic_api::verb::{
    BehaviourTrial, TrialDraft, TrialList, TrialLook, TrialPlan, TrialPresent, TrialRun,
    TrialScore, TrialShow,
};
use agentic_api::view::{TrialArmView, TrialPlanView, TrialPresentView, TrialStepView, TrialView};
use agentic_api::{Caller, Verb as _};
use clap::Subcommand;

use super::VerbOutcome;
use crate::commands::ended;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::warn_of;

/// How whoever scores does that.
const SCORING: &str = "`agentic pending REQUEST` shows a run, and `agentic decide REQUEST respond --value '{\"score\":1,\"verdict\":\"pass\"}'` scores it";

/// A trial, or what is asked of earlier ones.
#[derive(Debug, clap::Args)]
pub struct TrialArgs {
    #[command(subcommand)]
    verb: Option<TrialVerb>,
    /// The name of the trial
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    name: String,
    /// A behaviour, the one that is there first; given twice or more
    #[arg(long = "arm", value_name = "B")]
    arms: Vec<String>,
    /// A file with the tasks as JSON, or - for standard input
    #[arg(long, value_name = "FILE", default_value = "-")]
    tasks: String,
    /// How often each task is run with each behaviour
    #[arg(long, value_name = "N", default_value_t = 1)]
    runs: usize,
    /// The behaviour that scores a run, or who decides its score: user:NAME or role:NAME
    #[arg(long = "score", value_name = "B", default_value = "", hide_default_value = true)]
    scorer: String,
    /// Another number, another order of runs
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    seed: i64,
    /// Look at it so often, the last time included; it ends where enough is known
    #[arg(long, value_name = "K")]
    looks: Option<usize>,
    /// Run so many blocks at once
    #[arg(long, value_name = "K")]
    parallel: Option<usize>,
    /// What all runs may cost together, as their models tell it
    #[arg(long, value_name = "COST")]
    budget: Option<f64>,
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
    /// Run a task once; the flow of a trial asks for this
    ///
    /// Example: agentic behaviour trial run first --task 0 --arm 1 --run trial-first-1-1
    #[command(verbatim_doc_comment, hide = true)]
    Run {
        /// The trial
        trial: String,
        /// The number of the task
        #[arg(long, value_name = "N")]
        task: usize,
        /// The number of the behaviour
        #[arg(long = "arm", value_name = "N")]
        number: usize,
        /// The name of the run
        #[arg(long, value_name = "NAME")]
        run: String,
    },
    /// Score a run; the flow of a trial asks for this
    ///
    /// Example: agentic behaviour trial score first --task 0 --run trial-first-1-1
    #[command(verbatim_doc_comment, hide = true)]
    Score {
        /// The trial
        trial: String,
        /// The number of the task
        #[arg(long, value_name = "N")]
        task: usize,
        /// The name of the run
        #[arg(long, value_name = "NAME")]
        run: String,
    },
    /// Lay a run before a person who scores it; the flow of a trial asks for this
    ///
    /// Example: agentic behaviour trial present first --task 0 --run trial-first-1-1
    #[command(verbatim_doc_comment, hide = true)]
    Present {
        /// The trial
        trial: String,
        /// The number of the task
        #[arg(long, value_name = "N")]
        task: usize,
        /// The name of the run
        #[arg(long, value_name = "NAME")]
        run: String,
    },
    /// Look at the blocks so far, read from standard input; the flow of a trial asks for this
    ///
    /// Example: agentic behaviour trial look first
    #[command(verbatim_doc_comment, hide = true)]
    Look {
        /// The trial
        trial: String,
    },
}

/// Runs the verb.
pub(super) fn run(context: &Context, caller: &Caller<'_>, args: TrialArgs) -> VerbOutcome {
    match args.verb {
        Some(verb) => {
            asked(context, caller, verb)?;
            Ok(ExitCode::SUCCESS)
        }
        None => tried(context, caller, args),
    }
}

/// Does what is asked of a trial that there is.
fn asked(context: &Context, caller: &Caller<'_>, verb: TrialVerb) -> Result<(), CommandFailure> {
    match verb {
        TrialVerb::Show { name } => {
            let reply = TrialShow { name }.run(caller)?;
            warn_of(&reply.notices);
            context.format.answer(&reply.answer, shown);
        }
        TrialVerb::List => {
            let reply = TrialList {}.run(caller)?;
            context.format.answer(reply.answer.as_slice(), |all| {
                all.iter().map(line).collect::<Vec<_>>().join("\n")
            });
        }
        TrialVerb::Run { trial, task, number, run } => {
            let reply = TrialRun { trial, task, arm: number, run }.run(caller)?;
            context.format.answer(&reply.answer, step);
        }
        TrialVerb::Score { trial, task, run } => {
            let reply = TrialScore { trial, task, run }.run(caller)?;
            context.format.answer(&reply.answer, step);
        }
        TrialVerb::Present { trial, task, run } => {
            let reply = TrialPresent { trial, task, run }.run(caller)?;
            context.format.answer(&reply.answer, presented);
        }
        TrialVerb::Look { trial } => {
            let blocks = context.named_text("-")?.read(&context.surroundings())?;
            let reply = TrialLook { trial, blocks }.run(caller)?;
            context
                .format
                .answer(&reply.answer, |view| format!("look {} {}", view.look, view.verdict));
        }
    }
    Ok(())
}

/// Begins a trial or goes on with it, or says what it would do.
fn tried(context: &Context, caller: &Caller<'_>, args: TrialArgs) -> VerbOutcome {
    let tasks = context.named_text(&args.tasks)?.read(&context.surroundings())?;
    let trial = TrialDraft {
        name: args.name,
        arms: args.arms,
        tasks,
        runs: args.runs,
        scorer: args.scorer,
        seed: args.seed,
        looks: args.looks,
        parallel: args.parallel,
        budget: args.budget,
        allow: args.allow,
    };
    if args.plan {
        context.format.answer(&TrialPlan { trial }.run(caller)?.answer, planned);
        return Ok(ExitCode::SUCCESS);
    }
    let reply = BehaviourTrial { trial }.run(caller)?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, shown);
    ended(reply.completion)
}

/// Says what a trial would do.
fn planned(view: &TrialPlanView) -> String {
    let can = if view.can_show { "can show something" } else { "cannot show anything" };
    let looks = if view.looks > 1 { format!(", {} looks", view.looks) } else { String::new() };
    let first = format!(
        "{} runs of {} tasks{looks}, trial number {} with an arm in force: α {:.4}, {can}.",
        view.runs, view.tasks, view.attempt, view.alpha
    );
    let finds = match view.finds {
        Some(finds) => format!(
            "A difference of {:.0} points is found in 80 % of simulated trials.",
            finds * 100.0
        ),
        None => "No difference is found in 80 % of simulated trials.".to_owned(),
    };
    let cost = match (view.cost, view.budget) {
        (Some(cost), _) => format!("Cost {cost:.4}, by what such runs have cost so far."),
        (None, Some(_)) => "What it costs is not known before.".to_owned(),
        (None, None) => "Only --runs bounds what it costs.".to_owned(),
    };
    let decisions = match view.decisions {
        0 => None,
        n => Some(format!("People score {n} runs, by a decision each.")),
    };
    [Some(first), Some(finds), decisions, Some(cost)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("\n")
}

fn line(view: &TrialView) -> String {
    format!("{} {} {}", view.name, view.state, view.verdict.as_deref().unwrap_or("-"))
}

/// Says in a line what a step came to.
fn step(view: &TrialStepView) -> String {
    let outcome = serde_json::to_value(view.outcome).unwrap_or_default();
    format!("{} {}", outcome.as_str().unwrap_or_default(), view.why)
}

/// Says in a line whether a run can be scored.
fn presented(view: &TrialPresentView) -> String {
    view.question.clone().unwrap_or_else(|| view.why.clone())
}

fn number(it: Option<f64>) -> String {
    it.map_or("?".to_owned(), |it| format!("{it:.3}"))
}

fn shown(view: &TrialView) -> String {
    let mut lines = vec![line(view)];
    if view.verdict.is_some() {
        let figures = &view.figures;
        lines.push(format!(
            "difference {} ({} … {}), p {} at α {:.4}, signs alone {}, trial number {}",
            number(figures.difference),
            number(figures.low),
            number(figures.high),
            number(figures.p),
            view.alpha,
            number(figures.sign_p),
            view.attempt
        ));
        lines.push(format!(
            "blocks {}, dropped {}, tampered runs {}, tasks {}",
            view.blocks, view.dropped, view.tampered, figures.tasks
        ));
        lines.extend(remarks(view));
    }
    lines.extend(view.waits.iter().map(|request| format!("waits: {request}")));
    if !view.waits.is_empty() {
        lines.push(SCORING.to_owned());
    }
    lines.extend(view.cid.clone());
    lines.join("\n")
}

/// Says what is not so in every trial.
fn remarks(view: &TrialView) -> Vec<String> {
    let mut lines = Vec::new();
    if view.looks > 1 {
        lines.push(format!("look {} of {}, each arm at {:.5}", view.look, view.looks, view.bound));
    }
    if view.compared.len() > 1 {
        lines.extend(view.compared.iter().map(arm));
    }
    if view.cost > 0.0 || view.unpriced > 0 {
        lines.push(format!("cost {:.4}, calls without a price {}", view.cost, view.unpriced));
    }
    if view.lost_first > 0 {
        lines.push(format!("lost at first, and run once more: {}", view.lost_first));
    }
    if view.out_of_budget {
        lines.push("out of budget".to_owned());
    }
    if view.open_scores > 0 {
        lines.push(format!("scores given with a network in reach: {}", view.open_scores));
    }
    lines
}

fn arm(view: &TrialArmView) -> String {
    let TrialArmView { arm, figures, verdict } = view;
    let figures = [figures.difference, figures.low, figures.high, figures.p];
    let [difference, low, high, p] = figures.map(number);
    format!("{arm} {verdict}: difference {difference} ({low} … {high}), p {p}")
}
