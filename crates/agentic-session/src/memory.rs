//! Runs in memory: who performs what they ask. No repository, no record, gone when they end.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentic_model::{Cid, Instant};
use agentic_providers::credential::CredentialCaller;
use agentic_providers::endpoint::{EndpointCall, Exchange};
use agentic_providers::executable::Executable;
use agentic_providers::host::{CancelFlag, HostExecutor, RequestPlace};
use agentic_providers::model::Repeats;
use agentic_providers::process::Charge;
use agentic_providers::provider::CallStamp;
use agentic_replay::{CancelExtent, NOT_DATA, ProgramFailure, Request, RequestAnswer, RequestId};

use super::executor::RunExecutor;
use super::observer::{self, Observer};
use super::performer::{Carrier, CommandLine};
use super::work::TIME_LIMIT;
use crate::Clock;

/// Performs the requests of a run in memory.
pub struct Memory {
    executor: Mutex<RunExecutor>,
    folder: PathBuf,
    run: Cid,
    observer: Option<Observer>,
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
        Memory { executor, folder, run, observer }
    }

    /// Takes note of a request that was answered before.
    pub fn fold(&self, request: &Request, answer: &RequestAnswer) {
        self.executor().fold(request, answer);
    }

    /// A panic under the lock leaves counters behind, never half of one.
    fn executor(&self) -> MutexGuard<'_, RunExecutor> {
        self.executor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn execute(
        &self,
        command: CommandLine,
        request: &Request,
        cancel: &CancelFlag,
    ) -> RequestAnswer {
        let program = command.argv.first().cloned().unwrap_or_default();
        let executable = Executable {
            argv: command.argv,
            folder: self.folder.clone(),
            input: command.stdin.into_bytes(),
            environment: Vec::new(),
            limit: limit(request),
        };
        let cancel = cancel.in_charge(self.charge(request));
        let outcome = self.caller(request).execute(executable, &cancel);
        self.executor().printed(&program, outcome).answer
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

    fn call(&self, call: EndpointCall, request: &Request, cancel: &CancelFlag) -> RequestAnswer {
        let key = self.key(request);
        let exchange = Exchange { call, key, headers: Vec::new(), limit: limit(request) };
        let url = exchange.call.url.clone();
        let cancel = cancel.in_charge(self.charge(request));
        let reply = self.caller(request).call(exchange, &cancel);
        self.executor().responded(&url, reply).answer
    }

    /// Calls a provider.
    fn provide(&self, request: &Request, cancel: &CancelFlag) -> RequestAnswer {
        let hash = match request.hash() {
            Ok(hash) => hash,
            Err(error) => {
                return RequestAnswer::Failed(ProgramFailure::new(NOT_DATA, error.to_string()));
            }
        };
        let session = self.run.to_string();
        let request_id = RequestId::derive(&session, &request.path, &hash);
        let at: Instant = Clock::System.now();
        let stamp = CallStamp { session, request_id, at, found: None };
        let call = self.executor().provided(request, (stamp, Repeats::Caller), &self.folder);
        let Some(call) = call else { return RequestAnswer::Cancelled(CancelExtent::NotStarted) };
        let cancel = &cancel.in_charge(self.charge(request));
        observer::perform(self.observer.as_ref(), &call, cancel).answer
    }

    fn caller(&self, request: &Request) -> CredentialCaller {
        self.executor().caller(request, self.folder.clone(), self.run.to_string())
    }
}

fn limit(request: &Request) -> Duration {
    request.timeout_ms.map_or(TIME_LIMIT, Duration::from_millis)
}

impl HostExecutor for Memory {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> RequestAnswer {
        // The lock is free while somebody outside is at work.
        let carrier = self.executor().carrier(request);
        match carrier {
            Carrier::Program(command) => self.execute(command, request, cancel),
            Carrier::Endpoint(call) => self.call(call, request, cancel),
            Carrier::Provider(_) => self.provide(request, cancel),
            Carrier::Person(_) | Carrier::Script | Carrier::Nobody => {
                self.executor().compute(request).unwrap_or_else(|| {
                    let message = format!("nothing in memory performs `{}`", request.kind);
                    RequestAnswer::Failed(ProgramFailure::new("unknown-kind", message))
                })
            }
        }
    }

    fn place(&self, request: &Request) -> RequestPlace {
        match self.executor().carrier(request) {
            Carrier::Program(_) | Carrier::Endpoint(_) | Carrier::Provider(_) => RequestPlace::Pool,
            Carrier::Person(_) | Carrier::Script | Carrier::Nobody => RequestPlace::Inline,
        }
    }
}
