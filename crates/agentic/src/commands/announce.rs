//! `agentic announce`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::Announce;
use agentic_api::view::AnnouncedView;

use super::VerbOutcome;
use crate::context::Context;
use crate::output::warn_of;

/// Sign a snapshot of all agents, and push it to a remote
///
/// Where a remote is in signed mode, `agentic push` does the same. Private agents stay here, and so do
/// those that `agentic.publish` leaves out.
///
/// Example: agentic announce --remote origin
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct AnnounceArgs {
    /// The remote; the only one, or origin, without
    #[arg(long, value_name = "R")]
    remote: Option<String>,
    /// Make one though nothing is new
    #[arg(long)]
    refresh: bool,
    /// Announce agents that were set back, too
    #[arg(long, requires = "message")]
    rewind: bool,
    /// Begin the chain anew, without what was announced before
    #[arg(long, requires = "message", conflicts_with = "rewind")]
    cut: bool,
    /// Why
    #[arg(short, long, value_name = "WHY")]
    message: Option<String>,
    /// Take the archive along
    #[arg(long)]
    archive: bool,
    /// Let something leave that looks like a secret: a finding, or what a rule finds in a file
    #[arg(long, value_name = "CID|PATH:RULE")]
    allow: Vec<String>,
    /// Show what would be announced, and sign nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: AnnounceArgs) -> VerbOutcome {
    let AnnounceArgs { remote, refresh, rewind, cut, message, archive, allow, dry_run } = args;
    let (rewind, cut) = (message.clone().filter(|_| rewind), message.filter(|_| cut));
    let space = context.space()?;
    let verb = Announce { remote, refresh, rewind, archive, cut, allow, dry_run };
    let reply = verb.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context.format.answer(&reply.answer, |view| {
        let pushed = view.pushed.iter().map(|name| format!("{name}\n"));
        announced(&view.made) + pushed.collect::<String>().as_str()
    });
    Ok(ExitCode::SUCCESS)
}

/// Shows an announcement.
pub fn announced(view: &AnnouncedView) -> String {
    let mut text = format!(
        "{} {} agents, {} changed {}\n",
        view.seq,
        view.agents,
        view.changed,
        view.announcement.as_deref().unwrap_or("not signed")
    );
    let lists = [("set back", &view.rewinds), ("gone", &view.removed)];
    for (what, agents) in lists.into_iter().filter(|(_, agents)| !agents.is_empty()) {
        text += &format!("{what}: {}\n", agents.join(", "));
    }
    text
}
