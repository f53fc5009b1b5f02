//! `agentic relate` and `agentic unrelate`

use std::process::ExitCode;

use agentic_api::Verb;
use agentic_api::verb::{EdgeChange, Relate};
use agentic_model::Kind;
use agentic_model::edge::Party;

use super::VerbOutcome;
use crate::context::Context;
use crate::output::warn_of;

/// Assert a relation between agents
///
/// The source may also be a person, written user:NAME.
///
/// Example: agentic relate alice reviews bob
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct RelateArgs {
    /// Who relates
    #[arg(value_parser = party)]
    source: Party,
    /// How
    #[arg(value_parser = relation)]
    relation: Kind,
    /// To whom
    #[arg(value_parser = party)]
    target: Party,
}

/// Retract a relation
///
/// Example: agentic unrelate alice reviews bob
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct UnrelateArgs {
    #[command(flatten)]
    edge: RelateArgs,
}

/// Runs `relate`.
pub fn run(context: &Context, args: RelateArgs) -> VerbOutcome {
    change(context, args, EdgeChange::Assert)
}

/// Runs `unrelate`.
pub fn run_unrelate(context: &Context, args: UnrelateArgs) -> VerbOutcome {
    change(context, args.edge, EdgeChange::Retract)
}

fn change(context: &Context, args: RelateArgs, change: EdgeChange) -> VerbOutcome {
    let verb = Relate {
        source: args.source.to_string(),
        relation: args.relation.to_string(),
        target: args.target.to_string(),
        change,
    };
    let space = context.space()?;
    let reply = verb.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context
        .format
        .answer(&reply.answer, |view| format!("{} {} {}", view.source, view.relation, view.target));
    Ok(ExitCode::SUCCESS)
}

fn party(text: &str) -> Result<Party, String> {
    Party::parse(text).map_err(|error| error.to_string())
}

fn relation(text: &str) -> Result<Kind, String> {
    Kind::parse(text).map_err(|_| format!("`{text}` cannot name a relation"))
}
