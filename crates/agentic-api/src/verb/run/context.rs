//! Programs of the context language, in memory or as sessions.

mod trial;

use std::collections::BTreeMap;

use agentic_lang_context::json::{self, Json};
use agentic_lang_context::{
    Calls, ContextLanguage, ContextModule, DEBUG_EVENT, RunFault, StoreReach, TraceMode, trace,
};
use agentic_model::{Object, Value};
use agentic_replay::{End, Language, ProgramEvent, ProgramFailure};
use agentic_session::{
    Begin, ContextFlow, ProgramAnswerers, ProgramModels, ProgramTools, executor_of_answerers,
    retell,
};

use super::durable::{self, DurableSetting, PinnedRun, RunProgress};
use super::{PreparedRun, Run, RunPlace, RunReply, RunnableProgram, faulty, no_store};
use crate::memory::MemoryStage;
use crate::program::{ContextProgram, NamedText, ProgramText, compile_context};
use crate::trace_file::TraceFile;
use crate::verb::{Reply, VerbCompletion};
use crate::view::{RunAnswer, RunResultView};
use crate::watcher::NoticeDesk;
use crate::{Caller, Refusal, Surroundings, VerbEvent};

/// How many iterations of a `parallel for` may run at once: as many requests are performed at once.
const CONCURRENCY_MAX: usize = 256;

/// A compiled program, and what is asked of it.
struct PreparedContext {
    module: ContextModule,
    flow: ContextFlow,
    input: Value,
    output_trace: Option<String>,
    /// The choice whose candidates are all tried.
    tried: Option<String>,
    setting: Option<DurableSetting>,
    detail: RunDetail,
}

/// How much of a run people see.
#[derive(Debug, Clone, Copy)]
struct RunDetail {
    prompts: ShownPrompts,
    trace: TraceDisplay,
    value: ShownAnswer,
}

/// Whether what models were sent is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShownPrompts {
    Shown,
    Silent,
}

/// Whether the trace is shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceDisplay {
    Pretty,
    Silent,
}

/// What the answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShownAnswer {
    Value,
    ValueAndTrace,
}

/// Compiles a program, or finds what is wrong with it.
pub(super) fn prepare(
    here: &Surroundings,
    program: &ProgramText,
    run: Run,
) -> Result<PreparedRun, Refusal> {
    refuse_contrary(&run)?;
    let calls = if run.branches { Calls::Children } else { Calls::Contexts };
    let concurrency = concurrency(run.workers)?;
    let input = match &run.input {
        Some(text) => json::parse(text).map_err(|fault| {
            Refusal::usage(&format!("the input is no JSON: {fault}"), "give a JSON object")
        })?,
        None => Json::object::<&str>([]),
    };
    let ContextProgram { module, files } = match compile_context(program, calls)? {
        Ok(program) => program,
        Err(findings) => return Ok(faulty(findings)),
    };
    refuse_unknown(&module, &run.variant)?;
    let setting = run.session();
    let flow = ContextFlow {
        name: program.name.clone(),
        source: program.text()?.to_owned(),
        files,
        dialect: program.dialect,
        answerers: answerers(here, &module, &run)?,
        entry: run.entry,
        variant: run.variant,
        calls,
        concurrency,
    };
    let tried = trial::site_of(&flow)?;
    if tried.is_some() && (setting.is_none() || calls != Calls::Children) {
        let hint = "run it with `--session --branches`";
        return Err(Refusal::usage("trials run as sessions on branches", hint));
    }
    let detail = RunDetail {
        prompts: if run.dry_run { ShownPrompts::Shown } else { ShownPrompts::Silent },
        trace: if run.trace { TraceDisplay::Pretty } else { TraceDisplay::Silent },
        value: if run.quiet { ShownAnswer::Value } else { ShownAnswer::ValueAndTrace },
    };
    let (input, output_trace) = (json::to_value(&input), run.output_trace);
    Ok(PreparedRun::ready(PreparedContext {
        module,
        flow,
        input,
        output_trace,
        tried,
        setting,
        detail,
    }))
}

/// Refuses to do two things of which one excludes the other.
fn refuse_contrary(run: &Run) -> Result<(), Refusal> {
    let is_session = run.place == RunPlace::Session;
    let given = [
        (run.dry_run && run.mock, "`--dry-run` and `--mock` exclude each other"),
        (run.dry_run && run.script.is_some(), "`--dry-run` and `--script` exclude each other"),
        (run.dry_run && is_session, "`--dry-run` and `--session` exclude each other"),
        (run.branches && !is_session, "`--branches` needs `--session`"),
        (run.branches && run.script.is_some(), "`--branches` and `--script` exclude each other"),
    ];
    match given.iter().find(|(is_contrary, _)| *is_contrary) {
        None => Ok(()),
        Some((_, why)) => Err(Refusal::usage(why, "`agentic help run` says what goes together")),
    }
}

/// Reads how many iterations of a `parallel for` run at once.
fn concurrency(workers: Option<i64>) -> Result<Option<usize>, Refusal> {
    let Some(workers) = workers else { return Ok(None) };
    match usize::try_from(workers) {
        Ok(workers @ 1..=CONCURRENCY_MAX) => Ok(Some(workers)),
        Ok(_) | Err(_) => Err(Refusal::usage(
            &format!("{workers} iterations cannot run at once"),
            &format!("give `--workers` a number from 1 to {CONCURRENCY_MAX}"),
        )),
    }
}

/// Refuses variants of choices or candidates that the program does not have.
fn refuse_unknown(
    module: &ContextModule,
    variant: &BTreeMap<String, String>,
) -> Result<(), Refusal> {
    let choices = module.choices();
    for (site, name) in variant {
        let Some((_, candidates)) = choices.iter().find(|(known, _)| known == site) else {
            let known: Vec<&str> = choices.iter().map(|(site, _)| *site).collect();
            let hint = match known.is_empty() {
                true => "the program has no `use one of`".to_owned(),
                false => format!("the program has these: {}", known.join(", ")),
            };
            return Err(Refusal::refused(&format!("there is no choice `{site}`"), &hint));
        };
        if name != trial::EVERY && !candidates.contains(&name.as_str()) {
            return Err(Refusal::refused(
                &format!("the choice `{site}` has no candidate `{name}`"),
                &format!("it has these: {}", candidates.join(", ")),
            ));
        }
    }
    Ok(())
}

/// Chooses who answers what the program asks.
fn answerers(
    here: &Surroundings,
    module: &ContextModule,
    run: &Run,
) -> Result<ProgramAnswerers, Refusal> {
    let version = module.dialect().version;
    let models = match (&run.script, run.mock || run.dry_run) {
        (Some(script), _) => ProgramModels::Script(read_script(here, script)?),
        (None, true) => ProgramModels::Mock(version),
        (None, false) => ProgramModels::Configured,
    };
    let tools = match (run.dry_run, run.mock) {
        (true, _) => ProgramTools::Described(version),
        (false, true) => ProgramTools::Mock,
        (false, false) => ProgramTools::Real,
    };
    Ok(ProgramAnswerers { models, tools })
}

/// Reads a list of replies, `{"text"}`, `{"value"}` or `{"error"}` each.
pub(crate) fn read_script(here: &Surroundings, script: &NamedText) -> Result<Vec<Json>, Refusal> {
    match json::parse(&script.read(here)?) {
        Ok(Json::List(replies)) => Ok(replies),
        Ok(_) | Err(_) => Err(Refusal::refused(
            &format!("`{}` is no JSON list of replies", script.name),
            r#"write [{"text":"…"},{"value":…},{"error":"…"}]"#,
        )),
    }
}

impl RunnableProgram for PreparedContext {
    fn language(&self) -> &'static dyn Language {
        &ContextLanguage
    }

    fn is_durable(&self) -> bool {
        self.setting.is_some()
    }

    fn in_memory(self: Box<Self>, here: &Surroundings, desk: &NoticeDesk<'_>) -> RunReply {
        if self.flow.answerers.store() == StoreReach::Session && self.module.reaches_store() {
            return Err(no_store("the program"));
        }
        let run = self.flow.run(&self.module, self.tracing()).map_err(|error| misplaced(&error))?;
        let executor = executor_of_answerers(&self.flow.answerers);
        let mut collector = trace::Collector::default();
        let mut sink = |event: ProgramEvent| {
            collector.take(&event);
            tell_debug(here, event);
        };
        let input = self.input.clone();
        let end = MemoryStage { here, desk, executor }.run(run, input, &mut sink);
        let traced = collector.trace();
        self.write_trace(here, desk, &traced);
        self.reply(here, &end, traced)
    }

    fn begin(&self, caller: &Caller<'_>) -> Result<Begin, Refusal> {
        self.flow.run(&self.module, self.tracing()).map_err(|error| misplaced(&error))?;
        let setting = self.setting.clone().unwrap_or_default();
        durable::begin(caller, setting, self.pinned(&self.flow)?)
    }

    fn in_space(self: Box<Self>, caller: &Caller<'_>, desk: &NoticeDesk<'_>) -> RunReply {
        if let Some(site) = &self.tried {
            let setting = self.setting.clone().unwrap_or_default();
            return trial::run(caller, desk, &self, site, setting);
        }
        // What is wrong with the entry is told before anything is recorded.
        self.flow.run(&self.module, self.tracing()).map_err(|error| misplaced(&error))?;
        let setting = self.setting.clone().unwrap_or_default();
        let ran = durable::run(caller, desk, setting, self.pinned(&self.flow)?)?;
        let here = &caller.surroundings;
        let mut collector = trace::Collector::default();
        let is_over = matches!(ran.reached, RunProgress::End(_));
        if self.tracing() == TraceMode::Full && (is_over || self.output_trace.is_some()) {
            retell(caller.space, &ran.session, &mut |event| collector.take(&event))?;
        }
        let traced = collector.trace();
        self.write_trace(here, desk, &traced);
        match ran.reached {
            RunProgress::End(end) => self.reply(here, &end, traced),
            RunProgress::Waiting(waiting) => Ok(waiting.map(RunAnswer::Session)),
        }
    }
}

/// Tells the watcher what a program says for the people who watch, such as the prompts of a
/// `generate` with `debug: true`.
pub(crate) fn tell_debug(here: &Surroundings, event: ProgramEvent) {
    if event.kind == DEBUG_EVENT {
        // It is for whoever watches.
        let _ = here.watcher.tell(VerbEvent::Said(event));
    }
}

fn misplaced(error: &impl ToString) -> Refusal {
    Refusal::refused(&error.to_string(), "choose another place with `--entry AGENT[.FUNC]`")
}

impl PreparedContext {
    /// Says whether the run has to tell what it does.
    fn tracing(&self) -> TraceMode {
        let is_silent = self.detail.prompts == ShownPrompts::Silent
            && self.detail.trace == TraceDisplay::Silent
            && self.output_trace.is_none()
            && self.detail.value == ShownAnswer::Value;
        if is_silent { TraceMode::Off } else { TraceMode::Full }
    }

    /// Makes what a session is pinned to.
    fn pinned<'f>(&self, flow: &'f ContextFlow) -> Result<PinnedRun<'f>, Refusal> {
        let object: Object = flow.to_object().map_err(|error| {
            Refusal::refused(
                &format!("the program cannot be pinned with all that it imports: {error}"),
                "give large data with `--input @FILE` instead of `import file`",
            )
        })?;
        Ok(PinnedRun { flow: object, input: self.input.clone(), briefing: &flow.source })
    }

    fn write_trace(&self, here: &Surroundings, desk: &NoticeDesk<'_>, traced: &[Json]) {
        if let Some(name) = &self.output_trace {
            let whole = Json::object([("trace", Json::List(traced.to_vec()))]);
            TraceFile::write_whole(here, desk, name, &format!("{}\n", json::pretty(&whole)));
        }
    }

    /// Tells how a run ended. One that failed shows what it did as well.
    fn reply(&self, here: &Surroundings, end: &End, traced: Vec<Json>) -> RunReply {
        if self.detail.prompts == ShownPrompts::Shown {
            let _ = here.watcher.tell(VerbEvent::Shown(trace::prompts(&traced)));
        }
        if self.detail.trace == TraceDisplay::Pretty {
            let _ = here.watcher.tell(VerbEvent::Shown(trace::pretty(&traced)));
        }
        let refusal = match end {
            End::Done(value) => {
                let value = json::from_value(value).map_err(|fault| {
                    Refusal::refused(&format!("the value cannot be read: {fault}"), "return less")
                })?;
                let answer = match self.detail.value {
                    ShownAnswer::Value => value,
                    ShownAnswer::ValueAndTrace => {
                        Json::object([("value", value), ("trace", Json::List(traced))])
                    }
                };
                let json = format!("{}\n", json::pretty(&answer));
                let ended = RunResultView { text: json.clone(), json };
                return Ok(Reply::plain(RunAnswer::Ended(ended)));
            }
            End::Failed(failure) => fault(&self.module, failure, &self.flow.answerers),
            End::Cancelled => Refusal::refused("the run was cancelled", "run it again"),
        };
        let error = serde_json::to_string(&refusal.view()).expect("views have text keys");
        let error = json::parse(&error).unwrap_or_default();
        let answer = match self.detail.value {
            ShownAnswer::Value => Json::object([("error", error)]),
            ShownAnswer::ValueAndTrace => {
                Json::object([("error", error), ("trace", Json::List(traced))])
            }
        };
        let ended = RunResultView { text: String::new(), json: json::pretty(&answer) };
        let completion = VerbCompletion::Short(refusal);
        Ok(Reply { completion, ..Reply::plain(RunAnswer::Ended(ended)) })
    }
}

/// Says why a run failed, with its place in the program.
pub(crate) fn fault(
    module: &ContextModule,
    failure: &ProgramFailure,
    answerers: &ProgramAnswerers,
) -> Refusal {
    let hint = match RunFault::of(failure) {
        Some(fault) => {
            let name = module.sources().get(fault.file).map_or("", |source| source.name());
            let place = format!("{name}:{}:{}", fault.position.line, fault.position.column);
            // What is said about replies begins with this word; anything else is about the model.
            let is_about_reply = fault.message.starts_with("LLM ");
            let is_about_model = answerers.models == ProgramModels::Configured && !is_about_reply;
            match is_about_model && module.is_at_model_call(&fault) {
                true => format!("`agentic providers --probe` shows who answers; look at {place}"),
                false => format!("look at {place}"),
            }
        }
        None => "`--trace` shows what happened before".to_owned(),
    };
    Refusal::program(&failure.code, &failure.message, &hint)
}
