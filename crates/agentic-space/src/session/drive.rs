//! The driver: makes records durable, performs effects, applies decisions.
//!
//! Whoever drives a session holds its lock. Every step follows one order: records first, durable;
//! then whatever they allow to happen. While the session has open holds an answer is appended under
//! the agent's lock, after the decisions that came in before it, so that both sides agree on who
//! was first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, mpsc};

use agentic_model::{AgentName, Entry, Instant, Kind, Object, Value, json};
use agentic_providers::provider::Stamp;
use agentic_replay::{
    Answer, By, End, Event, Failure, HOLD, Handling, Hold, Journal, Path, Performance, Program,
    Progress, Request, RequestId, Session, SessionId, Setting, Stopped, Withdrawn,
};
use agentic_store::journal::Log;
use agentic_store::{Durability, Lock, Writer};

use super::effect::{Performed, perform};
use super::executor::{Call, Executor, Printed};
use super::folder::{Folder, Values, damaged, read_journal};
use super::process::Process;
use super::{Language, flow_of, program_of, seal};
use crate::decide::{self, Action, Decision};
use crate::{Error, Result, Space};

/// How many characters of a value a trace entry shows.
const SHOWN_CHARS_MAX: usize = 200;
/// The longest text of a program that goes into the agent's trace as it is, in bytes.
const SAID_BYTES_MAX: usize = 256 << 10;

/// A session, and who performs what it asks for.
type Ran = (Session<Box<dyn Program>>, Executor);
/// What a program under way has come to.
type Answered = (Path, Answer);

/// How the answer of a program is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// As it is.
    Plain,
    /// As its language says.
    Language,
}

/// A session being driven.
pub struct Driver<'a> {
    space: &'a Space,
    folder: Folder,
    _lock: Lock,
    log: Log,
    session: Session<Box<dyn Program>>,
    executor: Executor,
    /// Effects that may begin.
    ready: VecDeque<Performance>,
    /// Programs under way.
    running: BTreeMap<Path, (Process, Reading)>,
    timers: BTreeMap<Path, Instant>,
    answers: (mpsc::Sender<Answered>, mpsc::Receiver<Answered>),
    /// The holds that the trace has been told of.
    told: BTreeSet<RequestId>,
    /// Whether the session was over when it was loaded.
    was_over: bool,
}

impl<'a> Driver<'a> {
    /// Takes over a session that was just started: nothing of it is durable yet.
    pub fn begin(
        space: &'a Space,
        folder: Folder,
        lock: Lock,
        (session, progress): (Session<Box<dyn Program>>, Progress),
    ) -> Result<Driver<'a>> {
        let flow = flow_of(space, &folder, &session.flow())?;
        let executor = Executor::new(&flow)?;
        let mut driver = Driver::new(space, folder, lock, (session, executor))?;
        driver.take_in(progress)?;
        Ok(driver)
    }

    /// Loads a session and brings it to the end of its records.
    ///
    /// # Errors
    /// Fails when the records are damaged, and with [`Error::Diverged`] when its program does
    /// something else than was recorded; nothing is performed then.
    pub fn load(space: &'a Space, id: &SessionId) -> Result<Driver<'a>> {
        let (folder, lock) = Folder::lock(space, id)?;
        Driver::load_locked(space, folder, lock)
    }

    /// Does the same if nobody else drives the session.
    ///
    /// # Errors
    /// Fails as [`Driver::load`] does.
    pub fn try_load(space: &'a Space, id: &SessionId) -> Result<Option<Driver<'a>>> {
        match Folder::try_lock(space, id)? {
            Some((folder, lock)) => Driver::load_locked(space, folder, lock).map(Some),
            None => Ok(None),
        }
    }

    /// Loads a session whose lock is held.
    pub fn load_locked(space: &'a Space, folder: Folder, lock: Lock) -> Result<Driver<'a>> {
        folder.restore(space)?;
        let journal = read_journal(space, &folder.id)?;
        let flow = flow_of(space, &folder, &journal.flow())?;
        let (ran, progress) = replayed(space, &folder, &journal, &flow)?;
        let mut driver = Driver::new(space, folder, lock, ran)?;
        driver.told = driver.session.pending().iter().map(|hold| hold.id).collect();
        driver.was_over = driver.session.end().is_some();
        driver.take_in(progress)?;
        Ok(driver)
    }

    fn new(
        space: &'a Space,
        folder: Folder,
        lock: Lock,
        (session, executor): Ran,
    ) -> Result<Driver<'a>> {
        let (log, cut) = Log::open(&folder.log())?;
        if cut > 0 {
            let id = folder.id.short();
            space.note_mended(format!("session {id}: repaired a tail of {cut} bytes"));
        }
        Ok(Driver {
            space,
            folder,
            _lock: lock,
            log,
            session,
            executor,
            ready: VecDeque::new(),
            running: BTreeMap::new(),
            timers: BTreeMap::new(),
            answers: mpsc::channel(),
            told: BTreeSet::new(),
            was_over: false,
        })
    }

    /// Returns the id of the session.
    pub fn id(&self) -> SessionId {
        self.folder.id
    }

    /// Returns the session.
    pub fn session(&self) -> &Session<Box<dyn Program>> {
        &self.session
    }

    /// Runs the session as far as it goes without a human, an instant or a child.
    pub fn run(&mut self) -> Result<()> {
        if self.was_over {
            return self.folder.retire(self.space);
        }
        self.apply_decisions()?;
        loop {
            self.start_ready()?;
            if let Some(path) = self.due_timer() {
                self.answer(&path, Answer::Ok(Value::Null), By::Timer)?;
            } else if !self.running.is_empty() {
                let (path, answer) =
                    self.answers.1.recv().expect("the driver holds a sender of its own");
                if let Some((_, reading)) = self.running.remove(&path) {
                    let answer = self.read(answer, reading);
                    self.answer(&path, answer, By::Executor)?;
                }
            } else if self.ready.is_empty() {
                break;
            }
        }
        self.settle_down()
    }

    /// Stops the session, its children first.
    pub fn cancel(&mut self, cancel: agentic_replay::record::CancelRecord) -> Result<()> {
        let children: Vec<SessionId> = self
            .session
            .unanswered()
            .filter_map(|request| super::effect::child_of(self.space, &self.session, request))
            .collect();
        for child in children {
            if let Some(mut driver) = Driver::try_load(self.space, &child)?
                && driver.session.end().is_none()
            {
                driver.cancel(cancel.clone())?;
            }
        }
        let progress = self.session.cancel(cancel, self.space.now());
        let progress = progress.map_err(|_| Error::SessionOver { id: self.folder.id.short() })?;
        self.ready.clear();
        self.take_in(progress)?;
        self.run()
    }

    /// Records that the session goes on with another program.
    pub fn upgraded(&mut self, to: agentic_model::Cid) -> Result<()> {
        let progress = self.session.upgraded(to, self.space.now());
        self.take_in(progress)
    }

    /// Answers a request with a value that a person set.
    pub fn set(&mut self, path: &Path, value: Value, who: String) -> Result<()> {
        let open = self.session.unanswered().any(|request| request.path == *path);
        if !open {
            return Err(Error::UnknownRequest { id: path.to_string() });
        }
        self.ready.retain(|performance| performance.request.path != *path);
        self.answer(path, Answer::Ok(value), By::Edited(who))
    }

    /// Begins everything that may begin.
    fn start_ready(&mut self) -> Result<()> {
        while let Some(performance) = self.ready.pop_front() {
            let path = performance.request.path.clone();
            if let Some((performance, reading)) = self.to_execute(&performance) {
                agentic_store::fault::point("before-effect")?;
                let folder = self.work_folder();
                let process = Process::start(&performance, &folder, self.answers.0.clone());
                self.running.insert(path, (process, reading));
                continue;
            }
            if let Some(call) = self.call(&performance) {
                agentic_store::fault::point("before-effect")?;
                let process = Process::call(call, path.clone(), self.answers.0.clone());
                self.running.insert(path, (process, Reading::Plain));
                continue;
            }
            if let Some(answer) = self.executor.compute(&performance.request) {
                self.answer(&path, answer, By::Executor)?;
                continue;
            }
            match perform(self.space, &self.session, &performance)? {
                Performed::Answered(answer, by) => self.answer(&path, answer, by)?,
                Performed::Waiting => {}
            }
        }
        Ok(())
    }

    /// Returns the call of a provider for a request.
    fn call(&self, performance: &Performance) -> Option<Call> {
        if !self.executor.is_call(&performance.request) {
            return None;
        }
        let session = self.folder.id.to_string();
        let stamp = Stamp { session, request_id: performance.id, at: self.space.now() };
        self.executor.call(&performance.request, stamp, &self.work_folder())
    }

    /// Returns what is to be executed for a request, and how its answer is read.
    fn to_execute(&self, performance: &Performance) -> Option<(Performance, Reading)> {
        if let Some(command) = self.executor.command(&performance.request) {
            let request =
                Request { payload: command.to_payload(), ..(*performance.request).clone() };
            let execution = Performance { request: Arc::new(request), ..performance.clone() };
            return Some((execution, Reading::Language));
        }
        let is_plain = performance.request.kind == "exec";
        is_plain.then(|| (performance.clone(), Reading::Plain))
    }

    fn read(&self, answer: Answer, reading: Reading) -> Answer {
        match (&answer, reading) {
            (Answer::Ok(value), Reading::Language) => match Printed::of_exec(value) {
                Some(printed) => self.executor.read(printed),
                None => answer,
            },
            (Answer::Failed(failure), Reading::Language) => self.executor.lost(&failure.message),
            _ => answer,
        }
    }

    /// Programs run in the agent's worktree if it has one, else where the repository is.
    fn work_folder(&self) -> std::path::PathBuf {
        let worktree = self.space.worktree_of(&self.session.started().agent).ok();
        let repository = self.space.repository();
        let top = repository.work_dir().unwrap_or(repository.common_dir());
        worktree.map_or(top.to_owned(), |worktree| worktree.path)
    }

    fn due_timer(&self) -> Option<Path> {
        let now = self.space.now();
        let due = self.timers.iter().filter(|(_, until)| **until <= now);
        due.min_by_key(|(path, until)| (**until, (*path).clone())).map(|(path, _)| path.clone())
    }

    /// Records an answer and takes in what the program makes of it.
    fn answer(&mut self, path: &Path, answer: Answer, by: By) -> Result<()> {
        self.timers.remove(path);
        agentic_store::fault::point("before-answer")?;
        let agent = self.session.started().agent.clone();
        let writer = match self.session.pending().is_empty() || self.space.head(&agent).is_err() {
            true => None,
            false => Some(self.lock_after_decisions(&agent)?),
        };
        let open = self.session.unanswered().any(|request| request.path == *path);
        if !open {
            return Ok(());
        }
        let progress = self.session.answered(path, answer, by, self.space.now());
        let progress = progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
        self.persist(&progress)?;
        drop(writer);
        self.follow(progress)
    }

    /// Takes the agent's lock with no decision left that is durable and not applied.
    fn lock_after_decisions(&mut self, agent: &AgentName) -> Result<Writer<'a>> {
        loop {
            let (writer, _) = self.space.writer(agent)?;
            let mut is_decided = false;
            for hold in self.session.pending() {
                let policy = decide::Policy::of(hold.reason, &hold.request);
                let found = decide::find(self.space, self.session.started(), &hold.id)?;
                is_decided |= policy.settle(&found).is_some();
            }
            if !is_decided {
                return Ok(writer);
            }
            // Applying takes the lock by itself where it writes.
            drop(writer);
            self.apply_decisions()?;
        }
    }

    /// Makes records durable, then does what they allow.
    fn take_in(&mut self, progress: Progress) -> Result<()> {
        self.persist(&progress)?;
        self.follow(progress)
    }

    fn persist(&mut self, progress: &Progress) -> Result<()> {
        for (cid, bytes) in &progress.objects {
            self.folder.keep_object(cid, bytes)?;
        }
        let payloads: Vec<&[u8]> =
            progress.links.iter().map(|link| link.bytes.as_slice()).collect();
        // `--durability git` does not apply to sessions: what was answered is never asked again.
        Ok(self.log.append(&payloads, Durability::Full)?)
    }

    fn follow(&mut self, progress: Progress) -> Result<()> {
        self.tell(&progress.events)?;
        self.ready.extend(progress.perform);
        self.timers.extend(progress.timers.into_iter().map(|(until, path)| (path, until)));
        for withdrawn in progress.withdrawn {
            self.withdraw(&withdrawn)?;
        }
        Ok(())
    }

    /// Stops what nobody waits for any more, and answers it all the same.
    fn withdraw(&mut self, withdrawn: &Withdrawn) -> Result<()> {
        let path = &withdrawn.request.path;
        self.ready.retain(|performance| performance.request.path != *path);
        self.timers.remove(path);
        let mut by = By::System("withdraw".to_owned());
        let stopped = match self.running.remove(path) {
            Some((process, _)) => {
                process.stop();
                Stopped::Stopped
            }
            None => withdrawn.stopped,
        };
        if self.executor.kinds().rule(&withdrawn.request).handling == Handling::Decision {
            let decision = Decision::system(Action::Withdrawn, "system:withdrawn", withdrawn);
            if let Some(commit) =
                decide::record_system(self.space, self.session.started(), &decision)?
            {
                by = By::Decision(commit.to_string());
            }
        }
        self.answer(path, Answer::Cancelled(stopped), by)
    }

    /// Applies the decisions that are durable and not applied yet; expires what is overdue.
    fn apply_decisions(&mut self) -> Result<()> {
        for hold in self.session.pending() {
            self.apply_to(&hold)?;
        }
        Ok(())
    }

    fn apply_to(&mut self, hold: &Hold) -> Result<()> {
        let start = self.session.started().clone();
        let policy = decide::Policy::of(hold.reason, &hold.request);
        let mut found = decide::find(self.space, &start, &hold.id)?;
        if found.is_empty() && policy.is_overdue(self.space.now()) {
            let decision = Decision::expired(hold, &policy, self.space.now());
            decide::record_system(self.space, &start, &decision)?;
            found = decide::find(self.space, &start, &hold.id)?;
        }
        let votes: Vec<(agentic_model::Oid, Decision)> = found;
        let Some((commit, decision)) = policy.settle(&votes) else {
            return self.note_votes(hold, &votes);
        };
        self.apply(hold, commit.to_string(), decision, &policy)
    }

    fn note_votes(&mut self, hold: &Hold, votes: &[(agentic_model::Oid, Decision)]) -> Result<()> {
        let known = super::summary::read(self.space, &self.folder.id)?;
        let noted: Vec<String> = known
            .holds
            .iter()
            .filter(|open| open.id == hold.id)
            .flat_map(|open| open.votes.iter().map(|vote| vote.decision.clone()))
            .collect();
        for (commit, decision) in votes {
            if noted.contains(&commit.to_string()) {
                continue;
            }
            let vote = agentic_replay::record::VoteRecord {
                path: hold.request.path.clone(),
                decision: commit.to_string(),
                principal: decision.principal.clone(),
                action: decision.action.name().to_owned(),
            };
            let progress = self.session.note(agentic_replay::Note::Vote(vote), self.space.now());
            let progress =
                progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
            self.take_in(progress)?;
        }
        Ok(())
    }

    fn apply(
        &mut self,
        hold: &Hold,
        commit: String,
        decision: &Decision,
        policy: &decide::Policy,
    ) -> Result<()> {
        use agentic_replay::HoldReason::{Asked, InDoubt, NotAllowed};
        let (path, now) = (&hold.request.path, self.space.now());
        let by = By::Decision(commit.clone());
        let refused = |code: &str| {
            Answer::Failed(Failure::new(
                code,
                format!("{} by {}", decision.action.name(), decision.principal),
            ))
        };
        let effect = match (hold.reason, decision.action) {
            (Asked, _) if hold.request.kind == HOLD => Ok(decision.outcome(policy)),
            (Asked, Action::Approve | Action::Respond | Action::Edit) => {
                Ok(Answer::Ok(decision.value.clone().unwrap_or(Value::Null)))
            }
            (Asked, Action::Reject) => Ok(refused("rejected")),
            (Asked, Action::Expire) => Ok(refused("expired")),
            (NotAllowed | InDoubt, Action::Approve) => Err(None),
            (NotAllowed | InDoubt, Action::Edit) => Err(decision.value.clone()),
            (NotAllowed | InDoubt, Action::Respond) => {
                Ok(Answer::Ok(decision.value.clone().unwrap_or(Value::Null)))
            }
            (NotAllowed | InDoubt, Action::Reject) => Ok(refused("rejected")),
            (NotAllowed | InDoubt, Action::Expire) => Ok(refused("expired")),
            (_, Action::Withdrawn) => return Ok(()),
        };
        agentic_store::fault::point("before-decision-answer")?;
        let progress = match effect {
            Ok(answer) => self.session.answered(path, answer, by, now),
            Err(edited) => self.session.permit(path, &commit, edited, now),
        };
        let progress = progress.map_err(|error| damaged(&self.folder.id, &error.to_string()))?;
        self.take_in(progress)
    }

    /// Writes what the program said into the agent's trace.
    fn tell(&self, events: &[Event]) -> Result<()> {
        self.trace(events.iter().map(|event| ("log", said(event))))
    }

    fn trace(&self, entries: impl Iterator<Item = (&'static str, String)>) -> Result<()> {
        let agent: &AgentName = &self.session.started().agent;
        for (kind, text) in entries {
            if self.space.head(agent).is_ok() {
                let kind = Kind::parse(kind).expect("a valid name");
                self.space.add_trace(agent, &kind, text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Tells the trace where the session stands now, and seals it where it will stand for a while.
    fn settle_down(&mut self) -> Result<()> {
        let id = self.folder.id;
        let start = self.session.started().clone();
        let holds = self.session.pending();
        let told = |hold: &Hold| {
            let question = hold.request.payload.get("question").and_then(Value::as_text);
            let what = question.unwrap_or(&hold.request.kind).to_owned();
            ("session", format!("held {}: {}", id.short_request(&hold.id), shown(&what)))
        };
        let fresh: Vec<Hold> =
            holds.iter().filter(|hold| self.told.insert(hold.id)).cloned().collect();
        self.trace(fresh.iter().map(told))?;
        let Some(end) = self.session.end().cloned() else {
            if !holds.is_empty() {
                seal::seal(self.space, &start.agent, &self.folder)?;
            }
            return Ok(());
        };
        let how = match &end {
            End::Done(value) => format!("ended {}: {}", id.short(), shown(&format!("{value:?}"))),
            End::Failed(failure) => format!("failed {}: {}", id.short(), shown(&failure.message)),
            End::Cancelled => format!("cancelled {}", id.short()),
        };
        self.trace(std::iter::once(("session", how)))?;
        seal::seal(self.space, &start.agent, &self.folder)?;
        self.folder.retire(self.space)
    }
}

/// Runs a program over the records of a session.
fn replayed(
    space: &Space,
    folder: &Folder,
    journal: &Journal,
    flow: &Object,
) -> Result<(Ran, Progress)> {
    let values = Values::of(space, journal);
    let mut executor = Executor::new(flow)?;
    let engine = Language::of(flow)?.engine();
    let kinds = executor.kinds().clone();
    let setting = Setting { engine: &engine, kinds: &kinds, objects: &values };
    let mut fold = |request: &Request, answer: &Answer| executor.fold(request, answer);
    let loaded = Session::load(journal, program_of(space, folder, flow)?, setting, &mut fold);
    let (session, progress) = loaded.map_err(|error| replay_error(&folder.id, error))?;
    Ok(((session, executor), progress))
}

/// Turns the error of a replay into ours.
pub fn replay_error(id: &SessionId, error: agentic_replay::ReplayError) -> Error {
    match error {
        agentic_replay::ReplayError::Diverged(divergence) => {
            Error::Diverged { id: id.short(), divergence }
        }
        agentic_replay::ReplayError::Corrupt(corrupt) => damaged(id, &corrupt.to_string()),
        agentic_replay::ReplayError::Missing(missing) => damaged(id, &missing.to_string()),
    }
}

/// Returns what the agent's trace keeps of what a program said: texts as they are, the events of
/// the context language and everything else as JSON. What is too long stands in the records only.
fn said(event: &Event) -> String {
    let text = match agentic_lang_context::trace::text_of(event) {
        Some(text) => text.to_owned(),
        None => event.data.as_text().map_or_else(|| json::to_text(&event.data), str::to_owned),
    };
    match text.len() {
        0..=SAID_BYTES_MAX => text,
        n => format!("{}… ({n} bytes)", shown(&text)),
    }
}

/// Cuts a text for a trace entry, which is one line.
fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The entry that a decision's own trace holds.
pub fn decision_entry(text: String, at: Instant) -> Entry {
    let kind = Kind::parse("session").expect("a valid name");
    Entry { kind, at, body: Value::Text(text), continues: false }
}

impl<'a> Driver<'a> {
    /// Loads a session with another program than its own, which must make every recorded request.
    pub fn load_with(space: &'a Space, id: &SessionId, flow: &Object) -> Result<Driver<'a>> {
        let (folder, lock) = Folder::lock(space, id)?;
        folder.restore(space)?;
        let journal = read_journal(space, id)?;
        let (ran, progress) = replayed(space, &folder, &journal, flow)?;
        let mut driver = Driver::new(space, folder, lock, ran)?;
        driver.take_in(progress)?;
        Ok(driver)
    }
}
