//! Who performs activities, however they are called.

use std::path::PathBuf;
use std::sync::Arc;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::activity::{
    ContinueActivity, DecideActivity, ExpireActivity, ProbeActivity, SealActivity,
    WithdrawActivity, broken, decide, effect, expire, go_on, probe, seal, withdraw,
};
use crate::attempt::{ActivityAttempt, ActivityFault, ActivityOutcome};
use crate::ground::WorkerGround;
use crate::outside::{self, OutsideEffect};
use crate::wire::EffectCall;

/// Who performs the activities of a queue.
#[derive(Clone)]
pub struct ActivityPerformer {
    /// The repository, where there is one.
    pub ground: Option<Arc<WorkerGround>>,
    /// The folder that programs run in which need none, and whose configuration counts.
    pub folder: PathBuf,
}

/// Tells an effect from everything else: a program may call what it asks like something of ours.
#[derive(Deserialize)]
struct AskShape {
    effect: Option<IgnoredAny>,
}

impl ActivityPerformer {
    /// Performs an activity; returns its answer as JSON.
    ///
    /// # Errors
    /// Fails as the server is to be told.
    pub async fn perform(
        &self,
        attempt: &ActivityAttempt,
        name: &str,
        input: &[u8],
    ) -> ActivityOutcome<Vec<u8>> {
        if is_effect(name, input) {
            return said(&self.effect(attempt, ask(input)?).await?);
        }
        let ground = self.ground.as_ref().ok_or_else(needs_repository)?;
        match name {
            SealActivity::NAME => said(&seal(ground, attempt, ask(input)?).await?),
            DecideActivity::NAME => said(&decide(ground, attempt, ask(input)?).await?),
            ExpireActivity::NAME => said(&expire(ground, attempt, ask(input)?).await?),
            WithdrawActivity::NAME => said(&withdraw(ground, attempt, ask(input)?).await?),
            ContinueActivity::NAME => said(&go_on(ground, attempt, ask(input)?).await?),
            _ => said(&probe(ground, attempt, ask(input)?).await?),
        }
    }

    async fn effect(
        &self,
        attempt: &ActivityAttempt,
        call: EffectCall,
    ) -> ActivityOutcome<crate::wire::EffectReply> {
        match (call.program, &self.ground) {
            (Some(program), _) => {
                let (folder, effect) = (self.folder.clone(), call.effect);
                outside::perform(attempt, OutsideEffect { folder, effect, program }).await
            }
            (None, Some(ground)) => effect(ground, attempt, call.effect).await,
            (None, None) => Err(needs_repository()),
        }
    }
}

fn is_effect(name: &str, input: &[u8]) -> bool {
    let ours = [
        SealActivity::NAME,
        DecideActivity::NAME,
        ExpireActivity::NAME,
        WithdrawActivity::NAME,
        ContinueActivity::NAME,
        ProbeActivity::NAME,
    ];
    let shape = || serde_json::from_slice::<AskShape>(input);
    !ours.contains(&name) || shape().is_ok_and(|shape| shape.effect.is_some())
}

fn needs_repository() -> ActivityFault {
    let message = "it needs the repository of its run, which is not here".to_owned();
    ActivityFault { code: "NoRepository", message, is_final: false }
}

fn ask<T: DeserializeOwned>(input: &[u8]) -> ActivityOutcome<T> {
    serde_json::from_slice(input).map_err(|error| broken(&error))
}

fn said<T: Serialize>(reply: &T) -> ActivityOutcome<Vec<u8>> {
    serde_json::to_vec(reply).map_err(|error| broken(&error))
}
