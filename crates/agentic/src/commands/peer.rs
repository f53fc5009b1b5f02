//! `agentic peer …`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{
    PeerAdd, PeerInit, PeerList, PeerLog, PeerRemove, PeerResolve, PeerRotate, PeerSpace,
    PeerTrustVerb,
};
use agentic_api::view::{
    PeerChangeView, PeerGrantView, PeerIdentityView, PeerInitView, PeerView, RefusalView,
};
use clap::Subcommand;

use super::VerbOutcome;
use crate::context::Context;
use crate::output::warn_of;

/// Follow peers over git remotes, by their signatures
#[derive(Debug, Subcommand)]
pub enum PeerVerb {
    /// Begin an identity, so that this space can announce; safe to repeat
    ///
    /// Others need the project and the peer that it prints. A key is a file of OpenSSH's, or a public key
    /// whose private half ssh-agent has.
    ///
    /// Example: agentic peer init --name Ada --key ~/.ssh/id_ed25519
    #[command(verbatim_doc_comment)]
    Init {
        /// What this peer calls itself; what git knows, without
        #[arg(long, value_name = "N")]
        name: Option<String>,
        /// The key by which this space announces; git's signing key, without
        #[arg(long, value_name = "K")]
        key: Option<String>,
        /// The keys that write the identity; the same key, without
        #[arg(long, value_name = "K")]
        control: Vec<String>,
        /// The project of somebody else that this repository belongs to
        #[arg(long, value_name = "CID")]
        project: Option<String>,
        /// The peer whose space this becomes: one of ours on another machine
        #[arg(long, value_name = "PEER", requires = "project", requires = "key")]
        peer: Option<String>,
        /// What this space is called; main without
        #[arg(long, value_name = "NICK", conflicts_with = "peer")]
        nick: Option<String>,
    },
    /// Follow a peer, and grant it what the preset says
    ///
    /// An id begins with `bafyr4i`, a key with `ssh-`, `sk-ssh-` or `gpg:`. Everything else is a file of
    /// `ssh-keygen`'s: FILE.pub is read, also where FILE is named.
    ///
    /// Example: agentic peer add bob bafyr4ihoz7sbdpmf3x --remote origin
    #[command(verbatim_doc_comment)]
    Add {
        /// The name that it has here
        name: String,
        /// Its id, as `agentic peer init` printed it there, or a key of it or the file of that, which is looked up on the remote
        peer: String,
        /// An announcement of it that somebody says is there
        #[arg(long, value_name = "CID")]
        at: Option<String>,
        /// The remote from which it is fetched; every one, without
        #[arg(long, value_name = "R")]
        remote: Option<String>,
        /// The person whom it is taken for
        #[arg(long, value_name = "user:N")]
        principal: Option<String>,
        /// What it is granted
        #[arg(long, value_name = "PRESET", value_parser = ["track", "none"])]
        preset: Option<String>,
    },
    /// Say whether a peer is believed; what was believed stays readable
    ///
    /// Example: agentic peer trust bob none
    #[command(verbatim_doc_comment)]
    Trust {
        /// Its name
        name: String,
        /// How far
        #[arg(value_parser = ["track", "none", "blocked"])]
        trust: String,
    },
    /// Stop following a peer, and forget what was accepted of it
    ///
    /// Example: agentic peer remove bob
    #[command(verbatim_doc_comment)]
    Remove {
        /// Its name
        name: String,
    },
    /// List the peers that are followed
    ///
    /// Example: agentic peer list
    #[command(verbatim_doc_comment)]
    List,
    /// Show one peer, or this one
    ///
    /// Example: agentic peer show self
    #[command(verbatim_doc_comment)]
    Show {
        /// Its name, or `self`
        name: String,
    },
    /// Let keys of ours count no more, or others, in a new document of our identity
    ///
    /// A key is named by itself, by its file or by its fingerprint. New keys take the places of those
    /// that go; without `--void` they are added everywhere. Chains go on from our newest announcement.
    ///
    /// Example: agentic peer rotate --void ~/.ssh/old.pub --add ~/.ssh/new
    #[command(verbatim_doc_comment)]
    Rotate {
        /// A key that counts no more
        #[arg(long, value_name = "KEY")]
        void: Vec<String>,
        /// A key that counts from now on
        #[arg(long, value_name = "KEY")]
        add: Vec<String>,
        /// From which announcement a space goes on
        #[arg(long, value_name = "SPACE=CID")]
        resume: Vec<String>,
    },
    /// Say which spaces our identity lists, or that this one has another place
    ///
    /// Example: agentic peer space --moved
    #[command(verbatim_doc_comment)]
    Space {
        /// Make this repository a space of its own
        #[arg(long)]
        new: bool,
        /// This repository is the space that it was, at another place
        #[arg(long, conflicts_with = "new")]
        moved: bool,
        /// List another space, by its key
        #[arg(long, num_args = 2, value_names = ["ID", "KEY"], conflicts_with_all = ["new", "moved"])]
        add: Vec<String>,
        /// List a space no more
        #[arg(long, value_name = "ID", conflicts_with_all = ["new", "moved", "add"])]
        remove: Option<String>,
        /// What a new one is called; `other` without
        #[arg(long, value_name = "NICK")]
        nick: Option<String>,
    },
    /// Choose a side of what a peer said twice, which ends that it is frozen
    ///
    /// Example: agentic peer resolve bob --at bafyr4ihoz7sbdpmf3x -m "He has told me"
    #[command(verbatim_doc_comment)]
    Resolve {
        /// Its name
        name: String,
        /// The side
        #[arg(long, value_name = "CID")]
        at: String,
        /// Why
        #[arg(short, long, value_name = "WHY")]
        message: String,
    },
    /// List what a peer served and what was refused
    ///
    /// Example: agentic peer log bob
    #[command(verbatim_doc_comment)]
    Log {
        /// Its name
        name: String,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: PeerVerb) -> VerbOutcome {
    let space = context.space()?;
    let caller = context.caller(&space);
    let list = |name: Option<String>| PeerList { name }.run(&caller);
    match verb {
        PeerVerb::Init { name, key, control, project, peer, nick } => {
            let verb = PeerInit { name, key, control, project, peer, nick };
            let answer = verb.run(&caller)?.answer;
            context.format.answer(&answer, begun);
        }
        PeerVerb::Add { name, peer, at, remote, principal, preset } => {
            let verb = PeerAdd { name, peer, at, remote, principal, preset };
            context.format.answer(&verb.run(&caller)?.answer, changed);
        }
        PeerVerb::Trust { name, trust } => {
            let answer = PeerTrustVerb { name, trust }.run(&caller)?.answer;
            context.format.answer(&answer, changed);
        }
        PeerVerb::Remove { name } => {
            context.format.answer(&PeerRemove { name }.run(&caller)?.answer, changed);
        }
        PeerVerb::List => {
            let answer = list(None)?.answer;
            context.format.answer(answer.as_slice(), |peers| peers.iter().map(line).collect());
        }
        PeerVerb::Show { name } => {
            let answer = list(Some(name))?.answer;
            context.format.answer(answer.as_slice(), |peers| peers.iter().map(whole).collect());
        }
        PeerVerb::Rotate { void, add, resume } => {
            let answer = PeerRotate { void, add, resume }.run(&caller)?.answer;
            context.format.answer(&answer, document);
        }
        PeerVerb::Space { new, moved, add, remove, nick } => {
            let mut add = add.into_iter();
            let (add, key) = (add.next(), add.next());
            let answer = PeerSpace { new, moved, add, key, remove, nick }.run(&caller)?.answer;
            context.format.answer(&answer, document);
        }
        PeerVerb::Resolve { name, at, message } => {
            let reply = PeerResolve { name, at, why: message }.run(&caller)?;
            warn_of(&reply.notices);
            context.format.answer(&reply.answer, changed);
        }
        PeerVerb::Log { name } => {
            let answer = PeerLog { name }.run(&caller)?.answer;
            context.format.answer(answer.as_slice(), |lines| lines.iter().map(refusal).collect());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn begun(view: &PeerInitView) -> String {
    let mut text = format!("project {}\npeer {}\nspace {}\n", view.project, view.peer, view.space);
    text.extend(view.keys.iter().map(|key| format!("key {key}\n")));
    text
}

fn document(view: &PeerIdentityView) -> String {
    format!("{} {}\n", view.seq, view.identity)
}

fn changed(view: &PeerChangeView) -> String {
    let mut text = format!("{} {} {}\n", view.name, view.trust, view.peer);
    text.extend(view.granted.iter().map(|grant| format!("granted {}", grant_line(grant))));
    text
}

/// Shows a capability in one line.
pub fn grant_line(view: &PeerGrantView) -> String {
    let agents = view.agents.as_ref().map(|agents| format!(" for {}", agents.join(" ")));
    let until = view.until.as_ref().map(|until| format!(" until {until}"));
    format!(
        "{} {} × {}{}{}: {} {}\n",
        view.name,
        view.kinds.join(" "),
        view.triggers.join(" "),
        agents.unwrap_or_default(),
        until.unwrap_or_default(),
        view.state,
        view.capability
    )
}

fn line(view: &PeerView) -> String {
    let n_agents: usize = view.spaces.iter().map(|space| space.agents).sum();
    let n_held: usize = view.spaces.iter().map(|space| space.held).sum();
    let held = if n_held == 0 { String::new() } else { format!(", {n_held} held") };
    let frozen = if view.frozen { " frozen" } else { "" };
    format!("{:16} {}{frozen} {n_agents} agents{held} {}\n", view.name, view.trust, view.peer)
}

fn whole(view: &PeerView) -> String {
    let mut text = line(view);
    for space in &view.spaces {
        let number = space.seq.map(|seq| format!(" {seq}"));
        let (number, cid) = (number.unwrap_or_default(), space.announcement.as_deref());
        text += &format!(
            "  {} {} {}{number} {}\n",
            space.nick,
            space.space,
            space.state,
            cid.unwrap_or_default()
        );
        if let Some(at) = &space.ahead {
            text += &format!("    announced at {at} by a clock that is ahead of ours\n");
        }
    }
    text
}

fn refusal(view: &RefusalView) -> String {
    let times = if view.count == 1 { String::new() } else { format!(" ({} times)", view.count) };
    format!("{} {} {}: {}{times}\n", view.at, view.remote, view.oid, view.reason)
}
