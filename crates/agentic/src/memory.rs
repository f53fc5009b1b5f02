//! Runs in memory: no repository, no record, gone when they end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agentic_model::{Cid, Value};
use agentic_providers::host::{CancelFlag, Executor as HostExecutor, Host, Limits, Place};
use agentic_replay::{Answer, End, Event, Path, Program, Request, RequestHash, Seed, Start};
use agentic_session::{Executor, Memory};
use agentic_space::Clock;

use crate::output::warn;
use crate::{grace, screen};

/// How many requests are performed at once.
const WORKERS_MAX: usize = 256;

/// Runs a program to its end.
pub fn run(
    program: impl Program,
    input: Value,
    executor: Executor,
    folder: PathBuf,
    sink: &mut dyn FnMut(Event),
) -> End {
    drive(program, input, memory(executor, folder), sink)
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
    let memory = memory(again.executor, again.folder);
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
    performer: impl HostExecutor,
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

impl HostExecutor for Remembering {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> Answer {
        let Ok(hash) = request.hash() else { return self.memory.perform(request, cancel) };
        let lock = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().0.get(&request.path).filter(|(known, _)| *known == hash).cloned();
        if let Some((_, answer)) = known {
            self.memory.fold(request, &answer);
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

/// Makes what performs the requests of a run, configured by what a folder has.
fn memory(executor: Executor, folder: PathBuf) -> Memory {
    if let Some(remark) = executor.configure(|| folder.clone()) {
        warn(&remark);
    }
    Memory::new(executor, folder, unique(), screen::terminal())
}
