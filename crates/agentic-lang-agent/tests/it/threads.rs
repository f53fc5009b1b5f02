//! The handler cases on the host with threads: handlers really run at the same time, and real
//! deadlines pass. Every other test uses simulated time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentic_lang_agent::{MockTasks, RunOptions, TraceCapture, compile, json, read, report};
use agentic_model::{Instant, Value};
use agentic_providers::host::{CancelFlag, Host, HostExecutor};
use agentic_replay::{End, ProgramFailure, Request, RequestAnswer, Seed, Start};

use crate::corpus::{Case, cases, sorted, text, words};
use crate::host::Kit;
use crate::testkit::TestKit;

/// The cases in which it matters that things happen at the same time, or take their time.
const CASES: [&str; 10] = [
    "p_parallel_block_overrides_workers",
    "p_parallel_peak_limited",
    "p_parallel_waits_for_all_on_failure",
    "p_parallel_workers_limit",
    "p_retry_then_success_trace",
    "p_timeout_caught",
    "p_timeout_fallback",
    "p_timeout_hit",
    "p_timeout_not_hit",
    "p_timeout_skips_retries",
];

/// Performs tasks in the thread that asks, and takes the time that they take.
#[derive(Default)]
struct Handlers {
    kit: Mutex<TestKit>,
    mock: Mutex<MockTasks>,
}

impl HostExecutor for Handlers {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> RequestAnswer {
        let millis = self.kit.lock().expect("no handler panics").begin(request);
        cancel.wait(Duration::from_millis(millis.unsigned_abs()));
        let mut kit = self.kit.lock().expect("no handler panics");
        let answer = kit.perform(request);
        kit.end(request);
        let mut mock = self.mock.lock().expect("no handler panics");
        answer.or_else(|| mock.perform(request)).unwrap_or_else(|| {
            RequestAnswer::Failed(ProgramFailure::new("unknown-task", "nobody does this"))
        })
    }
}

fn check(case: &Case) -> Result<(), String> {
    let invocation = agentic_lang_agent::invocation::parse(&words(case)).expect("cases are calls");
    let source = read("case.agent", &case.source).expect("cases are UTF-8");
    let module = compile(&source).map_err(|found| format!("{found:?}"))?;
    let options = RunOptions {
        workers: invocation.workers,
        handlers: Kit::Test.handlers(),
        trace: TraceCapture::On,
        ..RunOptions::default()
    };
    let run = module.run(&invocation.pipeline.unwrap_or_default(), options);
    let input = Value::Text(json::to_text(&invocation.input));
    let start = Start { input, seed: Seed([1; 32]), at: Instant::from_millis(0) };
    let mut events = Vec::new();
    let host = Host::new(Handlers::default());
    let end = host.run(run, &start, &CancelFlag::new(), &mut |event| events.push(event));
    let n_starts = report::trace_text(&events).matches("task_start").count();
    if n_starts == 0 {
        return Err("no trace".to_owned());
    }
    match (&end, case.expected.get("stdout_json")) {
        (End::Done(_), Some(wanted)) => {
            let result = report::result(&end).expect("a run gives a result");
            let shown = report::result_text(result).expect("small");
            let given = sorted(&json::from_text(&shown).expect("results are JSON"));
            if given == sorted(wanted) { Ok(()) } else { Err(format!("got {given}")) }
        }
        (End::Failed(failure), None) => {
            let class = agentic_lang_agent::code::class(&failure.code);
            let wanted = text(&case.expected, "class").map(str::to_owned);
            if class == wanted { Ok(()) } else { Err(format!("got {failure:?}")) }
        }
        (end, _) => Err(format!("got {end:?}")),
    }
}

#[test]
fn handlers_really_run_at_the_same_time() {
    let all: Arc<Vec<Case>> = Arc::new(cases("plugin"));
    let names: Vec<&str> = CASES.to_vec();
    let runs: Vec<_> = names
        .into_iter()
        .map(|name| {
            let all = Arc::clone(&all);
            let run = move || {
                let case = all.iter().find(|case| case.name == name).expect("the case is there");
                check(case).map_err(|error| format!("{name}: {error}"))
            };
            std::thread::spawn(run)
        })
        .collect();
    let results = runs.into_iter().map(|run| run.join().expect("no case panics"));
    let wrong: Vec<String> = results.filter_map(Result::err).collect();
    println!("threads: {} of {} right", CASES.len() - wrong.len(), CASES.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
