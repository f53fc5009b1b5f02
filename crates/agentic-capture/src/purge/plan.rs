//! Finding what is to go, and all that has to change with it. Nothing is written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agentic_git::{ARCHIVE_REF, HistoryLeaf, PRIVATE_REF};
use agentic_model::Oid;
use agentic_session::SessionSpace;
use agentic_session::purge::PurgedSession;
use agentic_space::Space;
use agentic_space::kind::REGISTRY_REF;
use agentic_space::purging::relink::ids_in;
use agentic_space::purging::{PurgeHistory, PurgeRewrites};
use agentic_store::{Stream, journal, recovery};

mod leaves;

use self::leaves::{PurgeCompanions, leaves_of, sessions_of};
use super::accepted::is_record;
use super::aim::{PurgeScrub, SessionAim};
use super::branches::{BranchFindings, BranchRewriter};
use super::hit::{PurgeHit, PurgePlace};
use super::scan::{attribute, scan};
use super::seam::seams;
use super::unfinished::{UnfinishedPurge, oids};
use super::{BranchFate, PurgeAim, PurgeError, vendor};
use crate::{HookEnvironment, redaction, spool};

/// What a purge would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PurgePlan {
    /// What would be taken out.
    pub hits: Vec<PurgeHit>,
    /// The agents whose locks it takes, and other streams of writes.
    pub streams: Vec<String>,
    /// What it would leave: branches that stay, and what nothing reaches.
    pub left: Vec<PurgeHit>,
    /// Where transcripts of vendors hold it.
    pub sources: Vec<PurgeHit>,
    /// The sessions that hold it and are not over: it is refused unless they are cancelled.
    pub sessions: Vec<String>,
}

/// Everything that has to change.
pub(super) struct PurgeFindings {
    pub history: PurgeHistory,
    pub branches: BranchFindings,
    pub rewrites: PurgeRewrites,
    /// The commits that become others.
    pub concerned: BTreeSet<Oid>,
    pub hits: Vec<PurgeHit>,
    pub streams: BTreeSet<Stream>,
    /// Journals that were set aside.
    pub asides: BTreeSet<PathBuf>,
    /// What waits for agents.
    pub spools: BTreeSet<PathBuf>,
    /// Files that can be made again, or that nobody needs.
    pub needless: BTreeSet<PathBuf>,
    /// The sessions that are made again.
    pub sessions: Vec<PurgedSession>,
    pub left: Vec<PurgeHit>,
    /// The objects that hold it, whatever reaches them.
    pub objects: BTreeSet<Oid>,
}

/// Finds out what a purge would do.
///
/// # Errors
/// Fails when something cannot be read, and when something cannot be taken out of what holds it.
pub fn plan(
    space: &SessionSpace,
    aim: &PurgeAim,
    branches: BranchFate,
    environment: &HookEnvironment,
) -> Result<PurgePlan, PurgeError> {
    let unfinished = UnfinishedPurge::load_or_begin(space, branches)?;
    let found = gather(space, aim, &unfinished)?;
    let sessions = found.open_sessions();
    Ok(PurgePlan {
        hits: found.hits,
        streams: found.streams.iter().map(ToString::to_string).collect(),
        left: found.left,
        sessions,
        sources: vendor::look(space, aim, environment),
    })
}

/// Finds everything that has to change.
pub(super) fn gather(
    space: &SessionSpace,
    aim: &PurgeAim,
    unfinished: &UnfinishedPurge,
) -> Result<PurgeFindings, PurgeError> {
    let history = space.purge_history()?;
    let mut scrub = PurgeScrub::new(aim, &unfinished.id);
    scrub.key = Some(redaction::key(space.repository().layout())?);
    scrub.seams = seams(space, &history, aim, &unfinished.id)?;
    let branches = BranchRewriter { space, aim, unfinished }.find(&history)?;
    let commits = &branches.rewritten.commits;
    let session_aim = SessionAim { aim, id: &unfinished.id, commits };
    let sessions = sessions_of(space, &session_aim, unfinished, &history)?;
    let known = PurgeCompanions { sessions: &sessions, commits };
    let mut rewrites = leaves_of(space, &history, &mut scrub, &known)?;
    rewrites.leaves.commits = commits.clone();
    let repository = space.repository();
    let concerned = repository
        .concerned_commits(&history.history, &rewrites.leaves)
        .map_err(agentic_space::Error::from)?;
    let mut found = PurgeFindings {
        history,
        branches,
        rewrites,
        concerned,
        hits: scrub.hits,
        streams: BTreeSet::new(),
        asides: BTreeSet::new(),
        spools: BTreeSet::new(),
        needless: BTreeSet::new(),
        sessions,
        left: Vec::new(),
        objects: BTreeSet::new(),
    };
    found.streams.extend(unfinished.streams.iter().filter_map(|name| Stream::parse(name)));
    found.look_at_sessions();
    found.look_at_refs(space)?;
    found.look_at_branches(space)?;
    found.look_at_entries(space, aim, &unfinished.id)?;
    if let PurgeAim::Value(_) = aim {
        found.look_at_all(space, aim, &oids(&unfinished.going))?;
    }
    found.hits.sort();
    found.hits.dedup();
    Ok(found)
}

impl PurgeFindings {
    /// Names the sessions that are made again and are not over.
    pub(super) fn open_sessions(&self) -> Vec<String> {
        let open = self.sessions.iter().filter(|session| !session.is_over);
        open.map(|session| session.id.to_string()).collect()
    }

    /// Names the sessions out of whose own records something is taken.
    fn look_at_sessions(&mut self) {
        let holding = self.sessions.iter().filter(|session| !session.changed.is_empty());
        self.hits.extend(holding.map(|session| PurgeHit {
            place: PurgePlace::Session,
            path: Some(session.id.to_string()),
            ..PurgeHit::default()
        }));
    }

    /// Finds the streams whose refs are made again.
    fn look_at_refs(&mut self, space: &Space) -> Result<(), PurgeError> {
        for root in &self.history.roots {
            if !self.concerned.contains(&root.tip) {
                continue;
            }
            self.streams.insert(stream_of(&root.name));
            if [ARCHIVE_REF, PRIVATE_REF].contains(&root.name.as_str()) {
                let entries = space.repository().archive_entries(Some(root.tip))?;
                let concerned =
                    |notes: Option<Oid>| notes.is_some_and(|notes| self.concerned.contains(&notes));
                let entries = entries.into_iter().filter(|it| concerned(it.archived.notes));
                self.streams.extend(entries.map(|it| Stream::Agent(it.archived.agent)));
            }
        }
        Ok(())
    }

    /// Finds the branches that are made again, and whose logs name their commits.
    fn look_at_branches(&mut self, space: &Space) -> Result<(), PurgeError> {
        let commits = &self.branches.rewritten.commits;
        if commits.is_empty() {
            return Ok(());
        }
        let moved = self.branches.moving();
        self.streams.extend(moved.iter().map(|moved| stream_of(&moved.name)));
        for entry in space.repository().all_archive_entries()? {
            if commits.contains_key(&entry.archived.head) {
                self.streams.insert(Stream::Agent(entry.archived.agent));
            }
        }
        self.hits.extend(self.branches.hits(space)?);
        Ok(())
    }

    /// Finds it in entries that no commit has yet, wherever they wait.
    fn look_at_entries(
        &mut self,
        space: &Space,
        aim: &PurgeAim,
        id: &str,
    ) -> Result<(), PurgeError> {
        let repository = space.repository();
        let layout = repository.layout();
        let mut scrub = PurgeScrub::new(aim, id);
        let gone: BTreeSet<agentic_model::Cid> =
            self.rewrites.leaves.objects.keys().copied().collect();
        for stream in recovery::all_streams(repository)? {
            let name = stream.to_string();
            if scrub.waiting(
                PurgePlace::Journal,
                &name,
                &name,
                journal::pending_entries(layout, &stream)?,
            ) {
                self.streams.insert(stream.clone());
            }
            // A log that names what is gone would bring it back.
            for segment in journal::segments(layout, &stream)? {
                let path = journal::segment_path(layout, &stream, segment.number);
                let bytes = std::fs::read(&path).unwrap_or_default();
                if !gone.is_empty() && !ids_in(&bytes).is_disjoint(&gone) {
                    self.streams.insert(stream.clone());
                }
            }
        }
        for folder in folders_in(&layout.asides()) {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let entries = journal::pending_in(&folder).unwrap_or_default();
            let agent = name.rsplit_once('-').map_or(name.as_str(), |(agent, _)| agent);
            if scrub.waiting(PurgePlace::Aside, agent, &name, entries) {
                self.asides.insert(folder);
            }
        }
        for folder in folders_in(&layout.capture().join("spool")) {
            let agent = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for file in files_in(&folder) {
                if scrub.waiting(PurgePlace::Capture, &agent, &agent, spool::read(&file)) {
                    self.spools.insert(file);
                }
            }
        }
        self.hits.append(&mut scrub.hits);
        Ok(())
    }

    /// Finds a value in every object and every file.
    fn look_at_all(
        &mut self,
        space: &Space,
        aim: &PurgeAim,
        going: &BTreeSet<Oid>,
    ) -> Result<(), PurgeError> {
        let mut scanned = scan(space, aim)?;
        for hit in std::mem::take(&mut scanned.files) {
            self.take_file(space, hit);
        }
        self.objects = scanned.objects.keys().copied().collect();
        let rewrites = &self.rewrites.leaves;
        let is_going = |leaf: &HistoryLeaf| {
            rewrites.blobs.contains_key(&leaf.blob)
                || leaf.object.is_some_and(|cid| rewrites.objects.contains_key(&cid))
        };
        let gone = self.history.leaves.iter().filter(|leaf| is_going(leaf)).map(|leaf| leaf.blob);
        let gone: BTreeSet<Oid> = gone.chain(going.iter().copied()).collect();
        scanned.objects.retain(|oid, _| !gone.contains(oid));
        let is_rewritten = |hit: &PurgeHit| {
            let oid = hit.object.as_deref().and_then(|oid| Oid::parse(oid).ok());
            oid.is_some_and(|oid| self.branches.rewritten.holding.contains_key(&oid))
                && self.branches.is_ours(hit)
        };
        let found = attribute(space, &scanned.objects)?;
        let staying: BTreeSet<String> =
            found.iter().filter(|hit| !is_rewritten(hit)).filter_map(object_that_stays).collect();
        // What a peer signed goes with its record, where nothing else keeps it.
        let goes_with_record = |hit: &PurgeHit| {
            self.branches.fate() == BranchFate::MadeAgain
                && hit.reference.as_deref().is_some_and(is_record)
                && hit.object.as_ref().is_some_and(|object| !staying.contains(object))
        };
        for hit in found {
            let is_going =
                hit.place == PurgePlace::Reflog || is_rewritten(&hit) || goes_with_record(&hit);
            match is_going {
                true => self.hits.push(hit),
                false => self.left.push(hit),
            }
        }
        self.left.sort();
        Ok(())
    }

    fn take_file(&mut self, space: &Space, hit: PurgeHit) {
        let name = hit.path.clone().unwrap_or_default();
        let path = space.repository().common_dir().join(&name);
        let parts: Vec<&str> = name.split('/').collect();
        let is_ours = match (hit.place, parts.as_slice()) {
            (PurgePlace::Journal, ["agentic", "journal", stream, ..]) => {
                let stream = Stream::parse(stream);
                self.streams.extend(stream.clone());
                stream.is_some()
            }
            (PurgePlace::Aside, ["agentic", "aside", folder, file])
                if *folder != "_objects" && file.ends_with(".log") =>
            {
                path.parent().is_some_and(|folder| {
                    self.asides.insert(folder.to_owned());
                    true
                })
            }
            (PurgePlace::Capture, ["agentic", "capture", "spool", ..]) => self.spools.insert(path),
            (PurgePlace::Capture, ["agentic", "capture", "key"]) => false,
            (PurgePlace::Journal | PurgePlace::Aside, _)
            | (PurgePlace::Capture | PurgePlace::Derived, _) => self.needless.insert(path),
            // Log and values are made again, what else there is goes.
            (PurgePlace::Session, parts) => {
                let is_of =
                    |part: &&str| self.sessions.iter().any(|it| it.id.to_string() == **part);
                parts.iter().any(is_of)
            }
            (PurgePlace::Reflog, ["logs", "refs", "agentic", ..])
            | (PurgePlace::Reflog, ["logs", "refs", "notes", "agentic", ..]) => {
                self.needless.insert(path)
            }
            // Nobody needs them, and their lines name commits that go.
            (PurgePlace::Reflog, ["logs", "refs", "heads", "agents", ..])
            | (_, ["worktrees", _, "logs", "HEAD"] | ["logs", "HEAD"])
            | (_, ["worktrees", _, "COMMIT_EDITMSG"] | ["COMMIT_EDITMSG"])
                if self.branches.fate() == BranchFate::MadeAgain =>
            {
                self.needless.insert(path)
            }
            // Worktrees of branches that are made again follow them.
            (_, ["worktrees", _, "index"] | ["index"]) => {
                self.branches.fate() == BranchFate::MadeAgain
            }
            _ => false,
        };
        match is_ours {
            true => self.hits.push(hit),
            false => self.left.push(hit),
        }
    }
}

/// Names the object of a hit, where a ref keeps it that is no record of what was accepted.
pub(super) fn object_that_stays(hit: &PurgeHit) -> Option<String> {
    let reference = hit.reference.as_deref()?;
    hit.object.clone().filter(|_| !is_record(reference))
}

impl PurgeScrub<'_> {
    /// Looks at entries that wait; tells whether they hold it.
    fn waiting(
        &mut self,
        place: PurgePlace,
        agent: &str,
        path: &str,
        entries: Vec<agentic_model::Entry>,
    ) -> bool {
        let n_hits = self.hits.len();
        let _clean = self.entries(agent, None, entries);
        for hit in &mut self.hits[n_hits..] {
            (hit.place, hit.path) = (place, Some(path.to_owned()));
        }
        self.hits.len() > n_hits
    }
}

/// Names the stream under whose lock a ref is moved.
pub(super) fn stream_of(name: &str) -> Stream {
    let agent = agentic_model::AgentName::from_notes_ref(name);
    let is_followed = ["refs/agentic/remotes/", "refs/remotes/"];
    match agent.or_else(|| agentic_model::AgentName::from_branch_ref(name)) {
        Some(agent) => Stream::Agent(agent),
        None if name == REGISTRY_REF => Stream::Space,
        None if is_followed.iter().any(|folder| name.starts_with(folder)) => Stream::Space,
        None => Stream::of_branch(name),
    }
}

fn folders_in(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn files_in(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    found.sort();
    found
}
