//! Comparing a run in memory with a durable one, and one of the embedded engine with one of a server.

mod engines;

use std::path::Path;
use std::process::Command;

use agentic_lang_pipeline::run::BlockOrder;
use agentic_lang_pipeline::{Needs, PipelineLanguage};
use agentic_model::{AgentName, Briefing, Value, json};
use agentic_plan::{CallEffect, Implementation, Registry};
use agentic_replay::End;
use agentic_replay::engine::{DurableEngine as _, RunAttendance};
use agentic_session::decide::COMMAND_LINE;
use agentic_session::engine::EmbeddedEngine;
use agentic_session::{ReplayVerdict, SessionOptions, SessionSpace, find_run, replay, unique_id};
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_space::{Clock, Durability};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::program::{NamedText, ProgramSource};
use crate::verb::run::pipeline::{PipelineWish, PreparedPipeline, compiled};
use crate::verb::run::{DurableSetting, faulty_reply};
use crate::verb::{LocalVerb, Reply, RunPlace, VerbCompletion, value};
use crate::view::{CrosscheckAnswer, CrosscheckView};
use crate::watcher::NoticeDesk;
use crate::{Refusal, Surroundings};

/// The agent that the durable run has in its repository.
const AGENT: &str = "crosscheck";
/// The name of both runs, which their agents are told.
const RUN: &str = "crosscheck";

/// Run a pipeline in memory and durably, and compare the results. The durable run is in a repository
/// of its own, which is removed again. What may happen only once has to be answered from a script.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowCrosscheck {
    /// The pipeline.
    pub program: ProgramSource,
    /// The input, as JSON text here and as any JSON value in JSON.
    #[serde(default, deserialize_with = "value::read_json_text")]
    #[schemars(with = "serde_json::Value")]
    pub input: Option<String>,
    /// The builtins that it may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
    /// What agents answer, by their ids: `{"team/x":[{"ok":VALUE},{"failed":{"code","message"}}]}`.
    #[serde(default)]
    pub script: Option<NamedText>,
    /// The pipeline of a program of AgentLang, where the embedded engine is compared with a server.
    #[serde(default)]
    pub pipeline: Option<String>,
}

impl LocalVerb for FlowCrosscheck {
    type Answer = CrosscheckAnswer;

    fn run_here(self, here: &Surroundings) -> Result<Reply<CrosscheckAnswer>, Refusal> {
        if let Some(engine) = here.engine.clone().zip(here.engines.clone()) {
            return engines::between(self, here, &engine);
        }
        let program = self.program.read(here, Some(&PipelineLanguage))?;
        let wish = PipelineWish {
            input: self.input,
            registry: self.registry,
            place: RunPlace::Memory,
            setting: DurableSetting::default(),
            invoked_by: None,
            blocks: BlockOrder::Sequential,
            output_trace: None,
            attendance: RunAttendance::Attended,
        };
        let mut ready = match compiled(here, &program, wish)? {
            Ok(ready) => ready,
            Err(findings) => return Ok(faulty_reply(CrosscheckAnswer::Faulty(findings))),
        };
        ready.run.script = script(here, self.script.as_ref())?;
        refuse_unrepeatable(&ready)?;
        let desk = NoticeDesk::new(&here.watcher);
        let memory = ready.end_in_memory(here, &desk, RUN.to_owned(), &mut |_| {})?;
        // Several may compare in one process, each in a folder of its own.
        let stage = std::env::temp_dir().join(format!("agentic-crosscheck-{}", unique_id()));
        let durable = durably(here, ready, &stage);
        // What was made for the comparison alone goes with it.
        let _ = std::fs::remove_dir_all(&stage);
        Ok(desk.before(compare(&memory, &durable?)))
    }
}

/// Reads what agents answer.
fn script(here: &Surroundings, file: Option<&NamedText>) -> Result<Option<Value>, Refusal> {
    let Some(file) = file else { return Ok(None) };
    let script = json::from_text(&file.read(here)?).map_err(|error| {
        Refusal::refused(
            &format!("`{}` is {error}", file.name),
            "write a map from agents to answers",
        )
    })?;
    Ok(Some(script))
}

/// Refuses what must not happen twice, and what cannot be had in memory.
fn refuse_unrepeatable(ready: &PreparedPipeline) -> Result<(), Refusal> {
    let needs = Needs::of(&ready.run.compiled);
    if needs.n_holds > 0 {
        return Err(Refusal::refused(
            "the program asks a human, so there is no run in memory to compare with",
            "`agentic flow run` runs it durably",
        ));
    }
    let scripted =
        |agent: &str| ready.run.script.as_ref().is_some_and(|all| all.get(agent).is_some());
    let registry: &Registry = &ready.run.compiled.registry;
    let unrepeatable = needs.agents.iter().find(|agent| {
        let spec = registry.by_agent(agent);
        spec.is_some_and(|spec| !is_repeatable(spec.run.as_ref(), spec.effect))
            && !scripted(agent.as_str())
    });
    match unrepeatable {
        None => Ok(()),
        Some(agent) => Err(Refusal::refused(
            &format!("a comparison calls `{agent}` twice, and it may be called once only"),
            "answer it from a script with `--script FILE`, or declare its `effect` in the registry",
        )),
    }
}

fn is_repeatable(run: Option<&Implementation>, effect: Option<CallEffect>) -> bool {
    match (run, effect) {
        (None | Some(Implementation::Native(_) | Implementation::Model { .. }), _)
        | (_, Some(CallEffect::Pure | CallEffect::Read | CallEffect::Idempotent)) => true,
        (Some(_), Some(CallEffect::Once) | None) => false,
    }
}

/// Runs the program as a session in a repository of its own, and replays it.
fn durably(here: &Surroundings, ready: PreparedPipeline, stage: &Path) -> Result<End, Refusal> {
    make_repository(stage, &here.folder)?;
    let space = SessionSpace::open(stage, options(here, Clock::System))?;
    make_agent(&space)?;
    let engine = EmbeddedEngine::new(&space, COMMAND_LINE);
    let start = ready.set_as(AGENT, RUN).start(here)?;
    let run = engine.start(start, RunAttendance::Attended)?;
    let Some(end) = engine.result(&run)? else {
        return Err(Refusal::refused(
            "the durable run waits for something that the run in memory did not wait for",
            "`agentic flow run` runs it durably and keeps it",
        ));
    };
    match replay(&space, &find_run(&space, RUN)?, None)? {
        ReplayVerdict::Same => Ok(end),
        ReplayVerdict::Diverged(why) => Err(differs(&format!("its replay: {why}"))),
        ReplayVerdict::Corrupt(why) | ReplayVerdict::Purged(why) => {
            Err(differs(&format!("its records: {why}")))
        }
    }
}

/// Says how a repository is opened that is made for a comparison alone.
fn options(here: &Surroundings, clock: Clock) -> SessionOptions {
    // It is gone before a power cut could matter.
    let durability = Some(Durability::Git);
    SessionOptions {
        space: agentic_space::Options { durability, clock },
        observer: here.watcher.observer.clone(),
        stop: here.watcher.stop.clone(),
        grace: here.watcher.grace,
        screen: Some(agentic_capture::redaction::screen()),
        ..SessionOptions::default()
    }
}

/// Makes the agent that runs there.
fn make_agent(space: &SessionSpace) -> Result<(), Refusal> {
    let agent = AgentName::parse(AGENT).expect("a valid name");
    let briefing = Briefing::of_text("Run a program to compare its results").to_object();
    spawn(space, &agent, &briefing.map_err(agentic_session::Error::from)?, &SpawnOrigin::Root)?;
    Ok(())
}

/// Makes a repository whose programs run in the current folder, as those in memory do.
fn make_repository(stage: &Path, folder: &Path) -> Result<(), Refusal> {
    let cannot =
        |error: std::io::Error| Refusal::io(&format!("write `{}`", stage.display()), &error);
    std::fs::create_dir_all(stage).map_err(cannot)?;
    let folder = folder.canonicalize().map_err(cannot)?;
    let steps: [&[&std::ffi::OsStr]; 4] = [
        &["init".as_ref(), "--quiet".as_ref()],
        &["config".as_ref(), "user.name".as_ref(), "agentic".as_ref()],
        &["config".as_ref(), "user.email".as_ref(), "agentic@localhost".as_ref()],
        &["config".as_ref(), "core.worktree".as_ref(), folder.as_ref()],
    ];
    for arguments in steps {
        let output = Command::new("git").args(arguments).current_dir(stage).output();
        let output = output.map_err(|error| Refusal::io("run `git`", &error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let hint = "the comparison needs git and a temporary folder that it can write to";
            return Err(Refusal::refused(&format!("`git` failed: {said}"), hint));
        }
    }
    Ok(())
}

fn compare(memory: &End, durable: &End) -> Reply<CrosscheckAnswer> {
    let (memory, durable) = (compared(memory), compared(durable));
    let same = memory == durable;
    let (memory, durable) = (json::to_json(&memory), json::to_json(&durable));
    let answer = CrosscheckAnswer::Compared(CrosscheckView { same, memory, durable });
    let completion = match same {
        true => VerbCompletion::Whole,
        false => VerbCompletion::Short(differs("their results")),
    };
    Reply { completion, ..Reply::plain(answer) }
}

fn differs(how: &str) -> Refusal {
    Refusal::diverged(
        &format!("the run in memory and the durable one differ in {how}"),
        "agents that answer differently each time can be answered from a script with `--script`",
    )
}

/// Returns what both runs have to agree on: everything but times.
fn compared(end: &End) -> Value {
    match end {
        End::Done(value) => Value::map([("ok", without_times(value))]),
        End::Failed(failure) => Value::map([(
            "failed",
            Value::map([
                ("code", Value::text(&failure.code)),
                ("message", Value::text(&failure.message)),
                ("so_far", without_times(&failure.details)),
            ]),
        )]),
        End::Cancelled => Value::text("cancelled"),
    }
}

fn without_times(value: &Value) -> Value {
    let blocks = value.get("blocks").and_then(Value::as_list).unwrap_or_default();
    let timeless = blocks.iter().map(|block| {
        let mut block = block.as_map().cloned().unwrap_or_default();
        block.remove("duration_ms");
        Value::Map(block)
    });
    Value::List(timeless.collect())
}
