//! A host without a world: drives programs, records them, replays them.

use std::collections::BTreeMap;

use agentic_lang_context::json::{self, Json};
use agentic_lang_context::provider::{
    EffectStamp, EmptyModel, LocalMemories, MockMemory, PreparedModel, TextTree, mock_tool,
};
use agentic_lang_context::{ContextModule, ContextOptions, EntryPoint};
use agentic_model::Instant;
use agentic_replay::{
    End, HostStep, Path, ProgramEvent, ProgramFailure, ProgramRun, Request, RequestAnswer,
    RequestHash, RequestId, Seed, Start,
};

#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    Mock(EmptyModel),
    Scripted(PreparedModel),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Tools {
    Mock,
    Workspace(TextTree),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Memories {
    Mock(MockMemory),
    Real(LocalMemories),
}

/// The state of every provider of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Providers {
    pub model: Model,
    pub tools: Tools,
    pub memory: Memories,
    /// Answers to requests for input, by path.
    pub inputs: BTreeMap<String, Json>,
}

impl Providers {
    pub fn perform(&mut self, request: &Request) -> RequestAnswer {
        let payload = &request.payload;
        match request.kind.as_str() {
            "model" => match &mut self.model {
                Model::Mock(model) => model.answer(payload),
                Model::Scripted(model) => model.answer(payload),
            },
            "tool" => match &mut self.tools {
                Tools::Mock => mock_tool(payload),
                Tools::Workspace(workspace) => workspace.answer(payload),
            },
            "memory" => match &mut self.memory {
                Memories::Mock(memory) => memory.answer(payload),
                Memories::Real(memory) => {
                    let hash = request.hash().expect("a payload is data");
                    let id = RequestId::derive("test", &request.path, &hash);
                    let stamp = EffectStamp { request_id: &id, at: Instant::from_millis(0) };
                    memory.answer(payload, stamp)
                }
            },
            "input" => {
                let path = payload.get("path").and_then(|path| path.as_text()).unwrap_or_default();
                match self.inputs.get(path) {
                    Some(value) => RequestAnswer::Ok(json::to_value(value)),
                    None => RequestAnswer::Failed(ProgramFailure::new(
                        "no-terminal",
                        "nobody can be asked",
                    )),
                }
            }
            other => panic!("there is no request of kind `{other}`"),
        }
    }
}

/// One answered request.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub request: Request,
    pub answer: RequestAnswer,
}

/// Everything that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub asked: Vec<Asked>,
    /// What was open after the start and after every answer.
    pub open: Vec<BTreeMap<Path, RequestHash>>,
    pub end: End,
    pub events: Vec<ProgramEvent>,
}

/// Which of several open requests is performed next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    First,
    Last,
}

pub struct Drive<'a> {
    pub module: &'a ContextModule,
    pub entry: EntryPoint,
    pub options: ContextOptions,
    pub input: Json,
    pub order: Order,
}

impl Drive<'_> {
    /// Runs to the end: first on the recorded answers, checked request by request, then live.
    pub fn run(&self, mut providers: Providers, recorded: &[Asked], check: &Record) -> Record {
        let mut record = empty();
        let (mut run, step) = self.begin();
        absorb(&mut record, &run, step);
        for (at, asked) in recorded.iter().enumerate() {
            assert_eq!(record.open[at], check.open[at], "open requests after {at} answers");
            let answer = providers.perform(&asked.request);
            assert_eq!(answer.settled(), asked.answer.clone().settled(), "a fold repeats itself");
            let step = run.deliver(&asked.request.path, asked.answer.clone(), run.now());
            record.asked.push(asked.clone());
            absorb(&mut record, &run, step);
        }
        while !run.has_ended() {
            let mut open = run.open().values();
            let next = match self.order {
                Order::First => open.next().cloned(),
                Order::Last => open.next_back().cloned(),
            };
            let request = next.expect("a run that has not ended waits for something");
            let answer = providers.perform(&request);
            let step = run.deliver(&request.path, answer.clone(), run.now());
            record.asked.push(Asked { request: (*request).clone(), answer });
            absorb(&mut record, &run, step);
        }
        record
    }

    pub fn live(&self, providers: Providers) -> Record {
        self.run(providers, &[], &empty())
    }

    fn begin(&self) -> (ProgramRun<agentic_lang_context::ContextRun>, HostStep) {
        let program = self.module.run(&self.entry, self.options.clone());
        let program = program.expect("the entry point is there");
        let start = Start {
            input: json::to_value(&self.input),
            seed: Seed([0; 32]),
            at: Instant::from_millis(0),
        };
        ProgramRun::begin(program, &start)
    }
}

fn empty() -> Record {
    Record { asked: Vec::new(), open: Vec::new(), end: End::Cancelled, events: Vec::new() }
}

fn absorb(record: &mut Record, run: &ProgramRun<agentic_lang_context::ContextRun>, step: HostStep) {
    let open = run
        .open()
        .iter()
        .map(|(path, request)| (path.clone(), request.hash().expect("a payload is data")));
    record.open.push(open.collect());
    record.events.extend(step.events);
    if let Some(end) = step.end {
        record.end = end;
    }
}
