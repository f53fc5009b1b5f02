//! What the activities of a run are called, and what they do.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use agentic_model::guidance::Guidance as _;
use agentic_model::{Instant, Oid};
use agentic_providers::host::CancelFlag;
use agentic_replay::{AnswerSource, CancelExtent, RequestAnswer, RequestId, SessionId};
use agentic_session::hosted::{
    HostedDecision, HostedFate, HostedOutcome, HostedRecords, HostedSpawn, ValuePiece,
    begins_a_session, continue_hosted, decide_hosted, expire_hosted, perform_hosted, retire,
    seal_hosted, spawn_hosted, withdraw_hosted,
};
use serde_json::json;
use temporalio_common::ActivityDefinition;
use temporalio_sdk::ApplicationFailure;
use temporalio_sdk::activities::{
    ActivityContext, ActivityDefinitions, ActivityError, ActivityImplementer, ExecutableActivity,
};

use crate::HOST;
use crate::decision::{
    DecideAsk, DecideReply, ExpireAsk, SettledHold, WireFate, WireRefusal, WithdrawAsk,
};
use crate::error::whole;
use crate::ground::WorkerGround;
use crate::seal::{SealAsk, WirePiece};
use crate::wire::{ChildAsk, EffectAsk, EffectReply, WireAnswer, WireStart, unpacked};

/// How often an activity beats.
const BEAT_EVERY: Duration = Duration::from_millis(500);

/// What becomes of an activity.
pub type ActivityOutcome<T> = std::result::Result<T, ActivityError>;

/// Who performs the activities of a space's queue.
pub struct SpacePerformer {
    /// The repository.
    pub ground: Arc<WorkerGround>,
}

/// Defines an activity of a space's queue: its type, what it is called, what it is asked and what it
/// answers, and the function that performs it.
macro_rules! activity {
    ($type:ident, $name:literal, $ask:ty, $reply:ty, $perform:ident) => {
        #[doc = concat!("The activity `", $name, "`.")]
        pub struct $type;

        impl ActivityDefinition for $type {
            type Input = $ask;
            type Output = $reply;

            fn name(&self) -> &str {
                $name
            }
        }

        impl ExecutableActivity for $type {
            type Implementer = SpacePerformer;

            const REQUIRES_INSTANCE: bool = true;

            fn definition() -> $type {
                $type
            }

            fn execute(
                performer: Option<Arc<SpacePerformer>>,
                context: ActivityContext,
                ask: $ask,
            ) -> Pin<Box<dyn Future<Output = ActivityOutcome<$reply>> + Send>> {
                Box::pin(async move {
                    let Some(performer) = performer else {
                        return Err(fault("this worker performs nothing".to_owned()));
                    };
                    $perform(&performer.ground, context, ask).await
                })
            }
        }
    };
}

activity!(EffectActivity, "agentic.effect", EffectAsk, EffectReply, effect);
activity!(SealActivity, "agentic.seal", SealAsk, usize, seal);
activity!(DecideActivity, "agentic.decide.commit", DecideAsk, DecideReply, decide);
activity!(ExpireActivity, "agentic.decide.expire", ExpireAsk, Option<SettledHold>, expire);
activity!(ContinueActivity, "agentic.continue", WireStart, Option<ChildAsk>, go_on);
activity!(WithdrawActivity, "agentic.decide.withdraw", WithdrawAsk, Option<String>, withdraw);

impl ActivityImplementer for SpacePerformer {
    fn register_all(self: Arc<Self>, definitions: &mut ActivityDefinitions) {
        definitions.register_activity::<EffectActivity>(Arc::clone(&self));
        definitions.register_activity::<SealActivity>(Arc::clone(&self));
        definitions.register_activity::<DecideActivity>(Arc::clone(&self));
        definitions.register_activity::<ExpireActivity>(Arc::clone(&self));
        definitions.register_activity::<ContinueActivity>(Arc::clone(&self));
        definitions.register_activity::<WithdrawActivity>(self);
    }
}

/// Performs an effect. What is cancelled is told to end, and what really became of it is the answer.
async fn effect(
    ground: &Arc<WorkerGround>,
    context: ActivityContext,
    ask: EffectAsk,
) -> ActivityOutcome<EffectReply> {
    let (start, performance) = (ask.run.start(), ask.performance());
    let start = start.map_err(|error| broken(&error))?;
    let performance = performance.map_err(|error| broken(&error))?;
    let flag = CancelFlag::new();
    let (ground, told, at) = (Arc::clone(ground), flag.clone(), Instant::from_millis(ask.at));
    if begins_a_session(&performance.request) {
        let spawn = move || spawn_hosted(&ground.at(at)?, &start, &performance, HOST);
        return match blocking(&context, None, spawn).await? {
            HostedSpawn::Answered(answer, by) => Ok(answered(&answer, by)),
            HostedSpawn::Child(session, opening) => {
                let child = ChildAsk::of(session, opening.as_deref());
                Ok(EffectReply::Child(Box::new(child.map_err(|error| broken(&error))?)))
            }
        };
    }
    let done = blocking(&context, Some(&flag), move || {
        let space = ground.at(at)?;
        perform_hosted(&space, &start, &performance, &told)
    });
    Ok(reply_of_effect(done.await?, &flag))
}

/// Tells what became of an effect that may have been told to end.
pub fn reply_of_effect(outcome: HostedOutcome, flag: &CancelFlag) -> EffectReply {
    match outcome {
        HostedOutcome::Answered(answer, by) => answered(&stopped(answer, flag), by),
        HostedOutcome::Unanswered(answer, why) => {
            EffectReply::Unanswered { answer: bounded(&answer), why }
        }
        HostedOutcome::Faulted(answer, why) => {
            EffectReply::Faulted { answer: bounded(&stopped(answer, flag)), why }
        }
    }
}

fn answered(answer: &RequestAnswer, by: AnswerSource) -> EffectReply {
    let child = if let AnswerSource::Child(id) = by { Some(id.to_string()) } else { None };
    EffectReply::Answered { answer: bounded(answer), child }
}

fn bounded(answer: &RequestAnswer) -> WireAnswer {
    WireAnswer::bounded(answer, "the answer")
}

/// Begins the session that a run goes on as which has ended so.
async fn go_on(
    ground: &Arc<WorkerGround>,
    context: ActivityContext,
    run: WireStart,
) -> ActivityOutcome<Option<ChildAsk>> {
    let session = run.start().map_err(|error| broken(&error))?.session;
    let ground = Arc::clone(ground);
    let next = move || continue_hosted(ground.space(), &session, HOST);
    let next = blocking(&context, None, next).await?;
    let next = next.map(|(session, opening)| ChildAsk::of(session, opening.as_deref()));
    next.transpose().map_err(|error| broken(&error))
}

/// Says of an effect that failed while it was told to end that it was stopped.
fn stopped(answer: RequestAnswer, flag: &CancelFlag) -> RequestAnswer {
    match answer {
        RequestAnswer::Failed(_) if flag.is_set() => {
            RequestAnswer::Cancelled(CancelExtent::Unknown)
        }
        answer => answer,
    }
}

async fn seal(
    ground: &Arc<WorkerGround>,
    context: ActivityContext,
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
    };
    let ground = Arc::clone(ground);
    blocking(&context, None, move || {
        let n_sealed = seal_hosted(ground.space(), &start.agent, &hosted)?;
        if ask.is_last {
            retire(ground.space(), &start.session)?;
        }
        Ok(n_sealed)
    })
    .await
}

async fn decide(
    ground: &Arc<WorkerGround>,
    context: ActivityContext,
    ask: DecideAsk,
) -> ActivityOutcome<DecideReply> {
    let (session, request) = ids(&ask.session, &ask.request)?;
    let draft = ask.draft().map_err(|error| broken(&error))?;
    let ground = Arc::clone(ground);
    blocking(&context, None, move || {
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

async fn expire(
    ground: &Arc<WorkerGround>,
    context: ActivityContext,
    ask: ExpireAsk,
) -> ActivityOutcome<Option<SettledHold>> {
    let (session, request) = ids(&ask.session, &ask.request)?;
    let (ground, at) = (Arc::clone(ground), Instant::from_millis(ask.at));
    let expired =
        blocking(&context, None, move || expire_hosted(&ground.at(at)?, &session, &request));
    Ok(expired.await?.and_then(|(commit, fate)| settled_hold(commit, fate)))
}

async fn withdraw(
    ground: &Arc<WorkerGround>,
    context: ActivityContext,
    ask: WithdrawAsk,
) -> ActivityOutcome<Option<String>> {
    let session = ask.withdrawn.run.start().map_err(|error| broken(&error))?.session;
    let withdrawn = ask.withdrawn.performance().map_err(|error| broken(&error))?;
    let (ground, at) = (Arc::clone(ground), Instant::from_millis(ask.withdrawn.at));
    let commit = blocking(&context, None, move || {
        withdraw_hosted(&ground.at(at)?, &session, withdrawn.request, withdrawn.id)
    });
    Ok(commit.await?.map(|commit| commit.to_string()))
}

fn ids(session: &str, request: &str) -> ActivityOutcome<(SessionId, RequestId)> {
    let ids = SessionId::parse(session).zip(RequestId::parse(request));
    ids.ok_or_else(|| fault("the server holds no ids that can be read".to_owned()))
}

/// Works on a thread of its own, beats meanwhile, and passes a cancellation on. What fails or panics is
/// tried again by the server: nothing of it is told but a sentence.
pub fn blocking<T: Send + 'static>(
    context: &ActivityContext,
    flag: Option<&CancelFlag>,
    work: impl FnOnce() -> agentic_session::Result<T> + Send + 'static,
) -> impl Future<Output = ActivityOutcome<T>> {
    let (context, flag) = (context.clone(), flag.cloned());
    async move {
        let mut working = tokio::task::spawn_blocking(work);
        let mut beats = tokio::time::interval(BEAT_EVERY);
        let mut is_told = false;
        loop {
            tokio::select! {
                done = &mut working => return match done {
                    Ok(Ok(done)) => Ok(done),
                    Ok(Err(error)) => Err(fault(whole(&error))),
                    Err(_) => Err(fault("what performs it panicked".to_owned())),
                },
                () = context.cancelled(), if !is_told => {
                    is_told = true;
                    flag.iter().for_each(CancelFlag::set);
                }
                _ = beats.tick() => {
                    // Who cannot be told now is told by the next one.
                    let _ = context.record_heartbeat(json!(null)).await;
                }
            }
        }
    }
}

/// Something of ours failed: it is tried again.
fn fault(message: String) -> ActivityError {
    let failure = ApplicationFailure::builder(message);
    ActivityError::application(failure.type_name("Fault".to_owned()).build())
}

/// What is asked cannot be read: no repetition changes that.
pub fn broken(error: &dyn std::error::Error) -> ActivityError {
    let failure = ApplicationFailure::builder(whole(error));
    let failure = failure.type_name("Unreadable".to_owned()).non_retryable(true);
    ActivityError::application(failure.build())
}
