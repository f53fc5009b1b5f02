//! Runs in memory: no repository, no record, gone when they end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use agentic_host::{Memory, RunExecutor};
use agentic_model::Value;
use agentic_providers::host::{
    CancelFlag, GRACE_DEFAULT, Host, HostExecutor, Limits, RequestPlace,
};
use agentic_replay::{
    End, Path, Program, ProgramEvent, Request, RequestAnswer, RequestHash, Seed, Start,
};
use agentic_session::unique_id;
use agentic_space::Clock;

use crate::Surroundings;
use crate::watcher::NoticeDesk;

/// How many requests are performed at once.
const WORKERS_MAX: usize = 256;

/// Where a run in memory takes place, and who performs what it asks.
pub(crate) struct MemoryStage<'c> {
    /// Whoever asked for it: programs run in the caller's folder.
    pub here: &'c Surroundings,
    /// Where it is said what else the caller should know.
    pub desk: &'c NoticeDesk<'c>,
    /// Who performs.
    pub executor: RunExecutor,
}

impl MemoryStage<'_> {
    /// Runs a program to its end.
    pub fn run(
        self,
        program: impl Program,
        input: Value,
        sink: &mut dyn FnMut(ProgramEvent),
    ) -> End {
        let here = self.here;
        drive(here, program, input, self.memory(), sink)
    }

    /// Runs a program to its end; what it asked before is answered as it was then. Returns all
    /// answers.
    pub fn run_again(
        self,
        program: impl Program,
        input: Value,
        answers: Answers,
        sink: &mut dyn FnMut(ProgramEvent),
    ) -> (End, Answers) {
        let here = self.here;
        let answers = Arc::new(Mutex::new(answers));
        let performer =
            RememberingPerformer { memory: self.memory(), answers: Arc::clone(&answers) };
        let end = drive(here, program, input, performer, sink);
        let answers = answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (end, answers)
    }

    /// Makes what performs the requests of a run, configured by what the caller's folder has.
    fn memory(self) -> Memory {
        let folder = self.here.folder.clone();
        if let Some(remark) = self.executor.configure(|| folder.clone()) {
            self.desk.warn(remark);
        }
        Memory::new(self.executor, folder, unique_id(), self.here.watcher.observer.clone())
    }
}

/// What was asked of a run, and what it was answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answers(BTreeMap<Path, (RequestHash, RequestAnswer)>);

/// Runs a program to its end.
fn drive(
    here: &Surroundings,
    program: impl Program,
    input: Value,
    performer: impl HostExecutor,
    sink: &mut dyn FnMut(ProgramEvent),
) -> End {
    let grace = here.watcher.grace.unwrap_or(GRACE_DEFAULT);
    let host = Host::new(performer).with_limits(Limits { workers_max: WORKERS_MAX, grace });
    host.run(program, &start(input), &here.watcher.stop, sink)
}

/// What a run begins with: the time, and randomness that no other run has.
fn start(input: Value) -> Start {
    let seed = unique_id().digest().try_into().expect("a content id is a hash of 32 bytes");
    Start { input, seed: Seed(seed), at: Clock::System.now() }
}

/// Names a run as no other is named.
pub(crate) fn fresh_id() -> String {
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
