//! `agentic agent …`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{MakePrivate, MakePublic};
use agentic_model::AgentName;
use clap::Subcommand;

use super::{VerbOutcome, agent_name};
use crate::context::Context;

/// Say whether pushes that name nobody take agents along
#[derive(Debug, Subcommand)]
pub enum AgentVerb {
    /// Let pushes that name nobody leave agents out
    ///
    /// Agents that conversations of coding agents got for their own are private from the start, and so
    /// are their children.
    ///
    /// Example: agentic agent private claude-3f2a91c0
    #[command(verbatim_doc_comment)]
    Private {
        /// The agents
        #[arg(value_parser = agent_name, required = true)]
        agents: Vec<AgentName>,
    },
    /// Let pushes take agents along again
    ///
    /// So does `agentic push NAME`. This is for people: what a conversation saw may not be the
    /// project's.
    ///
    /// Example: agentic agent public claude-3f2a91c0
    #[command(verbatim_doc_comment)]
    Public {
        /// The agents
        #[arg(value_parser = agent_name, required = true)]
        agents: Vec<AgentName>,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: AgentVerb) -> VerbOutcome {
    let space = context.space()?;
    let caller = context.caller(&space);
    let names = |agents: &[AgentName]| agents.iter().map(AgentName::to_string).collect();
    let views = match verb {
        AgentVerb::Private { agents } => {
            MakePrivate { agents: names(&agents) }.run(&caller)?.answer
        }
        AgentVerb::Public { agents } => MakePublic { agents: names(&agents) }.run(&caller)?.answer,
    };
    context.format.answer(views.as_slice(), |views| {
        let word = |private: bool| if private { "private" } else { "public" };
        views.iter().map(|view| format!("{} {}\n", view.agent, word(view.private))).collect()
    });
    Ok(ExitCode::SUCCESS)
}
