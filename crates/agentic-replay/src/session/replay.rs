//! Replaying a journal: compare first, then use.

use std::collections::BTreeSet;

use agentic_model::{Cid, Instant};

use super::advance::SessionBeginning;
use super::scope::FinishedScopes;
use super::{Group, Permit, RequestStanding, Session, SessionProgress, SessionSetting};
use crate::divergence::Divergence;
use crate::record::{AnswerRecord, MissingObject, RETRY, UpgradeRecord};
use crate::{
    Body, CancelExtent, Corrupt, EffectClass, Grants, Handling, PATCH, Path, Program, Record,
    RecordChain, Request, RequestAnswer, StartRecord,
};

mod comparison;
mod difference;
mod passing;

/// Why a journal could not be replayed. Nothing was performed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The program does something else than was recorded.
    #[error("{0}")]
    Diverged(Box<Divergence>),
    /// The journal contradicts itself.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// A long value is gone.
    #[error(transparent)]
    Missing(#[from] MissingObject),
}

impl From<Divergence> for ReplayError {
    fn from(divergence: Divergence) -> ReplayError {
        ReplayError::Diverged(Box::new(divergence))
    }
}

/// Sees every answer that a replayed program got, in order.
pub type AnswerFold<'f> = &'f mut dyn FnMut(&Request, &RequestAnswer);

/// A session at the end of its journal, with everything that has no answer.
pub type LoadedSession<P> = Result<(Session<P>, SessionProgress), ReplayError>;

/// The program that a session goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upgrade {
    /// Its id.
    pub to: Cid,
    /// When.
    pub at: Instant,
}

/// A session that is being brought to the end of its journal.
pub(super) struct SessionReplay<'r, P> {
    pub(super) session: Session<P>,
    pub(super) group: Group,
    journal: &'r RecordChain,
    setting: SessionSetting<'r>,
    under_way: UnderWay,
    /// Scopes that are not run again.
    finished: FinishedScopes,
    /// Those of them that the program has come to.
    waiting: BTreeSet<Path>,
    /// The changes that the run was asked about and knew.
    patches: BTreeSet<&'r Path>,
}

/// What is known of effects that have no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnderWay {
    /// They may have begun.
    Unknown,
    /// None has, but what was put in doubt.
    Nothing,
}

/// How much of a journal is run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplayExtent {
    Whole,
    WithoutFinishedScopes,
}

impl<P: Program> Session<P> {
    /// Loads a session from its journal by running its program with the recorded answers. The
    /// program is that of [`RecordChain::flow`], or another one that is to be tried against the
    /// record. Everything is compared.
    ///
    /// `fold` sees every answer that the program got, in order: executors with state rebuild it
    /// from there. Nothing is shown on the way. The progress lists everything that has no answer.
    ///
    /// # Errors
    /// Fails at the first request that differs from its record, before its answer is used.
    pub fn load(
        journal: &RecordChain,
        program: P,
        setting: SessionSetting<'_>,
        fold: AnswerFold<'_>,
    ) -> LoadedSession<P> {
        Session::load_extent(journal, program, setting, ReplayExtent::Whole, fold)
    }

    /// Does the same to go on with the program that made the records: finished scopes are not run
    /// again, and what stands inside them is not compared.
    ///
    /// # Errors
    /// Fails as [`Session::load`] does.
    pub fn resume(
        journal: &RecordChain,
        program: P,
        setting: SessionSetting<'_>,
        fold: AnswerFold<'_>,
    ) -> LoadedSession<P> {
        Session::load_extent(journal, program, setting, ReplayExtent::WithoutFinishedScopes, fold)
    }

    /// Does the same as [`Session::resume`] where whoever drove the session says that no effect was under
    /// way: what has no answer has not begun, and only what was put in doubt before is.
    ///
    /// # Errors
    /// Fails as [`Session::load`] does.
    pub fn resume_at_rest(
        journal: &RecordChain,
        program: P,
        setting: SessionSetting<'_>,
        fold: AnswerFold<'_>,
    ) -> LoadedSession<P> {
        let extent = ReplayExtent::WithoutFinishedScopes;
        let mut replay = SessionReplay::begin(journal, program, setting, extent)?;
        replay.under_way = UnderWay::Nothing;
        replay.read_all(fold)?;
        replay.finish(SessionProgress::default())
    }

    /// Does the same as [`Session::load`] with another program, and records that the session goes on
    /// with it. That record comes before everything that this program alone does: wherever the
    /// journal is broken off, the program that it names then makes what it holds.
    ///
    /// # Errors
    /// Fails as [`Session::load`] does.
    pub fn upgrade(
        journal: &RecordChain,
        program: P,
        setting: SessionSetting<'_>,
        upgrade: Upgrade,
        fold: AnswerFold<'_>,
    ) -> LoadedSession<P> {
        let mut replay = SessionReplay::begin(journal, program, setting, ReplayExtent::Whole)?;
        replay.read_all(fold)?;
        let mut progress = SessionProgress::default();
        replay.upgrade(upgrade, &mut progress);
        replay.finish(progress)
    }

    fn load_extent(
        journal: &RecordChain,
        program: P,
        setting: SessionSetting<'_>,
        extent: ReplayExtent,
        fold: AnswerFold<'_>,
    ) -> LoadedSession<P> {
        let mut replay = SessionReplay::begin(journal, program, setting, extent)?;
        replay.read_all(fold)?;
        replay.finish(SessionProgress::default())
    }
    /// Lists what has no answer, as a new process has to see it.
    fn recover(&mut self, under_way: UnderWay, progress: &mut SessionProgress) {
        let paths: Vec<Path> = self.asks.keys().cloned().collect();
        for path in paths {
            let ask = self.asks.get(&path).expect("a key of the same map");
            // Between two attempts nothing is under way.
            let begun = self.may_begin(ask)
                && match under_way {
                    UnderWay::Unknown => ask.next_at.is_none(),
                    UnderWay::Nothing => ask.is_doubted,
                };
            let stopped = match ask.handling {
                Handling::Effect(EffectClass::Once | EffectClass::Idempotent) if begun => {
                    CancelExtent::Unknown
                }
                Handling::Effect(_) | Handling::Decision | Handling::Timer => {
                    CancelExtent::NotStarted
                }
            };
            let is_once = ask.handling == Handling::Effect(EffectClass::Once);
            if is_once && begun && ask.standing == RequestStanding::Open {
                let ask = self.asks.get_mut(&path).expect("a key of the same map");
                ask.standing = RequestStanding::InDoubt;
            }
            // A crash may have come between the two records.
            self.permit_covered(&path, progress);
            let n_withdrawn = progress.withdrawn.len();
            self.list(&path, progress);
            for withdrawn in &mut progress.withdrawn[n_withdrawn..] {
                withdrawn.stopped = stopped;
            }
        }
    }
}

impl<'r, P: Program> SessionReplay<'r, P> {
    pub(super) fn begin(
        journal: &'r RecordChain,
        mut program: P,
        setting: SessionSetting<'r>,
        extent: ReplayExtent,
    ) -> Result<SessionReplay<'r, P>, ReplayError> {
        let Some(Record { seq: 0, at, body: Body::Start(start), .. }) = journal.records().first()
        else {
            return Err(corrupt(0, "the journal does not begin with a start"));
        };
        check_engine(start, setting)?;
        let input = start.input.value(setting.objects)?;
        let chain = journal.chain();
        let start = (**start).clone();
        let beginning = SessionBeginning { start, input, at: *at, chain, kinds: setting.kinds };
        let finished = match extent {
            ReplayExtent::Whole => FinishedScopes::default(),
            ReplayExtent::WithoutFinishedScopes => FinishedScopes::of(journal),
        };
        program.skip_scopes(finished.paths());
        let (session, group) = Session::begin(program, beginning);
        let patches = journal.records().iter().filter_map(|record| {
            let ask = record.body.as_ask()?;
            (ask.kind == PATCH).then_some(&ask.path)
        });
        let (patches, waiting) = (patches.collect(), BTreeSet::new());
        let under_way = UnderWay::Unknown;
        let mut replay = SessionReplay {
            session,
            group,
            journal,
            setting,
            finished,
            waiting,
            patches,
            under_way,
        };
        replay.take_waiting();
        Ok(replay)
    }

    /// Records that the session goes on with the program that was run.
    fn upgrade(&mut self, upgrade: Upgrade, progress: &mut SessionProgress) {
        let verified = self.session.chain.length();
        self.pass_quiet_scopes(verified);
        let record = UpgradeRecord { from: self.session.flow, to: upgrade.to, verified };
        self.session.upgraded.push((verified, self.session.flow));
        self.session.flow = upgrade.to;
        self.session.append(upgrade.at, Body::Upgrade(record), progress);
    }

    /// Ends the replay: lists everything that has no answer, and records what is new.
    fn finish(self, mut progress: SessionProgress) -> LoadedSession<P> {
        let SessionReplay { mut session, mut group, journal, setting, under_way, .. } = self;
        // Also those inside of finished scopes, which were not read.
        session.grants = Grants::of(journal, setting.objects)?;
        if !follows_an_answer(journal) {
            group.events.clear();
        }
        session.recover(under_way, &mut progress);
        session.record(group, &mut progress);
        Ok((session, progress))
    }

    /// Takes in every record but the first.
    pub(super) fn read_all(&mut self, fold: AnswerFold<'_>) -> Result<(), ReplayError> {
        let journal = self.journal;
        for (record, hash) in journal.records().iter().zip(journal.hashes()).skip(1) {
            self.pass_patches(&record.body);
            match record.body {
                Body::Start(_) | Body::ScopeEnd(_) => {}
                // What the program did before this record follows it.
                Body::Upgrade(_) => self.pass_quiet_scopes(record.seq),
                Body::Ask(_)
                | Body::Answer(_)
                | Body::Attempt(_)
                | Body::Found(_)
                | Body::Signal(_)
                | Body::Publish(_)
                | Body::Escalate(_)
                | Body::Vote(_)
                | Body::Permit(_)
                | Body::Withdraw(_)
                | Body::Cancel(_)
                | Body::Continue(_)
                | Body::End(_) => self.close_scopes(record.seq)?,
            }
            if self.finished.hold(&record.body) {
                if let Body::Answer(_) = &record.body {
                    self.close_group(record.seq)?;
                }
            } else {
                self.read(record, fold)?;
                self.take_waiting();
            }
            self.session.signals.read(record, self.setting.objects)?;
            self.session.scopes.note(&record.body, *hash);
        }
        Ok(())
    }

    /// Takes in the next record.
    fn read(&mut self, record: &Record, fold: AnswerFold<'_>) -> Result<(), ReplayError> {
        let seq = record.seq;
        match &record.body {
            Body::Start(start) => self.leave_parent(start)?,
            Body::Ask(ask) => self.compare(seq, ask)?,
            Body::Withdraw(withdraw) => {
                if !self.group.withdrawn.remove(&withdraw.path) {
                    return Err(self.leftover(seq, &withdraw.path, "withdraw"));
                }
                self.session.withdraw(&withdraw.path);
            }
            Body::Answer(answer) => {
                self.close_group(seq)?;
                self.answer(record, answer, fold)?;
            }
            Body::Attempt(attempt) => {
                if let Some(ask) = self.session.asks.get_mut(&attempt.path) {
                    ask.attempt = attempt.n.saturating_add(1);
                    // What waits for somebody may begin at once: whoever reads this is somebody.
                    ask.next_at = Some(attempt.next_at.unwrap_or(record.at));
                }
            }
            Body::Found(found) => {
                let value = found.found.value(self.setting.objects)?;
                if let Some(ask) = self.session.asks.get_mut(&found.path) {
                    ask.found = Some(value);
                }
            }
            Body::Permit(permit) if permit.decision == RETRY => {
                if let Some(ask) = self.session.asks.get_mut(&permit.path) {
                    ask.next_at = None;
                }
            }
            Body::Permit(permit) => {
                let edited = permit.edited.as_ref();
                let edited = edited.map(|edited| edited.value(self.setting.objects)).transpose()?;
                if let Some(ask) = self.session.asks.get_mut(&permit.path) {
                    ask.permit = Some(Permit { edited });
                    ask.is_doubted = false;
                }
            }
            Body::Cancel(cancel) => {
                self.close_group(seq)?;
                self.group = self.session.stop(cancel, record.at);
            }
            Body::End(_) | Body::Continue(_) => {
                self.close_group(seq)?;
                self.compare_end(seq, &record.body)?;
            }
            Body::ScopeEnd(scope) => self.end_scope(record, scope)?,
            Body::Publish(publish) => {
                self.session.publish(publish);
                if let Some(ask) = self.session.asks.get_mut(&publish.path) {
                    ask.is_doubted = true;
                }
            }
            Body::Upgrade(upgrade) => {
                self.session.upgraded.push((seq, upgrade.from));
                self.session.flow = upgrade.to;
            }
            Body::Signal(_) | Body::Escalate(_) | Body::Vote(_) => {}
        }
        Ok(())
    }

    /// Goes over to the fork: what is open at the cut is asked anew.
    fn leave_parent(&mut self, start: &StartRecord) -> Result<(), ReplayError> {
        check_engine(start, self.setting)?;
        self.session.become_fork(start.clone(), &mut self.group);
        Ok(())
    }

    /// Uses a recorded answer.
    fn answer(
        &mut self,
        record: &Record,
        recorded: &AnswerRecord,
        fold: AnswerFold<'_>,
    ) -> Result<(), ReplayError> {
        let Ok(ask) = self.session.take(&recorded.path) else {
            return Err(corrupt(record.seq, "it answers a request that is not open"));
        };
        let answer = RequestAnswer::of_record(&recorded.outcome, self.setting.objects)?;
        fold(&ask.request, &answer);
        if ask.standing != RequestStanding::Withdrawn {
            self.group = self.session.deliver(&recorded.path, answer, record.at);
        }
        Ok(())
    }
}

/// Says whether the journal was cut right after something that made the program go on, so that
/// what it said then was not shown yet.
fn follows_an_answer(journal: &RecordChain) -> bool {
    let mut bodies = journal.records().iter().rev().map(|record| &record.body);
    let last = bodies.find(|body| !matches!(body, Body::Upgrade(_)));
    matches!(last, Some(Body::Answer(_) | Body::Start(_) | Body::Cancel(_)))
}

fn check_engine(start: &StartRecord, setting: SessionSetting<'_>) -> Result<(), ReplayError> {
    if start.engine == *setting.engine {
        return Ok(());
    }
    Err(ReplayError::from(Divergence::of_engines(&start.engine, setting.engine)))
}

fn corrupt(seq: u64, reason: &str) -> ReplayError {
    ReplayError::Corrupt(Corrupt { seq, reason: reason.to_owned() })
}
