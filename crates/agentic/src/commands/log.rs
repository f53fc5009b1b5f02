//! `agentic log`

use std::process::ExitCode;

use agentic_api::verb::{ListCommits, LogTraces, LoggedCommit, settle_named};
use agentic_api::view::{EntryView, LogView};
use agentic_model::Kind;

use super::VerbOutcome;
use crate::context::Context;
use crate::output::{ListPrinter, warn_of};
use crate::text::{Colour, Text};

/// List an agent's own commits, newest first
///
/// Example: agentic log fix-auth --kind finding --trace
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct LogArgs {
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
pub fn run(context: &Context, args: LogArgs) -> VerbOutcome {
    let kind = args.kind.map(|kind| kind.to_string());
    let verb = ListCommits { agent: args.agent, kind, limit: args.limit };
    let traces = if args.trace { LogTraces::Read } else { LogTraces::Left };
    let space = context.space()?;
    if let Some(agent) = &verb.agent {
        warn_of(&settle_named(&space, agent)?);
    }
    let mut listing = ListPrinter::begin(context.format);
    for commit in verb.commits(&context.caller(&space), traces)? {
        let LoggedCommit { view, trace, notice } = commit?;
        warn_of(notice.as_slice());
        listing.item_coloured(&view, |view| paragraph(view, &trace));
    }
    listing.end();
    Ok(ExitCode::SUCCESS)
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
