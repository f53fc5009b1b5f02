//! Programs of AgentLang, in memory or as sessions.

mod adapter;
mod hint;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use agentic_diag::SourceText;
use agentic_host::performer::agents::SharedTasks;
use agentic_lang_agent::{
    AgentLang, AgentModule, Data, MockTasks, PROGRESS, RunOptions, StoreHandlers, TRACE,
    TestResult, TraceCapture, code, invocation, json, report,
};
use agentic_model::guidance::ErrorClass;
use agentic_model::object::OBJECT_BYTES_MAX;
use agentic_model::{STORE_ADDRESS, StoreVerb, Value};
use agentic_providers::model::Adapter;
use agentic_replay::{End, Language, ProgramEvent, SessionId};
use agentic_session::{AgentLangFlow, Begin, agents_of, executor_of_agents, retell};

pub(crate) use self::hint::RunDesk;
use self::hint::no_pipeline;
use super::durable::{self, DurableSetting, PinnedRun, RunProgress};
use super::{PreparedRun, Run, RunAct, RunReply, RunnableProgram, faulty, faulty_reply, no_store};
use crate::memory::MemoryStage;
use crate::program::{ProgramFindings, ProgramText, unreadable};
use crate::trace_file::{EndedTrace, TraceKeeper};
use crate::verb::{Reply, VerbCompletion};
use crate::view::{LoweredView, RunAnswer, RunResultView, TestsView};
use crate::watcher::NoticeDesk;
use crate::{Caller, Refusal, Surroundings, VerbEvent};

/// A compiled program, and what is asked of it.
pub(crate) struct PreparedAgents {
    /// The program.
    pub module: Arc<AgentModule>,
    /// Its text.
    pub source: SourceText,
    /// The pipeline; empty for the tests.
    pub name: String,
    /// What to do.
    pub act: RunAct,
    /// The inputs.
    pub input: Data,
    /// Where the trace goes.
    pub output_trace: Option<String>,
    /// Whether a failure shows what happened before it.
    pub kept_trace: TraceCapture,
    /// Whether the watcher hears every event of the trace.
    pub live: TraceCapture,
    /// How many branches run at once.
    pub workers: Option<i64>,
    /// Which programs perform which tasks.
    pub handlers: BTreeMap<String, Vec<String>>,
    /// Which programs are which tools.
    pub tools: BTreeMap<String, Vec<String>>,
    /// Who performs the tasks of agents, where that is said.
    pub adapter: Option<Adapter>,
    /// The session that it runs as; in memory without one.
    pub session: Option<DurableSetting>,
    /// Where the people are who asked.
    pub desk: RunDesk,
    /// What the built-in tasks remember of earlier runs.
    pub remembered: MockTasks,
}

/// Reads the inputs of a pipeline.
pub(crate) fn read_input(text: &str) -> Result<Data, Refusal> {
    invocation::parse_input(text).map_err(|error| {
        Refusal::usage(&error.message, "inputs are one JSON object, such as `{\"topic\": \"tea\"}`")
    })
}

/// Compiles a program, or finds what is wrong with it.
pub(super) fn prepare(
    here: &Surroundings,
    program: &ProgramText,
    run: Run,
) -> Result<PreparedRun, Refusal> {
    let input = read_input(run.input.as_deref().unwrap_or("{}"))?;
    let source = match agentic_lang_agent::read(&program.name, &program.bytes) {
        Ok(source) => source,
        Err(finding) => return Ok(faulty(unreadable(program, *finding))),
    };
    let session = run.session();
    let name = match (run.pipeline, run.act) {
        (Some(name), _) => name,
        (None, RunAct::Test) => String::new(),
        (None, RunAct::Lower | RunAct::Run) => return Err(no_pipeline(&source)),
    };
    if run.act == RunAct::Lower {
        return lower(&source, &name).map(PreparedRun::answered);
    }
    let module = match agentic_lang_agent::compile(&source) {
        Ok(module) => module,
        Err(findings) => return Ok(faulty(ProgramFindings::of(source, findings))),
    };
    let warnings = ProgramFindings::of(source.clone(), module.warnings().to_vec());
    // Who does not listen has them from a check of the program.
    let _ = here.watcher.tell(VerbEvent::Findings(warnings));
    let ready = PreparedAgents {
        module,
        source,
        name,
        act: run.act,
        input,
        output_trace: run.output_trace,
        kept_trace: capture(run.keep_trace),
        live: capture(run.live),
        workers: run.workers,
        handlers: run.handlers,
        tools: run.tools,
        adapter: run.adapter,
        session,
        desk: RunDesk::CommandLine,
        remembered: MockTasks::default(),
    };
    Ok(PreparedRun::ready(ready))
}

fn capture(is_wanted: bool) -> TraceCapture {
    if is_wanted { TraceCapture::On } else { TraceCapture::Off }
}

/// Tells a pipeline as it runs.
pub(crate) fn lower(source: &SourceText, name: &str) -> RunReply {
    match agentic_lang_agent::lower(source, name) {
        Ok(text) => {
            let view = LoweredView { pipeline: name.to_owned(), text };
            Ok(Reply::plain(RunAnswer::Lowered(view)))
        }
        Err(finding) if finding.code == code::PIPELINE_UNKNOWN => {
            let hint = "`agentic check FILE` shows whether the file is right";
            Err(Refusal::program(finding.code, &finding.message, hint))
        }
        Err(finding) => {
            let findings = ProgramFindings::of(source.clone(), vec![*finding]);
            Ok(faulty_reply(RunAnswer::Faulty(findings)))
        }
    }
}

impl RunnableProgram for PreparedAgents {
    fn language(&self) -> &'static dyn Language {
        &AgentLang
    }

    fn is_durable(&self) -> bool {
        self.session.is_some()
    }

    fn in_memory(self: Box<Self>, here: &Surroundings, desk: &NoticeDesk<'_>) -> RunReply {
        self.remembering(here, desk)?.0
    }

    fn begin(&self, caller: &Caller<'_>) -> Result<Begin, Refusal> {
        let adapter = adapter::choose(&caller.surroundings, Some(caller), self)?;
        let flow = self.flow(adapter, self.source.text().to_owned()).to_object()?;
        let input = Value::Text(json::to_text(&self.input));
        let pinned = PinnedRun { flow, input, briefing: self.source.text() };
        durable::begin(caller, self.session.clone().unwrap_or_default(), pinned)
    }

    fn in_space(self: Box<Self>, caller: &Caller<'_>, desk: &NoticeDesk<'_>) -> RunReply {
        self.refuse_strangers()?;
        self.refuse_no_verb()?;
        if self.source.text().len() > OBJECT_BYTES_MAX {
            return Err(Refusal::refused(
                &format!(
                    "the program has more than the {OBJECT_BYTES_MAX} bytes that a session keeps"
                ),
                "split the program, or run it in memory without `--session`",
            ));
        }
        let adapter = adapter::choose(&caller.surroundings, Some(caller), &self)?;
        // Only a session keeps the program, which must then fit into an object.
        let flow = self.flow(adapter, self.source.text().to_owned());
        let setting = self.session.clone().unwrap_or_default();
        let input = Value::Text(json::to_text(&self.input));
        let pinned = PinnedRun { flow: flow.to_object()?, input, briefing: self.source.text() };
        let ran = durable::run(caller, desk, setting, pinned)?;
        let end = match ran.reached {
            RunProgress::End(end) => end,
            RunProgress::Waiting(waiting) => {
                self.retold(caller, desk, &ran.session, TraceCapture::Off)?;
                return Ok(waiting.map(RunAnswer::Session));
            }
        };
        let kept = match end {
            End::Failed(_) => self.kept_trace,
            End::Done(_) | End::Cancelled => TraceCapture::Off,
        };
        let trace = self.retold(caller, desk, &ran.session, kept)?;
        self.reply(&end, trace)
    }
}

impl PreparedAgents {
    /// Runs in memory; also returns what the built-in tasks remember.
    pub fn remembering(
        mut self,
        here: &Surroundings,
        desk: &NoticeDesk<'_>,
    ) -> Result<(RunReply, MockTasks), Refusal> {
        self.refuse_strangers()?;
        self.refuse_no_verb()?;
        self.refuse_store()?;
        self.refuse_hold()?;
        let adapter = adapter::choose(here, None, &self)?;
        let flow = self.flow(adapter, String::new());
        let mut keeper = TraceKeeper::begin(here, self.output_trace.as_deref(), self.kept_trace);
        let is_kept = keeper.capture() == TraceCapture::On;
        let options = RunOptions {
            workers: flow.workers,
            handlers: flow.handlers.keys().cloned().collect(),
            tools: flow.tools.keys().cloned().collect(),
            agents: agents_of(flow.adapter),
            trace: if is_kept { TraceCapture::On } else { self.live },
            progress: capture(here.watcher.listens()),
            ..RunOptions::default()
        };
        let run = match &flow.pipeline {
            Some(name) => self.module.run(name, options),
            None => self.module.run_tests(options),
        };
        let tasks = SharedTasks::new(Mutex::new(std::mem::take(&mut self.remembered)));
        let executor = executor_of_agents(&flow.to_object()?, Arc::clone(&tasks))?;
        let mut sink = |event: ProgramEvent| {
            keeper.add(&event);
            let is_live = event.kind == TRACE && self.live == TraceCapture::On;
            if is_live || event.kind == PROGRESS {
                // It is for whoever watches.
                let _ = here.watcher.tell(VerbEvent::Said(event));
            }
        };
        let input = Value::Text(json::to_text(&self.input));
        let end = MemoryStage { here, desk, executor }.run(run, input, &mut sink);
        let remembered = tasks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let trace = keeper.end(desk);
        Ok((self.reply(&end, trace), remembered))
    }

    fn flow(&self, adapter: Adapter, source: String) -> AgentLangFlow {
        AgentLangFlow {
            source,
            pipeline: (self.act != RunAct::Test).then(|| self.name.clone()),
            workers: self.workers.unwrap_or(RunOptions::default().workers),
            handlers: self.handlers.clone(),
            tools: self.tools.clone(),
            adapter,
        }
    }

    /// Refuses handlers of tasks that the program does not have: what they are for would be made up.
    fn refuse_strangers(&self) -> Result<(), Refusal> {
        let names: Vec<String> = self.module.tasks().into_iter().map(|task| task.name).collect();
        let stranger = self.handlers.keys().find(|handled| !names.contains(handled));
        let Some(name) = stranger else { return Ok(()) };
        let hint = match names.is_empty() {
            true => "the program has no tasks".to_owned(),
            false => format!("the program has these: {}", names.join(", ")),
        };
        Err(Refusal::usage(&format!("`--handler` names a task `{name}`, and there is none"), &hint))
    }

    /// Refuses a run in memory of which the store performs something: it is in none.
    fn refuse_store(&self) -> Result<(), Refusal> {
        let of_store = StoreHandlers::of(&self.handlers, &self.tools);
        let name = of_store.tasks.keys().chain(of_store.tools.keys()).next();
        name.map_or(Ok(()), |name| Err(no_store(&format!("`{name}`"))))
    }

    /// Refuses addresses of the store at which nothing is.
    fn refuse_no_verb(&self) -> Result<(), Refusal> {
        let of_store =
            |argv: &&Vec<String>| argv.first().is_some_and(|word| word.starts_with(STORE_ADDRESS));
        let mut named = self.handlers.values().chain(self.tools.values()).filter(of_store);
        let is_none =
            |argv: &&Vec<String>| argv.len() > 1 || StoreVerb::of_address(&argv[0]).is_none();
        let Some(argv) = named.find(is_none) else { return Ok(()) };
        let known: Vec<String> =
            StoreVerb::names().map(|name| format!("{STORE_ADDRESS}{name}")).collect();
        let hint = format!("the store has these: {}", known.join(", "));
        Err(Refusal::usage(&format!("nothing is at `{}`", argv.join(" ")), &hint))
    }

    /// Refuses a run in memory that may come to a question to a human.
    fn refuse_hold(&self) -> Result<(), Refusal> {
        let (what, may_hold) = match self.act {
            RunAct::Test => ("a test".to_owned(), self.module.tests_may_hold()),
            RunAct::Run | RunAct::Lower => {
                (format!("`{}`", self.name), self.module.may_hold(&self.name))
            }
        };
        if may_hold { Err(self.desk.no_hold(&what)) } else { Ok(()) }
    }

    /// Tells the trace of a session from its records, where anybody wants it.
    fn retold(
        &self,
        caller: &Caller<'_>,
        desk: &NoticeDesk<'_>,
        session: &SessionId,
        kept: TraceCapture,
    ) -> Result<EndedTrace, Refusal> {
        let mut keeper =
            TraceKeeper::begin(&caller.surroundings, self.output_trace.as_deref(), kept);
        if keeper.capture() == TraceCapture::On {
            retell(caller.space, session, &mut |event| keeper.add(&event))?;
        }
        Ok(keeper.end(desk))
    }

    /// Tells what a run came to. With a failure goes what happened before it, where that was kept.
    fn reply(&self, end: &End, trace: EndedTrace) -> RunReply {
        let outcome = match self.act {
            RunAct::Test => tests_reply(end),
            RunAct::Run | RunAct::Lower => self.result_reply(end),
        };
        match (outcome, self.kept_trace) {
            (Err(refusal), TraceCapture::On) => {
                let json = failed_json(&refusal, trace);
                let ended = RunAnswer::Ended(RunResultView { text: String::new(), json });
                let completion = VerbCompletion::Short(refusal);
                Ok(Reply { completion, ..Reply::plain(ended) })
            }
            (outcome, _) => outcome,
        }
    }

    fn result_reply(&self, end: &End) -> RunReply {
        match end {
            End::Done(_) => {
                let unreadable = |error: report::ReportError| {
                    Refusal::refused(&error.to_string(), "return less from the pipeline")
                };
                let result = report::result(end).map_err(unreadable)?;
                let json = report::result_text(result).map_err(unreadable)?;
                let ended = RunResultView { text: json.clone(), json };
                Ok(Reply::plain(RunAnswer::Ended(ended)))
            }
            End::Failed(failure) => {
                let hint = self.desk.hint(&self.module, failure);
                let refusal = Refusal::program(&failure.code, &failure.message, &hint);
                Err(refusal.led_by("Execution error:"))
            }
            End::Cancelled => Err(Refusal::refused("the run was cancelled", "run it again")),
        }
    }
}

fn tests_reply(end: &End) -> RunReply {
    if let End::Failed(failure) = end {
        let hint = "`agentic check FILE` shows whether the file is right";
        return Err(Refusal::program(&failure.code, &failure.message, hint));
    }
    let tests = report::test_results(end)
        .map_err(|error| Refusal::refused(&error.to_string(), "run fewer tests at once"))?;
    let is_passed = tests.iter().all(|test| test.error.is_none());
    let view = TestsView { text: report::test_text(&tests), results: tests_json(&tests) };
    let completion = match is_passed {
        true => VerbCompletion::Whole,
        false => VerbCompletion::Over(ErrorClass::Refused),
    };
    Ok(Reply { completion, ..Reply::plain(RunAnswer::Tests(view)) })
}

fn tests_json(tests: &[TestResult]) -> serde_json::Value {
    let one = |test: &TestResult| {
        let passed = test.error.is_none();
        serde_json::json!({ "name": test.name, "passed": passed, "error": test.error })
    };
    let n_failed = tests.iter().filter(|test| test.error.is_some()).count();
    serde_json::json!({
        "tests": tests.iter().map(one).collect::<Vec<_>>(),
        "passed": tests.len() - n_failed,
        "failed": n_failed,
        "total": tests.len(),
    })
}

/// Writes a failure with what happened before it.
fn failed_json(refusal: &Refusal, trace: EndedTrace) -> String {
    let trace = trace.text().unwrap_or_default();
    // It is an object already; the error goes into it, in front.
    let rest = trace.strip_prefix('{').unwrap_or("\"trace\":[]}");
    let error = serde_json::to_string(&refusal.view()).expect("views have text keys");
    format!("{{\"error\":{error},{rest}")
}
