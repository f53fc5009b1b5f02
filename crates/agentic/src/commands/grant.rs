//! `agentic grant`, `agentic revoke`, `agentic grants` and `agentic allowed`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{AllowedQuestion, ListGrants, PeerGrant, RevokeGrants};
use agentic_api::view::{AllowedBecause, AllowedView};

use super::peer::grant_line;
use super::{VerbOutcome, ended};
use crate::context::Context;
use crate::output::warn_of;

/// Grant a peer something; what waits for it is believed at once
///
/// Example: agentic grant bob --kind finding --on head-move
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct GrantArgs {
    /// The name of the peer
    name: String,
    /// For which kinds, and those below them
    #[arg(long, value_name = "K", required = true, num_args = 1..)]
    kind: Vec<String>,
    /// For what: spawn, head-move, merge, trace, decide, relate, behaviour-adopt, type-define
    #[arg(long, value_name = "T", required = true, num_args = 1..)]
    on: Vec<String>,
    /// For which agents, as patterns with `*`
    #[arg(long, value_name = "G", num_args = 1..)]
    agents: Vec<String>,
    /// Until when, such as 2027-01-31 or 2027-01-31T12:00:00Z; one in the past is recorded, and said
    #[arg(long, value_name = "T")]
    until: Option<String>,
    /// How often it may be given on
    #[arg(long, value_name = "N", default_value_t = 0)]
    delegate: u64,
    /// Give it on from this capability, which somebody gave us; it counts there
    #[arg(long, value_name = "CID")]
    parent: Option<String>,
}

/// Take back what was granted; what was believed stays
///
/// Example: agentic revoke bob -m "He has left"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct RevokeArgs {
    /// A capability, or the name of a peer for all that it was granted
    what: String,
    /// Why
    #[arg(short, long, value_name = "TEXT", default_value = "")]
    message: String,
}

/// List what peers were granted
///
/// Example: agentic grants bob
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct GrantsArgs {
    /// One peer; all without
    name: Option<String>,
}

/// Say whether a peer may do something, and why
///
/// Example: agentic allowed bob finding head-move
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct AllowedArgs {
    /// The name of the peer
    name: String,
    /// The kind
    kind: String,
    /// What it would do
    trigger: String,
}

/// Runs `agentic grant`.
pub fn run(context: &Context, args: GrantArgs) -> VerbOutcome {
    let GrantArgs { name, kind, on, agents, until, delegate, parent } = args;
    let verb = PeerGrant { name, kinds: kind, triggers: on, agents, until, delegate, parent };
    let space = context.space()?;
    let reply = verb.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, |view| format!("{}\n", view.capability));
    Ok(ExitCode::SUCCESS)
}

/// Runs `agentic revoke`.
pub fn run_revoke(context: &Context, args: RevokeArgs) -> VerbOutcome {
    let space = context.space()?;
    let verb = RevokeGrants { what: args.what, why: args.message };
    let reply = verb.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context
        .format
        .answer(&reply.answer, |view| view.revoked.iter().map(|cid| format!("{cid}\n")).collect());
    Ok(ExitCode::SUCCESS)
}

/// Runs `agentic grants`.
pub fn run_list(context: &Context, args: GrantsArgs) -> VerbOutcome {
    let space = context.space()?;
    let answer = ListGrants { name: args.name }.run(&context.caller(&space))?.answer;
    context.format.answer(answer.as_slice(), |grants| grants.iter().map(grant_line).collect());
    Ok(ExitCode::SUCCESS)
}

/// Runs `agentic allowed`.
pub fn run_allowed(context: &Context, args: AllowedArgs) -> VerbOutcome {
    let space = context.space()?;
    let verb = AllowedQuestion { name: args.name, kind: args.kind, trigger: args.trigger };
    let reply = verb.run(&context.caller(&space))?;
    context.format.answer(&reply.answer, allowed);
    ended(reply.completion)
}

fn allowed(view: &AllowedView) -> String {
    match &view.because {
        AllowedBecause::Capabilities(cids) => format!("allowed by {}\n", cids.join(" ")),
        AllowedBecause::Reason(why) => format!("not allowed: {why}\n"),
    }
}
