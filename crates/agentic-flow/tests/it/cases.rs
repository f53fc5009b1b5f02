//! The cases of `conformance/flow`: scripts with a transcript of what they ask and get.
//!
//! A case is a script whose comments tell its run, line by line:
//!
//! ```text
//! //$ {"n":1}            the input (first line, may be missing)
//! //+ 0 exec {"a":1}     a request opens
//! //- b1/0               a request is withdrawn
//! //. print "x"          something is said
//! //< 0 ok 5             an answer: ok JSON, fail CODE, timeout, cancelled
//! //< cancel reason      the run is asked to stop
//! //< signal NAME JSON   a signal comes; who waits for it gets it
//! //= ok 5               the end: ok JSON, failed CODE MESSAGE…, cancelled, continue JSON
//! ```
//!
//! Files `module-NAME.rhai` are no cases but modules; `@NAME` in a case stands for the id.
//!
//! Each case is run as a session, then broken off after every record, loaded and run on, with its
//! finished scopes and without: every record has to come out the same.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::PathBuf;

use agentic_flow::{Flow, FlowProgram, engine};
use agentic_model::{AgentName, Cid, Instant, Value, json};
use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_replay::{
    AnswerSource, CancelExtent, End, Kinds, Path, ProgramFailure, RecordChain, Request,
    RequestAnswer, Session, SessionOpening, SessionProgress, SessionSetting, Signal,
    SignalDelivery,
};

/// What a host keeps of a run, and what it saw.
#[derive(Default)]
struct Host {
    frames: Vec<Vec<u8>>,
    objects: BTreeMap<Cid, Vec<u8>>,
    seen: Vec<String>,
}

/// What becomes of finished scopes when a session is loaded.
#[derive(Debug, Clone, Copy)]
enum Scopes {
    Run,
    Skipped,
}

struct Case {
    script: String,
    input: Value,
    transcript: Vec<String>,
    modules: BTreeMap<Cid, String>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/flow")
}

fn read(mut script: String, modules: &BTreeMap<String, String>) -> Case {
    let id = |source: &String| Cid::of(source.as_bytes());
    for (name, source) in modules {
        script = script.replace(&format!("@{name}"), &id(source).to_string());
    }
    let modules = modules.values().map(|source| (id(source), source.clone())).collect();
    let lines = script.lines().filter_map(|line| line.strip_prefix("//"));
    let is_told = |line: &&str| line.starts_with(['+', '-', '.', '<', '=']);
    let transcript = lines.clone().filter(is_told).map(str::to_owned).collect();
    let input = lines.clone().find_map(|line| line.strip_prefix("$ "));
    let input = input.map_or(Value::Null, |text| json::from_text(text).expect("the input is JSON"));
    Case { input, transcript, script, modules }
}

impl Case {
    fn program(&self) -> FlowProgram {
        let flow = Flow::parse_with(&self.script, self.modules.clone());
        flow.unwrap_or_else(|findings| panic!("{findings:?}\n{}", self.script)).program()
    }

    /// The answers of the transcript, in order.
    fn answers(&self) -> VecDeque<&str> {
        self.transcript.iter().filter_map(|line| line.strip_prefix("< ")).collect()
    }

    fn begin(&self, host: &mut Host) -> Session<FlowProgram> {
        let opening = SessionOpening {
            stamp: false,
            agent: AgentName::parse("alice").expect("a valid name"),
            flow: Cid::of(self.script.as_bytes()),
            engine: engine(),
            input: self.input.clone(),
            key: "case".to_owned(),
            allow: vec!["*".to_owned()],
            head: None,
            configuration: None,
            host: None,
        };
        let at = Instant::from_millis(1_000_000);
        let started = Session::start(opening, at, self.program(), &Kinds::built_in());
        let (mut session, progress) = started.expect("the input is data");
        host.take_in(&mut session, progress);
        session
    }

    fn load(&self, host: &mut Host, scopes: Scopes) -> Session<FlowProgram> {
        let journal = RecordChain::read(host.frames.clone()).expect("it is a journal");
        let (engine, kinds) = (engine(), Kinds::built_in());
        let objects = host.objects.clone();
        let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &objects };
        let (program, mut fold) = (self.program(), |_: &Request, _: &RequestAnswer| {});
        let loaded = match scopes {
            Scopes::Run => Session::load(&journal, program, setting, &mut fold),
            Scopes::Skipped => Session::resume(&journal, program, setting, &mut fold),
        };
        let (mut session, progress) = loaded.unwrap_or_else(|error| panic!("{error}"));
        host.take_in(&mut session, progress);
        host.deliver_signals(&mut session);
        session
    }

    fn run(&self, host: &mut Host, session: &mut Session<FlowProgram>, answers: VecDeque<&str>) {
        for line in answers {
            if session.end().is_some() {
                break;
            }
            host.seen.push(format!("< {line}"));
            let progress = answer(session, line);
            if let Some(progress) = progress {
                host.take_in(session, progress);
                host.deliver_signals(session);
            }
        }
    }
}

/// Carries out one line of answers; nothing if it was answered before.
fn answer(session: &mut Session<FlowProgram>, line: &str) -> Option<SessionProgress> {
    let at = Instant::from_millis(session.chain().at().millis() + 1_000);
    if let Some(why) = line.strip_prefix("cancel ") {
        let (who, why) = ("bob".to_owned(), why.to_owned());
        return session.cancel(CancelRecord { who, why, mode: CancelMode::Cooperative }, at).ok();
    }
    if let Some((name, value)) = line.strip_prefix("signal ").and_then(|rest| rest.split_once(' '))
    {
        let value = json::from_text(value).expect("the value is JSON");
        let id = session.chain().length().to_string();
        return session.signal(Signal { id, name: name.to_owned(), value }, at).ok();
    }
    let (path, rest) = line.split_once(' ').expect("a path and an answer");
    let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let answer = match word {
        "ok" => RequestAnswer::Ok(json::from_text(rest).expect("the answer is JSON")),
        "fail" => RequestAnswer::Failed(ProgramFailure::new(rest, "as the case has it")),
        "timeout" => RequestAnswer::TimedOut,
        "cancelled" => RequestAnswer::Cancelled(CancelExtent::Stopped),
        word => panic!("`{word}` is no answer"),
    };
    let path = Path::parse(path).expect("a path");
    session.answered(&path, answer, AnswerSource::Executor, at).ok()
}

impl Host {
    /// Keeps the records, notes what is seen, and answers what was withdrawn.
    fn take_in(&mut self, session: &mut Session<FlowProgram>, progress: SessionProgress) {
        for withdrawn in &progress.withdrawn {
            self.seen.push(format!("- {}", withdrawn.request.path));
        }
        let opened = progress.links.iter().filter_map(|link| {
            if let agentic_replay::Body::Ask(ask) = &link.record.body { Some(ask) } else { None }
        });
        self.objects.extend(progress.objects);
        for ask in opened {
            let payload = ask.payload.value(&self.objects).expect("payloads are kept");
            self.seen.push(format!("+ {} {} {}", ask.path, ask.kind, json::to_text(&payload)));
        }
        for event in &progress.events {
            self.seen.push(format!(". {} {}", event.kind, json::to_text(&event.data)));
        }
        self.seen.extend(progress.end.as_ref().map(show_end));
        self.frames.extend(progress.links.into_iter().map(|link| link.bytes));
        for withdrawn in progress.withdrawn {
            let answer = RequestAnswer::Cancelled(CancelExtent::NotStarted);
            let at = session.chain().at();
            let by = AnswerSource::System("withdrawn".to_owned());
            let more = session.answered(&withdrawn.request.path, answer, by, at);
            self.take_in(session, more.expect("it has no answer yet"));
        }
    }

    /// Gives the signals that somebody waits for to who asked first.
    fn deliver_signals(&mut self, session: &mut Session<FlowProgram>) {
        while let Some(SignalDelivery { seq, path, value }) = session.signalled() {
            let at = session.chain().at();
            let more =
                session.answered(&path, RequestAnswer::Ok(value), AnswerSource::Signal(seq), at);
            self.take_in(session, more.expect("it waits for the signal"));
        }
    }
}

fn show_end(end: &End) -> String {
    if let Some(state) = end.continued_with() {
        return format!("= continue {}", json::to_text(state));
    }
    match end {
        End::Done(value) => format!("= ok {}", json::to_text(value)),
        End::Failed(failure) => format!("= failed {} {}", failure.code, failure.message),
        End::Cancelled => "= cancelled".to_owned(),
    }
}

fn check(case: &Case) -> Result<(), String> {
    let mut host = Host::default();
    let mut session = case.begin(&mut host);
    case.run(&mut host, &mut session, case.answers());
    if host.seen != case.transcript {
        let lines: Vec<String> = host.seen.iter().map(|line| format!("//{line}")).collect();
        return Err(format!("it went like this:\n{}", lines.join("\n")));
    }
    let scopes = [Scopes::Run, Scopes::Skipped];
    for (n_records, scopes) in (1..=host.frames.len()).flat_map(|n| scopes.map(|how| (n, how))) {
        let frames = host.frames[..n_records].to_vec();
        let mut again = Host { frames, objects: host.objects.clone(), seen: Vec::new() };
        let mut session = case.load(&mut again, scopes);
        let n_answers = answers_given(&again.frames[..n_records]);
        let rest = case.answers().into_iter().skip(n_answers).collect();
        case.run(&mut again, &mut session, rest);
        if again.frames != host.frames {
            return Err(format!(
                "broken off after record {n_records}, {scopes:?}, it went another way"
            ));
        }
    }
    Ok(())
}

/// Counts the lines of the transcript that records hold: answers and cancellations that did not
/// come from the host itself.
fn answers_given(frames: &[Vec<u8>]) -> usize {
    let journal = RecordChain::read(frames.to_vec()).expect("it is a journal");
    let given = journal.records().iter().filter(|record| {
        use agentic_replay::Body;
        matches!(&record.body, Body::Answer(answer) if answer.by == AnswerSource::Executor)
            || matches!(&record.body, Body::Cancel(_) | Body::Signal(_))
    });
    given.count()
}

#[test]
fn every_case_of_the_suite_runs_and_replays() {
    let mut files: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the suite is there")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rhai"))
        .collect();
    files.sort();
    let text = |path: &PathBuf| fs::read_to_string(path).expect("a readable case");
    let name = |path: &PathBuf| path.file_stem().expect("a file").to_string_lossy().into_owned();
    let module =
        |path: &PathBuf| Some((name(path).strip_prefix("module-")?.to_owned(), text(path)));
    let modules: BTreeMap<String, String> = files.iter().filter_map(module).collect();
    let (mut n_passed, mut failures) = (0, Vec::new());
    for path in files.iter().filter(|path| module(path).is_none()) {
        let name = name(path);
        match check(&read(text(path), &modules)) {
            Ok(()) => n_passed += 1,
            Err(reason) => failures.push(format!("{name}: {reason}")),
        }
    }
    println!("flow: {n_passed} passed, {} failed", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(n_passed >= 30, "only {n_passed} cases were found");
}
