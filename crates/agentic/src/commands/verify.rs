//! `agentic verify`

use agentic_api::Verb as _;
use agentic_api::verb::VerifyPeers;
use agentic_api::view::FederationVerifyView;

use super::{VerbOutcome, ended};
use crate::context::Context;

/// Check identities, signatures, chains and records of peers, without a network
///
/// What each record believes is judged again: by the policy that it names, and what was known then.
/// It cannot know whether there is something newer elsewhere.
///
/// Example: agentic verify --peer bob
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct VerifyArgs {
    /// One peer; this space and all peers without
    #[arg(long, value_name = "N")]
    peer: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: VerifyArgs) -> VerbOutcome {
    let space = context.space()?;
    let reply = VerifyPeers { peer: args.peer }.run(&context.caller(&space))?;
    context.format.answer(&reply.answer, shown);
    ended(reply.completion)
}

fn shown(view: &FederationVerifyView) -> String {
    let chains = view.chains.iter().map(|chain| {
        let (peer, space, seq) = (&chain.peer, &chain.space, chain.seq);
        let records = match (chain.records, chain.unjudged) {
            (0, _) => String::new(),
            (records, 0) => format!(", {records} records judged again"),
            (records, unjudged) => {
                let judged = records - unjudged;
                format!(", {judged} records judged again, {unjudged} older ones not")
            }
        };
        format!("{peer} {space}: {} announcements, up to {seq}{records}\n", chain.announcements)
    });
    let findings = view.findings.iter();
    let findings = findings.map(|finding| format!("{}: {}\n", finding.place, finding.what));
    let end = "whether there is something newer elsewhere, this cannot know\n".to_owned();
    chains.chain(findings).chain([end]).collect()
}
