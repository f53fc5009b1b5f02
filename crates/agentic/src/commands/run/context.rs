//! Programs of the context language, in memory or as sessions.

use std::collections::BTreeMap;
use std::process::ExitCode;

use agentic_lang_context::json::{self, Json};
use agentic_lang_context::{Calls, Module, RunFault, TraceMode, trace};
use agentic_model::{Object, Value};
use agentic_replay::{End, ProgramFailure as Failed};
use agentic_session::{Cast, ContextFlow, ProgramModels, ProgramTools, RunExecutor};

use super::durable::{self, RunProgress};
use super::trace_file::TraceFile;
use super::{failed, trial};
use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::frontend::{ContextProgram, compile_context};
use crate::memory;
use crate::output::{Format, print_raw, show_result, talk};
use crate::program::ProgramFile;
use crate::{screen, script};

/// How many iterations of a `parallel for` may run at once: as many requests are performed at once.
const CONCURRENCY_MAX: usize = 256;

/// What the command line asks of a program.
pub struct ContextRequest {
    /// The input, as JSON text.
    pub input: Option<String>,
    /// Whether models, tools and memories are made up.
    pub mock: bool,
    /// Whether effects are described instead of performed.
    pub dry_run: bool,
    /// The file with the replies of models.
    pub script: Option<String>,
    /// Whether people see what happened.
    pub trace: bool,
    /// The file that the trace goes to.
    pub output_trace: Option<String>,
    /// Whether the value alone is printed.
    pub quiet: bool,
    /// Where the run begins.
    pub entry: Option<String>,
    /// Which candidate each choice takes.
    pub variant: BTreeMap<String, String>,
    /// What its calls of agents are.
    pub calls: Calls,
    /// How many iterations of a `parallel for` run at once.
    pub concurrency: Option<usize>,
    /// The session that it runs as; in memory without one.
    pub session: Option<durable::DurableSetting>,
}

/// Reads `CHOICE=NAME`.
pub fn choice(text: &str) -> Result<(String, String), String> {
    let (site, name) = text.rsplit_once('=').ok_or("a variant is CHOICE=NAME")?;
    Ok((site.to_owned(), name.to_owned()))
}

/// Gathers which candidate each choice takes.
pub fn variants(given: Vec<(String, String)>) -> Result<BTreeMap<String, String>, CommandFailure> {
    let mut variants = BTreeMap::new();
    for (site, name) in given {
        if let Some(other) = variants.insert(site.clone(), name.clone()) {
            return Err(CommandFailure::usage(
                &format!("the choice `{site}` is to take both `{other}` and `{name}`"),
                "give `--variant` once for each choice; `*` stands for a run with each candidate",
            ));
        }
    }
    Ok(variants)
}

/// Refuses variants of choices or candidates that the program does not have.
fn refuse_unknown(
    module: &Module,
    variant: &BTreeMap<String, String>,
) -> Result<(), CommandFailure> {
    let choices = module.choices();
    for (site, name) in variant {
        let Some((_, candidates)) = choices.iter().find(|(known, _)| known == site) else {
            let known: Vec<&str> = choices.iter().map(|(site, _)| *site).collect();
            let hint = match known.is_empty() {
                true => "the program has no `use one of`".to_owned(),
                false => format!("the program has these: {}", known.join(", ")),
            };
            return Err(CommandFailure::refused(&format!("there is no choice `{site}`"), &hint));
        };
        if name != trial::EVERY && !candidates.contains(&name.as_str()) {
            return Err(CommandFailure::refused(
                &format!("the choice `{site}` has no candidate `{name}`"),
                &format!("it has these: {}", candidates.join(", ")),
            ));
        }
    }
    Ok(())
}

/// Reads how many iterations of a `parallel for` run at once.
pub fn concurrency(workers: Option<i64>) -> Result<Option<usize>, CommandFailure> {
    let Some(workers) = workers else { return Ok(None) };
    match usize::try_from(workers) {
        Ok(workers @ 1..=CONCURRENCY_MAX) => Ok(Some(workers)),
        Ok(_) | Err(_) => Err(CommandFailure::usage(
            &format!("{workers} iterations cannot run at once"),
            &format!("give `--workers` a number from 1 to {CONCURRENCY_MAX}"),
        )),
    }
}

/// Runs a program and prints its value, with the trace unless it is to be quiet.
pub fn run(context: &Context, program: &ProgramFile, wish: ContextRequest) -> VerbOutcome {
    let input = match &wish.input {
        Some(text) => json::parse(text).map_err(|fault| {
            CommandFailure::usage(&format!("the input is no JSON: {fault}"), "give a JSON object")
        })?,
        None => Json::object::<&str>([]),
    };
    let ContextProgram { module, files } = match compile_context(context, program, wish.calls)? {
        Ok(program) => program,
        Err(checked) => {
            checked.report(context);
            return Ok(ExitCode::from(1));
        }
    };
    refuse_unknown(&module, &wish.variant)?;
    let flow = ContextFlow {
        name: program.name.clone(),
        source: program.text()?.to_owned(),
        files,
        dialect: program.dialect,
        entry: wish.entry.clone(),
        variant: wish.variant.clone(),
        cast: cast(context, &module, &wish)?,
        calls: wish.calls,
        concurrency: wish.concurrency,
    };
    let shown = RunDetail::of(&wish);
    let (output_trace, setting) = (wish.output_trace, wish.session);
    if let Some(site) = trial::site_of(&flow)? {
        let hint = "run it with `--session --branches`";
        let setting = setting.filter(|_| wish.calls == Calls::Children);
        let needed = || CommandFailure::usage("trials run as sessions on branches", hint);
        let setting = setting.ok_or_else(needed)?;
        return trial::run(context, &module, flow, site, &json::to_value(&input), setting);
    }
    let ran = perform(context, (&module, &flow), json::to_value(&input), setting, shown)?;
    let (reached, traced) = ran;
    if let Some(name) = output_trace {
        let whole = Json::object([("trace", Json::List(traced.clone()))]);
        TraceFile::write_whole(context, &name, &format!("{}\n", json::pretty(&whole)));
    }
    match reached {
        RunProgress::End(end) => show(context, &module, &flow.cast, &end, traced, shown),
        RunProgress::Waiting(code) => Ok(code),
    }
}

/// Runs to the end, or to where a session waits; also returns the trace if it is to be shown.
fn perform(
    context: &Context,
    (module, flow): (&Module, &ContextFlow),
    input: Value,
    setting: Option<durable::DurableSetting>,
    shown: RunDetail,
) -> Result<(RunProgress, Vec<Json>), CommandFailure> {
    let tracing = shown.tracing();
    let run = flow.run(module, tracing).map_err(|error| {
        CommandFailure::refused(
            &error.to_string(),
            "choose another place with `--entry AGENT[.FUNC]`",
        )
    })?;
    let mut collector = trace::Collector::default();
    if let Some(setting) = setting {
        let object = pinned(flow)?;
        let ran = durable::run(context, setting, object, input, &flow.source)?;
        let is_told = matches!(ran.reached, RunProgress::End(_)) || shown.file == File::Written;
        if tracing == TraceMode::Full && is_told {
            durable::retell(context, &ran.session, &mut |event| collector.take(&event))?;
        }
        return Ok((ran.reached, collector.trace()));
    }
    let executor = RunExecutor::of_cast(&flow.cast);
    let mut sink = |event| {
        screen::hear(&event);
        collector.take(&event);
    };
    let end = memory::run(context, run, input, executor, &mut sink);
    Ok((RunProgress::End(end), collector.trace()))
}

/// Makes the object that a session is pinned to.
pub fn pinned(flow: &ContextFlow) -> Result<Object, CommandFailure> {
    flow.to_object().map_err(|error| {
        CommandFailure::refused(
            &format!("the program cannot be pinned with all that it imports: {error}"),
            "give large data with `--input @FILE` instead of `import file`",
        )
    })
}

/// How much of a run people see.
#[derive(Debug, Clone, Copy)]
struct RunDetail {
    prompts: Prompts,
    trace: Trace,
    file: File,
    value: PrintedAnswer,
}

/// Whether the trace goes to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum File {
    Written,
    None,
}

/// Whether what models were sent is printed for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prompts {
    Shown,
    Silent,
}

/// Whether the trace is printed for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trace {
    Pretty,
    Silent,
}

/// What is printed at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PrintedAnswer {
    Value,
    ValueAndTrace,
}

impl RunDetail {
    fn of(wish: &ContextRequest) -> RunDetail {
        RunDetail {
            prompts: if wish.dry_run { Prompts::Shown } else { Prompts::Silent },
            trace: if wish.trace { Trace::Pretty } else { Trace::Silent },
            file: if wish.output_trace.is_some() { File::Written } else { File::None },
            value: if wish.quiet { PrintedAnswer::Value } else { PrintedAnswer::ValueAndTrace },
        }
    }

    /// Says whether the run has to tell what it does.
    fn tracing(self) -> TraceMode {
        let is_silent = self.prompts == Prompts::Silent
            && self.trace == Trace::Silent
            && self.file == File::None
            && self.value == PrintedAnswer::Value;
        if is_silent { TraceMode::Off } else { TraceMode::Full }
    }
}

/// Prints how a run ended. With JSON, one that failed shows what it did as well.
fn show(
    context: &Context,
    module: &Module,
    cast: &Cast,
    end: &End,
    traced: Vec<Json>,
    shown: RunDetail,
) -> VerbOutcome {
    if shown.prompts == Prompts::Shown {
        talk(&screen::plain(&trace::prompts(&traced)));
    }
    if shown.trace == Trace::Pretty {
        talk(&screen::plain(&trace::pretty(&traced)));
    }
    let failure = match end {
        End::Done(value) => {
            let value = json::from_value(value).map_err(|fault| {
                CommandFailure::refused(
                    &format!("the value cannot be read: {fault}"),
                    "return less",
                )
            })?;
            let answer = match shown.value {
                PrintedAnswer::Value => value,
                PrintedAnswer::ValueAndTrace => {
                    Json::object([("value", value), ("trace", Json::List(traced))])
                }
            };
            show_result(context.format, &format!("{}\n", json::pretty(&answer)));
            return Ok(ExitCode::SUCCESS);
        }
        End::Failed(failure) => fault(module, failure, cast),
        End::Cancelled => CommandFailure::refused("the run was cancelled", "run it again"),
    };
    if context.format == Format::Json {
        let error = serde_json::to_string(&failure.view()).expect("views have text keys");
        let error = json::parse(&error).unwrap_or_default();
        let answer = match shown.value {
            PrintedAnswer::Value => Json::object([("error", error)]),
            PrintedAnswer::ValueAndTrace => {
                Json::object([("error", error), ("trace", Json::List(traced))])
            }
        };
        print_raw(&json::pretty(&answer));
    }
    Err(failure)
}

/// Makes the failure of a run, with its place in the program.
pub fn fault(module: &Module, failure: &Failed, cast: &Cast) -> CommandFailure {
    let hint = match RunFault::of(failure) {
        Some(fault) => {
            let name = module.sources().get(fault.file).map_or("", |source| source.name());
            let place = format!("{name}:{}:{}", fault.position.line, fault.position.column);
            // What is said about replies begins with this word; anything else is about the model.
            let is_about_reply = fault.message.starts_with("LLM ");
            let is_about_model = cast.models == ProgramModels::Configured && !is_about_reply;
            match is_about_model && module.is_at_model_call(&fault) {
                true => format!("`agentic providers --probe` shows who answers; look at {place}"),
                false => format!("look at {place}"),
            }
        }
        None => "`--trace` shows what happened before".to_owned(),
    };
    failed(failure, &hint)
}

/// Chooses who answers what the program asks.
fn cast(context: &Context, module: &Module, wish: &ContextRequest) -> Result<Cast, CommandFailure> {
    let version = module.dialect().version;
    let models = match (&wish.script, wish.mock || wish.dry_run) {
        (Some(file), _) => ProgramModels::Script(script::read(context, file)?),
        (None, true) => ProgramModels::Mock(version),
        (None, false) => ProgramModels::Configured,
    };
    let tools = match (wish.dry_run, wish.mock) {
        (true, _) => ProgramTools::Described(version),
        (false, true) => ProgramTools::Mock,
        (false, false) => ProgramTools::Real,
    };
    Ok(Cast { models, tools })
}
