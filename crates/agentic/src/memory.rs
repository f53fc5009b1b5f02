//! Runs in memory: no repository, no record, gone when they end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use agentic_model::Value;
use agentic_providers::host::{CancelFlag, Host, HostExecutor, Limits, RequestPlace};
use agentic_replay::{
    End, Path, Program, ProgramEvent, Request, RequestAnswer, RequestHash, Seed, Start,
};
use agentic_session::{Memory, RunExecutor, unique_id};
use agentic_space::Clock;

use crate::context::Context;
use crate::grace;
use crate::output::warn;

/// How many requests are performed at once.
const WORKERS_MAX: usize = 256;

/// Runs a program to its end, in the current folder.
pub fn run(
    context: &Context,
    program: impl Program,
    input: Value,
    executor: RunExecutor,
    sink: &mut dyn FnMut(ProgramEvent),
) -> End {
    drive(program, input, memory(context, executor), sink)
}

/// What was asked of a run, and what it was answered.
#[derive(Debug, Clone, Default)]
pub struct Answers(BTreeMap<Path, (RequestHash, RequestAnswer)>);

/// Who performs the requests of a run that repeats an earlier one.
pub struct Again {
    /// Who performs what is new.
    pub executor: RunExecutor,
    /// What was asked before.
    pub answers: Answers,
}

/// Runs a program to its end; what it asked before is answered as it was then. Returns all answers.
pub fn run_again(
    context: &Context,
    program: impl Program,
    input: Value,
    again: Again,
    sink: &mut dyn FnMut(ProgramEvent),
) -> (End, Answers) {
    let memory = memory(context, again.executor);
    let answers = Arc::new(Mutex::new(again.answers));
    let performer = RememberingPerformer { memory, answers: Arc::clone(&answers) };
    let end = drive(program, input, performer, sink);
    let answers = answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (end, answers)
}

/// Runs a program to its end.
fn drive(
    program: impl Program,
    input: Value,
    performer: impl HostExecutor,
    sink: &mut dyn FnMut(ProgramEvent),
) -> End {
    let limits = Limits { workers_max: WORKERS_MAX, grace: grace::of_process() };
    let host = Host::new(performer).with_limits(limits);
    host.run(program, &start(input), &CancelFlag::new(), sink)
}

/// What a run begins with: the time, and randomness that no other run has.
fn start(input: Value) -> Start {
    let seed = unique_id().digest().try_into().expect("a content id is a hash of 32 bytes");
    Start { input, seed: Seed(seed), at: Clock::System.now() }
}

/// Names a run as no other is named.
pub fn fresh_id() -> String {
    unique_id().to_string()
}

/// Performs a request once, however often it is asked.
struct RememberingPerformer {
    memory: Memory,
    answers: Arc<Mutex<Answers>>,
}

impl HostExecutor for RememberingPerformer {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> RequestAnswer {
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

    fn place(&self, request: &Request) -> RequestPlace {
        self.memory.place(request)
    }
}

/// Makes what performs the requests of a run, configured by what the current folder has.
fn memory(context: &Context, executor: RunExecutor) -> Memory {
    let folder = context.directory.clone();
    if let Some(remark) = executor.configure(|| folder.clone()) {
        warn(&remark);
    }
    Memory::new(executor, folder, unique_id(), context.person())
}
