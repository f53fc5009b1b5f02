//! `agentic relations`, `sub-agents`, `reviewers` and `merged`

use std::process::ExitCode;

use agentic_api::Verb;
use agentic_api::verb::{ListRelations, MergedAgents, Reviewers, SubAgents};
use agentic_api::view::RelationView;
use agentic_model::{AgentName, Kind};

use super::{VerbOutcome, agent_name};
use crate::context::Context;

/// List what holds between agents now
///
/// Example: agentic relations --of alice --kind reviews
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct RelationsArgs {
    /// Only relations that this agent or person is part of
    #[arg(long, value_name = "A")]
    of: Option<String>,
    /// Only this relation
    #[arg(long, value_name = "K", value_parser = relation)]
    kind: Option<Kind>,
}

/// List the agents that were forked from an agent
///
/// Example: agentic sub-agents alice --all
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct SubAgentsArgs {
    /// The agent
    #[arg(value_parser = agent_name)]
    agent: AgentName,
    /// Also those forked from them, and so on
    #[arg(long)]
    all: bool,
}

/// List who reviews an agent
///
/// Example: agentic reviewers alice
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ReviewersArgs {
    /// The agent
    #[arg(value_parser = agent_name)]
    agent: AgentName,
}

/// List the agents whose work was merged into an agent
///
/// Example: agentic merged alice
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct MergedArgs {
    /// The agent
    #[arg(value_parser = agent_name)]
    agent: AgentName,
}

/// Runs `relations`.
pub fn run(context: &Context, args: RelationsArgs) -> VerbOutcome {
    let kind = args.kind.map(|kind| kind.to_string());
    let space = context.space()?;
    let found = ListRelations { of: args.of, kind }.run(&context.caller(&space))?.answer;
    context.format.answer(found.as_slice(), |views| {
        let line =
            |view: &RelationView| format!("{} {} {}\n", view.source, view.relation, view.target);
        views.iter().map(line).collect()
    });
    Ok(ExitCode::SUCCESS)
}

/// Runs `sub-agents`.
pub fn run_sub_agents(context: &Context, args: SubAgentsArgs) -> VerbOutcome {
    names(context, SubAgents { agent: args.agent.to_string(), all: args.all })
}

/// Runs `reviewers`.
pub fn run_reviewers(context: &Context, args: ReviewersArgs) -> VerbOutcome {
    names(context, Reviewers { agent: args.agent.to_string() })
}

/// Runs `merged`.
pub fn run_merged(context: &Context, args: MergedArgs) -> VerbOutcome {
    names(context, MergedAgents { agent: args.agent.to_string() })
}

fn names(context: &Context, verb: impl Verb<Answer = Vec<String>>) -> VerbOutcome {
    let space = context.space()?;
    let names = verb.run(&context.caller(&space))?.answer;
    context
        .format
        .answer(names.as_slice(), |names| names.iter().map(|name| format!("{name}\n")).collect());
    Ok(ExitCode::SUCCESS)
}

fn relation(text: &str) -> Result<Kind, String> {
    Kind::parse(text).map_err(|_| format!("`{text}` cannot name a relation"))
}
