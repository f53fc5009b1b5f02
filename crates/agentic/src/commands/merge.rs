//! `agentic merge`

use std::path::PathBuf;

use agentic_api::Verb;
use agentic_api::verb::Merge;
use agentic_api::view::{ConflictView, MergeView};

use super::{VerbOutcome, said};
use crate::context::Context;
use crate::output::warn_of;

/// Merge an agent's work into another agent or branch
///
/// Always makes an explicit commit with two parents. On conflicts it lists them, commits nothing
/// and exits with 3; resolve them in a folder and merge again with --resolve.
///
/// Example: agentic merge fix-auth --into main -m "Take the fix"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct MergeArgs {
    /// The agent whose work is taken; REMOTE/NAME or PEER/NAME for that of a remote or a peer
    agent: String,
    /// The agent or branch that takes it
    #[arg(long, value_name = "TARGET")]
    into: String,
    /// The message
    #[arg(short, long, value_name = "MSG")]
    message: Option<String>,
    /// Conclude with this folder as the resolved tree
    #[arg(long, value_name = "DIR")]
    resolve: Option<PathBuf>,
    /// On conflicts, fill this empty folder with the merged tree, markers included
    #[arg(long, value_name = "DIR", conflicts_with = "resolve")]
    write_conflicts: Option<PathBuf>,
    /// Bind the target agent's pending trace to the merge
    #[arg(long)]
    trace: bool,
}

/// Runs the verb.
pub fn run(context: &Context, args: MergeArgs) -> VerbOutcome {
    let MergeArgs { agent, into, message, resolve, write_conflicts, trace } = args;
    let verb = Merge { agent, into, message, resolve, write_conflicts, trace };
    let space = context.space()?;
    let reply = verb.run(&context.caller(&space))?;
    context.format.answer(&reply.answer, text);
    warn_of(&reply.notices);
    Ok(said(&reply.completion))
}

fn text(view: &MergeView) -> String {
    match view {
        MergeView::Merged { commit, .. } => commit.clone(),
        MergeView::UpToDate { head } => format!("up-to-date {head}"),
        MergeView::Conflict { conflicts, .. } => conflicts.iter().map(conflict_line).collect(),
    }
}

fn conflict_line(conflict: &ConflictView) -> String {
    let stages: Vec<String> =
        conflict.stages.iter().map(|(stage, blob)| format!("{stage}:{}", &blob[..10])).collect();
    format!("conflict {} {}\n", conflict.path, stages.join(" "))
}
