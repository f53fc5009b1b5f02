//! `agentic flow crosscheck`

use std::path::Path;
use std::process::{Command, ExitCode};

use agentic_api::view::CrosscheckView;
use agentic_lang_pipeline::run::BlockOrder;
use agentic_lang_pipeline::{Needs, PipelineLanguage};
use agentic_model::{AgentName, Briefing, Value, json};
use agentic_plan::{CallEffect, Implementation, Registry};
use agentic_replay::End;
use agentic_replay::engine::{DurableEngine as _, RunAttendance};
use agentic_session::engine::EmbeddedEngine;
use agentic_session::{ReplayVerdict, find_run, replay};
use agentic_space::spawn::{SpawnOrigin, spawn};

use crate::commands::VerbOutcome;
use crate::commands::run::durable;
use crate::commands::run::input_text;
use crate::commands::run::pipeline::{PipelineRequest, Ready, RunPlace, prepare};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::program::ProgramFile;

/// The agent that the durable run has in its repository.
const AGENT: &str = "crosscheck";
/// The name of both runs, which their agents are told.
const RUN: &str = "crosscheck";

/// A pipeline, and what its agents answer.
#[derive(Debug, clap::Args)]
pub struct CrosscheckArgs {
    /// A file, or - for standard input
    file: String,
    /// The input, as JSON or as a file with JSON
    #[arg(long, value_name = "JSON|@FILE")]
    input: Option<String>,
    /// The builtins that it may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
    /// What agents answer, by their ids: {"team/x":[{"ok":VALUE},{"failed":{"code","message"}}]}
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: &CrosscheckArgs) -> VerbOutcome {
    let program = ProgramFile::read(context, &args.file, Some(&PipelineLanguage))?;
    let wish = PipelineRequest {
        input: input_text(context, args.input.as_deref())?,
        registry: args.registry.clone(),
        place: RunPlace::Memory,
        setting: durable::DurableSetting::default(),
        invoked_by: None,
        blocks: BlockOrder::Sequential,
        output_trace: None,
    };
    let Some(mut ready) = prepare(context, &program, &wish)? else {
        return Ok(ExitCode::from(1));
    };
    ready.run.script = script(context, args.script.as_deref())?;
    refuse_unrepeatable(&ready)?;
    let memory = ready.end_in_memory(context, RUN.to_owned())?;
    let stage = std::env::temp_dir().join(format!("agentic-crosscheck-{}", std::process::id()));
    let durable = durably(context, ready, &stage);
    // What was made for the comparison alone goes with it.
    let _ = std::fs::remove_dir_all(&stage);
    report(context, memory, durable?)
}

/// Reads what agents answer.
fn script(context: &Context, file: Option<&str>) -> Result<Option<Value>, CommandFailure> {
    let Some(file) = file else { return Ok(None) };
    let text = context.read_text(file)?;
    let script = json::from_text(&text).map_err(|error| {
        CommandFailure::refused(
            &format!("`{file}` is {error}"),
            "write a map from agents to answers",
        )
    })?;
    Ok(Some(script))
}

/// Refuses what must not happen twice, and what cannot be had in memory.
fn refuse_unrepeatable(ready: &Ready) -> Result<(), CommandFailure> {
    let needs = Needs::of(&ready.run.compiled);
    if needs.n_holds > 0 {
        return Err(CommandFailure::refused(
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
        Some(agent) => Err(CommandFailure::refused(
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
fn durably(context: &Context, ready: Ready, stage: &Path) -> Result<End, CommandFailure> {
    make_repository(stage, &context.directory)?;
    let stage = context.at(stage.to_owned());
    let space = stage.watched_space()?;
    let agent = AgentName::parse(AGENT).expect("a valid name");
    let briefing = Briefing::of_text("Run a pipeline to compare its results").to_object();
    spawn(&space, &agent, &briefing.map_err(agentic_session::Error::from)?, &SpawnOrigin::Root)?;
    let setting = durable::DurableSetting { agent: Some(agent), key: Some(RUN.to_owned()) };
    let engine = EmbeddedEngine::new(&space, "cli");
    let run = engine.start(ready.start(&stage, setting)?, RunAttendance::Attended)?;
    let Some(end) = engine.result(&run)? else {
        return Err(CommandFailure::refused(
            "the durable run waits for something that the run in memory did not wait for",
            "`agentic flow run` runs it durably and keeps it",
        ));
    };
    match replay(&space, &find_run(&space, RUN)?, None)? {
        ReplayVerdict::Same => Ok(end),
        ReplayVerdict::Diverged(why) => Err(differs(&format!("its replay: {why}"))),
        ReplayVerdict::Corrupt(why) => Err(differs(&format!("its records: {why}"))),
    }
}

/// Makes a repository whose programs run in the current folder, as those in memory do.
fn make_repository(stage: &Path, folder: &Path) -> Result<(), CommandFailure> {
    let cannot =
        |error: std::io::Error| CommandFailure::io(&format!("write `{}`", stage.display()), &error);
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
        let output = output.map_err(|error| CommandFailure::io("run `git`", &error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let hint = "the comparison needs git and a temporary folder that it can write to";
            return Err(CommandFailure::refused(&format!("`git` failed: {said}"), hint));
        }
    }
    Ok(())
}

fn report(context: &Context, memory: End, durable: End) -> VerbOutcome {
    let (memory, durable) = (compared(&memory), compared(&durable));
    let is_same = memory == durable;
    let view = CrosscheckView {
        same: is_same,
        memory: json::to_json(&memory),
        durable: json::to_json(&durable),
    };
    context.format.answer(&view, |view| match view.same {
        true => "same".to_owned(),
        false => format!("memory: {}\ndurable: {}\n", view.memory, view.durable),
    });
    if is_same { Ok(ExitCode::SUCCESS) } else { Err(differs("their results")) }
}

fn differs(how: &str) -> CommandFailure {
    CommandFailure::diverged(
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
