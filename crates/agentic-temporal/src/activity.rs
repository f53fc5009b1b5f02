//! What the activities of a run are called, and what they do in its repository.

use std::sync::Arc;
use std::time::Duration;

use agentic_model::guidance::{ErrorClass, Guidance as _};
use agentic_model::{Instant, Oid};
use agentic_providers::host::CancelFlag;
use agentic_replay::{
    AnswerSource, CancelExtent, EffectClass, RequestAnswer, RequestId, SessionId,
};
use agentic_session::hosted::{
    HostedDecision, HostedFate, HostedOutcome, HostedRecords, HostedSpawn, LostEffect, SealedRun,
    ValuePiece, begins_a_session, continue_hosted, decide_hosted, expire_hosted, perform_hosted,
    probe_hosted, retire, seal_hosted, spawn_hosted, withdraw_hosted,
};
use temporalio_common::ActivityDefinition;

use crate::HOST;
use crate::attempt::{ActivityAttempt, ActivityFault, ActivityOutcome, AttemptStop};
use crate::decision::{
    DecideAsk, DecideReply, ExpireAsk, SettledHold, WireFate, WireRefusal, WithdrawAsk,
};
use crate::error::{DIVERGED, diverged, whole};
use crate::ground::WorkerGround;
use crate::mask::masked;
use crate::seal::{SealAsk, WireLine, WirePiece};
use crate::wire::{
    ChildAsk, EffectAsk, EffectCall, EffectReply, LostReply, WireAnswer, WireStart, unpacked,
};

/// How often an activity beats.
const BEAT_EVERY: Duration = Duration::from_millis(500);
/// How long is waited before what comes before an effect is tried again, in milliseconds. An effect that may
/// be performed once is put in doubt where its activity fails, also where nothing has begun.
const PAUSES_MS: [u64; 5] = [50, 100, 200, 400, 800];

/// Names the activities that are not called after what a program asks: the type, what each is called, what
/// it is asked and what it answers.
macro_rules! activity {
    ($type:ident, $name:literal, $ask:ty, $reply:ty) => {
        #[doc = concat!("The activity `", $name, "`.")]
        pub struct $type;

        impl $type {
            /// What it is called.
            pub const NAME: &str = $name;
        }

        impl ActivityDefinition for $type {
            type Input = $ask;
            type Output = $reply;

            fn name(&self) -> &str {
                $name
            }
        }
    };
}

activity!(SealActivity, "agentic.seal", SealAsk, usize);
activity!(DecideActivity, "agentic.decide.commit", DecideAsk, DecideReply);
activity!(ExpireActivity, "agentic.decide.expire", ExpireAsk, Option<SettledHold>);
activity!(WithdrawActivity, "agentic.decide.withdraw", WithdrawAsk, Option<String>);
activity!(ContinueActivity, "agentic.continue", WireStart, Option<ChildAsk>);
activity!(ProbeActivity, "agentic.probe", EffectAsk, LostReply);

/// The activity that performs an effect, called after its agent or its kind.
pub struct EffectActivity(pub String);

impl ActivityDefinition for EffectActivity {
    type Input = EffectCall;
    type Output = EffectReply;

    fn name(&self) -> &str {
        &self.0
    }
}

/// Performs an effect. What is cancelled is told to end, and what really became of it is the answer.
pub async fn effect(
    ground: &Arc<WorkerGround>,
    attempt: &ActivityAttempt,
    ask: EffectAsk,
) -> ActivityOutcome<EffectReply> {
    let (start, performance) = (ask.run.start(), ask.performance());
    let start = start.map_err(|error| broken(&error))?;
    let performance = performance.map_err(|error| broken(&error))?;
    refuse_answered(ground, attempt, &ask).await?;
    let flag = CancelFlag::new();
    let (ground, told, at) = (Arc::clone(ground), flag.clone(), Instant::from_millis(ask.at));
    if begins_a_session(&performance.request) {
        let spawn = move || spawn_hosted(&ground.at(at)?, &start, &performance, HOST);
        return match blocking(attempt, None, spawn).await? {
            HostedSpawn::Answered(answer, by) => Ok(answered(&answer, by)),
            HostedSpawn::Child(session, opening) => {
                let child = ChildAsk::of(session, opening.as_deref());
                Ok(EffectReply::Child(Box::new(child.map_err(|error| broken(&error))?)))
            }
        };
    }
    let class = performance.class;
    let done = blocking(attempt, Some(&flag), move || {
        let space = patiently(|| ground.at(at))?;
        perform_hosted(&space, &start, &performance, &told)
    });
    reply_of_effect(done.await?, attempt, class)
}

/// Refuses a request whose answer is sealed: somebody has reset the run to before that.
async fn refuse_answered(
    ground: &Arc<WorkerGround>,
    attempt: &ActivityAttempt,
    ask: &EffectAsk,
) -> ActivityOutcome<()> {
    let (start, performance) = (ask.run.start(), ask.performance());
    let start = start.map_err(|error| broken(&error))?;
    let path = performance.map_err(|error| broken(&error))?.request.path.clone();
    let (ground, n_sealed, id) = (Arc::clone(ground), ask.sealed, start.session);
    let answered = blocking(attempt, None, move || {
        let answers = || SealedRun::of(ground.space(), &id)?.answers(n_sealed, &path);
        patiently(|| match ground.n_sealed(&start)? > n_sealed {
            true => answers(),
            false => Ok(false),
        })
    });
    if !answered.await? {
        return Ok(());
    }
    let message = format!("{DIVERGED} the answer to `{}` is sealed: the run was reset", ask.path);
    Err(ActivityFault { code: DIVERGED, message, is_final: true })
}

/// Tells what became of an effect that may have been told to end.
///
/// # Errors
/// Fails when it was told so because its worker stops: then somebody else performs it, or people are asked.
pub fn reply_of_effect(
    outcome: HostedOutcome,
    attempt: &ActivityAttempt,
    class: EffectClass,
) -> ActivityOutcome<EffectReply> {
    let stop = attempt.stop();
    let is_cut_short = match &outcome {
        HostedOutcome::Answered(answer, _) | HostedOutcome::Faulted(answer, _) => match answer {
            RequestAnswer::Failed(_) | RequestAnswer::Cancelled(_) => true,
            RequestAnswer::Ok(_) | RequestAnswer::TimedOut => false,
        },
        HostedOutcome::Unanswered(..) => false,
    };
    if is_cut_short && stop == Some(AttemptStop::WorkerStops) {
        let message = "its worker stopped before it came to its end".to_owned();
        return Err(ActivityFault {
            code: "Stopped",
            message,
            is_final: class == EffectClass::Once,
        });
    }
    let is_told = stop.is_some();
    Ok(match outcome {
        HostedOutcome::Answered(answer, by) => answered(&stopped(answer, is_told), by),
        HostedOutcome::Unanswered(answer, why) => {
            EffectReply::Unanswered { answer: bounded(&answer), why: masked(&why) }
        }
        HostedOutcome::Faulted(answer, why) => {
            EffectReply::Faulted { answer: bounded(&stopped(answer, is_told)), why: masked(&why) }
        }
    })
}

fn answered(answer: &RequestAnswer, by: AnswerSource) -> EffectReply {
    let child = if let AnswerSource::Child(id) = by { Some(id.to_string()) } else { None };
    EffectReply::Answered { answer: bounded(answer), child }
}

fn bounded(answer: &RequestAnswer) -> WireAnswer {
    WireAnswer::bounded(answer, "the answer")
}

/// Begins the session that a run goes on as which has ended so.
pub async fn go_on(
    ground: &Arc<WorkerGround>,
    attempt: &ActivityAttempt,
    run: WireStart,
) -> ActivityOutcome<Option<ChildAsk>> {
    let session = run.start().map_err(|error| broken(&error))?.session;
    let ground = Arc::clone(ground);
    let next = move || continue_hosted(ground.space(), &session, HOST);
    let next = blocking(attempt, None, next).await?;
    let next = next.map(|(session, opening)| ChildAsk::of(session, opening.as_deref()));
    next.transpose().map_err(|error| broken(&error))
}

/// Says of an effect that failed while it was told to end that it was stopped.
fn stopped(answer: RequestAnswer, is_told: bool) -> RequestAnswer {
    match answer {
        RequestAnswer::Failed(_) if is_told => RequestAnswer::Cancelled(CancelExtent::Unknown),
        answer => answer,
    }
}

pub async fn seal(
    ground: &Arc<WorkerGround>,
    attempt: &ActivityAttempt,
    ask: SealAsk,
) -> ActivityOutcome<usize> {
    let start = ask.run.start().map_err(|error| broken(&error))?;
    let unpack = |texts: &[String]| texts.iter().map(|text| unpacked(text)).collect();
    let records: Result<Vec<Vec<u8>>, _> = unpack(&ask.records);
    let pieces: Result<Vec<ValuePiece>, _> = ask.pieces.iter().map(WirePiece::piece).collect();
    let hosted = HostedRecords {
        session: start.session,
        from: ask.from,
        records: records.map_err(|error| broken(&error))?,
        pieces: pieces.map_err(|error| broken(&error))?,
        told: ask.told.into_iter().map(WireLine::line).collect(),
    };
    let ground = Arc::clone(ground);
    blocking(attempt, None, move || {
        let n_sealed = seal_hosted(ground.space(), &start.agent, &hosted)?;
        if ask.is_last {
            retire(ground.space(), &start.session)?;
        }
        Ok(n_sealed)
    })
    .await
}

pub async fn decide(
    ground: &Arc<WorkerGround>,
    attempt: &ActivityAttempt,
    ask: DecideAsk,
) -> ActivityOutcome<DecideReply> {
    let (session, request) = ids(&ask.session, &ask.request)?;
    let draft = ask.draft().map_err(|error| broken(&error))?;
    let ground = Arc::clone(ground);
    blocking(attempt, None, move || {
        let decided = match decide_hosted(ground.space(), &session, &request, &draft) {
            Ok(decided) => decided,
            Err(error) if error.is_fault() => return Err(error),
            Err(error) => {
                return Ok(DecideReply::Refused(WireRefusal {
                    class: error.class().word().to_owned(),
                    message: error.to_string(),
                    hint: error.hint().into_owned(),
                    because: error.because(),
                    attempt: String::new(),
                }));
            }
        };
        Ok(reply_of(decided))
    })
    .await
}

fn reply_of(decided: HostedDecision) -> DecideReply {
    let HostedDecision { commit, principal, action, settled_by, fate, vote } = decided;
    let settled = settled_by.and_then(|by| settled_hold(by, fate));
    DecideReply::Decided {
        commit: commit.to_string(),
        principal,
        action: action.to_owned(),
        settled,
        vote: vote.map(|vote| vote.decision),
    }
}

fn settled_hold(by: Oid, fate: HostedFate) -> Option<SettledHold> {
    WireFate::of(fate).map(|fate| SettledHold { commit: by.to_string(), fate })
}

pub async fn expire(
    ground: &Arc<WorkerGround>,
    attempt: &ActivityAttempt,
    ask: ExpireAsk,
) -> ActivityOutcome<Option<SettledHold>> {
    let (session, request) = ids(&ask.session, &ask.request)?;
    let (ground, at) = (Arc::clone(ground), Instant::from_millis(ask.at));
    let expired =
        blocking(attempt, None, move || expire_hosted(&ground.at(at)?, &session, &request));
    Ok(expired.await?.and_then(|(commit, fate)| settled_hold(commit, fate)))
}

pub async fn withdraw(
    ground: &Arc<WorkerGround>,
    attempt: &ActivityAttempt,
    ask: WithdrawAsk,
) -> ActivityOutcome<Option<String>> {
    let session = ask.withdrawn.run.start().map_err(|error| broken(&error))?.session;
    let withdrawn = ask.withdrawn.performance().map_err(|error| broken(&error))?;
    let (ground, at) = (Arc::clone(ground), Instant::from_millis(ask.withdrawn.at));
    let commit = blocking(attempt, None, move || {
        withdraw_hosted(&ground.at(at)?, &session, withdrawn.request, withdrawn.id)
    });
    Ok(commit.await?.map(|commit| commit.to_string()))
}

fn ids(session: &str, request: &str) -> ActivityOutcome<(SessionId, RequestId)> {
    let ids = SessionId::parse(session).zip(RequestId::parse(request));
    ids.ok_or_else(|| fault("the server holds no ids that can be read"))
}

/// Finds out what is known of an effect whose worker was lost.
pub async fn probe(
    ground: &Arc<WorkerGround>,
    attempt: &ActivityAttempt,
    ask: EffectAsk,
) -> ActivityOutcome<LostReply> {
    let (start, performance) = (ask.run.start(), ask.performance());
    let start = start.map_err(|error| broken(&error))?;
    let performance = performance.map_err(|error| broken(&error))?;
    let flag = CancelFlag::new();
    let (ground, told, at) = (Arc::clone(ground), flag.clone(), Instant::from_millis(ask.at));
    let found = blocking(attempt, Some(&flag), move || {
        probe_hosted(&ground.at(at)?, &start, &performance, &told)
    });
    Ok(match found.await? {
        // Who looks after it next waits for its program, too.
        LostEffect::Unknown if attempt.stop() == Some(AttemptStop::WorkerStops) => {
            return Err(fault("the worker stopped while it waited for the program"));
        }
        LostEffect::Happened(answer) => LostReply::Happened(bounded(&answer)),
        LostEffect::NotHappened(why) => LostReply::NotHappened(why.to_owned()),
        LostEffect::Unknown => LostReply::Unknown,
    })
}

/// Works on a thread of its own, beats meanwhile, and passes a cancellation on. What fails or panics is
/// tried again by the server: nothing of it is told but a sentence.
pub async fn blocking<T: Send + 'static>(
    attempt: &ActivityAttempt,
    flag: Option<&CancelFlag>,
    work: impl FnOnce() -> agentic_session::Result<T> + Send + 'static,
) -> ActivityOutcome<T> {
    let mut working = tokio::task::spawn_blocking(work);
    let mut beats = tokio::time::interval(BEAT_EVERY);
    let mut is_told = false;
    loop {
        tokio::select! {
            done = &mut working => return match done {
                Ok(Ok(done)) => Ok(done),
                Ok(Err(error)) => Err(failed(&error)),
                Err(_) => Err(fault("what performs it panicked")),
            },
            _ = attempt.stopped(), if !is_told => {
                is_told = true;
                flag.iter().for_each(|flag| flag.set());
            }
            _ = beats.tick() => attempt.beat(),
        }
    }
}

/// Reads what has to be known before anything begins, and again if that fails. That other records are
/// sealed than those of the run is no failure.
fn patiently<T>(read: impl Fn() -> agentic_session::Result<T>) -> agentic_session::Result<T> {
    let mut outcome = read();
    for pause in PAUSES_MS {
        match &outcome {
            Err(error) if error.class() != ErrorClass::Diverged => {}
            Ok(_) | Err(_) => break,
        }
        std::thread::sleep(Duration::from_millis(pause));
        outcome = read();
    }
    outcome
}

/// Something of ours failed: it is tried again, unless other records are sealed than those of the run.
fn failed(error: &agentic_session::Error) -> ActivityFault {
    match error.class() == ErrorClass::Diverged {
        true => ActivityFault { code: DIVERGED, message: masked(&diverged(error)), is_final: true },
        false => fault(&masked(&whole(error))),
    }
}

/// Something of ours failed: it is tried again.
fn fault(message: &str) -> ActivityFault {
    ActivityFault { code: "Fault", message: message.to_owned(), is_final: false }
}

/// What is asked cannot be read: no repetition changes that.
pub fn broken(error: &dyn std::error::Error) -> ActivityFault {
    let message = masked(&whole(error));
    ActivityFault { code: "Unreadable", message, is_final: true }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use agentic_model::{Object, Value};

    use super::{PAUSES_MS, patiently};

    #[test]
    fn what_comes_before_an_effect_is_tried_again_and_given_up_in_the_end() {
        let broken = || Ok(Object::from_value(Value::Null).map(drop)?);
        let n_tried = Cell::new(0);
        let read = |n_failures: usize| {
            n_tried.set(0);
            patiently(|| {
                n_tried.set(n_tried.get() + 1);
                if n_tried.get() > n_failures { Ok(()) } else { broken() }
            })
        };
        assert!(read(0).is_ok() && n_tried.get() == 1);
        assert!(read(2).is_ok() && n_tried.get() == 3);
        assert!(read(PAUSES_MS.len() + 1).is_err() && n_tried.get() == PAUSES_MS.len() + 1);
    }
}
