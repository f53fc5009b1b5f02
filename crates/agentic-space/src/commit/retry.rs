//! Commits that are tried again although a crash has only interrupted them.

use agentic_git::GitWriter;
use agentic_model::{Kind, Oid};
use agentic_store::Finding;
use agentic_store::MendedThing;

use super::{CommitDraft, CommitOutcome};
use crate::written::WriteNotices;
use crate::{Result, Space};

/// Recognises that the write that was just rolled forward is the very one being retried.
pub(super) fn same_as_rolled_forward(
    space: &Space,
    writer: &GitWriter<'_>,
    head: Oid,
    draft: &CommitDraft,
    tree: Oid,
) -> Result<Option<CommitOutcome>> {
    let earlier = space.recovered().iter().filter(|one| one.stream == *writer.stream());
    let earlier = earlier.filter_map(|one| {
        if let MendedThing::Opened(finding) = &one.mended { Some(finding) } else { None }
    });
    let commit = writer.findings().iter().chain(earlier).find_map(|finding| match finding {
        Finding::RolledForward { commit } => *commit,
        Finding::CutTail { .. } | Finding::GaveUp { .. } | Finding::SetAside { .. } => None,
    });
    let Some(commit) = commit.filter(|commit| *commit == head) else { return Ok(None) };
    let found = space.read_commit(commit)?;
    let said = agentic_model::trailer::strip(&found.message);
    if found.tree != tree || said.trim() != draft.message.trim() {
        return Ok(None);
    }
    let kind = draft.kind.clone().unwrap_or_else(Kind::agent_commit);
    let agent_stream = writer.stream().agent();
    let agent = agent_stream.expect("commits are made on streams of agents").clone();
    let trace = space.bound_cid(&agent.notes_ref(), commit)?;
    let before = found.parents.first().map(|parent| space.read_commit(*parent)).transpose()?;
    let before = before.map_or(space.repository().empty_tree(), |parent| parent.tree);
    let changed = space.repository().scratch().changed_paths(before, tree)?;
    Ok(Some(CommitOutcome {
        commit,
        agent,
        kind,
        tree,
        parents: found.parents,
        changed: super::source::shown(&changed),
        trace,
        written: WriteNotices::default(),
        left_out: Vec::new(),
        worktree_left_behind: None,
    }))
}
