//! `agentic fetch`

use agentic_api::Verb as _;
use agentic_api::verb::Fetch;
use agentic_api::view::PeerFetchView;
use agentic_model::AgentName;

use super::{VerbOutcome, agent_name, ended};
use crate::context::Context;
use crate::output::warn_of;

/// Fetch, unite notes, and move agents forward that have not diverged
///
/// Example: agentic fetch origin --adopt fix-auth
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct FetchArgs {
    /// The remote; the only one, or origin, without
    remote: Option<String>,
    /// Take an agent of the remote over
    #[arg(long, value_name = "NAME", value_parser = agent_name)]
    adopt: Vec<AgentName>,
    /// Receive what the remote serves of a peer; of all, where the remote is in signed mode
    #[arg(long, value_name = "N")]
    peer: Vec<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: FetchArgs) -> VerbOutcome {
    let adopt = args.adopt.iter().map(AgentName::to_string).collect();
    let space = context.space()?;
    let reply =
        Fetch { remote: args.remote, adopt, peers: args.peer }.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, |view| {
        let groups = [
            ("adopted", &view.adopted),
            ("moved forward", &view.fast_forwarded),
            ("took notes in", &view.notes_united),
            ("diverged", &view.diverged),
            ("rules that changed here and there", &view.contested),
            ("behaviours adopted here and there", &view.contested_behaviours),
            ("behaviours adopted there, not in force here", &view.offered),
        ];
        let group = |(what, names): &(&str, &Vec<String>)| match names.is_empty() {
            true => String::new(),
            false => format!("{what}: {}\n", names.join(", ")),
        };
        let peers = view.peers.iter().map(peer_line);
        groups.iter().map(group).chain(peers).collect()
    });
    ended(reply.completion)
}

/// Says what became of a space of a peer.
fn peer_line(view: &PeerFetchView) -> String {
    let mut text = format!("{}: {}", view.name, view.result);
    if !view.moved.is_empty() {
        text += &format!(", moved {}", view.moved.join(", "));
    }
    for held in &view.held {
        text += &format!(", {} waits for {} × {}", held.agent, held.kind, held.trigger);
    }
    if let Some(reason) = &view.reason {
        text += &format!(": {reason}");
    }
    text + "\n"
}
