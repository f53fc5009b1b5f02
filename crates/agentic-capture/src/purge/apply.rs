//! Carrying a purge out.
//!
//! | order | what is durable then |
//! | --- | --- |
//! | new objects, and git has all that the logs say | nothing has changed |
//! | the file that says what the purge is about, and the tombstones that count here | whoever is killed from here on goes on with this purge |
//! | logs are cut, files written again | no recovery brings it back |
//! | refs move | nothing leads to it but what was announced, here or by peers |
//! | the chain of announcements begins anew, and what was accepted of peers | nothing leads to it |
//! | reflogs, caches and exactly the old objects go | it is gone |

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{GitWriter, HistoryRoot, RefMove};
use agentic_model::{Oid, Value, canonical};
use agentic_replay::record::CancelMode;
use agentic_session::SessionSpace;
use agentic_space::purging::PurgedRef;
use agentic_space::purging::tombstone::TombstoneFate;
use agentic_space::{Signatures, Space};
use agentic_store::file::{self, Persistence, open_regular};
use agentic_store::journal::{BranchMove, scrub_aside};
use agentic_store::recovery::PurgedLog;
use agentic_store::{Lock, Stream, fault, recovery};

use super::aim::{PurgeScrub, SessionAim};
use super::branches::{self, BranchFate, BranchRewriter};
use super::bury::{BuriedPurge, TombstoneScope, bury};
use super::hit::{PurgeHit, PurgePlace};
use super::locked::LockedPurge;
use super::plan::{PurgeFindings, gather, stream_of};
use super::scan::{attribute, scan};
use super::unfinished::{UnfinishedPurge, oids};
use super::vendor::{self, VendorTranscripts};
use super::verify::across_seams;
use super::{AcceptedRecords, AnnouncedChain, ChainCut, PurgeAim, PurgeError, RecordsCut};
use crate::{HookEnvironment, redaction, spool};

/// Why a session is stopped.
const CANCELLED: &str = "something of it is purged";
/// Where refs are that follow a remote.
const FOLLOWED: &str = "refs/agentic/remotes/";
/// Where the logs of our own refs are, below the git directory.
const OWN_REFLOGS: [&str; 2] = ["logs/refs/notes/agentic", "logs/refs/agentic"];

/// What becomes of objects that nothing reaches and that hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreachableObjects {
    /// They are named.
    Named,
    /// They go too.
    Forgotten,
}

/// What becomes of sessions that hold it and are not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnendedSessions {
    /// The purge is refused.
    Refused,
    /// They are stopped first: without an answer they cannot go on.
    Cancelled,
}

/// A purge that somebody asks for.
pub struct PurgeRequest<'r> {
    /// What is to go.
    pub aim: &'r PurgeAim,
    /// The rule that found it, for the tombstones.
    pub rule: Option<&'r str>,
    /// Why.
    pub reason: &'r str,
    /// Who asks.
    pub by: &'r str,
    /// Who hears which ids are gone.
    pub scope: TombstoneScope,
    /// What becomes of branches of agents.
    pub branches: BranchFate,
    /// What becomes of objects that nothing reaches.
    pub unreachable: UnreachableObjects,
    /// What becomes of sessions that are not over.
    pub sessions: UnendedSessions,
    /// What becomes of transcripts of vendors.
    pub sources: VendorTranscripts,
    /// Where transcripts of vendors are.
    pub environment: &'r HookEnvironment,
    /// What this space has announced.
    pub announced: &'r dyn AnnouncedChain,
    /// What this space has accepted of peers.
    pub accepted: &'r dyn AcceptedRecords,
}

/// What a purge did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeOutcome {
    /// What marks its places.
    pub id: String,
    /// What was taken out.
    pub hits: Vec<PurgeHit>,
    /// The refs that were made again.
    pub refs: Vec<PurgedRef>,
    /// How many objects are gone.
    pub n_forgotten: usize,
    /// The tombstones.
    pub tombstones: Vec<String>,
    /// What became of the announcements of this space.
    pub announced: ChainCut,
    /// What became of the records of what was accepted of peers.
    pub accepted: RecordsCut,
    /// What still holds it.
    pub left: Vec<PurgeHit>,
    /// Where transcripts of vendors hold it.
    pub sources: Vec<PurgeHit>,
}

/// Carries a purge out. Whoever was killed on the way calls this again.
///
/// # Errors
/// Fails when sessions hold it, when something cannot be taken out, and when others are in the way;
/// before the file is written nothing has changed then.
pub fn apply(space: &SessionSpace, request: &PurgeRequest<'_>) -> Result<PurgeOutcome, PurgeError> {
    let repository = space.repository();
    let lock = repository.layout().space_lock("purge");
    let _one_at_a_time = Lock::take(&lock, repository.common_dir())?;
    check_alone(space)?;
    let mut unfinished = UnfinishedPurge::load_or_begin(space, request.branches)?;
    let before = cancel_open(space, request, &unfinished)?;
    let worktrees = branches::reserve(space, &unfinished, &before.branches)?;
    let LockedPurge { mut writers, found, sessions: _held } =
        LockedPurge::take(space, request.aim, &unfinished)?;
    let signatures = signatures(space, &unfinished)?;
    let commits = space.rewrite_purged(&found.history, &found.rewrites, BTreeMap::new())?;
    let BuriedPurge { tombstones, moved: buried, records } =
        bury(space, request, &found, &commits, &signatures)?;
    let mut commits = match buried.is_empty() {
        true => commits,
        false => space.rewrite_purged(&found.history, &found.rewrites, buried.clone())?,
    };
    // Refs that follow a remote keep what it has; only our own have the tombstones.
    let own = |root: &&HistoryRoot| !root.name.starts_with(FOLLOWED);
    let tips: BTreeSet<Oid> = found.history.roots.iter().filter(own).map(|root| root.tip).collect();
    commits.extend(buried.into_iter().filter(|(old, _)| tips.contains(old)));
    let mut refs = moving(&found, &commits);
    let rewriter = BranchRewriter { space, aim: request.aim, unfinished: &unfinished };
    refs.extend(rewriter.write(&found.branches)?);
    let worktrees = branches::going(space, worktrees, &refs)?;
    repository.sync_filesystem()?;
    unfinished.tips.extend(refs.iter().map(|it| it.old.to_string()));
    unfinished.tips.extend(request.announced.tip().iter().chain(&records).map(Oid::to_string));
    unfinished.streams.extend(found.streams.iter().map(ToString::to_string));
    let renamed = found.branches.rewritten.commits.iter();
    unfinished.commits = renamed.map(|(old, new)| (old.to_string(), new.to_string())).collect();
    unfinished.save(space)?;
    fault::point("purge-begun")?;
    if !tombstones.is_empty() {
        space.decide_tombstones(&tombstones, TombstoneFate::Followed)?;
    }
    cut(space, request.aim, &unfinished, &found, &mut writers)?;
    write_sessions(space, request.aim, &unfinished, &found)?;
    for worktree in &worktrees {
        worktree.announce()?;
        fault::point("purge-worktree-announced")?;
    }
    for moved in &refs {
        move_ref(space, moved, &mut writers, &signatures)?;
        fault::point("purge-ref-moved")?;
    }
    drop(writers);
    for worktree in worktrees {
        worktree.bring()?;
    }
    let (announced, accepted) = begin_anew(request)?;
    let n_forgotten = forget(space, request, &found, &mut unfinished)?;
    if request.sources == VendorTranscripts::Edited {
        vendor::edit(space, request.aim, &unfinished.id, request.environment)?;
    }
    UnfinishedPurge::done(space)?;
    Ok(PurgeOutcome {
        id: unfinished.id,
        hits: found.hits,
        refs,
        n_forgotten,
        tombstones: tombstones.iter().map(|object| object.cid().to_string()).collect(),
        announced,
        accepted,
        left: left(space, request.aim)?,
        sources: vendor::look(space, request.aim, request.environment),
    })
}

/// Begins anew what somebody signed. Whoever signs may take long, so that no lock of an agent is held.
fn begin_anew(request: &PurgeRequest<'_>) -> Result<(ChainCut, RecordsCut), PurgeError> {
    let announced = request.announced.cut(request.reason);
    fault::point("purge-announced")?;
    Ok((announced, request.accepted.begin_anew()))
}

/// Checks that no process stays here that has an index of texts.
fn check_alone(space: &Space) -> Result<(), PurgeError> {
    let path = space.repository().layout().resident().join("lock");
    let opened = open_regular(&path, std::fs::OpenOptions::new().read(true));
    let Ok(file) = opened else { return Ok(()) };
    match file.try_lock_shared() {
        Err(std::fs::TryLockError::WouldBlock) => Err(PurgeError::Resident),
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(()),
    }
}

/// Stops the sessions that hold it and are not over, if that is wanted. Returns what was found.
fn cancel_open(
    space: &SessionSpace,
    request: &PurgeRequest<'_>,
    unfinished: &UnfinishedPurge,
) -> Result<PurgeFindings, PurgeError> {
    let found = gather(space, request.aim, unfinished)?;
    let open: Vec<_> = found.sessions.iter().filter(|session| !session.is_over).collect();
    if open.is_empty() {
        return Ok(found);
    }
    if request.sessions == UnendedSessions::Refused {
        return Err(PurgeError::Sessions { sessions: found.open_sessions() });
    }
    for session in open {
        let stopped =
            agentic_session::cancel(space, &session.id, CancelMode::Kill, request.by, CANCELLED);
        // Its parent may have stopped it meanwhile, or it came to its end.
        if let Err(error) = stopped
            && !space.session(&session.id)?.state.is_over()
        {
            return Err(error.into());
        }
    }
    Ok(found)
}

/// Signs as of when the purge began, so that whoever repeats it makes the same commits.
fn signatures(space: &Space, unfinished: &UnfinishedPurge) -> Result<Signatures, PurgeError> {
    let mut signatures = space.signatures_of(space.repository().committer()?)?;
    signatures.author.at = unfinished.begun_at();
    signatures.committer.at = unfinished.begun_at();
    Ok(signatures)
}

fn moving(found: &PurgeFindings, commits: &BTreeMap<Oid, Oid>) -> Vec<PurgedRef> {
    let moved = found.history.roots.iter().filter_map(|root| {
        let new = *commits.get(&root.tip)?;
        Some(PurgedRef { name: root.name.clone(), old: root.tip, new })
    });
    moved.collect()
}

/// Writes the records of sessions again.
fn write_sessions(
    space: &SessionSpace,
    aim: &PurgeAim,
    unfinished: &UnfinishedPurge,
    found: &PurgeFindings,
) -> Result<(), PurgeError> {
    let scrub = SessionAim { aim, id: &unfinished.id, commits: &found.branches.rewritten.commits };
    for session in &found.sessions {
        session.write(space, &scrub)?;
        fault::point("purge-session-written")?;
    }
    Ok(())
}

/// Cuts logs, and writes again what waits elsewhere.
fn cut(
    space: &Space,
    aim: &PurgeAim,
    unfinished: &UnfinishedPurge,
    found: &PurgeFindings,
    writers: &mut BTreeMap<Stream, GitWriter<'_>>,
) -> Result<(), PurgeError> {
    let key = Some(redaction::key(space.repository().layout())?);
    let mut scrub = PurgeScrub { key, ..PurgeScrub::new(aim, &unfinished.id) };
    for (stream, writer) in writers {
        let agent = stream.to_string();
        let mut clean = |entries| Ok(scrub.entries(&agent, None, entries));
        let log = PurgedLog { scrub: &mut clean, moved: &found.branches.rewritten.commits };
        recovery::cut_for_purge(space.repository(), writer, log, space.now())?;
    }
    for folder in &found.asides {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let agent = name.rsplit_once('-').map_or(name.as_str(), |(agent, _)| agent);
        let mut clean = |entries| Ok(scrub.entries(agent, None, entries));
        scrub_aside(folder, &mut clean, space.now())?;
    }
    for path in &found.spools {
        let agent = path.parent().and_then(|folder| folder.file_name()).unwrap_or_default();
        let entries = scrub.entries(&agent.to_string_lossy(), None, spool::read(path));
        let value = Value::List(entries.iter().map(agentic_model::Entry::to_value).collect());
        let bytes = canonical::encode(&value)
            .map_err(|_| PurgeError::Stuck { what: "what waits for an agent".to_owned() })?;
        file::replace(path, &bytes, Persistence::Synced)?;
    }
    Ok(())
}

fn move_ref(
    space: &Space,
    moved: &PurgedRef,
    writers: &mut BTreeMap<Stream, GitWriter<'_>>,
    signatures: &Signatures,
) -> Result<(), PurgeError> {
    let step = BranchMove { name: moved.name.clone(), expect: Some(moved.old), new: moved.new };
    let committer = &signatures.committer;
    let go = || space.repository().move_ref(&step, committer, "agentic: purge");
    let outcome = match writers.get_mut(&stream_of(&moved.name)) {
        Some(writer) => writer.with_refs(&[&moved.name], go)?,
        None => go()?,
    };
    match outcome {
        RefMove::Moved => Ok(()),
        // Git itself moved it meanwhile; what it holds now is looked at by a repetition.
        RefMove::Lost { .. } => Err(PurgeError::Moving),
    }
}

/// Takes away logs of refs, caches and exactly the old objects.
fn forget(
    space: &Space,
    request: &PurgeRequest<'_>,
    found: &PurgeFindings,
    unfinished: &mut UnfinishedPurge,
) -> Result<usize, PurgeError> {
    let repository = space.repository();
    let before = repository.reachable_objects()?;
    for folder in OWN_REFLOGS {
        remove_folder(&repository.common_dir().join(folder))?;
    }
    for path in &found.needless {
        file::remove(path)?;
    }
    branches::forget_moves(space, unfinished)?;
    for folder in [repository.layout().cache(), repository.layout().index()] {
        remove_folder(&folder)?;
    }
    repository.sync_filesystem()?;
    fault::point("purge-unlinked")?;
    let reachable = repository.reachable_objects()?;
    // A part of it may be gone already: then what is to go is in the file.
    let mut going = oids(&unfinished.going);
    if going.is_empty() {
        going.extend(repository.reached_only_by(&oids(&unfinished.tips))?);
    }
    let holding = found.objects.iter().filter(|oid| !reachable.contains(oid));
    let is_wanted =
        |oid: &&Oid| request.unreachable == UnreachableObjects::Forgotten || before.contains(oid);
    going.extend(holding.filter(is_wanted).copied());
    going.retain(|oid| !reachable.contains(oid));
    let going = repository.with_what_leads_to(going, &reachable)?;
    unfinished.going = going.iter().map(Oid::to_string).collect::<BTreeSet<String>>();
    unfinished.save(space)?;
    fault::point("purge-going")?;
    repository.forget_objects(&going)?;
    Ok(going.len())
}

/// Looks for what still holds it.
fn left(space: &Space, aim: &PurgeAim) -> Result<Vec<PurgeHit>, PurgeError> {
    let PurgeAim::Value(_) = aim else { return Ok(Vec::new()) };
    let scanned = scan(space, aim)?;
    let mut left = attribute(space, &scanned.objects)?;
    left.extend(scanned.files);
    left.extend(across_seams(space, aim)?);
    left.retain(|hit| hit.place != PurgePlace::Derived);
    Ok(left)
}

fn remove_folder(path: &std::path::Path) -> Result<(), PurgeError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(PurgeError::file("remove", path)),
    }
}
