//! `agentic relations`, `sub-agents`, `reviewers` and `merged`

use std::collections::BTreeSet;
use std::process::ExitCode;

use agentic_api::view::RelationView;
use agentic_model::edge::Party;
use agentic_model::{AgentName, Kind};
use agentic_space::relations::{MERGED_INTO, REVIEWS, SUB_AGENT_OF};

use super::{Outcome, agent_name};
use crate::context::Context;

/// List what holds between agents now
///
/// Example: agentic relations --of alice --kind reviews
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Only relations that this agent or person is part of
    #[arg(long, value_name = "A", value_parser = party)]
    of: Option<Party>,
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
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let relations = space.relations()?;
    let views: Vec<RelationView> = relations
        .facts()
        .filter(|fact| args.of.as_ref().is_none_or(|of| fact.source == *of || fact.target == *of))
        .filter(|fact| args.kind.as_ref().is_none_or(|kind| fact.relation == *kind))
        .map(RelationView::from)
        .collect();
    context.format.answer(views.as_slice(), |views| {
        let line =
            |view: &RelationView| format!("{} {} {}\n", view.source, view.relation, view.target);
        views.iter().map(line).collect()
    });
    Ok(ExitCode::SUCCESS)
}

/// Runs `sub-agents`.
pub fn run_sub_agents(context: &Context, args: SubAgentsArgs) -> Outcome {
    let space = context.space()?;
    space.head(&args.agent)?;
    let relations = space.relations()?;
    let target = Party::Agent(args.agent);
    let found = match args.all {
        true => relations.sources_closure(SUB_AGENT_OF, &target),
        false => relations.sources(SUB_AGENT_OF, &target),
    };
    names(context, &found)
}

/// Runs `reviewers`.
pub fn run_reviewers(context: &Context, args: ReviewersArgs) -> Outcome {
    sources(context, REVIEWS, args.agent)
}

/// Runs `merged`.
pub fn run_merged(context: &Context, args: MergedArgs) -> Outcome {
    sources(context, MERGED_INTO, args.agent)
}

fn sources(context: &Context, relation: &str, agent: AgentName) -> Outcome {
    let space = context.space()?;
    space.head(&agent)?;
    names(context, &space.relations()?.sources(relation, &Party::Agent(agent)))
}

fn names(context: &Context, parties: &BTreeSet<Party>) -> Outcome {
    let names: Vec<String> = parties.iter().map(Party::to_string).collect();
    context
        .format
        .answer(names.as_slice(), |names| names.iter().map(|name| format!("{name}\n")).collect());
    Ok(ExitCode::SUCCESS)
}

fn party(text: &str) -> Result<Party, String> {
    Party::parse(text).map_err(|error| error.to_string())
}

fn relation(text: &str) -> Result<Kind, String> {
    Kind::parse(text).map_err(|_| format!("`{text}` cannot name a relation"))
}
