//! Runs in memory: who performs what they ask. No repository, no record, gone when they end.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agentic_model::Cid;
use agentic_providers::host::{CancelFlag, HostExecutor, RequestPlace, system_now};
use agentic_providers::model::Repeats;
use agentic_providers::process::Charge;
use agentic_providers::provider::CallStamp;
use agentic_replay::{NOT_DATA, ProgramFailure, Request, RequestAnswer, RequestId};

use crate::executor::RunExecutor;
use crate::observer::Observer;
use crate::outside::{OutsideSetting, OutsideWork};
use crate::performer::Carrier;

/// Performs the requests of a run in memory.
pub struct Memory {
    executor: Mutex<RunExecutor>,
    folder: PathBuf,
    run: Cid,
}

impl Memory {
    /// Makes what performs the requests of a run whose programs run in a folder. No other run has
    /// its name.
    pub fn new(
        executor: RunExecutor,
        folder: PathBuf,
        run: Cid,
        observer: Option<Observer>,
    ) -> Memory {
        let executor = Mutex::new(executor.watched_by(observer.as_ref()));
        Memory { executor, folder, run }
    }

    /// Takes note of a request that was answered before.
    pub fn fold(&self, request: &Request, answer: &RequestAnswer) {
        self.executor().fold(request, answer);
    }

    /// A panic under the lock leaves counters behind, never half of one.
    fn executor(&self) -> MutexGuard<'_, RunExecutor> {
        self.executor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the key of a request. Nobody remembers a run in memory, so its requests are the same
    /// in no other run.
    fn key(&self, request: &Request) -> String {
        format!("{}/{}", self.run, request.path)
    }

    /// Says in whose name the programs of a request run: nobody comes later to look for them.
    fn charge(&self, request: &Request) -> Charge {
        Charge { request: Some(self.key(request)), ..Charge::default() }
    }

    /// Returns what somebody outside does for a request.
    fn outside(&self, request: &Request) -> Option<Result<OutsideWork, RequestAnswer>> {
        self.executor().outside(request, || OutsideSetting {
            folder: self.folder.clone(),
            run: self.run.to_string(),
            key: self.key(request),
            stamp: self.stamp(request),
        })
    }

    /// Stamps the call of a provider.
    fn stamp(&self, request: &Request) -> Result<(CallStamp, Repeats), RequestAnswer> {
        let hash = request.hash().map_err(|error| {
            RequestAnswer::Failed(ProgramFailure::new(NOT_DATA, error.to_string()))
        })?;
        let session = self.run.to_string();
        let request_id = RequestId::derive(&session, &request.path, &hash);
        let at = system_now();
        Ok((CallStamp { session, request_id, at, found: None }, Repeats::Caller))
    }
}

impl HostExecutor for Memory {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> RequestAnswer {
        // The lock is free while somebody outside is at work.
        let outside = self.outside(request);
        match outside {
            Some(Ok(work)) => work.perform(&cancel.in_charge(self.charge(request))).answer,
            Some(Err(answer)) => answer,
            None => self.executor().compute(request).unwrap_or_else(|| {
                let message = format!("nothing in memory performs `{}`", request.kind);
                RequestAnswer::Failed(ProgramFailure::new("unknown-kind", message))
            }),
        }
    }

    fn place(&self, request: &Request) -> RequestPlace {
        match self.executor().carrier(request) {
            Carrier::Program(_) | Carrier::Endpoint(_) | Carrier::Provider(_) => RequestPlace::Pool,
            Carrier::Person(_) | Carrier::Script | Carrier::Nobody => RequestPlace::Inline,
        }
    }
}
