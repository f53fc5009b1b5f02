//! Comparing what a program does with what was recorded.

use std::sync::Arc;

use agentic_model::{Value, canonical};

use super::difference::named;
use super::{ReplayError, SessionReplay, corrupt};
use crate::divergence::{ProgramDifference, changes};
use crate::record::{AskRecord, Outcome};
use crate::session::advance::end_body;
use crate::{Body, End, Path, Program, StoredValue};

impl<P: Program> SessionReplay<'_, P> {
    /// Compares a recorded request with the one that the program made at its path.
    pub(super) fn compare(&mut self, seq: u64, recorded: &AskRecord) -> Result<(), ReplayError> {
        let before = self.group.asks.first_key_value().filter(|(path, _)| **path < recorded.path);
        if let Some((_, request)) = before {
            return Err(self.extra(Some(seq), &Arc::clone(request)));
        }
        let Some(request) = self.group.asks.remove(&recorded.path) else {
            return Err(self.leftover(seq, &recorded.path, &recorded.kind));
        };
        let bytes = canonical::encode(&request.payload).expect("a run settles every payload");
        let hash = request.hash_with(&bytes);
        if hash != recorded.hash {
            return Err(self.differs(seq, recorded, &request, hash));
        }
        self.session.insert(seq, request, hash, recorded.handling);
        Ok(())
    }

    /// Checks that the program did nothing beyond what was recorded before the next answer.
    pub(super) fn close_group(&mut self, seq: u64) -> Result<(), ReplayError> {
        self.close_scopes(seq)?;
        if let Some(request) = self.group.asks.values().next().cloned() {
            return Err(self.extra(Some(seq), &request));
        }
        if let Some(path) = self.group.withdrawn.first().cloned() {
            let asked = Some(named("withdraw"));
            return Err(self
                .divergence(ProgramDifference::Extra, Some(seq), &path, None, asked)
                .into());
        }
        Ok(())
    }

    pub(super) fn compare_end(&mut self, seq: u64, recorded: &Body) -> Result<(), ReplayError> {
        let path = Path::root();
        if !self.session.asks.is_empty() {
            return Err(corrupt(seq, "it ends a session whose requests are not all answered"));
        }
        let Some(end) = self.session.ending.take() else {
            return Err(self.leftover(seq, &path, "end"));
        };
        let found = end_body(&end, self.session.flow, &mut Vec::new());
        let difference = match (recorded, &found) {
            _ if *recorded == found => None,
            (Body::End(Outcome::Ok(_)), Body::End(Outcome::Ok(_))) => {
                Some(ProgramDifference::Payload)
            }
            (Body::Continue(left), Body::Continue(right)) if left.state == right.state => None,
            (Body::Continue(_), Body::Continue(_)) => Some(ProgramDifference::Payload),
            _ => Some(ProgramDifference::Kind),
        };
        if let Some(difference) = difference {
            let (left, right) = (ended(recorded), ended(&found));
            let before = Some(named(left.0));
            let now = Some(named(right.0));
            let mut divergence = self.divergence(difference, Some(seq), &path, before, now);
            let value = |stored: Option<&StoredValue>| stored?.value(self.setting.objects).ok();
            if let (Some(before), Some(now)) = (value(left.1), result_of(&end)) {
                divergence.changes = changes(&before, now);
            }
            return Err(divergence.into());
        }
        self.session.over = Some(end);
        Ok(())
    }
}

/// Names how a session ended, and what it gave.
fn ended(body: &Body) -> (&'static str, Option<&StoredValue>) {
    match body {
        Body::End(Outcome::Ok(value)) => ("end ok", Some(value)),
        Body::End(Outcome::Failed { .. }) => ("end failed", None),
        Body::Continue(next) => ("continue", Some(&next.state)),
        Body::Start(_)
        | Body::Ask(_)
        | Body::Answer(_)
        | Body::Attempt(_)
        | Body::Signal(_)
        | Body::Escalate(_)
        | Body::Vote(_)
        | Body::Publish(_)
        | Body::Found(_)
        | Body::Permit(_)
        | Body::Upgrade(_)
        | Body::Withdraw(_)
        | Body::Cancel(_)
        | Body::ScopeEnd(_)
        | Body::End(_) => ("end cancelled", None),
    }
}

fn result_of(end: &End) -> Option<&Value> {
    match end {
        End::Done(value) => Some(value),
        End::Failed(_) | End::Cancelled => end.continued_with(),
    }
}
