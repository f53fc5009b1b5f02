//! Linking commits that were made with plain git to the conversation that made them.
//!
//! There are two proofs. *Window*: the commit was made while a call of a tool ran, its result names it,
//! and nobody else had a window open there. *Ancestry*: the program of exactly one live conversation is
//! above the git that committed. Where neither holds nothing is linked, and a line in a list says so.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use agentic_model::edge::{EdgeEvent, Party};
use agentic_model::{AgentName, Kind, Oid, Rewrite};
use agentic_session::SessionSpace;
use agentic_space::facts::COMMITTED_ON;
use agentic_space::relate::relate;
use agentic_store::Layout;
use agentic_store::file::{self, Persistence};
use serde::{Deserialize, Serialize};

use crate::window::{ClosedWindow, WindowCompany, named_commits};
use crate::{CaptureError, ConversationId};

/// How long the list of commits that nobody was linked to may get, in bytes: 256 KiB.
const UNLINKED_BYTES_MAX: u64 = 256 << 10;
/// The longest note of a hook of git's about one commit, in bytes.
const ANCESTRY_BYTES_MAX: u64 = 16 << 10;

/// Whose commits are linked.
pub struct CommitCandidate<'c> {
    /// The repository.
    pub space: &'c SessionSpace,
    /// The conversation.
    pub conversation: &'c ConversationId,
    /// Its agent.
    pub agent: &'c AgentName,
    /// The full name of the branch that the commit stands on.
    pub branch: Option<&'c str>,
}

/// Why a commit was linked to nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnlinkedReason {
    /// Others had a window open in that worktree.
    Shared,
    /// The result of the call does not name it.
    Unnamed,
    /// The program of another conversation is above the git that committed.
    OtherProgram,
    /// The programs of several conversations are.
    Several,
    /// It is known whose it is, and others held the agent's lock for too long.
    Busy,
}

impl UnlinkedReason {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            UnlinkedReason::Shared => "shared",
            UnlinkedReason::Unnamed => "unnamed",
            UnlinkedReason::OtherProgram => "other-program",
            UnlinkedReason::Several => "several",
            UnlinkedReason::Busy => "busy",
        }
    }
}

/// A commit that may be an agent's, and is linked to nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnlinkedCommit {
    /// The commit.
    pub commit: String,
    /// An agent whose it may be.
    pub agent: String,
    /// Why it is not known.
    pub reason: UnlinkedReason,
}

/// Links the commits of a window to the agent whose call it was.
///
/// # Errors
/// Fails when the trace cannot be bound.
pub fn link_window(
    candidate: &CommitCandidate<'_>,
    window: &ClosedWindow,
    output: &str,
) -> Result<(), CaptureError> {
    let layout = candidate.space.repository().layout();
    let named = named_commits(output);
    // A commit that was amended in the same call is not there any more.
    let amended: Vec<Oid> =
        window.steps.iter().filter(|step| step.is_amendment()).filter_map(|it| it.from).collect();
    for step in window.steps.iter().filter(|step| step.is_commit()) {
        let id = step.to.to_string();
        let is_named = named.iter().any(|named| id.starts_with(named));
        let above = read_ancestry(layout, step.to);
        let is_others = above.as_ref().is_some_and(|above| {
            !above.is_empty() && !above.contains(&candidate.conversation.to_string())
        });
        let reason = match (window.company, is_named, is_others) {
            (WindowCompany::Shared, ..) => Some(UnlinkedReason::Shared),
            (WindowCompany::Alone, _, true) => Some(UnlinkedReason::OtherProgram),
            (WindowCompany::Alone, false, false) => Some(UnlinkedReason::Unnamed),
            (WindowCompany::Alone, true, false) => None,
        };
        match reason {
            Some(_) if amended.contains(&step.to) || is_linked(candidate, step.to)? => {}
            Some(reason) => note_unlinked(layout, step.to, candidate.agent, reason)?,
            None => link(candidate, step.to, step.from)?,
        }
        if let Some(from) = step.from.filter(|_| step.is_amendment() && reason.is_none()) {
            let rewrite = Rewrite { from: vec![from], to: step.to, by: "window".to_owned() };
            let _written = candidate.space.keep_rewrites(candidate.agent, &[rewrite])?;
        }
    }
    Ok(())
}

/// Binds the agent's pending trace to a commit, and relates the agent to a branch that is not its own.
/// `before` is where the head was; what the conversation says of the commit may come later. Where others
/// hold the agent's lock for too long, the list of what is not linked says so.
///
/// # Errors
/// Fails when the trace cannot be bound.
pub fn link(
    candidate: &CommitCandidate<'_>,
    commit: Oid,
    before: Option<Oid>,
) -> Result<(), CaptureError> {
    let linked = bind(candidate, commit, before);
    if linked.as_ref().is_err_and(CaptureError::is_busy) {
        let layout = candidate.space.repository().layout();
        note_unlinked(layout, commit, candidate.agent, UnlinkedReason::Busy)?;
    }
    linked
}

fn bind(
    candidate: &CommitCandidate<'_>,
    commit: Oid,
    before: Option<Oid>,
) -> Result<(), CaptureError> {
    let (space, agent) = (candidate.space, candidate.agent);
    if is_linked(candidate, commit)? {
        // A hook of git's may have been faster than the transcript.
        if space.awaits_entries(agent, commit)? {
            let _bound = space.link_pending(agent, commit)?;
        }
        return Ok(());
    }
    let _written = space.link_trace(agent, commit, before)?.written;
    let own = agent.branch_ref();
    let Some(branch) = candidate.branch.filter(|branch| *branch != own) else { return Ok(()) };
    let name = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    let source = Party::Agent(agent.clone());
    let (target, relation) = (Party::Branch(name.to_owned()), kind(COMMITTED_ON));
    let known = space.kept_edges(space.repository().notes(&agent.notes_ref())?.tip())?;
    let is_known = known.iter().any(|(_, edge)| {
        edge.relation == relation && edge.target == target && edge.event == EdgeEvent::Assert
    });
    if !is_known {
        let _written = relate(space, &source, &relation, &target, EdgeEvent::Assert)?.written;
    }
    Ok(())
}

/// Lists the commits that may be agents' and are linked to nobody.
pub fn unlinked_commits(layout: &Layout) -> Vec<UnlinkedCommit> {
    let read = file::read_text(&unlinked(layout), 2 * UNLINKED_BYTES_MAX);
    let text = read.unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Notes a commit that may be an agent's, once.
///
/// # Errors
/// Fails when the list cannot be written.
pub fn note_unlinked(
    layout: &Layout,
    commit: Oid,
    agent: &AgentName,
    reason: UnlinkedReason,
) -> Result<(), CaptureError> {
    let known = unlinked_commits(layout);
    let noted = UnlinkedCommit { commit: commit.to_string(), agent: agent.to_string(), reason };
    if known.iter().any(|other| other.commit == noted.commit && other.agent == noted.agent) {
        return Ok(());
    }
    let mut line = serde_json::to_string(&noted).expect("texts have a JSON form");
    line.push('\n');
    let path = unlinked(layout);
    let io = |source| CaptureError::Io { source };
    std::fs::create_dir_all(layout.capture()).map_err(io)?;
    let length = std::fs::metadata(&path).map_or(0, |found| found.len());
    if length + line.len() as u64 > UNLINKED_BYTES_MAX {
        let later = known.iter().skip(known.len() / 2);
        let later = later.filter_map(|it| serde_json::to_string(it).ok()).map(|it| it + "\n");
        let text = later.chain([line]).collect::<String>();
        return Ok(file::replace(&path, text.as_bytes(), Persistence::Lazy)?);
    }
    let mut options = OpenOptions::new();
    let file = file::open_regular(&path, options.create(true).append(true));
    file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(io)
}

/// Notes which conversations' programs were above the git that made a commit.
///
/// # Errors
/// Fails when the folder cannot be written.
pub fn note_ancestry(
    layout: &Layout,
    commit: Oid,
    above: &[ConversationId],
) -> Result<(), CaptureError> {
    let path = ancestry(layout, commit);
    let folder = path.parent().expect("notes stand in a folder");
    std::fs::create_dir_all(folder).map_err(|source| CaptureError::Io { source })?;
    let above: Vec<String> = above.iter().map(ConversationId::to_string).collect();
    let text = serde_json::to_vec(&above).expect("texts have a JSON form");
    Ok(file::replace(&path, &text, Persistence::Lazy)?)
}

/// Reads such a note; nothing where no hook of git's wrote one.
fn read_ancestry(layout: &Layout, commit: Oid) -> Option<Vec<String>> {
    let text = file::read_small(&ancestry(layout, commit), ANCESTRY_BYTES_MAX).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Tells whether a commit has a trace already: of this agent, or of the one whose branch it is on.
fn is_linked(candidate: &CommitCandidate<'_>, commit: Oid) -> Result<bool, CaptureError> {
    let repository = candidate.space.repository();
    let other = candidate.branch.and_then(AgentName::from_branch_ref);
    for agent in [Some(candidate.agent), other.as_ref()].into_iter().flatten() {
        if repository.notes(&agent.notes_ref())?.note(commit)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn kind(name: &str) -> Kind {
    Kind::parse(name).expect("the name of a kind")
}

fn unlinked(layout: &Layout) -> PathBuf {
    layout.capture().join("unlinked")
}

fn ancestry(layout: &Layout, commit: Oid) -> PathBuf {
    let id = commit.to_string();
    layout.capture().join("commit").join(&id[..2]).join(&id[2..])
}
