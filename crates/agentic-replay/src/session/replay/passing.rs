//! What a replay passes without running it: finished scopes, and changes that the run did not know.

use agentic_model::Value;

use super::difference::named;
use super::{ReplayError, SessionReplay};
use crate::divergence::ProgramDifference;
use crate::record::ScopeEndRecord;
use crate::{Body, PATCH, Path, Program, Record, RequestAnswer, SCOPE};

impl<P: Program> SessionReplay<'_, P> {
    /// Sets aside the scopes that the program has come to and need not run.
    pub(super) fn take_waiting(&mut self) {
        let is_finished = |path: &Path| self.finished.contains(path);
        let waiting = self
            .group
            .asks
            .extract_if(.., |path, request| request.kind == SCOPE && is_finished(path));
        self.waiting.extend(waiting.map(|(path, _)| path));
    }

    /// Gives the program the result of a scope that it did not run, or compares that of one that it
    /// did.
    pub(super) fn end_scope(
        &mut self,
        record: &Record,
        recorded: &ScopeEndRecord,
    ) -> Result<(), ReplayError> {
        if self.waiting.remove(&recorded.path) {
            self.close_group(record.seq)?;
            let result = recorded.result.value(self.setting.objects)?;
            let answer = RequestAnswer::Ok(result);
            self.group = self.session.deliver(&recorded.path, answer, record.at);
            return Ok(());
        }
        while let Some(step) = self.group.scopes.pop_front() {
            let found = self.session.scopes.step(step, record.seq, &mut Vec::new());
            match found {
                Some(found) if found == *recorded => return Ok(()),
                Some(found) => {
                    let seq = Some(record.seq);
                    let (before, now) = (named("scope_end"), named("scope_end"));
                    let differs = ProgramDifference::Payload;
                    return Err(self
                        .divergence(differs, seq, &found.path, Some(before), Some(now))
                        .into());
                }
                None => {}
            }
        }
        Err(self.leftover(record.seq, &recorded.path, "scope_end"))
    }

    /// Checks that no scope ended beyond those that were recorded.
    pub(super) fn close_scopes(&mut self, seq: u64) -> Result<(), ReplayError> {
        while let Some(step) = self.group.scopes.pop_front() {
            if let Some(found) = self.session.scopes.step(step, seq, &mut Vec::new()) {
                let now = Some(named("scope_end"));
                let extra = ProgramDifference::Extra;
                return Err(self.divergence(extra, Some(seq), &found.path, None, now).into());
            }
        }
        Ok(())
    }

    /// Takes in which scopes have begun and ended so far, up to the first whose end is recorded.
    pub(super) fn pass_quiet_scopes(&mut self, seq: u64) {
        let SessionReplay { session, group, .. } = self;
        while group.scopes.front().is_some_and(|step| !session.scopes.records(step)) {
            let step = group.scopes.pop_front().expect("it was looked at");
            session.scopes.step(step, seq, &mut Vec::new());
        }
    }

    /// Tells the program that the run did not know a change, where records go on without asking.
    pub(super) fn pass_patches(&mut self, next: &Body) {
        let goes_on = match next {
            Body::Ask(_)
            | Body::Answer(_)
            | Body::Withdraw(_)
            | Body::Cancel(_)
            | Body::ScopeEnd(_)
            | Body::Continue(_)
            | Body::End(_) => true,
            Body::Start(_)
            | Body::Attempt(_)
            | Body::Found(_)
            | Body::Signal(_)
            | Body::Publish(_)
            | Body::Escalate(_)
            | Body::Vote(_)
            | Body::Permit(_)
            | Body::Upgrade(_) => false,
        };
        while let Some(path) = self.unknown_patch().filter(|_| goes_on) {
            self.group.asks.remove(&path);
            let now = self.session.run.now();
            let more = self.session.deliver(&path, RequestAnswer::Ok(Value::Bool(false)), now);
            self.group.join(more);
            self.take_waiting();
        }
    }

    fn unknown_patch(&self) -> Option<Path> {
        let mut asks = self.group.asks.iter();
        let unknown = asks.find(|(path, ask)| ask.kind == PATCH && !self.patches.contains(path));
        unknown.map(|(path, _)| path.clone())
    }
}
