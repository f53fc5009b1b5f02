//! Programs of the pipeline language, in memory and durably.

use agentic_lang_pipeline::run::{BlockOrder, PartsPlace, PipelineProgram};
use agentic_lang_pipeline::{Needs, PipelineLanguage, PlannedRun, pin};
use agentic_model::{Value, json};
use agentic_plan::Backend;
use agentic_replay::engine::{RunAttendance, RunStart};
use agentic_replay::{End, Language, ProgramEvent};
use agentic_session::engine::{EmbeddedEngine, unperformed};
use agentic_session::error::ProgramError;
use agentic_session::{Begin, executor_of_pipeline, retell};

use super::durable::DurableSetting;
use super::{PreparedRun, RunPlace, RunReply, RunnableProgram, faulty};
use crate::memory::{MemoryStage, fresh_id};
use crate::program::{NamedText, ProgramFindings, ProgramText, compile_pipeline, read_registry};
use crate::redaction::CallerRedactor;
use crate::trace_file::TraceFile;
use crate::verb::flow::{end_reply, run_reply};
use crate::view::RunAnswer;
use crate::watcher::NoticeDesk;
use crate::{Caller, Notice, Refusal, Surroundings, chosen_agent};

/// How many digits of the id of a run people are told.
const SESSION_DIGITS: usize = 12;

/// What is asked of a program.
#[derive(Debug)]
pub(crate) struct PipelineWish {
    /// The input: JSON text.
    pub input: Option<String>,
    /// The builtins that it may call, beyond the standard ones.
    pub registry: Option<NamedText>,
    /// Where it runs.
    pub place: RunPlace,
    /// As whom and under which key, where it runs durably.
    pub setting: DurableSetting,
    /// In whose name.
    pub invoked_by: Option<String>,
    /// In which order its blocks run.
    pub blocks: BlockOrder,
    /// The file that the trace goes to.
    pub output_trace: Option<String>,
    /// Whether somebody waits for a durable run.
    pub attendance: RunAttendance,
}

/// A program that is ready to run.
#[derive(Debug)]
pub(crate) struct PreparedPipeline {
    /// What runs.
    pub run: PlannedRun,
    /// The input.
    pub input: Value,
    place: RunPlace,
    setting: DurableSetting,
    output_trace: Option<String>,
    attendance: RunAttendance,
}

/// Compiles a program and reads its input, or finds what is wrong with it.
pub(crate) fn compiled(
    here: &Surroundings,
    program: &ProgramText,
    wish: PipelineWish,
) -> Result<Result<PreparedPipeline, ProgramFindings>, Refusal> {
    let input = match &wish.input {
        Some(text) => json::from_text(text)
            .map_err(|error| Refusal::usage(&error.to_string(), "give a smaller JSON value"))?,
        None => Value::Null,
    };
    let registry = read_registry(wish.registry.as_ref(), here)?;
    let compiled = match compile_pipeline(program, &registry) {
        Ok(compiled) => compiled,
        Err(findings) => return Ok(Err(findings)),
    };
    let run = PlannedRun {
        source: program.text()?.to_owned(),
        compiled,
        order: wish.blocks,
        invoked_by: wish.invoked_by,
        script: None,
    };
    let PipelineWish { place, setting, output_trace, attendance, .. } = wish;
    Ok(Ok(PreparedPipeline { run, input, place, setting, output_trace, attendance }))
}

/// Compiles a program that may be asked for only what its place has.
pub(super) fn prepare(
    here: &Surroundings,
    program: &ProgramText,
    wish: PipelineWish,
) -> Result<PreparedRun, Refusal> {
    let ready = match compiled(here, program, wish)? {
        Ok(ready) => ready,
        Err(findings) => return Ok(faulty(findings)),
    };
    if !ready.is_durable() && !ready.setting.is_empty() {
        return Err(Refusal::usage(
            "a run in memory has neither agent nor key",
            "run it with `--session`, or make its block `temporal`",
        ));
    }
    Ok(PreparedRun::ready(ready))
}

impl RunnableProgram for PreparedPipeline {
    fn language(&self) -> &'static dyn Language {
        &PipelineLanguage
    }

    fn is_durable(&self) -> bool {
        match self.place {
            RunPlace::Session => true,
            RunPlace::Memory => false,
            RunPlace::AsDeclared => {
                let mut blocks = self.run.compiled.blocks.iter();
                blocks.any(|block| block.plan.backend() == Backend::Temporal)
            }
        }
    }

    fn in_memory(self: Box<Self>, here: &Surroundings, desk: &NoticeDesk<'_>) -> RunReply {
        if Needs::of(&self.run.compiled).n_holds > 0 {
            return Err(Refusal::refused(
                "the program asks a human, and a run in memory cannot wait for one",
                match self.place {
                    RunPlace::Memory => "run it without `--backend memory`",
                    RunPlace::AsDeclared | RunPlace::Session => {
                        "run it as a session with `--session`"
                    }
                },
            ));
        }
        self.refuse_nobody()?;
        if let Some(reason) = unperformed(&self.run, Backend::Memory) {
            let error = ProgramError::Unperformed { reason };
            return Err(agentic_session::Error::Program(error).into());
        }
        let mut events = Vec::new();
        let end = self.end_in_memory(here, desk, fresh_id(), &mut |event| events.push(event))?;
        if let Some(name) = &self.output_trace {
            TraceFile::write_whole(here, desk, name, &trace_text(&events, Some(&end)));
        }
        end_reply(&end, None)
    }

    fn begin(&self, caller: &Caller<'_>) -> Result<Begin, Refusal> {
        self.refuse_secrets(caller)?;
        let DurableSetting { agent, key } = self.setting.clone();
        let agent = chosen_agent(agent.as_deref(), caller.surroundings.agent.as_deref())?;
        let start = RunStart { run: self.run.clone(), input: self.input.clone(), key, agent };
        Ok(EmbeddedEngine::new(caller.space, caller.client).begin(start)?)
    }

    fn in_space(self: Box<Self>, caller: &Caller<'_>, desk: &NoticeDesk<'_>) -> RunReply {
        self.refuse_nobody()?;
        self.refuse_secrets(caller)?;
        let engine = caller.engine()?;
        let (output_trace, attendance) = (self.output_trace.clone(), self.attendance);
        let run = engine.start(self.start(&caller.surroundings)?, attendance)?;
        let status = engine.status(&run)?;
        let session = run.as_str()[..SESSION_DIGITS].to_owned();
        desk.say(Notice::Begun { session, agent: status.agent.to_string() });
        Notice::mended(caller.space).into_iter().for_each(|mended| desk.say(mended));
        let end = match attendance {
            RunAttendance::Attended => engine.result(&run)?,
            RunAttendance::Detached => None,
        };
        if let Some(name) = output_trace.filter(|_| attendance == RunAttendance::Attended) {
            let mut events = Vec::new();
            let id = caller.space.find_session(run.as_str())?;
            retell(caller.space, &id, &mut |event| events.push(event))?;
            let text = trace_text(&events, end.as_ref());
            TraceFile::write_whole(&caller.surroundings, desk, &name, &text);
        }
        match end {
            Some(end) => end_reply(&end, Some(&status.key)),
            None => Ok(run_reply(&status).map(RunAnswer::Standing)),
        }
    }
}

impl PreparedPipeline {
    /// Refuses a run that would keep a secret: in its program, its input or what it runs as.
    fn refuse_secrets(&self, caller: &Caller<'_>) -> Result<(), Refusal> {
        let redactor = CallerRedactor::new(caller)?;
        redactor.refuse("the input", &self.input)?;
        redactor.refuse_text("the key", self.setting.key.as_deref().unwrap_or_default())?;
        // A long one is cut into pieces.
        redactor.refuse_text("the program", &self.run.source)?;
        let pinned = pin(&self.run).map_err(agentic_session::Error::from)?;
        let mut objects = pinned.parts.iter().chain([&pinned.flow]);
        objects.try_for_each(|it| redactor.refuse("the program", &Value::Map(it.map().clone())))
    }

    /// Refuses a program that acts in the name of somebody who was not named.
    fn refuse_nobody(&self) -> Result<(), Refusal> {
        let needs = Needs::of(&self.run.compiled);
        match needs.identities.first() {
            Some(provider) if self.run.invoked_by.is_none() => Err(Refusal::program(
                "MissingIdentity",
                &format!("`{provider}` acts in somebody's name, and nobody is named"),
                "say who runs it with `agentic flow run --as user:NAME`",
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Says what the run begins with.
    pub fn start(self, here: &Surroundings) -> Result<RunStart<PlannedRun>, Refusal> {
        let DurableSetting { agent, key } = self.setting;
        let agent = chosen_agent(agent.as_deref(), here.agent.as_deref())?;
        Ok(RunStart { run: self.run, input: self.input, key, agent })
    }

    /// Lets it run as an agent, under a key.
    pub fn set_as(self, agent: &str, key: &str) -> PreparedPipeline {
        let setting = DurableSetting { agent: Some(agent.to_owned()), key: Some(key.to_owned()) };
        PreparedPipeline { setting, ..self }
    }

    /// Runs it in memory to its end, as the run of this name.
    pub fn end_in_memory(
        &self,
        here: &Surroundings,
        desk: &NoticeDesk<'_>,
        run_id: String,
        sink: &mut dyn FnMut(ProgramEvent),
    ) -> Result<End, Refusal> {
        let run = PipelineProgram::new(&self.run.compiled, self.run.options(PartsPlace::Contexts));
        let executor = executor_of_pipeline(&self.run, run_id)?;
        Ok(MemoryStage { here, desk, executor }.run(run, self.input.clone(), sink))
    }
}

/// Tells what became of each node, in order, and behind that what became of the blocks of a run that
/// is over.
fn trace_text(events: &[ProgramEvent], end: Option<&End>) -> String {
    let outcome = match end {
        Some(End::Done(result)) => Some(result),
        Some(End::Failed(failure)) => Some(&failure.details),
        Some(End::Cancelled) | None => None,
    };
    let blocks = outcome.and_then(|outcome| outcome.get("blocks")).and_then(Value::as_list);
    let blocks = blocks.unwrap_or_default().iter().map(|block| ("block", block));
    let events = events.iter().map(|event| (event.kind.as_str(), &event.data)).chain(blocks);
    let lines = events.map(|(kind, data)| {
        json::to_text(&Value::map([("kind", Value::text(kind)), ("data", data.clone())]))
    });
    let lines: Vec<String> = lines.collect();
    format!("{{\"trace\":[{}]}}\n", lines.join(",\n"))
}
