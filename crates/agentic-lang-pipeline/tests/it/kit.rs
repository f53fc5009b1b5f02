//! What the cases run on: a scripted world, and drivers that kill and replay.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_lang_pipeline::native::Natives;
use agentic_lang_pipeline::run::{AgentCall, PipelineOptions, PipelineProgram, add_kinds};
use agentic_lang_pipeline::{CompiledSource, LANGUAGE, SEMANTICS_VERSION, compile};
use agentic_model::{AgentName, Cid, Instant, Value, json};
use agentic_plan::Registry;
use agentic_replay::{
    AnswerSource, Body, End, Engine, Kinds, Path, Program, ProgramFailure, ProgramRun, RecordChain,
    RecordLink, Request, RequestAnswer, RunFinish, Seed, Session, SessionOpening, SessionProgress,
    SessionSetting, Start,
};

/// What the world answers to the calls of each agent, in turn; the last answer stays.
#[derive(Default, Clone)]
pub struct Script {
    answers: BTreeMap<String, Vec<RequestAnswer>>,
}

impl Script {
    /// Adds the next answer of an agent, or of all holds under `hold`.
    pub fn on(mut self, agent: &str, answer: RequestAnswer) -> Script {
        self.answers.entry(agent.to_owned()).or_default().push(answer);
        self
    }

    /// Adds the next answer as JSON.
    pub fn json(self, agent: &str, text: &str) -> Script {
        let value = json::from_text(text).expect("the case is JSON");
        self.on(agent, RequestAnswer::Ok(value))
    }

    /// Adds a failure as the next answer.
    pub fn fail(self, agent: &str, code: &str) -> Script {
        self.on(agent, RequestAnswer::Failed(ProgramFailure::new(code, "as the case has it")))
    }
}

/// A world that answers by a script, natives by themselves, and says what it was asked.
#[derive(Clone)]
pub struct World {
    pub script: Script,
    /// How often each agent was asked.
    counts: BTreeMap<String, usize>,
    pub asked: Vec<(Path, String)>,
}

impl World {
    pub fn new(script: Script) -> World {
        World { script, counts: BTreeMap::new(), asked: Vec::new() }
    }

    pub fn perform(&mut self, request: &Request) -> RequestAnswer {
        self.asked.push((request.path.clone(), request.kind.clone()));
        let who = match AgentCall::of(request) {
            Some(call) => call.agent,
            None => request.kind.clone(),
        };
        if let Some(answers) = self.script.answers.get(&who) {
            let count = self.counts.entry(who).or_default();
            let answer = answers.get(*count).or(answers.last()).expect("a script has an answer");
            *count += 1;
            return answer.clone();
        }
        perform_native(request)
    }
}

/// Performs natives; everything else is unknown.
pub fn perform_native(request: &Request) -> RequestAnswer {
    let function = request.payload.get("function").and_then(Value::as_text);
    let call = AgentCall::of(request);
    match function
        .zip(call)
        .and_then(|(function, call)| Natives::default().perform(function, &call))
    {
        Some(Ok(value)) => RequestAnswer::Ok(value),
        Some(Err(failure)) => RequestAnswer::Failed(failure),
        None => RequestAnswer::Failed(ProgramFailure::new("unknown-kind", request.kind.clone())),
    }
}

pub fn start(input: Value) -> Start {
    Start { input, seed: Seed([7; 32]), at: Instant::from_millis(1_000_000) }
}

pub fn suite(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/pipeline").join(path)
}

pub fn suite_registry() -> Arc<Registry> {
    let text = std::fs::read_to_string(suite("registry.json")).expect("the suite is there");
    Arc::new(Registry::from_json(&text).expect("the suite's registry is well-formed"))
}

pub fn compiled(source: &str) -> CompiledSource {
    compile(source, suite_registry()).unwrap_or_else(|findings| panic!("{source}: {findings:#?}"))
}

pub fn program(source: &str) -> PipelineProgram {
    PipelineProgram::new(&compiled(source), PipelineOptions::default())
}

/// Runs a source to its end, always performing the first open request in path order.
pub fn run(source: &str, script: Script) -> (End, World) {
    let mut world = World::new(script);
    let RunFinish { end, .. } =
        agentic_replay::run_to_end(program(source), &start(Value::Null), |request| {
            world.perform(request)
        });
    (end, world)
}

/// Runs with its steps in hand, to look at what is open.
pub fn begin(source: &str) -> (ProgramRun<PipelineProgram>, agentic_replay::HostStep) {
    ProgramRun::begin(program(source), &start(Value::Null))
}

/// Returns the results of all blocks, or the failure as `Code: message`.
pub fn outcome(end: &End) -> Result<Vec<Value>, String> {
    match end {
        End::Done(value) => Ok(agentic_lang_pipeline::run::RunResult::values_of(value)),
        End::Failed(failure) => Err(format!("{}: {}", failure.code, failure.message)),
        End::Cancelled => Err("cancelled".to_owned()),
    }
}

/// The journal of a durable run.
#[derive(Default, Clone)]
struct Kept {
    frames: Vec<Vec<u8>>,
    objects: BTreeMap<Cid, Vec<u8>>,
}

impl Kept {
    fn keep(&mut self, progress: &mut SessionProgress) {
        self.objects.extend(std::mem::take(&mut progress.objects));
        self.frames.extend(progress.links.drain(..).map(|link: RecordLink| link.bytes));
    }
}

fn kinds() -> Kinds {
    let mut kinds = Kinds::built_in();
    add_kinds(&mut kinds);
    kinds
}

fn engine() -> Engine {
    Engine { language: LANGUAGE.to_owned(), semantics: SEMANTICS_VERSION }
}

/// What a durable run came to.
pub struct Durable {
    pub end: End,
    /// Every request that was performed, with its payload, in path order.
    pub performed: Vec<(Path, String, String)>,
    pub n_records: usize,
}

/// Runs durably to the end; then again, killed after every record and taken up from the journal.
/// The requests and the result must be the same each time, and nothing with an answer is asked
/// again. Returns the first run.
pub fn durable_with_kills(
    make: impl Fn() -> PipelineProgram,
    answer: impl Fn(&Request) -> RequestAnswer,
) -> Durable {
    let (whole, frames) = durable(&make, &answer, Kept::default());
    for n_records in 1..frames.frames.len() {
        let kept =
            Kept { frames: frames.frames[..n_records].to_vec(), objects: frames.objects.clone() };
        let (again, again_frames) = durable(&make, &answer, kept);
        assert_eq!(again.end, whole.end, "killed after record {n_records}");
        assert_eq!(again_frames.frames, frames.frames, "killed after record {n_records}");
        let is_known = |done| whole.performed.contains(done);
        assert!(again.performed.iter().all(is_known), "killed after record {n_records}");
        let n_open = whole.performed.len() - n_answered(&frames.frames[..n_records]);
        assert_eq!(again.performed.len(), n_open, "killed after record {n_records}");
    }
    whole
}

/// Counts what executors have answered.
fn n_answered(frames: &[Vec<u8>]) -> usize {
    let journal = RecordChain::read(frames.to_vec()).expect("a journal");
    let by_executor = journal
        .records()
        .iter()
        .filter(|record| matches!(&record.body, Body::Answer(answer) if answer.by == AnswerSource::Executor));
    by_executor.count()
}

fn durable(
    make: &impl Fn() -> PipelineProgram,
    answer: &impl Fn(&Request) -> RequestAnswer,
    mut kept: Kept,
) -> (Durable, Kept) {
    let (kinds, engine) = (kinds(), engine());
    let (mut session, mut progress) = if kept.frames.is_empty() {
        let opening = SessionOpening {
            stamp: false,
            agent: AgentName::parse("alice").expect("a valid name"),
            flow: Cid::of(b"flow"),
            engine: engine.clone(),
            input: Value::Null,
            key: "k".to_owned(),
            allow: vec!["*".to_owned()],
            head: None,
            configuration: None,
            host: None,
        };
        let at = Instant::from_millis(1_000_000);
        Session::start(opening, at, make(), &kinds).expect("the input is data")
    } else {
        let journal = RecordChain::read(kept.frames.clone()).expect("a journal");
        let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &kept.objects };
        Session::load(&journal, make(), setting, &mut |_, _| {}).expect("nothing changed")
    };
    let mut performed = Vec::new();
    loop {
        kept.keep(&mut progress);
        if session.end().is_some() {
            break;
        }
        let first = session.unanswered().min_by(|left, right| left.path.cmp(&right.path));
        let request = first.expect("a session that is not over waits").clone();
        let at = Instant::from_millis(1_000_000 + 7 * session.chain().length() as i64);
        let (at, by, given) = match request.sleeps_until() {
            Some(until) => (at.max(until), AnswerSource::Timer, RequestAnswer::Ok(Value::Null)),
            None => {
                let payload = json::to_text(&request.payload);
                performed.push((request.path.clone(), request.kind.clone(), payload));
                (at, AnswerSource::Executor, answer(&request))
            }
        };
        progress = session.answered(&request.path, given, by, at).expect("the request is open");
    }
    performed.sort();
    let end = session.end().expect("the session is over").clone();
    let n_records = kept.frames.len();
    (Durable { end, performed, n_records }, kept)
}

/// Checks that a program is a program: not only the sources of this suite must compile.
pub fn is_program<P: Program + Send>(_: &P) {}
