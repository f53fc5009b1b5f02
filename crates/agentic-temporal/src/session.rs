//! Sessions of any program on a server: starting them, and what they are told.

use agentic_model::{Value, canonical};
use agentic_replay::SessionId;
use agentic_replay::engine::{Cancellation, DurableEngine as _, Result, RunId};
use agentic_replay::record::CancelRecord;
use agentic_session::Begin;
use agentic_session::decide::VALUE_BYTES_MAX;
use agentic_session::error::{RequestError, SessionError};
use agentic_session::hosted::{continued_as, signal_id};

use crate::client::RunFate;
use crate::decision::SignalAsk;
use crate::engine::{RunClock, refused};
use crate::wire::WireValue;
use crate::{Error, TemporalEngine};

impl TemporalEngine<'_> {
    /// Starts a session, or finds the one that there is, and waits until it goes no further by itself.
    ///
    /// # Errors
    /// Fails when it is another host's, and when the server refuses it.
    pub fn start_session(&self, begin: Begin) -> Result<SessionId> {
        self.start_and_rest(begin, RunClock::Runs)
    }

    /// Does the same with a clock that begins at the time of the space and moves only as far as the
    /// program waits: for comparisons with another engine.
    ///
    /// # Errors
    /// Fails as [`TemporalEngine::start_session`] does.
    pub fn start_pinned(&self, begin: Begin) -> Result<SessionId> {
        self.start_and_rest(begin, RunClock::Waits)
    }

    fn start_and_rest(&self, begin: Begin, clock: RunClock) -> Result<SessionId> {
        let id = begin.session().map_err(refused)?;
        let run = self.claim_and_start(begin, clock)?;
        self.rest(&run)?;
        let mut next = id;
        while let Some(after) = continued_as(self.space, &next).map_err(refused)? {
            self.rest(&RunId::new(after.to_string()))?;
            next = after;
        }
        Ok(id)
    }

    /// Waits until a run goes no further by itself, and has it seal what it has recorded.
    fn rest(&self, run: &RunId) -> Result<()> {
        self.go_on(run)?;
        self.read(run)
    }

    /// Sends a session what it waits for, or will wait for. When this returns it is recorded.
    ///
    /// # Errors
    /// Fails when the session is over, and when the server refuses it.
    pub fn signal(&self, session: &SessionId, name: &str, value: &Value) -> Result<()> {
        let run = RunId::new(session.to_string());
        let length = canonical::encode(value).map_or(0, |bytes| bytes.len());
        if length > VALUE_BYTES_MAX {
            let reason = format!("it is longer than {VALUE_BYTES_MAX} bytes");
            let misfit = RequestError::ValueMisfit { pointer: String::new(), reason };
            return Err(refused(Error::Session(misfit.into())));
        }
        let id = signal_id();
        let ask = SignalAsk { id, name: name.to_owned(), value: WireValue::of(value) };
        let client = self.run(&run);
        if self.runtime.block_on(client.signal(ask)).map_err(refused)? == RunFate::Closed {
            let over = SessionError::Over { id: session.short() };
            return Err(refused(Error::Session(over.into())));
        }
        // What it shows of itself is from before until it has taken it in; then it answers.
        let _nobody_may_work = self.runtime.block_on(client.view());
        self.rest(&run)
    }

    /// Stops a session, and waits until it has stopped.
    ///
    /// # Errors
    /// Fails when the session is over, and when the server refuses it.
    pub fn stop(&self, session: &SessionId, cancel: CancelRecord) -> Result<()> {
        let CancelRecord { who, why, mode } = cancel;
        let run = RunId::new(session.to_string());
        self.cancel(&run, &Cancellation { who, why, mode })
    }
}
