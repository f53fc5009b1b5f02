//! A host without threads: time is simulated, so that every run is exact and takes no time.
//!
//! Every run is done three times: once from start to end, once more to see that it is the same,
//! and once killed at a random request and resumed from the record of its answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agentic_lang_agent::{Data, MockTasks, TASK, json};
use agentic_model::{Instant, Value};
use agentic_replay::{
    End, HostStep, Path, ProgramEvent, ProgramFailure, Request, RequestAnswer, RequestHash, Seed,
    Start,
};

use crate::corpus::Setup;
use crate::testkit::TestKit;

/// Which handlers there are beyond the built-in ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kit {
    None,
    Test,
}

impl Kit {
    pub fn handlers(self) -> BTreeSet<String> {
        match self {
            Kit::None => BTreeSet::new(),
            Kit::Test => TestKit::NAMES.iter().map(|name| (*name).to_owned()).collect(),
        }
    }
}

/// How a run ended, and what it said.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub end: End,
    pub events: Vec<ProgramEvent>,
}

/// One line of the record of a run.
struct Recorded {
    path: Path,
    hash: RequestHash,
    answer: RequestAnswer,
    at: Instant,
}

/// When a run is killed.
#[derive(Clone, Copy)]
enum Kill {
    Never,
    After(usize),
}

/// Runs a program, replays it, and demands that every way has the same end.
pub fn run(
    program: &dyn Fn() -> agentic_lang_agent::ModuleRun,
    input: &Data,
    setup: Setup,
) -> Outcome {
    let input = Value::Text(json::to_text(input));
    let start = Start { input, seed: Seed([7; 32]), at: Instant::from_millis(1_000) };
    let mut whole = Simulation::new(setup.kit);
    let outcome = whole.run(program(), &start, &[], Kill::Never).expect("never killed");
    let count = whole.record.len();
    if count > 0 {
        let cut = (setup.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize % count;
        let mut killed = Simulation::new(setup.kit);
        let end = killed.run(program(), &start, &[], Kill::After(cut));
        assert!(end.is_none(), "the run is killed after {cut} of {count} answers");
        let mut resumed = Simulation::new(setup.kit);
        let again = resumed.run(program(), &start, &killed.record, Kill::Never);
        let again = again.expect("never killed");
        assert_eq!(again.end, outcome.end, "resumed after {cut} of {count} answers");
        let mut cold = Simulation::new(setup.kit);
        let cold = cold.run(program(), &start, &whole.record, Kill::Never).expect("never killed");
        assert_eq!(cold, outcome, "replayed from its record alone");
    }
    outcome
}

/// Something under way: when it will be over, in which order it began.
type Due = (i64, usize);

struct Simulation {
    kit: Kit,
    mock: MockTasks,
    testkit: TestKit,
    due: BTreeMap<Due, Path>,
    n_begun: usize,
    record: Vec<Recorded>,
}

impl Simulation {
    fn new(kit: Kit) -> Simulation {
        Simulation {
            kit,
            mock: MockTasks::default(),
            testkit: TestKit::default(),
            due: BTreeMap::new(),
            n_begun: 0,
            record: Vec::new(),
        }
    }

    /// Runs to the end, or until the kill.
    fn run(
        &mut self,
        program: agentic_lang_agent::ModuleRun,
        start: &Start,
        record: &[Recorded],
        kill: Kill,
    ) -> Option<Outcome> {
        let (mut run, first) = agentic_replay::ProgramRun::begin(program, start);
        let mut events = Vec::new();
        let mut step = first;
        for recorded in record {
            events.append(&mut step.events);
            assert_eq!(step.end, None, "the program ends before its record does");
            let request = run.open().get(&recorded.path).expect("what was asked is asked again");
            let request = Arc::clone(request);
            assert_eq!(request.hash().expect("payloads are data"), recorded.hash);
            self.fold(&request, &recorded.answer);
            step = run.deliver(&recorded.path, recorded.answer.clone(), recorded.at);
        }
        let mut now = run.now();
        if !record.is_empty() && step.end.is_none() {
            let open: Vec<Arc<Request>> = run.open().values().cloned().collect();
            step.opened = open;
        }
        loop {
            let HostStep { opened, withdrawn, events: said, end, scopes: _ } = step;
            events.extend(said);
            if let Some(end) = end {
                return Some(Outcome { end, events });
            }
            assert!(withdrawn.is_empty(), "programs withdraw only when they are cancelled");
            opened.iter().for_each(|request| self.begin(request, now));
            if matches!(kill, Kill::After(count) if count == self.record.len()) {
                return None;
            }
            let ((millis, _), path) = self.due.pop_first().expect("a program waits for something");
            now = Instant::from_millis(millis);
            let request = Arc::clone(run.open().get(&path).expect("a due request is open"));
            let answer = self.answer(&request, now);
            let hash = request.hash().expect("payloads are data");
            let recorded = Recorded { path: path.clone(), hash, answer: answer.clone(), at: now };
            self.record.push(recorded);
            step = run.deliver(&path, answer, now);
        }
    }

    /// Folds a recorded answer into the state of the executors.
    fn fold(&mut self, request: &Request, recorded: &RequestAnswer) {
        if self.kit == Kit::Test && self.testkit.adopt(request, recorded) {
            return;
        }
        if !matches!(recorded, RequestAnswer::TimedOut) {
            assert_eq!(self.perform(request), *recorded, "the fold gives the recorded answer");
        }
    }

    /// Begins a request: decides when it will be over.
    fn begin(&mut self, request: &Request, now: Instant) {
        let millis = match request.sleeps_until() {
            Some(until) => until.millis().max(now.millis()),
            None => now.millis() + self.takes(request),
        };
        self.due.insert((millis, self.n_begun), request.path.clone());
        self.n_begun += 1;
    }

    /// How long a request takes, its time limit included.
    fn takes(&mut self, request: &Request) -> i64 {
        let millis = match self.kit {
            Kit::Test => self.testkit.begin(request),
            Kit::None => 0,
        };
        let limit = request.timeout_ms.map_or(i64::MAX, |limit| limit as i64);
        millis.min(limit)
    }

    fn answer(&mut self, request: &Request, _now: Instant) -> RequestAnswer {
        let limit = request.timeout_ms.map_or(i64::MAX, |limit| limit as i64);
        if self.kit == Kit::Test && TestKit::duration(request) > limit {
            self.testkit.end(request);
            return RequestAnswer::TimedOut;
        }
        let answer = self.perform(request);
        if self.kit == Kit::Test {
            self.testkit.end(request);
        }
        answer
    }

    fn perform(&mut self, request: &Request) -> RequestAnswer {
        if request.sleeps_until().is_some() {
            return RequestAnswer::Ok(Value::Null);
        }
        if self.kit == Kit::Test
            && request.kind == TASK
            && let Some(answer) = self.testkit.perform(request)
        {
            return answer;
        }
        let answer = self.mock.perform(request);
        answer.unwrap_or_else(|| {
            RequestAnswer::Failed(ProgramFailure::new("unknown-task", "nobody does this"))
        })
    }
}
