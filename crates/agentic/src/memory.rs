//! Runs in memory: no repository, no record, gone when they end.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentic_model::{Cid, Value};
use agentic_providers::credential::Caller;
use agentic_providers::endpoint::{Call, Exchange};
use agentic_providers::executable::Executable;
use agentic_providers::host::{CancelFlag, Executor as Performer, Host, Limits, Place};
use agentic_replay::{Answer, End, Event, Failure, Program, Request, Seed, Start};
use agentic_space::Clock;
use agentic_space::session::{CommandLine, Executor};

/// How many requests are performed at once.
const WORKERS_MAX: usize = 256;
/// How long a program may take where nothing says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Runs a program to its end.
pub fn run(
    program: impl Program,
    input: Value,
    executor: Executor,
    folder: PathBuf,
    sink: &mut dyn FnMut(Event),
) -> End {
    let run = unique();
    drive(program, input, Memory { executor: Mutex::new(executor), folder, run }, sink)
}

/// Runs a program to its end, with somebody else who performs its requests.
pub fn drive(
    program: impl Program,
    input: Value,
    performer: impl Performer,
    sink: &mut dyn FnMut(Event),
) -> End {
    let limits = Limits { workers_max: WORKERS_MAX, ..Limits::default() };
    let host = Host::new(performer).with_limits(limits);
    host.run(program, &start(input), &CancelFlag::new(), sink)
}

/// What a run begins with: the time, and randomness that no other run has.
fn start(input: Value) -> Start {
    let seed = unique().digest().try_into().expect("a content id is a hash of 32 bytes");
    Start { input, seed: Seed(seed), at: Clock::System.now() }
}

/// Returns what no other run has.
fn unique() -> Cid {
    let now = Clock::System.now();
    Cid::of(format!("{} {}", now.millis(), std::process::id()).as_bytes())
}

/// Performs the requests of a run.
struct Memory {
    executor: Mutex<Executor>,
    folder: PathBuf,
    run: Cid,
}

impl Memory {
    /// A panic under the lock leaves counters behind, never half of one.
    fn executor(&self) -> MutexGuard<'_, Executor> {
        self.executor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn execute(&self, command: CommandLine, request: &Request, cancel: &CancelFlag) -> Answer {
        let program = command.argv.first().cloned().unwrap_or_default();
        let executable = Executable {
            argv: command.argv,
            folder: self.folder.clone(),
            input: command.stdin.into_bytes(),
            environment: Vec::new(),
            limit: limit(request),
        };
        let outcome = self.caller(request).execute(executable, cancel);
        self.executor().printed(&program, outcome)
    }

    fn call(&self, call: Call, request: &Request) -> Answer {
        // Nobody remembers a run in memory, so its requests are the same in no other run.
        let key = format!("{}/{}", self.run, request.path);
        let exchange = Exchange { call, key, headers: Vec::new(), limit: limit(request) };
        let url = exchange.call.url.clone();
        let reply = self.caller(request).call(exchange);
        self.executor().responded(&url, reply)
    }

    fn caller(&self, request: &Request) -> Caller {
        self.executor().caller(request, self.folder.clone(), self.run.to_string())
    }
}

fn limit(request: &Request) -> Duration {
    request.timeout_ms.map_or(TIME_LIMIT, Duration::from_millis)
}

impl Performer for Memory {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> Answer {
        let command = self.executor().command(request);
        if let Some(command) = command {
            return self.execute(command, request, cancel);
        }
        let call = self.executor().call(request);
        if let Some(call) = call {
            return self.call(call, request);
        }
        let computed = self.executor().compute(request);
        computed.unwrap_or_else(|| {
            let message = format!("nothing in memory performs `{}`", request.kind);
            Answer::Failed(Failure::new("unknown-kind", message))
        })
    }

    fn place(&self, request: &Request) -> Place {
        let executor = self.executor();
        let takes_time = executor.command(request).is_some() || executor.call(request).is_some();
        if takes_time { Place::Pool } else { Place::Inline }
    }
}
