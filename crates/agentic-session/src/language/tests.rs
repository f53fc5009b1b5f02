//! A fifth language, of a few lines: to run it takes this front end and one line of the list of
//! languages.
//!
//! A program has a request on each line, `KIND TEXT`, one after the other, and ends with the list of
//! their answers. `upper` is answered here, `hold` by a human.

mod of_file;

use agentic_host::{Memory, Performer, PerformerSetting};
use agentic_model::{Instant, Object, Value};
use agentic_providers::host::{CancelFlag, Host};
use agentic_replay::{
    Delivery, EffectClass, End, Handling, KindRule, Kinds, Language, Path, PinnedProgram, Program,
    ProgramFault, Request, RequestAnswer, Seed, SessionState, Start, Turn, behaviour, source_of,
};

use super::LanguageEntry;
use crate::decide::Action;
use crate::tests::{decide_open, space_with_an_agent};
use crate::{
    Begin, Clock, KeySource, ReplayVerdict, SessionOptions, SessionSpace, executor_of, replay,
    resume, start,
};

/// The line that adds the language.
pub(crate) const LINES: LanguageEntry = LanguageEntry { language: &Lines, performer };

const UPPER: &str = "upper";

#[derive(Debug)]
struct Lines;

impl Language for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn semantics(&self) -> u32 {
        1
    }

    fn add_kinds(&self, _flow: &Object, kinds: &mut Kinds) -> Result<(), ProgramFault> {
        kinds.set(UPPER, KindRule::new(Handling::Effect(EffectClass::Pure)));
        Ok(())
    }

    fn program(&self, pinned: &PinnedProgram<'_>) -> Result<Box<dyn Program>, ProgramFault> {
        let lines = source_of(pinned.flow)?.lines().map(str::to_owned).collect();
        Ok(Box::new(Run { lines, answers: Vec::new() }))
    }
}

/// A run: the lines, and the answers to the first of them.
struct Run {
    lines: Vec<String>,
    answers: Vec<Value>,
}

impl Run {
    fn next(&self) -> Turn {
        let n_answers = self.answers.len();
        let Some(line) = self.lines.get(n_answers) else {
            let end = End::Done(Value::List(self.answers.clone()));
            return Turn { end: Some(end), ..Turn::default() };
        };
        let (kind, text) = line.split_once(' ').unwrap_or((line, ""));
        let path = Path::parse(&n_answers.to_string()).expect("a number is a path");
        let payload = Value::map([("question", Value::text(text))]);
        Turn { opened: vec![Request::new(path, kind, payload)], ..Turn::default() }
    }
}

impl Program for Run {
    fn start(&mut self, _start: &Start) -> Turn {
        self.next()
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        match delivery.answer {
            RequestAnswer::Ok(value) => self.answers.push(value),
            RequestAnswer::Failed(failure) => {
                return Turn { end: Some(End::Failed(failure)), ..Turn::default() };
            }
            RequestAnswer::Cancelled(_) | RequestAnswer::TimedOut => {
                return Turn { end: Some(End::Cancelled), ..Turn::default() };
            }
        }
        self.next()
    }

    fn cancel(&mut self, _reason: &str, _at: Instant) -> Turn {
        Turn { end: Some(End::Cancelled), ..Turn::default() }
    }
}

fn performer(_setting: &PerformerSetting<'_>) -> Result<Box<dyn Performer>, ProgramFault> {
    Ok(Box::new(Upper))
}

#[derive(Debug)]
struct Upper;

impl Performer for Upper {
    fn compute(&mut self, request: &Request) -> Option<RequestAnswer> {
        let text = request.payload.get("question").and_then(Value::as_text)?;
        (request.kind == UPPER).then(|| RequestAnswer::Ok(Value::text(text.to_uppercase())))
    }
}

fn flow(source: &str) -> Object {
    behaviour("lines", source, []).expect("it is short")
}

#[test]
fn a_fifth_language_runs_in_memory() {
    let flow = flow("upper one\nupper two");
    let executor = executor_of(&flow).expect("it is a program");
    let folder = std::env::temp_dir();
    let memory = Memory::new(executor, folder, flow.cid(), None);
    let program = Run { lines: vec!["upper one".into(), "upper two".into()], answers: vec![] };
    let start = Start { input: Value::Null, seed: Seed([0; 32]), at: Clock::System.now() };
    let end = Host::new(memory).run(program, &start, &CancelFlag::new(), &mut |_| {});
    assert_eq!(end, End::Done(Value::List(vec![Value::text("ONE"), Value::text("TWO")])));
}

#[test]
fn a_fifth_language_runs_durably_holds_and_replays() {
    let (folder, space, agent) = space_with_an_agent();
    let begin = Begin {
        agent,
        flow: flow("upper one\nhold Go on?\nupper two"),
        parts: Vec::new(),
        input: Value::Null,
        key: "toy".to_owned(),
        key_source: KeySource::Named,
        allow: vec![UPPER.to_owned()],
    };
    let id = start(&space, begin).expect("it starts");
    let state = |space: &SessionSpace| space.session(&id).expect("readable").state;
    assert_eq!(state(&space), SessionState::Held);
    decide_open(&space, &id, Action::Approve);
    // Another process goes on: it has the records alone.
    drop(space);
    let space = SessionSpace::open(folder.path(), SessionOptions::default()).expect("it is there");
    resume(&space, &id).expect("it goes on");
    assert_eq!(state(&space), SessionState::Done);
    let result = space.session(&id).expect("readable").result.expect("it is done");
    let list = result.as_list().expect("a list of answers").to_vec();
    assert_eq!((&list[0], &list[2]), (&Value::text("ONE"), &Value::text("TWO")));
    let verdict = replay(&space, &id, None).expect("readable");
    assert!(matches!(verdict, ReplayVerdict::Same), "{verdict:?}");
}
