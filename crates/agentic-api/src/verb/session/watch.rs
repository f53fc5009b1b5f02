//! Following a session while it goes on.

use std::time::{Duration, Instant};

use agentic_model::guidance::ErrorClass;
use agentic_replay::SessionId;
use agentic_replay::engine::RunId;
use agentic_session::{SessionState, Watch};
use schemars::JsonSchema;
use serde::Deserialize;

use super::look::found_or_claimed;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::RecordView;
use crate::{Caller, Notice, Refusal, RunEngine, VerbEvent};

/// How long nobody looks between two looks.
const POLL: Duration = Duration::from_millis(250);
/// How often the engine that drives a session is asked to seal what it has recorded, where that is another
/// one.
const SEAL_EVERY: Duration = Duration::from_secs(2);

/// Follow a session: tell each record as it is made, until the session is over, nobody waits any more
/// or the watcher stops it. Where nobody listens the records are the answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionWatch {
    /// An id or a prefix of it, or an agent.
    pub session: String,
    /// Only until it waits for a human, or for somebody who could not be reached.
    #[serde(default)]
    pub until_held: bool,
    /// Only the records behind this position.
    #[serde(default)]
    pub after: Option<u64>,
    /// How long it is followed at most, in milliseconds; to its end without.
    #[serde(default)]
    pub patience_ms: Option<u64>,
}

impl Verb for SessionWatch {
    type Answer = Vec<RecordView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<RecordView>>, Refusal> {
        let began = Instant::now();
        let patience = self.patience_ms.map(Duration::from_millis);
        let id = found_or_claimed(caller.space, &self.session)?;
        let mut watch = Watch::new(caller.space, id);
        let mut reply = Reply::plain(Vec::new());
        let mut driver = DistantDriver::of(caller, &id)?;
        loop {
            let stands = driver.as_mut().map_or(Ok(None), DistantDriver::look)?;
            if stands == Some(SessionState::Diverged) {
                let completion = VerbCompletion::Over(ErrorClass::Diverged);
                return Ok(Reply { completion, ..reply });
            }
            if let Some((records, state)) = watch.look()? {
                let is_new = |seq: u64| self.after.is_none_or(|after| seq > after);
                for record in records.iter().filter(|record| is_new(record.seq)) {
                    let event = VerbEvent::Record(RecordView::from(record));
                    if let Some(VerbEvent::Record(unheard)) = caller.watcher().tell(event) {
                        reply.answer.push(unheard);
                    }
                }
                if let Some(completion) = self.completion(state) {
                    return Ok(Reply { completion, ..reply });
                }
            }
            if let Some(waits) = self.unanswered(caller, &id)? {
                return Ok(Reply { notices: waits, completion: VerbCompletion::Held, ..reply });
            }
            let left = patience.map_or(POLL, |patience| patience.saturating_sub(began.elapsed()));
            if left.is_zero() || caller.watcher().stop.wait(POLL.min(left)) {
                return Ok(reply);
            }
        }
    }
}

/// Another engine, which drives a session that is followed.
struct DistantDriver<'s> {
    engine: RunEngine<'s>,
    run: RunId,
    asked_at: Option<Instant>,
}

impl<'s> DistantDriver<'s> {
    /// Connects to the engine that drives a session, where that is another one.
    fn of(caller: &Caller<'s>, id: &SessionId) -> Result<Option<DistantDriver<'s>>, Refusal> {
        let Some((address, engines)) = caller.driving(id) else { return Ok(None) };
        let engine = engines.connect(&address, caller.space, caller.client)?;
        Ok(Some(DistantDriver { engine, run: RunId::new(id.to_string()), asked_at: None }))
    }

    /// Has it seal what it has recorded, now and then; says how the session stands there.
    fn look(&mut self) -> Result<Option<SessionState>, Refusal> {
        if self.asked_at.is_some_and(|at| at.elapsed() < SEAL_EVERY) {
            return Ok(None);
        }
        self.asked_at = Some(Instant::now());
        Ok(Some(self.engine.status(&self.run)?.state))
    }
}

impl SessionWatch {
    /// Says how it ends with a session that stands so; nothing while there is more to follow.
    fn completion(&self, state: SessionState) -> Option<VerbCompletion> {
        match state {
            SessionState::Done => Some(VerbCompletion::Whole),
            SessionState::Failed | SessionState::Cancelled => {
                Some(VerbCompletion::Over(ErrorClass::Refused))
            }
            SessionState::Diverged => Some(VerbCompletion::Over(ErrorClass::Diverged)),
            SessionState::Held if self.until_held => Some(VerbCompletion::Held),
            SessionState::Held | SessionState::Running | SessionState::Waiting => None,
        }
    }

    /// Says that nobody could answer what it asks. A child may wait as well, of which the records of
    /// its parent say nothing.
    fn unanswered(
        &self,
        caller: &Caller<'_>,
        id: &SessionId,
    ) -> Result<Option<Vec<Notice>>, Refusal> {
        if !self.until_held {
            return Ok(None);
        }
        // One that cannot be read has not begun to be sealed, or the look at its records says why.
        let Ok(summary) = caller.space.session(id) else { return Ok(None) };
        let waits = Notice::unanswered(caller.space, &summary);
        Ok((!waits.is_empty()).then_some(waits))
    }
}
