//! `agentic behaviour …`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{
    BehaviourAdd, BehaviourAdopt, BehaviourDiff, BehaviourList, BehaviourLog, BehaviourShow,
    BehaviourTree, BehaviourUse, CompareBehaviours,
};
use clap::Subcommand;

use self::show::{adoption, compared, difference, line, node, shown};
use super::VerbOutcome;
use crate::context::Context;
use crate::output::{talk, warn, warn_of};

mod improve;
mod show;
mod trial;

/// Keep behaviours of agents, and say by name which of them is in force
#[derive(Debug, Subcommand)]
pub enum BehaviourVerb {
    /// Keep a behaviour under a name, without adopting it
    ///
    /// It is checked first. The file is a program, a prompt, or a JSON object of type behaviour.
    ///
    /// Example: agentic behaviour add reviewer review.rhai -m "Reads the tests first"
    #[command(verbatim_doc_comment)]
    Add {
        /// The name
        name: String,
        /// The text, or - for standard input
        file: String,
        /// flow or prompt; else what the file is
        #[arg(long, value_name = "KIND")]
        kind: Option<String>,
        /// The language of a flow; else what the name of the file says
        #[arg(long, value_name = "L")]
        language: Option<String>,
        /// A behaviour that it was made from; may be repeated
        #[arg(long, value_name = "NAME|CID")]
        parent: Vec<String>,
        /// A kind of effect that it may be granted at most; * for all
        #[arg(long, value_name = "KIND", num_args = 1..)]
        allow: Vec<String>,
        /// What is to be known of it
        #[arg(short, long, value_name = "NOTE", default_value = "")]
        message: String,
    },
    /// List the names with what is adopted, those of other spaces last
    ///
    /// Example: agentic behaviour list
    #[command(verbatim_doc_comment)]
    List,
    /// Print the text of a behaviour, and on standard error what is known of it
    ///
    /// Example: agentic behaviour show reviewer
    #[command(verbatim_doc_comment)]
    Show {
        /// A name, REMOTE/NAME, PEER/NAME, or an id
        behaviour: String,
        /// Fill a prompt with the fields of this agent's briefing
        #[arg(long, value_name = "A")]
        fill: Option<String>,
    },
    /// List the adoptions of a name, newest first
    ///
    /// Example: agentic behaviour log reviewer
    #[command(verbatim_doc_comment)]
    Log {
        /// The name, REMOTE/NAME or PEER/NAME
        name: String,
    },
    /// Show how two behaviours differ, word by word
    ///
    /// Example: agentic behaviour diff reviewer origin/reviewer
    #[command(verbatim_doc_comment)]
    Diff {
        /// The one: a name, REMOTE/NAME, PEER/NAME, or an id
        left: String,
        /// The other
        right: String,
    },
    /// Show the versions of a name, each below what it was made from
    ///
    /// Example: agentic behaviour tree reviewer
    #[command(verbatim_doc_comment)]
    Tree {
        /// The name
        name: String,
    },
    /// Let a name mean a behaviour from now on: a person's decision
    ///
    /// New agents take it. Agents and sessions that there are keep theirs.
    ///
    /// Example: agentic behaviour adopt reviewer bafyr4i… -m "Finds more"
    #[command(verbatim_doc_comment)]
    Adopt {
        /// The name
        name: String,
        /// The behaviour: an id, or PEER/NAME
        cid: Option<String>,
        /// Why
        #[arg(short, long, value_name = "WHY", default_value = "")]
        message: String,
        /// An object that speaks for it; may be repeated
        #[arg(long, value_name = "CID")]
        evidence: Vec<String>,
        /// Fail unless this is the last adoption of the name here; none if there must be none
        #[arg(long, value_name = "OID")]
        expect: Option<String>,
        /// Pass over this adoption of another clone
        #[arg(long, value_name = "OID", conflicts_with = "from")]
        over: Option<String>,
        /// Take over what was adopted there
        #[arg(long, value_name = "REMOTE")]
        from: Option<String>,
    },
    /// Compare what came of two behaviours, and say how sure one may be of it
    ///
    /// Nobody drew lots for who gets which behaviour: strata are compared, too, and where they say
    /// something else no winner is named.
    ///
    /// Example: agentic behaviour compare reviewer bafyr4iavd4wva2 --metric landed
    #[command(verbatim_doc_comment)]
    Compare {
        /// A name, REMOTE/NAME, or an id
        first: String,
        /// Another one
        second: String,
        /// The figure: landed, reverted, failed, rejected, first-commit, landing, duration, wait, or all
        #[arg(long, value_name = "M")]
        metric: Option<String>,
        /// Tell how many cases find a difference of rates, from 0 to 1; else 0.1, ten points
        #[arg(long, value_name = "D")]
        detect: Option<f64>,
    },
    /// Try two behaviours on the same tasks, and say whether the second is better
    ///
    /// Runs and their scores are a durable session of agent trial-NAME: the same command goes on with
    /// it. Both behaviours and the scorer are flows. A scorer gives a map of score and verdict.
    ///
    /// Example: agentic behaviour trial --name first --arm reviewer --arm bafyr4iavd4wva2 --tasks tasks.json --runs 3 --score judge
    #[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
    Trial(trial::TrialArgs),
    /// Have a model propose a better version, try it, and put it before a person
    ///
    /// The model sees how cases went, without secrets and not those of private agents, and never the tasks of the trial. The
    /// same command goes on with it; what is approved is adopted.
    ///
    /// Example: agentic behaviour improve reviewer --model small --holdout tasks.json --score judge
    #[command(verbatim_doc_comment)]
    Improve(improve::ImproveArgs),
    /// Give an agent another behaviour, by a commit that leaves its files as they are
    ///
    /// What it commits later names it. An agent does not change its own.
    ///
    /// Example: agentic behaviour use reviewer --agent fix-auth -m "Reviews from now on"
    #[command(verbatim_doc_comment)]
    Use {
        /// A name, REMOTE/NAME, PEER/NAME, or an id
        behaviour: String,
        /// The agent
        #[arg(long, value_name = "A")]
        agent: String,
        /// Why
        #[arg(short, long, value_name = "WHY", default_value = "")]
        message: String,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: BehaviourVerb) -> VerbOutcome {
    let space = context.space()?;
    let caller = context.caller(&space);
    match verb {
        BehaviourVerb::Add { name, file, kind, language, parent, allow, message } => {
            let source = context.named_text(&file)?.read(&context.surroundings())?;
            let (file, parents, note) = (Some(file), parent, message);
            let add = BehaviourAdd { name, source, file, kind, language, parents, allow, note };
            let reply = add.run(&caller)?;
            warn_of(&reply.notices);
            if !reply.answer.changed {
                talk("nothing changed");
            }
            context.format.answer(&reply.answer, |view| format!("{} {}", view.name, view.cid));
        }
        BehaviourVerb::List => {
            let reply = BehaviourList {}.run(&caller)?;
            warn_of(&reply.notices);
            let views = reply.answer.as_slice();
            context.format.answer(views, |views| views.iter().map(line).collect());
        }
        BehaviourVerb::Show { behaviour, fill } => {
            let view = BehaviourShow { behaviour, agent: fill }.run(&caller)?.answer;
            context.format.answer(&view, shown);
        }
        BehaviourVerb::Log { name } => {
            let views = BehaviourLog { name }.run(&caller)?.answer;
            context.format.answer(views.as_slice(), |views| views.iter().map(adoption).collect());
        }
        BehaviourVerb::Diff { left, right } => {
            let view = BehaviourDiff { left, right }.run(&caller)?.answer;
            context.format.answer(&view, difference);
        }
        BehaviourVerb::Tree { name } => {
            let reply = BehaviourTree { name }.run(&caller)?;
            warn_of(&reply.notices);
            let views = reply.answer.as_slice();
            context.format.answer(views, |views| views.iter().map(node).collect());
        }
        BehaviourVerb::Adopt { name, cid, message, evidence, expect, over, from } => {
            let adopt = BehaviourAdopt { name, cid, why: message, evidence, expect, over, from };
            let reply = adopt.run(&caller)?;
            warn_of(&reply.notices);
            if !reply.answer.changed {
                talk("nothing changed");
            }
            context.format.answer(&reply.answer, |view| {
                format!("{} {} {}", view.name, view.cid, view.adoption.as_deref().unwrap_or("-"))
            });
        }
        BehaviourVerb::Compare { first, second, metric, detect } => {
            let view = CompareBehaviours { first, second, metric, detect }.run(&caller)?.answer;
            view.left_out.iter().for_each(|what| warn(what));
            context.format.answer(&view, compared);
        }
        BehaviourVerb::Improve(args) => return improve::run(context, &caller, args),
        BehaviourVerb::Trial(args) => return trial::run(context, &caller, args),
        BehaviourVerb::Use { behaviour, agent, message } => {
            let reply = BehaviourUse { behaviour, agent, why: message }.run(&caller)?;
            warn_of(&reply.notices);
            if reply.answer.commit.is_none() {
                talk("nothing changed");
            }
            context.format.answer(&reply.answer, |view| {
                format!("{} {} {}", view.agent, view.cid, view.commit.as_deref().unwrap_or("-"))
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}
