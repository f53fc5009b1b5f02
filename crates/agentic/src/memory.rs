//! Runs in memory: no repository, no record, gone when they end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentic_lang_agent::MockTasks;
use agentic_model::{Cid, Value};
use agentic_providers::credential::Caller;
use agentic_providers::endpoint::{Call, Exchange};
use agentic_providers::executable::Executable;
use agentic_providers::host::{CancelFlag, Executor as Performer, Host, Limits, Place};
use agentic_providers::model::Repeats;
use agentic_providers::process::Charge;
use agentic_providers::provider::Stamp;
use agentic_replay::{
    Answer, End, Event, Failure, NOT_DATA, Path, Program, Request, RequestHash, RequestId, Seed,
    Start, Stopped,
};
use agentic_session::{CommandLine, Executor, Terminal};
use agentic_space::Clock;

use crate::output::warn;
use crate::{grace, screen};

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
    drive(program, input, Memory::new(executor, folder), sink)
}

/// Does the same, and returns what the built-in tasks of AgentLang remember then.
pub fn run_remembering(
    program: impl Program,
    input: Value,
    executor: Executor,
    folder: PathBuf,
    sink: &mut dyn FnMut(Event),
) -> (End, MockTasks) {
    let memory = Arc::new(Memory::new(executor, folder));
    let end = drive(program, input, Shared(Arc::clone(&memory)), sink);
    let remembered = memory.executor().mock().clone();
    (end, remembered)
}

/// Who performs the requests of a run, and is looked at when it is over.
struct Shared(Arc<Memory>);

impl Performer for Shared {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> Answer {
        self.0.perform(request, cancel)
    }

    fn place(&self, request: &Request) -> Place {
        self.0.place(request)
    }
}

/// What was asked of a run, and what it was answered.
#[derive(Debug, Clone, Default)]
pub struct Answers(BTreeMap<Path, (RequestHash, Answer)>);

/// Who performs the requests of a run that repeats an earlier one.
pub struct Again {
    /// Who performs what is new.
    pub executor: Executor,
    /// Where programs run.
    pub folder: PathBuf,
    /// What was asked before.
    pub answers: Answers,
}

/// Runs a program to its end; what it asked before is answered as it was then. Returns all answers.
pub fn run_again(
    program: impl Program,
    input: Value,
    again: Again,
    sink: &mut dyn FnMut(Event),
) -> (End, Answers) {
    let memory = Memory::new(again.executor, again.folder);
    let answers = Arc::new(Mutex::new(again.answers));
    let performer = Remembering { memory, answers: Arc::clone(&answers) };
    let end = drive(program, input, performer, sink);
    let answers = answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (end, answers)
}

/// Runs a program to its end, with somebody else who performs its requests.
pub fn drive(
    program: impl Program,
    input: Value,
    performer: impl Performer,
    sink: &mut dyn FnMut(Event),
) -> End {
    let limits = Limits { workers_max: WORKERS_MAX, grace: grace::of_process() };
    let host = Host::new(performer).with_limits(limits);
    host.run(program, &start(input), &CancelFlag::new(), sink)
}

/// What a run begins with: the time, and randomness that no other run has.
fn start(input: Value) -> Start {
    let seed = unique().digest().try_into().expect("a content id is a hash of 32 bytes");
    Start { input, seed: Seed(seed), at: Clock::System.now() }
}

/// Names a run as no other is named.
pub fn fresh_id() -> String {
    unique().to_string()
}

/// Returns what no other run has.
fn unique() -> Cid {
    let now = Clock::System.now();
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    Cid::of(format!("{} {} {number}", now.millis(), std::process::id()).as_bytes())
}

/// How often this process needed what no other run has.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// Performs a request once, however often it is asked.
struct Remembering {
    memory: Memory,
    answers: Arc<Mutex<Answers>>,
}

impl Performer for Remembering {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> Answer {
        let Ok(hash) = request.hash() else { return self.memory.perform(request, cancel) };
        let lock = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().0.get(&request.path).filter(|(known, _)| *known == hash).cloned();
        if let Some((_, answer)) = known {
            self.memory.executor().fold(request, &answer);
            return answer;
        }
        let answer = self.memory.perform(request, cancel);
        lock().0.insert(request.path.clone(), (hash, answer.clone()));
        answer
    }

    fn place(&self, request: &Request) -> Place {
        self.memory.place(request)
    }
}

/// Performs the requests of a run.
struct Memory {
    executor: Mutex<Executor>,
    folder: PathBuf,
    run: Cid,
    terminal: Option<Terminal>,
}

impl Memory {
    fn new(executor: Executor, folder: PathBuf) -> Memory {
        let terminal = screen::terminal();
        if let Some(remark) = executor.configure(|| folder.clone()) {
            warn(&remark);
        }
        let executor = Mutex::new(executor.with_terminal(terminal));
        Memory { executor, folder, run: unique(), terminal }
    }

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

    fn call(&self, call: Call, request: &Request, cancel: &CancelFlag) -> Answer {
        let key = self.key(request);
        let exchange = Exchange { call, key, headers: Vec::new(), limit: limit(request) };
        let url = exchange.call.url.clone();
        let cancel = cancel.in_charge(self.charge(request));
        let reply = self.caller(request).call(exchange, &cancel);
        self.executor().responded(&url, reply).answer
    }

    /// Calls a provider.
    fn provide(&self, request: &Request, cancel: &CancelFlag) -> Answer {
        let hash = match request.hash() {
            Ok(hash) => hash,
            Err(error) => return Answer::Failed(Failure::new(NOT_DATA, error.to_string())),
        };
        let session = self.run.to_string();
        let request_id = RequestId::derive(&session, &request.path, &hash);
        let stamp = Stamp { session, request_id, at: Clock::System.now(), found: None };
        let call = self.executor().provided(request, (stamp, Repeats::Caller), &self.folder);
        let Some(call) = call else { return Answer::Cancelled(Stopped::NotStarted) };
        let cancel = &cancel.in_charge(self.charge(request));
        let response = match self.terminal {
            Some(terminal) => (terminal.watch)(&call, cancel),
            None => call.perform(cancel, None),
        };
        response.answer
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
            return self.call(call, request, cancel);
        }
        if self.executor().is_provided(request) {
            return self.provide(request, cancel);
        }
        let computed = self.executor().compute(request);
        computed.unwrap_or_else(|| {
            let message = format!("nothing in memory performs `{}`", request.kind);
            Answer::Failed(Failure::new("unknown-kind", message))
        })
    }

    fn place(&self, request: &Request) -> Place {
        let executor = self.executor();
        let takes_time = executor.command(request).is_some()
            || executor.call(request).is_some()
            || executor.is_provided(request);
        if takes_time { Place::Pool } else { Place::Inline }
    }
}
