//! The doctor: checks everything that other verbs rely on, and mends what can be mended.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agentic_git::Repository;
use agentic_model::{AgentName, Object, Oid};
use agentic_space::library::Library;
use agentic_store::ground::PACKED_REFS;
use agentic_store::recovery::{self, Checkpoint};
use agentic_store::{RecoveryAct, StreamRecovery};
use agentic_store::{Stream, Writer, journal};

use crate::hold::{self, Filter};
use crate::{Result, SessionSpace};

/// Where the refs are that only agentic writes.
const OWN_REFS: [&str; 3] = [AgentName::BRANCHES, AgentName::NOTES_REFS, "refs/agentic/"];

/// Where the refs are that are drawn of peers, beside those of git's own remotes.
const TRACKING_REFS: &str = "refs/remotes/";

/// What the doctor may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Treatment {
    /// Whether every journal is replayed, as after a power cut.
    pub replay: ReplayChoice,
    /// What happens to locks of git that nobody seems to hold.
    pub locks: Locks,
}

/// Whether journals are replayed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplayChoice {
    /// Only what is unfinished is finished.
    #[default]
    AsNeeded,
    /// Every journal is replayed from its beginning.
    Always,
}

/// What happens to locks of git on refs of agents, and on the file of packed refs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Locks {
    /// They are reported.
    #[default]
    Reported,
    /// They are removed.
    Broken,
}

/// What the doctor found.
#[derive(Debug, Default)]
pub struct DoctorReport {
    /// What was mended.
    pub mended: Vec<StreamRecovery>,
    /// What is damaged and could not be mended.
    pub damaged: Vec<String>,
    /// Whether nothing can be written here, so that nothing was mended.
    pub is_read_only: bool,
    /// Open holds that nobody could ask so any more, and what is wrong with them. They keep their
    /// meaning.
    pub questionable: Vec<String>,
    /// Locks of git on refs of agents, and on the file of packed refs.
    pub locks: Vec<PathBuf>,
    /// How many journals were looked at.
    pub n_journals: usize,
    /// How many journals were cut, because git itself holds everything they recorded.
    pub n_cut: usize,
    /// How many objects were checked against their ids.
    pub n_objects: usize,
    /// How many sessions were read.
    pub n_sessions: usize,
    /// How many of them went on.
    pub n_resumed: usize,
}

/// Examines a space. Where a ref of ours cannot be read, journals are replayed in any case.
///
/// # Errors
/// Fails when the repository cannot be read at all; damage is reported, not an error.
pub fn examine(space: &SessionSpace, treatment: Treatment) -> Result<DoctorReport> {
    let mut report = DoctorReport::default();
    break_locks(space, treatment.locks, &mut report)?;
    let streams = recovery::all_streams(space.repository())?;
    // One stream may have forked from, or merged, what only the journal of another still has.
    for stream in &streams {
        let kept = recovery::keep_objects_of(space.repository(), stream);
        report.is_read_only |= kept.as_ref().is_err_and(agentic_store::Error::is_read_only);
        // What is wrong with a journal itself is told by what follows.
        report.note(stream, kept.unwrap_or_default());
    }
    let recovered = recovery::recover(space.repository(), space.now());
    let recovered = report.unless_damaged(recovered).unwrap_or_default();
    report.mended.extend(recovered);
    if !report.is_read_only {
        for stream in &streams {
            salvage(space, stream, &mut report);
        }
    }
    let has_damaged_ref = has_damaged_ref(space);
    if treatment.replay == ReplayChoice::Always || has_damaged_ref {
        let replayed = recovery::replay(space.repository(), &streams, space.now());
        let replayed = report.unless_damaged(replayed).unwrap_or_default();
        report.mended.extend(replayed);
        let followed = agentic_git::follow::catch_up(space.repository(), space.now());
        let followed = report.unless_damaged(followed).unwrap_or_default();
        report.mended.extend(followed);
    }
    if has_damaged_ref && let Err(error) = targets(space) {
        // Whatever else is looked at would only find the same once more.
        report.damaged.push(error.to_string());
        return Ok(report.with_each_once());
    }
    let mut sound = Vec::new();
    for stream in streams {
        report.n_journals += 1;
        match treat(space, &stream, &mut report) {
            Ok(()) => sound.push(stream),
            Err(error) => report.damaged.push(error.to_string()),
        }
    }
    if let Err(error) = cut_logs(space, &sound, &mut report) {
        report.damaged.push(error.to_string());
    }
    if let Err(error) = check_sessions(space, &mut report) {
        report.damaged.push(error.to_string());
    }
    for (agent, _) in space.agent_names()? {
        check_agent(space, &agent, &mut report);
    }
    for library in Library::ALL {
        check_library(space, library, &mut report);
    }
    if let Err(error) = check_archive(space) {
        report.damaged.push(format!("the archive: {error}"));
    }
    if !report.is_read_only {
        space.repository().sweep_begun_packs();
    }
    Ok(report.with_each_once())
}

/// Lists what refs of ours name. An empty file, which a power cut may leave, is a damaged one.
fn targets(space: &SessionSpace) -> agentic_store::Result<Vec<Oid>> {
    let mut targets = Vec::new();
    for prefix in OWN_REFS {
        targets.extend(space.repository().list_refs_as(prefix, |_, target| Some(target))?);
    }
    Ok(targets)
}

/// Tells whether a ref of ours cannot be read, or names what is not there.
fn has_damaged_ref(space: &SessionSpace) -> bool {
    let is_there = |target: &Oid| space.repository().has_object(*target);
    !targets(space).is_ok_and(|targets| targets.iter().all(is_there))
}

/// Sets the journal of a stream aside if it is damaged. What its bad records said is lost.
fn salvage(space: &SessionSpace, stream: &Stream, report: &mut DoctorReport) {
    match recovery::salvage(space.repository(), stream, space.now()) {
        Ok(None) => {}
        Ok(Some(mended)) => {
            for one in &mended {
                if let RecoveryAct::Salvaged { n_lost, .. } = &one.mended {
                    let lost = format!(
                        "the journal of {}: {n_lost} of its records cannot be read",
                        stream.subject()
                    );
                    report.damaged.push(lost);
                }
            }
            report.mended.extend(mended);
        }
        Err(error) => report.damaged.push(error.to_string()),
    }
}

fn treat(space: &SessionSpace, stream: &Stream, report: &mut DoctorReport) -> Result<()> {
    let repository = space.repository();
    let records = journal::records(repository.layout(), stream)?;
    if report.is_read_only {
        report.damaged.extend(recovery::lacks(repository, stream, &records)?);
    }
    for record in records {
        check_decision(repository, record)?;
    }
    if report.is_read_only {
        return Ok(());
    }
    let writer = Writer::open(repository, stream, space.now())?;
    let findings = writer.findings().iter().cloned().map(RecoveryAct::Opened).collect();
    report.note(stream, findings);
    let kept = recovery::keep(repository, stream, space.now())?;
    report.note(stream, kept);
    Ok(())
}

/// Checks that the record of a decision holds the commit that it names.
fn check_decision(repository: &Repository, record: journal::JournalRecord) -> Result<()> {
    for (commit, objects) in record.into_decisions() {
        let Some(objects) = objects else { continue };
        if !objects.iter().any(|object| repository.name_object(object) == commit) {
            let what = format!("the record of decision {commit}");
            return Err(agentic_store::Error::corrupt(what, "it does not hold that commit").into());
        }
    }
    Ok(())
}

impl DoctorReport {
    /// Tells each damage once: what keeps several steps from being done is one thing.
    fn with_each_once(mut self) -> DoctorReport {
        let mut told = BTreeSet::new();
        self.damaged.retain(|what| told.insert(what.clone()));
        self
    }

    /// Notes what was mended of a stream.
    fn note(&mut self, stream: &Stream, mended: Vec<RecoveryAct>) {
        let recovered = |mended| StreamRecovery { stream: stream.clone(), mended };
        self.mended.extend(mended.into_iter().map(recovered));
    }

    /// Reports what went wrong: as damage, unless it is just that nothing can be written here.
    fn unless_damaged<T>(&mut self, outcome: agentic_store::Result<T>) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) if error.is_read_only() => {
                self.is_read_only = true;
                None
            }
            Err(error) => {
                self.damaged.push(error.to_string());
                None
            }
        }
    }
}

fn cut_logs(space: &SessionSpace, streams: &[Stream], report: &mut DoctorReport) -> Result<()> {
    if report.is_read_only {
        return Ok(());
    }
    for (_, outcome) in recovery::checkpoint(space.repository(), streams, space.now())? {
        match report.unless_damaged(outcome) {
            Some(Checkpoint::Cut) => report.n_cut += 1,
            Some(Checkpoint::TooEarly | Checkpoint::Nothing) | None => {}
        }
    }
    for stream in streams {
        if let Some(agent) = stream.agent()
            && space.archived_agent(agent)?.is_some()
        {
            let dropped = agentic_store::drop_journal(space.repository(), stream, space.now());
            report.unless_damaged(dropped);
        }
    }
    Ok(())
}

/// Reads every session, holds its records against their other witnesses, and goes on with those that
/// a crash left.
fn check_sessions(space: &SessionSpace, report: &mut DoctorReport) -> Result<()> {
    let mut unsound = Vec::new();
    for id in space.sessions()? {
        report.n_sessions += 1;
        unsound.extend(crate::prove(space, &id).err().map(|error| (id, error)));
    }
    if !report.is_read_only {
        report.n_resumed = crate::tick(space)?.len();
        // Whoever went on with one has put back what its log lacked.
        unsound = unsound
            .into_iter()
            .filter_map(|(id, _)| Some((id, crate::prove(space, &id).err()?)))
            .collect();
    }
    for (id, error) in unsound {
        report.damaged.push(format!("session {}: {error}", id.short()));
    }
    for pending in hold::pending(space, &Filter::default())? {
        let request = pending.hold.session.short_request(&pending.hold.id);
        if let Some(why) = pending.flaw(space)? {
            report.questionable.push(format!("{request}: {why}"));
        }
    }
    Ok(())
}

fn check_agent(space: &SessionSpace, agent: &AgentName, report: &mut DoctorReport) {
    let check = || -> Result<usize> {
        check_commits(space, agent)?;
        let notes = space.repository().notes(&agent.notes_ref())?;
        notes.all_notes()?;
        let cids = notes.objects(None)?;
        for cid in &cids {
            let bytes = notes.object(*cid)?.unwrap_or_default();
            Object::decode(&bytes)?;
        }
        Ok(cids.len())
    };
    match check() {
        Ok(n) => report.n_objects += n,
        Err(error) => report.damaged.push(format!("agent `{agent}`: {error}")),
    }
}

/// Reads every commit of an agent, and what it changed, and hashes them.
fn check_commits(space: &SessionSpace, agent: &AgentName) -> Result<()> {
    let repository = space.repository();
    for commit in space.own_commits(agent, space.head(agent)?)? {
        repository.verify_object(commit.oid)?;
        // What an agent began upon may be cut off, as in a shallow clone.
        let before = match commit.parents.first() {
            Some(parent) => repository.read_commit(*parent).ok().map(|parent| parent.tree),
            None => Some(repository.empty_tree()),
        };
        if let Some(before) = before {
            repository.verify_difference(before, commit.tree)?;
        }
    }
    Ok(())
}

/// Reads every object and every pointer of a library.
fn check_library(space: &SessionSpace, library: Library, report: &mut DoctorReport) {
    let check = |report: &mut DoctorReport| -> Result<()> {
        let state = space.library(library)?;
        let damaged = |why| format!("the library of {}: {why}", library.word());
        let mut sound = BTreeSet::new();
        for cid in state.objects()? {
            match state.object(cid) {
                Ok(_) => drop(sound.insert(cid)),
                Err(error) => report.damaged.push(damaged(error.to_string())),
            }
        }
        report.n_objects += sound.len();
        let all = state.entries()?;
        report.damaged.extend(all.damaged.into_iter().map(damaged));
        report.damaged.extend(state.about_all()?.damaged.into_iter().map(damaged));
        for entry in all.entries {
            let pointers = [entry.pointer, entry.contested].into_iter().flatten();
            for pointer in pointers.filter(|pointer| !sound.contains(&pointer.cid)) {
                let why = format!("`{}` means {}, which it lacks", entry.name, pointer.cid);
                report.damaged.push(damaged(why));
            }
        }
        Ok(())
    };
    if let Err(error) = check(report) {
        report.damaged.push(error.to_string());
    }
}

/// Checks that what the archive keeps is there. Commits of a chain hold each other, so only their
/// ends are looked at.
fn check_archive(space: &SessionSpace) -> Result<()> {
    for entry in space.archived_agents()? {
        space.read_commit(entry.archived.head)?;
        space.repository().notes_at(entry.archived.notes)?;
    }
    Ok(())
}

/// Reports locks of git on refs that only agentic writes, and on the file of packed refs that it shares with git.
fn break_locks(space: &SessionSpace, locks: Locks, report: &mut DoctorReport) -> Result<()> {
    let common = space.repository().common_dir();
    let mut found = Vec::new();
    for folder in OWN_REFS.into_iter().chain([TRACKING_REFS]) {
        collect_locks(&common.join(folder), &mut found);
    }
    let packed = common.join(PACKED_REFS).with_added_extension("lock");
    found.extend(packed.exists().then_some(packed));
    for path in found {
        if locks == Locks::Broken {
            agentic_store::file::remove(&path)?;
        }
        report.locks.push(path);
    }
    Ok(())
}

/// Finds the locks in a folder of refs and those below, in the order of their names.
fn collect_locks(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect_locks(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            found.push(path);
        }
    }
}
