//! Taking an agent's work in.

use std::path::PathBuf;

use agentic_federation::peer_agent::PeerAgent;
use agentic_federation::tracking::settle;
use agentic_space::AgentBranch;
use agentic_space::commit::TraceBinding;
use agentic_space::merge::{BelievedWork, MergePlan, MergedWork, Target, merge};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::MergeView;
use crate::{Caller, Notice, Refusal};

/// Merge an agent's work into another agent or branch, always by a commit with two parents.
/// Conflicts are an answer: nothing was committed then.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Merge {
    /// The agent whose work is taken; `REMOTE/NAME` or `PEER/NAME` for that of a remote or a peer.
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
        let target = space.merge_target(&self.into)?;
        let (source, believed, mut notices) = self.source(caller, &target)?;
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
        let mut redactor = CallerRedactor::new(caller)?;
        let message = self.message.clone().map(|text| redactor.text("the message", text));
        notices.extend(redactor.notices());
        let plan = MergePlan {
            behaviour,
            message,
            resolved,
            write_conflicts: self.write_conflicts.as_ref().map(|path| caller.path(path)),
            capture: if self.trace { TraceBinding::WithTrace } else { TraceBinding::Nothing },
            believed,
        };
        let outcome = merge(space, &source, &target, &plan)?;
        let view = MergeView::new(&outcome, &self.agent, &target);
        match outcome {
            MergedWork::Commit { written, worktree_left_behind, .. } => {
                let mut reply = Reply::written(view, &written);
                reply.notices.extend(Notice::left_behind(worktree_left_behind.as_deref()));
                notices.append(&mut reply.notices);
                Ok(Reply { notices, ..reply })
            }
            MergedWork::UpToDate { .. } => Ok(Reply { notices, ..Reply::plain(view) }),
            MergedWork::Conflict { .. } => {
                let completion = VerbCompletion::Short(self.disagreement(&view));
                Ok(Reply { completion, notices, ..Reply::plain(view) })
            }
        }
    }
}

impl Merge {
    /// Finds whose work is taken. That of a peer is what its record says is believed, as far as somebody
    /// granted that it may be merged.
    fn source(
        &self,
        caller: &Caller<'_>,
        target: &Target,
    ) -> Result<(AgentBranch, Option<BelievedWork>, Vec<Notice>), Refusal> {
        let space = caller.space;
        let Some(peer) = PeerAgent::find(space, &self.agent)? else {
            return Ok((caller.branch(Some(&self.agent))?, None, Vec::new()));
        };
        peer.require_merge(space, target.head(space)?)?;
        let head = peer.require_believed()?.head;
        let moved = settle(space, &peer.tracked.label, &peer.agent)?;
        let notices = moved.iter().map(|name| Notice::put_back(name)).collect();
        let believed = BelievedWork { head, from: peer.origin() };
        let source = AgentBranch { agent: peer.agent, remote: Some(peer.tracked.label) };
        Ok((source, Some(believed), notices))
    }

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
