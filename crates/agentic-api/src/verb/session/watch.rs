//! Following a session while it goes on.

use std::time::{Duration, Instant};

use agentic_model::guidance::ErrorClass;
use agentic_replay::SessionId;
use agentic_session::{SessionState, Watch};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::RecordView;
use crate::{Caller, Notice, Refusal, VerbEvent};

/// How long nobody looks between two looks.
const POLL: Duration = Duration::from_millis(250);

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
        let id = caller.space.find_session(&self.session)?;
        let mut watch = Watch::new(caller.space, id);
        let mut reply = Reply::plain(Vec::new());
        loop {
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
        let waits = Notice::unanswered(caller.space, &caller.space.session(id)?);
        Ok((!waits.is_empty()).then_some(waits))
    }
}
