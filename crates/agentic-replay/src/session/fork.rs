//! Forks: a session that shares the beginning of another and goes its own way from there.

use agentic_model::{AgentName, Cid, Instant};

use super::replay::{ReplayExtent, SessionReplay};
use super::{Group, ReplayError, RequestStanding, Session, SessionProgress, SessionSetting};
use crate::record::ForkPoint;
use crate::{
    AnswerSource, Body, CancelExtent, Engine, Path, Program, RecordChain, RequestAnswer, SessionId,
    StartRecord,
};

/// What a fork is made with.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkDraft {
    /// The agent it runs as: its own branch.
    pub agent: AgentName,
    /// The program; another one must make the same requests up to the cut.
    pub flow: Cid,
    /// What runs the program.
    pub engine: Engine,
    /// The start key: the same draft at the same cut gives the same session.
    pub key: String,
    /// The kinds of effects it may perform unasked.
    pub allow: Vec<String>,
    /// The head of the agent's branch, where there is one.
    pub head: Option<String>,
    /// The digest of what is configured, where what it asks needs that.
    pub configuration: Option<Cid>,
}

impl ForkDraft {
    /// Derives the id of the fork after the first `cut` records of a session.
    pub fn session(&self, journal: &RecordChain, cut: u64) -> SessionId {
        let shared = journal.up_to(cut);
        self.session_at(shared.start(), &point_of(&shared))
    }

    fn session_at(&self, parent: &StartRecord, point: &ForkPoint) -> SessionId {
        let key = point.key_of_fork(&self.key);
        SessionId::derive(&self.agent, &self.flow, &parent.input.cid(), &key)
    }
}

/// Why a session could not be forked.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// There is nothing left to go another way from.
    #[error("the session was over before the cut")]
    Over,
    /// The program does something else than was recorded before the cut.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// A session that has come to where a fork leaves it. Nothing was recorded yet.
pub struct PartedSession<P> {
    session: Session<P>,
    group: Group,
    parent: StartRecord,
    point: ForkPoint,
}

impl<P: Program> PartedSession<P> {
    /// Runs a program over the first `cut` records of a session (at least one counts).
    ///
    /// # Errors
    /// Fails when the session was over before the cut, and when the program does not make the
    /// shared records.
    pub fn replay(
        journal: &RecordChain,
        cut: u64,
        program: P,
        setting: SessionSetting<'_>,
    ) -> Result<PartedSession<P>, ForkError> {
        let shared = journal.up_to(cut);
        if shared.is_over() {
            return Err(ForkError::Over);
        }
        let mut replay = SessionReplay::begin(&shared, program, setting, ReplayExtent::Whole)?;
        replay.read_all(&mut |_, _| {})?;
        let SessionReplay { session, mut group, .. } = replay;
        group.events.clear();
        Ok(PartedSession {
            session,
            group,
            parent: shared.start().clone(),
            point: point_of(&shared),
        })
    }

    /// Begins the fork. The parent's records are shared; the links of the progress are all that the
    /// fork adds. What had no answer at the cut is asked anew, under the fork's own ids.
    pub fn begin(self, draft: ForkDraft, at: Instant) -> (Session<P>, SessionProgress) {
        let PartedSession { mut session, mut group, parent, point } = self;
        let start = fork_start(&parent, point, draft);
        let mut progress = SessionProgress::default();
        session.append(at, Body::Start(Box::new(start.clone())), &mut progress);
        session.become_fork(start, &mut group);
        session.record(group, &mut progress);
        session.answer_withdrawn(at, &mut progress);
        (session, progress)
    }
}

impl<P: Program> Session<P> {
    /// Forks a session after its first `cut` records, in one go.
    ///
    /// # Errors
    /// Fails as [`PartedSession::replay`] does.
    pub fn fork(
        journal: &RecordChain,
        cut: u64,
        draft: ForkDraft,
        at: Instant,
        program: P,
        setting: SessionSetting<'_>,
    ) -> Result<(Session<P>, SessionProgress), ForkError> {
        Ok(PartedSession::replay(journal, cut, program, setting)?.begin(draft, at))
    }

    /// Goes over to the fork: its seed, its ids, and every open request asked anew.
    pub(super) fn become_fork(&mut self, start: StartRecord, group: &mut Group) {
        self.run.reseed(start.seed);
        self.flow = start.flow;
        self.upgraded.clear();
        self.start = start;
        self.grants.clear();
        let is_open = |path: &Path, standing: RequestStanding| {
            standing != RequestStanding::Withdrawn && !group.withdrawn.contains(path)
        };
        let open = self.asks.iter().filter(|(path, ask)| is_open(path, ask.standing));
        let open: Vec<Path> = open.map(|(path, _)| path.clone()).collect();
        for path in open {
            let ask = self.asks.remove(&path).expect("a key of the same map");
            group.asks.insert(path, ask.request);
        }
    }

    /// Answers what the parent had dropped, but not yet seen the end of: the fork never began it.
    fn answer_withdrawn(&mut self, at: Instant, progress: &mut SessionProgress) {
        for withdrawn in self.withdrawn_paths() {
            let by = AnswerSource::System("fork".to_owned());
            let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
            let more = self.answered(&withdrawn, answer, by, at);
            let more = more.expect("a withdrawn request has no answer yet");
            // The last one may end the session, with a long value.
            progress.objects.extend(more.objects);
            progress.links.extend(more.links);
            progress.end = progress.end.take().or(more.end);
        }
        progress.withdrawn.clear();
    }

    fn withdrawn_paths(&self) -> Vec<Path> {
        let withdrawn =
            self.asks.iter().filter(|(_, ask)| ask.standing == RequestStanding::Withdrawn);
        withdrawn.map(|(path, _)| path.clone()).collect()
    }
}

fn fork_start(parent: &StartRecord, point: ForkPoint, draft: ForkDraft) -> StartRecord {
    let session = draft.session_at(parent, &point);
    StartRecord {
        session,
        agent: draft.agent,
        flow: draft.flow,
        engine: draft.engine,
        input: parent.input.clone(),
        seed: parent.seed.forked(&session),
        key: draft.key,
        allow: draft.allow,
        head: draft.head,
        configuration: draft.configuration,
        // Whoever forks it drives the fork.
        host: None,
        stamp: true,
        parent: Some(point),
    }
}

/// Returns where a fork leaves that shares all of these records.
fn point_of(shared: &RecordChain) -> ForkPoint {
    let (parent, chain) = (shared.start(), shared.chain());
    ForkPoint { session: parent.session, seq: chain.length(), hash: chain.head() }
}
