//! `agentic merge`

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_space::commit::Capture;
use agentic_space::merge::{Merged, Plan, merge};
use agentic_view::{ConflictView, MergeView};

use super::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{counted, talk, warn_deferred, warn_left_behind};

/// Merge an agent's work into another agent or branch
///
/// Always makes an explicit commit with two parents. On conflicts it lists them, commits nothing
/// and exits with 3; resolve them in a folder and merge again with --resolve.
///
/// Example: agentic merge fix-auth --into main -m "Take the fix"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The agent whose work is taken; REMOTE/NAME for that of a remote
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
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    let source = context.branch(&space, Some(&args.agent))?;
    let target = space.merge_target(&args.into)?;
    let resolved = args.resolve.map(|path| context.directory.join(path));
    if let Some(folder) = resolved.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::refused(
            &format!("`{}` is not a folder", folder.display()),
            "name the folder that holds the resolved tree",
        ));
    }
    let plan = Plan {
        message: args.message,
        resolved,
        write_conflicts: args.write_conflicts.map(|path| context.directory.join(path)),
        capture: if args.trace { Capture::WithTrace } else { Capture::Nothing },
    };
    let outcome = merge(&space, &source, &target, &plan)?;
    let view = MergeView::new(&outcome, &args.agent, &target);
    context.format.answer(&view, text);
    match outcome {
        Merged::Commit { written, worktree_left_behind, .. } => {
            warn_deferred(&written);
            warn_left_behind(worktree_left_behind.as_deref());
            Ok(ExitCode::SUCCESS)
        }
        Merged::UpToDate { .. } => Ok(ExitCode::SUCCESS),
        Merged::Conflict { conflicts } => {
            let (agent, into) = (&args.agent, target.name());
            talk(&format!(
                "error: `{agent}` and `{into}` disagree on {}; nothing was committed",
                counted(conflicts.len(), "path")
            ));
            talk(&format!(
                "hint: `agentic merge {agent} --into {into} --write-conflicts DIR` writes the merged tree with markers; \
                 resolve them, then `agentic merge {agent} --into {into} --resolve DIR`"
            ));
            Ok(ExitCode::from(3))
        }
    }
}

fn text(view: &MergeView) -> String {
    match view {
        MergeView::Merged { commit, .. } => commit.clone(),
        MergeView::UpToDate { head } => format!("up-to-date {head}"),
        MergeView::Conflict { conflicts } => conflicts.iter().map(conflict_line).collect(),
    }
}

fn conflict_line(conflict: &ConflictView) -> String {
    let stages: Vec<String> =
        conflict.stages.iter().map(|(stage, blob)| format!("{stage}:{}", &blob[..10])).collect();
    format!("conflict {} {}\n", conflict.path, stages.join(" "))
}
