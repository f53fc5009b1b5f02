//! Runs as durable sessions: broken off after every single record, read back from bytes, finished.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_lang_agent::{
    AgentModule, MockTasks, RunOptions, TraceCapture, compile, json, read, register_kinds, report,
};
use agentic_model::{AgentName, Cid, Instant, Value};
use agentic_replay::{
    AnswerSource, End, Engine, Kinds, Path, ProgramFailure, RecordChain, Request, RequestAnswer,
    Session, SessionOpening, SessionProgress, SessionSetting,
};

use crate::corpus::{cases, sorted, text};

/// A session that is kept as bytes, and the executor of its tasks.
struct Kept {
    frames: Vec<Vec<u8>>,
    objects: BTreeMap<Cid, Vec<u8>>,
    mock: MockTasks,
}

/// A program and its input.
struct Case {
    module: Arc<AgentModule>,
    pipeline: String,
    input: Value,
    salt: u64,
}

fn kinds() -> Kinds {
    let mut kinds = Kinds::built_in();
    register_kinds(&mut kinds);
    kinds
}

fn engine() -> Engine {
    Engine { language: "agentlang".to_owned(), semantics: 1 }
}

impl Case {
    fn program(&self) -> agentic_lang_agent::ModuleRun {
        let options = RunOptions { trace: TraceCapture::On, ..RunOptions::default() };
        self.module.run(&self.pipeline, options)
    }

    fn begin(&self) -> (Session<agentic_lang_agent::ModuleRun>, Kept) {
        let opening = SessionOpening {
            stamp: false,
            agent: AgentName::parse("alice").expect("a valid name"),
            flow: Cid::of(b"flow"),
            engine: engine(),
            input: self.input.clone(),
            key: "k".to_owned(),
            allow: Vec::new(),
            head: None,
            configuration: None,
            host: None,
        };
        let at = Instant::from_millis(1_000_000);
        let started = Session::start(opening, at, self.program(), &kinds());
        let (session, progress) = started.expect("the input is data");
        let (frames, objects) = (Vec::new(), BTreeMap::new());
        let mut kept = Kept { frames, objects, mock: MockTasks::default() };
        kept.keep(progress);
        (session, kept)
    }

    /// Answers whatever is open, in an order that only the salt decides, until the end.
    fn finish(&self, session: &mut Session<agentic_lang_agent::ModuleRun>, kept: &mut Kept) -> End {
        loop {
            if let Some(end) = session.end() {
                return end.clone();
            }
            let salt = self.salt;
            let order = |path: &Path| Cid::of(format!("{salt} {path}").as_bytes());
            let open = session.unanswered().min_by_key(|request| order(&request.path));
            let request = Arc::clone(open.expect("a session that is not over waits"));
            let now = Instant::from_millis(1_000_000 + 7 * session.chain().length() as i64);
            let at = request.sleeps_until().map_or(now, |until| until.max(now));
            let answer = kept.perform(&request);
            let progress = session.answered(&request.path, answer, AnswerSource::Executor, at);
            kept.keep(progress.expect("the request is open"));
        }
    }
}

impl Kept {
    fn keep(&mut self, progress: SessionProgress) {
        self.objects.extend(progress.objects);
        self.frames.extend(progress.links.into_iter().map(|link| link.bytes));
    }

    fn perform(&mut self, request: &Request) -> RequestAnswer {
        if request.sleeps_until().is_some() {
            return RequestAnswer::Ok(Value::Null);
        }
        let answer = self.mock.perform(request);
        answer.unwrap_or_else(|| {
            RequestAnswer::Failed(ProgramFailure::new("unknown-task", "nobody does this"))
        })
    }

    /// What is left when the process dies after so many records.
    fn up_to(&self, n_records: usize) -> Kept {
        let frames = self.frames[..n_records].to_vec();
        Kept { frames, objects: self.objects.clone(), mock: MockTasks::default() }
    }
}

fn check(case: &Case, name: &str) -> End {
    let (mut session, mut whole) = case.begin();
    let end = case.finish(&mut session, &mut whole);
    for cut in 1..whole.frames.len() {
        let mut kept = whole.up_to(cut);
        let journal =
            RecordChain::read(kept.frames.clone()).expect("what was appended is a journal");
        let (kinds, engine) = (kinds(), engine());
        let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &whole.objects };
        // The state of the executor is the fold over what was answered.
        let mock = &mut kept.mock;
        let mut fold = |request: &Request, _: &RequestAnswer| drop(mock.perform(request));
        let loaded = Session::load(&journal, case.program(), setting, &mut fold);
        let (mut session, progress) =
            loaded.unwrap_or_else(|error| panic!("{name} from record {cut}: {error}"));
        kept.keep(progress);
        assert_eq!(case.finish(&mut session, &mut kept), end, "{name} from record {cut}");
        assert_eq!(kept.frames, whole.frames, "{name} from record {cut}: other records");
    }
    end
}

#[test]
fn every_public_run_survives_being_killed_after_any_record() {
    let mut n_runs = 0;
    for (at, case) in cases("public").iter().enumerate() {
        let Some(wanted) = case.expected.get("stdout_json") else { continue };
        let source = read("case.agent", &case.source).expect("cases are UTF-8");
        let module = compile(&source).expect("the case runs");
        let pipeline = text(&case.args, "pipeline").expect("a run names its pipeline").to_owned();
        let inputs = case.args.get("inputs").expect("a run has inputs");
        let input = Value::Text(json::to_text(inputs));
        let case_run = Case { module, pipeline, input, salt: at as u64 };
        let end = check(&case_run, &case.name);
        let result = report::result(&end).expect("a run gives a result");
        let shown = report::result_text(result).expect("small");
        let given = json::from_text(&shown).expect("results are JSON");
        assert_eq!(sorted(&given), sorted(wanted), "{}", case.name);
        n_runs += 1;
    }
    println!("durable: {n_runs} runs");
    assert_eq!(n_runs, 45, "the number of runs has changed");
}
