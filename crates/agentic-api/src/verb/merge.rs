//! Taking an agent's work in.

use std::path::PathBuf;

use agentic_space::commit::TraceBinding;
use agentic_space::merge::{MergePlan, MergedWork, Target, merge};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::MergeView;
use crate::{Caller, Notice, Refusal};

/// Merge an agent's work into another agent or branch, always by a commit with two parents.
/// Conflicts are an answer: nothing was committed then.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Merge {
    /// The agent whose work is taken; `REMOTE/NAME` for that of a remote.
    pub agent: String,
    /// The agent or branch that takes it.
    pub into: String,
    /// The message.
    pub message: Option<String>,
    /// Conclude with this folder as the resolved tree.
    pub resolve: Option<PathBuf>,
    /// On conflicts, fill this empty folder with the merged tree, markers included.
    pub write_conflicts: Option<PathBuf>,
    /// Bind the target agent's pending trace to the merge.
    pub trace: bool,
}

impl Verb for Merge {
    type Answer = MergeView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<MergeView>, Refusal> {
        let space = caller.space;
        let source = caller.branch(Some(&self.agent))?;
        let target = space.merge_target(&self.into)?;
        let resolved = self.resolve.as_ref().map(|path| caller.path(path));
        if let Some(folder) = resolved.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(Refusal::refused(
                &format!("`{}` is not a folder", folder.display()),
                "name the folder that holds the resolved tree",
            ));
        }
        let behaviour = match &target {
            // What a person merges no behaviour made.
            Target::Agent(into) if caller.require_person("merge").is_err() => space.pin(into)?,
            Target::Agent(_) | Target::Branch(_) => None,
        };
        let plan = MergePlan {
            behaviour,
            message: self.message.clone(),
            resolved,
            write_conflicts: self.write_conflicts.as_ref().map(|path| caller.path(path)),
            capture: if self.trace { TraceBinding::WithTrace } else { TraceBinding::Nothing },
        };
        let outcome = merge(space, &source, &target, &plan)?;
        let view = MergeView::new(&outcome, &self.agent, &target);
        match outcome {
            MergedWork::Commit { written, worktree_left_behind, .. } => {
                let mut reply = Reply::written(view, &written);
                reply.notices.extend(Notice::left_behind(worktree_left_behind.as_deref()));
                Ok(reply)
            }
            MergedWork::UpToDate { .. } => Ok(Reply::plain(view)),
            MergedWork::Conflict { .. } => {
                let completion = VerbCompletion::Short(self.disagreement(&view));
                Ok(Reply { completion, ..Reply::plain(view) })
            }
        }
    }
}

impl Merge {
    /// Says that two agents disagree, and how that is concluded.
    fn disagreement(&self, view: &MergeView) -> Refusal {
        let agent = &self.agent;
        let (into, n_paths) = match view {
            MergeView::Conflict { into, conflicts } => (into.as_str(), conflicts.len()),
            MergeView::Merged { .. } | MergeView::UpToDate { .. } => (self.into.as_str(), 0),
        };
        let paths = if n_paths == 1 { "path" } else { "paths" };
        Refusal::conflict(
            &format!("`{agent}` and `{into}` disagree on {n_paths} {paths}; nothing was committed"),
            &format!(
                "`agentic merge {agent} --into {into} --write-conflicts DIR` writes the merged tree with markers; \
                 resolve them, then `agentic merge {agent} --into {into} --resolve DIR`"
            ),
        )
    }
}
