//! `agentic fetch`

use agentic_api::Verb as _;
use agentic_api::verb::Fetch;
use agentic_api::view::{PeerFetchView, PeerReplyView, visible_line};

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
    /// Take an agent of the remote over, or one of another space of ours: self+desk/x
    #[arg(long, value_name = "NAME", value_parser = adopted_name)]
    adopt: Vec<String>,
    /// Let it go on with the one there at every fetch
    #[arg(long, requires = "adopt")]
    follow: bool,
    /// Receive what the remote serves of a peer; of all, where the remote is in signed mode
    #[arg(long, value_name = "N")]
    peer: Vec<String>,
    /// Read a bundle instead of a remote, as `agentic push --bundle` writes it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["remote", "recover"])]
    bundle: Option<String>,
    /// Take over what this very space announced, such as in a backup that was restored
    #[arg(long)]
    recover: bool,
    /// Go on with plain branches of others, where the remote has signed ones, too
    #[arg(long, conflicts_with_all = ["bundle", "peer"])]
    unsigned: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: FetchArgs) -> VerbOutcome {
    let space = context.space()?;
    let FetchArgs { remote, adopt, follow, peer: peers, bundle, recover, unsigned } = args;
    let verb = Fetch { remote, adopt, follow, peers, bundle, recover, unsigned };
    let reply = verb.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, |view| {
        let groups = [
            ("adopted", &view.adopted),
            ("moved forward", &view.fast_forwarded),
            ("took notes in", &view.notes_united),
            ("diverged", &view.diverged),
            ("set back where they come from", &view.rewound),
            ("rules that changed here and there", &view.contested),
            ("behaviours adopted here and there", &view.contested_behaviours),
            ("behaviours adopted there, not in force here", &view.offered),
        ];
        let group = |(what, names): &(&str, &Vec<String>)| match names.is_empty() {
            true => String::new(),
            false => format!("{what}: {}\n", names.join(", ")),
        };
        let peers = view.peers.iter().map(peer_line);
        let replies = view.replies.iter().map(reply_line);
        groups.iter().map(group).chain(peers).chain(replies).collect()
    });
    ended(reply.completion)
}

/// Reads the name of an agent of a remote, or `SPACE/NAME`.
fn adopted_name(text: &str) -> Result<String, String> {
    let name = text.rsplit_once('/').map_or(text, |(_, name)| name);
    agent_name(name).map(|_| text.to_owned())
}

/// Says what became of a decision that a peer sent.
fn reply_line(view: &PeerReplyView) -> String {
    let request = view.request.as_deref().unwrap_or(&view.commit);
    let action = view.action.as_deref().unwrap_or("nothing");
    let mut text = format!("{}: {action} of {request} {}", view.peer, view.result);
    if let Some(decision) = &view.decision {
        text += &format!(" by {decision}");
    }
    if let Some(reason) = &view.reason {
        text += &format!(": {reason}");
    }
    visible_line(&text) + "\n"
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
