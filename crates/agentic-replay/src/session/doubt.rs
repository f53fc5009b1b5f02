//! Doubts: effects that may happen once at most and were under way when their process died.

use agentic_model::Instant;

use super::{Performance, RequestStanding, Session, SessionProgress, SessionRefusal};
use crate::record::PublishRecord;
use crate::{Body, EffectClass, Handling, Path, Program};

impl<P: Program> Session<P> {
    /// Lists the effects of which nobody knows whether they happened, as they would be performed
    /// again, by path.
    pub fn doubted(&self) -> Vec<Performance> {
        let doubted = self.asks.iter().filter(|(_, ask)| ask.standing == RequestStanding::InDoubt);
        let class = EffectClass::Once;
        doubted.map(|(path, ask)| self.performance(path, ask, class)).collect()
    }

    /// Puts an effect in doubt that may happen once at most and has begun: whoever performed it was lost.
    /// Lists it for a human, and records that it was put before people: so readers know that nobody is
    /// at work on it, whoever drives the session.
    ///
    /// # Errors
    /// Fails when no such effect is under way at the path.
    pub fn doubt(&mut self, path: &Path, at: Instant) -> Result<SessionProgress, SessionRefusal> {
        let not_open = || SessionRefusal::NotOpen { path: path.clone() };
        let ask = self.asks.get(path).ok_or_else(not_open)?;
        let is_once = ask.handling == Handling::Effect(EffectClass::Once);
        if !is_once || ask.standing != RequestStanding::Open || !self.may_begin(ask) {
            return Err(not_open());
        }
        self.ask_mut(path)?.standing = RequestStanding::InDoubt;
        let head = self.start.head.clone().unwrap_or_default();
        let record = PublishRecord { path: path.clone(), head };
        self.publish(&record);
        let mut progress = SessionProgress::default();
        self.append(at, Body::Publish(record), &mut progress);
        self.list(path, &mut progress);
        Ok(progress)
    }

    /// Records that a doubted effect has not happened, as a failed attempt, and lists it to be
    /// performed again.
    ///
    /// # Errors
    /// Fails when there is no doubt about the request.
    pub fn cleared(
        &mut self,
        path: &Path,
        why: &str,
        at: Instant,
    ) -> Result<SessionProgress, SessionRefusal> {
        let ask = self.ask_mut(path)?;
        let is_doubted = ask.standing == RequestStanding::InDoubt
            && ask.handling == Handling::Effect(EffectClass::Once);
        if !is_doubted {
            return Err(SessionRefusal::NotOpen { path: path.clone() });
        }
        ask.standing = RequestStanding::Open;
        self.attempted(path, why, Some(at), at)
    }
}
