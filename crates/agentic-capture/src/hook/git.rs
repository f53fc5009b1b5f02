//! What hooks of git tell: that a commit was made, and below whose program; that commits were rewritten.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use agentic_model::rewrite::REWRITE_FROM_MAX;
use agentic_model::{AgentName, Oid, Rewrite};
use agentic_session::{SessionOptions, SessionSpace};
use agentic_space::archive::restore;

use super::{LOCK_WAIT_AT_END, end, is_on};
use crate::bind::HookPlace;
use crate::error_log::{CaptureFault, note};
use crate::glance::may_be_captured;
use crate::link::{self, CommitCandidate, UnlinkedReason, note_unlinked};
use crate::live::conversations_above;
use crate::{CaptureError, ConversationId, HookEnvironment};

/// How much git says of rewritten commits at most, in bytes: 16 MiB.
const PAIRS_BYTES_MAX: u64 = 16 << 20;

/// A hook of git's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitHook {
    /// A commit was made.
    PostCommit,
    /// Commits were rewritten, by this command.
    PostRewrite(String),
}

/// Does what a hook of git's does. Nothing that goes wrong comes out of it: git goes on.
pub fn run(
    hook: &GitHook,
    folder: &Path,
    environment: &HookEnvironment,
    options: SessionOptions,
    input: impl Read,
) {
    let Ok(folder) = folder.canonicalize() else { return };
    if !may_be_captured(&folder, environment).unwrap_or(false) {
        return;
    }
    let Ok(space) = SessionSpace::open(&folder, options) else { return };
    if !is_on(&space, &folder) {
        return;
    }
    space.wait_at_most(LOCK_WAIT_AT_END);
    let place = HookPlace::of(&space, &folder);
    let done = catch_unwind(AssertUnwindSafe(|| match hook {
        GitHook::PostCommit => post_commit(&space, &place),
        GitHook::PostRewrite(by) => post_rewrite(&space, &place, by, input),
    }));
    let done = done.unwrap_or(Err(CaptureError::Panic));
    if let Err(error) = done {
        let event = match hook {
            GitHook::PostCommit => "post-commit",
            GitHook::PostRewrite(_) => "post-rewrite",
        };
        let (at, code) = (space.now(), error.code().to_owned());
        let fault = CaptureFault { at, source: None, event: event.to_owned(), code };
        note(space.repository().layout(), &fault);
    }
}

/// Links the commit to the one conversation whose program is above this one.
fn post_commit(space: &SessionSpace, place: &HookPlace) -> Result<(), CaptureError> {
    let repository = space.repository();
    let Some(commit) = repository.head_commit()? else { return Ok(()) };
    let above = conversations_above(repository.layout());
    let ids: Vec<ConversationId> = above.iter().filter_map(|one| one.id()).collect();
    link::note_ancestry(repository.layout(), commit, &ids)?;
    match (above.as_slice(), ids.as_slice()) {
        ([one], [conversation]) => {
            let Some(agent) = one.agent().filter(|agent| space.head(agent).is_ok()) else {
                return Ok(());
            };
            let branch = place.branch.as_deref();
            let before = space.read_commit(commit)?.parents.first().copied();
            let candidate = CommitCandidate { space, conversation, agent: &agent, branch };
            link::link(&candidate, commit, before)
        }
        ([first, _, ..], _) => match first.agent() {
            Some(agent) => {
                note_unlinked(repository.layout(), commit, &agent, UnlinkedReason::Several)
            }
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Keeps which commits became which.
fn post_rewrite(
    space: &SessionSpace,
    place: &HookPlace,
    by: &str,
    input: impl Read,
) -> Result<(), CaptureError> {
    let mut text = String::new();
    let mut input = input.take(PAIRS_BYTES_MAX);
    input.read_to_string(&mut text).map_err(|source| CaptureError::Io { source })?;
    let mut pairs: BTreeMap<Oid, BTreeSet<Oid>> = BTreeMap::new();
    for line in text.lines() {
        let mut ids = line.split_whitespace().map(Oid::parse);
        if let (Some(Ok(from)), Some(Ok(to))) = (ids.next(), ids.next())
            && from != to
        {
            pairs.entry(to).or_default().insert(from);
        }
    }
    if pairs.is_empty() {
        return Ok(());
    }
    let Some(keeper) = keeper(space, place, &pairs)? else { return Ok(()) };
    let by = format!("post-rewrite {by}");
    let rewrite = |(to, from): (Oid, BTreeSet<Oid>)| Rewrite {
        from: from.into_iter().take(REWRITE_FROM_MAX).collect(),
        to,
        by: by.clone(),
    };
    let rewrites: Vec<Rewrite> = pairs.into_iter().map(rewrite).collect();
    match keeper {
        RewriteKeeper::Open(agent) => {
            let _written = space.keep_rewrites(&agent, &rewrites)?;
            Ok(())
        }
        // Nothing can be kept in the archive; the agent goes back to where it was.
        RewriteKeeper::Archived(agent) => {
            let _written = restore(space, std::slice::from_ref(&agent))?.written;
            let _written = space.keep_rewrites(&agent, &rewrites)?;
            end::archive_closed(space, vec![agent])
        }
    }
}

/// With whom rewritten commits are kept.
enum RewriteKeeper {
    Open(AgentName),
    Archived(AgentName),
}

/// Finds the agent with whom rewritten commits are kept: the one of the worktree, else that of the
/// program above, else one whose notes lead from such a commit to a trace, which may be archived.
fn keeper(
    space: &SessionSpace,
    place: &HookPlace,
    pairs: &BTreeMap<Oid, BTreeSet<Oid>>,
) -> Result<Option<RewriteKeeper>, CaptureError> {
    let is_there = |agent: &AgentName| space.head(agent).is_ok();
    if let Some(agent) = place.agent.clone().filter(is_there) {
        return Ok(Some(RewriteKeeper::Open(agent)));
    }
    let above = conversations_above(space.repository().layout());
    if let [one] = above.as_slice()
        && let Some(agent) = one.agent().filter(is_there)
    {
        return Ok(Some(RewriteKeeper::Open(agent)));
    }
    let rewritten: BTreeSet<Oid> = pairs.values().flatten().copied().collect();
    for (agent, _) in space.agent_names()? {
        let notes = space.repository().find_ref(&agent.notes_ref())?;
        if know_some(space, notes, &rewritten)? {
            return Ok(Some(RewriteKeeper::Open(agent)));
        }
    }
    for entry in space.archived_agents()? {
        if know_some(space, entry.archived.notes, &rewritten)? {
            return Ok(Some(RewriteKeeper::Archived(entry.archived.agent)));
        }
    }
    Ok(None)
}

/// Tells whether one state of an agent's notes has a trace of some commit, or knows what it was before.
fn know_some(
    space: &SessionSpace,
    tip: Option<Oid>,
    commits: &BTreeSet<Oid>,
) -> Result<bool, CaptureError> {
    let Some(tip) = tip else { return Ok(false) };
    let notes = space.repository().notes_at(Some(tip))?;
    for commit in commits {
        if notes.note(*commit)?.is_some() {
            return Ok(true);
        }
    }
    Ok(space.kept_rewrites(Some(tip))?.iter().any(|known| commits.contains(&known.to)))
}
