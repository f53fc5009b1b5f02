//! `agentic log`

use std::process::ExitCode;

use agentic_model::{Cid, Kind, Oid};
use agentic_session::SessionSpace;
use agentic_space::AgentBranch;
use agentic_space::trace::Shown;
use agentic_view::{EntryView, LogView};

use super::Outcome;
use crate::context::Context;
use crate::output::{Listing, warn};
use crate::text::{Colour, Text};

/// List an agent's own commits, newest first
///
/// Example: agentic log fix-auth --kind finding --trace
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The agent, REMOTE/NAME for a remote's; else AGENTIC_AGENT, else the current branch
    #[arg(value_name = "AGENT")]
    agent: Option<String>,
    /// Show the trace of each commit too
    #[arg(long)]
    trace: bool,
    /// Only commits of this kind, or of one that specialises it
    #[arg(long, value_name = "KIND", value_parser = kind_name)]
    kind: Option<Kind>,
    /// At most so many
    #[arg(short = 'n', value_name = "N")]
    limit: Option<usize>,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let branch = context.branch(&space, args.agent.as_deref())?;
    let logged = space.log(&branch, args.kind.as_ref())?;
    let mut listing = Listing::begin(context.format);
    for commit in logged.take(args.limit.unwrap_or(usize::MAX)) {
        let commit = commit?;
        let shown = match commit.trace {
            Some(cid) if args.trace => trace_of(&space, &branch, cid, commit.info.oid),
            _ => None,
        };
        let trace = shown.map(|shown| EntryView::whole(&shown.trace.entries)).unwrap_or_default();
        let view = LogView::new(&commit, Some(branch.to_string()));
        listing.item_coloured(&view, |view| paragraph(view, &trace));
    }
    listing.end();
    Ok(ExitCode::SUCCESS)
}

/// Reads the trace that a note names. Anybody may write notes, and the one does not keep the other
/// commits from being shown.
fn trace_of(space: &SessionSpace, branch: &AgentBranch, cid: Cid, commit: Oid) -> Option<Shown> {
    let shown = space.trace_on_branch(branch, cid, commit);
    shown.inspect_err(|why| warn(&format!("the trace of commit {commit}: {why}"))).ok()
}

fn paragraph(view: &LogView, trace: &[EntryView]) -> Text {
    let copied =
        view.copied_from.as_ref().map(|from| format!(" (copied from {from})")).unwrap_or_default();
    let unverified = if view.unverified { " (unverified)" } else { "" };
    let mut text = format!("{unverified} {}{copied}\n", view.subject);
    if let serde_json::Value::Object(fields) = &view.fields
        && !fields.is_empty()
    {
        text.push_str(&format!("           {}\n", view.fields));
    }
    for entry in trace {
        let body = entry.text.as_deref().unwrap_or("(bytes)");
        let first = body.lines().next().unwrap_or("");
        text.push_str(&format!("           {} {first}\n", entry.kind));
    }
    let ids = Text::default().coloured(Colour::Yellow, &view.commit[..10]);
    ids.plain(" ").coloured(Colour::Cyan, &view.kind).plain(&text)
}

fn kind_name(text: &str) -> Result<Kind, String> {
    Kind::parse(text).map_err(|error| error.to_string())
}
