//! Doubts: effects that may happen once at most and were under way when their process died.

use agentic_model::Instant;

use super::{Performance, RequestStanding, Session, SessionProgress, SessionRefusal};
use crate::{EffectClass, Handling, Path, Program};

impl<P: Program> Session<P> {
    /// Lists the effects of which nobody knows whether they happened, as they would be performed
    /// again, by path.
    pub fn doubted(&self) -> Vec<Performance> {
        let doubted = self.asks.iter().filter(|(_, ask)| ask.standing == RequestStanding::InDoubt);
        let class = EffectClass::Once;
        doubted.map(|(path, ask)| self.performance(path, ask, class)).collect()
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
