//! Programs of the context language, in memory or as sessions.

use std::collections::BTreeMap;
use std::process::ExitCode;

use agentic_lang_context::json::{self, Json};
use agentic_lang_context::{Calls, Module, RunFault, Tracing, trace};
use agentic_model::{Object, Value};
use agentic_replay::{End, Failure as Failed};
use agentic_space::session::{Cast, ContextFlow, Executor, Models, Tools};

use super::durable::{self, Reached};
use super::{failed, trial};
use crate::commands::Outcome;
use crate::context::Context;
use crate::failure::Failure;
use crate::frontend::{ContextProgram, compile_context};
use crate::memory;
use crate::output::{print_text, talk};
use crate::program::Program;
use crate::{screen, script};

/// How many iterations of a `parallel for` may run at once: as many requests are performed at once.
const CONCURRENCY_MAX: usize = 256;

/// What the command line asks of a program.
pub struct Wish {
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
    pub session: Option<durable::Setting>,
}

/// Reads `CHOICE=NAME`.
pub fn choice(text: &str) -> Result<(String, String), String> {
    let (site, name) = text.rsplit_once('=').ok_or("a variant is CHOICE=NAME")?;
    Ok((site.to_owned(), name.to_owned()))
}

/// Reads how many iterations of a `parallel for` run at once.
pub fn concurrency(workers: Option<i64>) -> Result<Option<usize>, Failure> {
    let Some(workers) = workers else { return Ok(None) };
    match usize::try_from(workers) {
        Ok(workers @ 1..=CONCURRENCY_MAX) => Ok(Some(workers)),
        Ok(_) | Err(_) => Err(Failure::usage(
            &format!("{workers} iterations cannot run at once"),
            &format!("give `--workers` a number from 1 to {CONCURRENCY_MAX}"),
        )),
    }
}

/// Runs a program and prints its value, with the trace unless it is to be quiet.
pub fn run(context: &Context, program: &Program, wish: Wish) -> Outcome {
    let input = match &wish.input {
        Some(text) => json::parse(text).map_err(|fault| {
            Failure::usage(&format!("the input is no JSON: {fault}"), "give a JSON object")
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
    let (shown, setting) = (Shown::of(&wish), wish.session);
    if let Some(site) = trial::site_of(&flow)? {
        let hint = "run it with `--session --branches`";
        let setting = setting.filter(|_| wish.calls == Calls::Children);
        let needed = || Failure::usage("trials run as sessions on branches", hint);
        let setting = setting.ok_or_else(needed)?;
        return trial::run(context, &module, (flow, site), &json::to_value(&input), setting);
    }
    let ran = perform(context, (&module, &flow), json::to_value(&input), setting, shown)?;
    let (end, trace) = match ran {
        (Reached::End(end), trace) => (end, trace),
        (Reached::Waiting(code), _) => return Ok(code),
    };
    show((&module, &flow.cast), &end, trace, shown)
}

/// Runs to the end, or to where a session waits; also returns the trace if it is to be shown.
fn perform(
    context: &Context,
    (module, flow): (&Module, &ContextFlow),
    input: Value,
    setting: Option<durable::Setting>,
    shown: Shown,
) -> Result<(Reached, Vec<Json>), Failure> {
    let tracing = shown.tracing();
    let run = flow.run(module, tracing).map_err(|error| {
        Failure::refused(&error.to_string(), "choose another place with `--entry AGENT[.FUNC]`")
    })?;
    let mut collector = trace::Collector::default();
    if let Some(setting) = setting {
        let object = pinned(flow)?;
        let ran = durable::run(context, setting, object, input, &flow.source)?;
        if tracing == Tracing::Full && matches!(ran.reached, Reached::End(_)) {
            durable::retell(context, &ran.session, &mut |event| collector.take(&event))?;
        }
        return Ok((ran.reached, collector.trace()));
    }
    let executor = Executor::of_cast(&flow.cast);
    let mut sink = |event| {
        screen::hear(&event);
        collector.take(&event);
    };
    let end = memory::run(run, input, executor, context.directory.clone(), &mut sink);
    Ok((Reached::End(end), collector.trace()))
}

/// Makes the object that a session is pinned to.
pub fn pinned(flow: &ContextFlow) -> Result<Object, Failure> {
    flow.to_object().map_err(|error| {
        Failure::refused(
            &format!("the program cannot be pinned with all that it imports: {error}"),
            "give large data with `--input @FILE` instead of `import file`",
        )
    })
}

/// How much of a run people see.
#[derive(Debug, Clone, Copy)]
struct Shown {
    prompts: Prompts,
    trace: Trace,
    value: Answer,
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
enum Answer {
    Value,
    ValueAndTrace,
}

impl Shown {
    fn of(wish: &Wish) -> Shown {
        Shown {
            prompts: if wish.dry_run { Prompts::Shown } else { Prompts::Silent },
            trace: if wish.trace { Trace::Pretty } else { Trace::Silent },
            value: if wish.quiet { Answer::Value } else { Answer::ValueAndTrace },
        }
    }

    /// Says whether the run has to tell what it does.
    fn tracing(self) -> Tracing {
        match (self.prompts, self.trace, self.value) {
            (Prompts::Silent, Trace::Silent, Answer::Value) => Tracing::Off,
            (Prompts::Shown, _, _) | (_, Trace::Pretty, _) | (_, _, Answer::ValueAndTrace) => {
                Tracing::Full
            }
        }
    }
}

/// Prints how a run ended.
fn show((module, cast): (&Module, &Cast), end: &End, traced: Vec<Json>, shown: Shown) -> Outcome {
    if shown.prompts == Prompts::Shown {
        talk(&screen::plain(&trace::prompts(&traced)));
    }
    if shown.trace == Trace::Pretty {
        talk(&screen::plain(&trace::pretty(&traced)));
    }
    match end {
        End::Done(value) => {
            let value = json::from_value(value).map_err(|fault| {
                Failure::refused(&format!("the value cannot be read: {fault}"), "return less")
            })?;
            let answer = match shown.value {
                Answer::Value => value,
                Answer::ValueAndTrace => {
                    Json::object([("value", value), ("trace", Json::List(traced))])
                }
            };
            print_text(&json::pretty(&answer));
            Ok(ExitCode::SUCCESS)
        }
        End::Failed(failure) => Err(fault(module, failure, cast)),
        End::Cancelled => Err(Failure::refused("the run was cancelled", "run it again")),
    }
}

/// Makes the failure of a run, with its place in the program.
pub fn fault(module: &Module, failure: &Failed, cast: &Cast) -> Failure {
    let hint = match RunFault::of(failure) {
        Some(fault) => {
            let name = module.sources().get(fault.file).map_or("", |source| source.name());
            let place = format!("{name}:{}:{}", fault.position.line, fault.position.column);
            // What is said about replies begins with this word; anything else is about the model.
            let is_about_reply = fault.message.starts_with("LLM ");
            let is_about_model = cast.models == Models::Configured && !is_about_reply;
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
fn cast(context: &Context, module: &Module, wish: &Wish) -> Result<Cast, Failure> {
    let version = module.dialect().version;
    let models = match (&wish.script, wish.mock || wish.dry_run) {
        (Some(file), _) => Models::Script(script::read(context, file)?),
        (None, true) => Models::Mock(version),
        (None, false) => Models::Configured,
    };
    let tools = match (wish.dry_run, wish.mock) {
        (true, _) => Tools::Described(version),
        (false, true) => Tools::Mock,
        (false, false) => Tools::Real,
    };
    Ok(Cast { models, tools })
}
