//! `agentic run`

use std::collections::BTreeMap;
use std::path::PathBuf;

use agentic_api::program::{ProgramSource, parse_dialect};
use agentic_api::verb::{PreparedRun, Run, RunAct, RunPlace, parse_adapter};
use agentic_api::view::RunAnswer;
use agentic_api::{Refusal, Reply, Surroundings};
use agentic_lang_agent::{AgentLang, TraceCapture, invocation};
use agentic_lang_context::Dialect;
use agentic_model::AgentName;
use agentic_providers::host::CancelFlag;
use agentic_providers::model::Adapter;
use agentic_replay::Language;
use agentic_session::language_of_file;

use super::flow::status;
use super::session::brief_line;
use super::{VerbOutcome, agent_name, ended};
use crate::context::Context;
use crate::engine::Address;
use crate::failure::CommandFailure;
use crate::follower::{EventPrinter, followed};
use crate::language;
use crate::live::RunDisplay;
use crate::output::{Format, print_raw, print_text, show_result, warn_of};
use crate::program::{self, input_text, optional_text};

/// Run a program
///
/// A run is in memory: nothing of it is kept, and it needs no repository. With --session, and for
/// a pipeline with a temporal block, it is durable. The language follows from the name of the file,
/// .agent or .as. A program of AgentLang needs the name of one of its pipelines, or --test.
///
/// Example: agentic run review.agent main --input '{"topic":"parsers"}'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct RunArgs {
    /// A file, or - for standard input
    file: String,
    /// The pipeline of an AgentLang program
    pipeline: Option<String>,
    /// The language, where the name of the file does not tell it
    #[arg(long, value_name = "LANGUAGE", value_parser = language::parser())]
    lang: Option<&'static dyn Language>,
    /// The input, as JSON or as a file with JSON
    #[arg(long, value_name = "JSON|@FILE")]
    input: Option<String>,
    /// Print the pipeline as it runs, its workflows lowered, and run nothing
    #[arg(long)]
    lower: bool,
    /// Run the tests of the program
    #[arg(long)]
    test: bool,
    /// Write what happened as JSON; of a session, all since it was started
    #[arg(long, value_name = "PATH")]
    output_trace: Option<String>,
    /// Show what happens in an AgentLang program on standard error, as it happens
    #[arg(long)]
    trace_live: bool,
    /// Not known here: a plug-in of Python; use --handler
    #[arg(long, value_name = "MODULE", hide = true)]
    plugin: Vec<String>,
    /// How many branches of a parallel block, or iterations of a `parallel for`, run at once
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = workers)]
    workers: Option<i64>,
    /// Let a program perform a task; it reads and prints one line of JSON; may be repeated
    #[arg(long, value_name = "TASK=PROGRAM", value_parser = handler)]
    handler: Vec<(String, Vec<String>)>,
    /// Let a program be a tool that agents of an AgentLang program may call; may be repeated
    #[arg(long, value_name = "TOOL=PROGRAM", value_parser = handler)]
    tool: Vec<(String, Vec<String>)>,
    /// Who performs what agents do in an AgentLang program: mock, live or anthropic
    #[arg(long, value_name = "ADAPTER", value_parser = parse_adapter)]
    adapter: Option<Adapter>,
    /// The builtins that a pipeline may call, beyond the standard ones
    #[arg(long, value_name = "FILE")]
    registry: Option<String>,
    /// Run all blocks of a pipeline here, also those that ask to be durable
    #[arg(long, value_name = "BACKEND", value_parser = ["memory"])]
    backend: Option<String>,
    /// Let models, tools and memories of a context program be made up, always alike
    #[arg(long)]
    mock: bool,
    /// Show what a context program would send to models; nothing is sent, written or added
    #[arg(long, conflicts_with_all = ["mock", "script", "session"])]
    dry_run: bool,
    /// Answer the models of a context program from a list of `{"text"}`, `{"value"}`, `{"error"}`
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// Show what a context program did
    #[arg(long)]
    trace: bool,
    /// Print the value alone
    #[arg(long)]
    quiet: bool,
    /// Where a context program begins
    #[arg(long, value_name = "AGENT[.FUNC]")]
    entry: Option<String>,
    /// Which candidate a choice of a context program takes; may be repeated, once for each choice
    ///
    /// CHOICE is FILE#AGENT.FUNC[LABEL], such as review.as#Critic.__main[style]; a main function
    /// without a name is __main. NAME is a candidate of `use one of`, or * for a run with each.
    #[arg(long, value_name = "CHOICE=NAME", value_parser = choice, verbatim_doc_comment)]
    variant: Vec<(String, String)>,
    /// Let each agent that a context program calls run as a session of its own, on its own branch
    #[arg(long, requires = "session", conflicts_with = "script")]
    branches: bool,
    /// The version that a context program is held to
    #[arg(long, value_name = "VERSION", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// Let the program import files from this folder, too; may be repeated
    #[arg(long, value_name = "DIR")]
    allow_import: Vec<PathBuf>,
    /// Run as a session: recorded, and finished after a crash
    #[arg(long, conflicts_with_all = ["lower", "backend"])]
    session: bool,
    /// As this agent, else the current one, else a new one named `run-KEY`
    #[arg(long, value_name = "NAME", value_parser = agent_name)]
    agent: Option<AgentName>,
    /// The start key: the same agent, program, input and key give the same session
    #[arg(long, value_name = "KEY")]
    run_id: Option<String>,
    #[command(flatten)]
    address: Address,
}

/// Runs the verb.
pub fn run(context: &Context, args: RunArgs) -> VerbOutcome {
    let named = args.lang.or_else(|| language_of_file(&args.file, b""));
    refuse_plugins(&args.plugin, named)?;
    let flag = if args.trace_live { TraceCapture::On } else { TraceCapture::Off };
    let live = RunDisplay::of(context.format, flag);
    let is_agentlang = named.is_some_and(|language| language.is(&AgentLang));
    let is_live = args.trace_live || (is_agentlang && live.trace == TraceCapture::On);
    let address = args.address.clone();
    let verb = Run { live: is_live, ..verb(context, args)? };
    let prepare = |here: &_| {
        let prepared = verb.prepare(here)?;
        let is_in_memory = !prepared.is_durable() && !prepared.is_answered();
        if is_in_memory && address.remote().is_some() {
            return Err(Refusal::usage("a run in memory has no engine", "run it with `--session`"));
        }
        Ok(prepared)
    };
    let reply = carried_out(context, live, prepare, |prepared, here| {
        let is_agentlang = prepared.language().is_some_and(|one| one.is(&AgentLang));
        let shown = if is_agentlang { context.showing(live) } else { context.clone() };
        let reached = address.clone().or_configured(context)?.reach(&shown)?;
        Ok(prepared.run(&reached.caller_at(context, here))?)
    })?;
    answered(context, reply)
}

/// Runs a program in memory or, where it is durable, as `in_space` does; shows what it tells.
pub fn carried_out(
    context: &Context,
    live: RunDisplay,
    prepare: impl FnOnce(&Surroundings) -> Result<PreparedRun, Refusal>,
    in_space: impl FnOnce(PreparedRun, Surroundings) -> Result<Reply<RunAnswer>, CommandFailure>,
) -> Result<Reply<RunAnswer>, CommandFailure> {
    let mut printer = EventPrinter::new(context, live);
    let reply = followed(
        context,
        &CancelFlag::new(),
        |event| printer.show(event),
        |here| {
            let prepared = prepare(&here)?;
            match prepared.is_durable() {
                true => in_space(prepared, here),
                false => Ok(prepared.run_here(&here)?),
            }
        },
    );
    printer.end();
    reply
}

/// Prints what a run came to, or how it stands.
pub fn answered(context: &Context, reply: Reply<RunAnswer>) -> VerbOutcome {
    show_answer(context, &reply.answer);
    warn_of(&reply.notices);
    ended(reply.completion)
}

/// Prints what a run came to, or how it stands.
pub fn show_answer(context: &Context, answer: &RunAnswer) {
    match (answer, context.format) {
        (RunAnswer::Ended(ended), Format::Json) => print_raw(&ended.json),
        (RunAnswer::Ended(ended), Format::Text) => show_result(context.format, &ended.text),
        (RunAnswer::Tests(tests), Format::Json) => print_raw(&tests.results.to_string()),
        (RunAnswer::Tests(tests), Format::Text) => print_text(&tests.text),
        (RunAnswer::Lowered(view), _) => context.format.answer_program(view, |view| &view.text),
        (RunAnswer::Standing(view), _) => status::show(context, view),
        (RunAnswer::Session(view), _) => context.format.answer(view, brief_line),
        (RunAnswer::Faulty(findings), _) => program::report(context, findings),
    }
}

/// Makes the verb.
fn verb(context: &Context, args: RunArgs) -> Result<Run, CommandFailure> {
    let input = input_text(context, args.input.as_deref())?;
    let source = program::source(context, &args.file, args.lang)?;
    Ok(Run {
        program: ProgramSource { dialect: args.dialect, imports: args.allow_import, ..source },
        input,
        pipeline: args.pipeline,
        act: match (args.lower, args.test) {
            (true, _) => RunAct::Lower,
            (false, true) => RunAct::Test,
            (false, false) => RunAct::Run,
        },
        place: match (args.session, &args.backend) {
            (true, _) => RunPlace::Session,
            (false, Some(_)) => RunPlace::Memory,
            (false, None) => RunPlace::AsDeclared,
        },
        agent: args.agent.map(|agent| agent.to_string()),
        key: args.run_id,
        output_trace: args.output_trace,
        keep_trace: context.format == Format::Json,
        live: args.trace_live,
        workers: args.workers,
        handlers: args.handler.into_iter().collect(),
        tools: args.tool.into_iter().collect(),
        adapter: args.adapter,
        registry: optional_text(context, args.registry.as_deref())?,
        mock: args.mock,
        dry_run: args.dry_run,
        script: optional_text(context, args.script.as_deref())?,
        trace: args.trace,
        quiet: args.quiet,
        entry: args.entry,
        variant: variants(args.variant)?,
        branches: args.branches,
    })
}

/// Reads a number of workers.
fn workers(text: &str) -> Result<i64, String> {
    invocation::workers(text).map_err(|error| error.message)
}

/// Reads `CHOICE=NAME`.
fn choice(text: &str) -> Result<(String, String), String> {
    let (site, name) = text.rsplit_once('=').ok_or("a variant is CHOICE=NAME")?;
    Ok((site.to_owned(), name.to_owned()))
}

/// Gathers which candidate each choice takes.
fn variants(given: Vec<(String, String)>) -> Result<BTreeMap<String, String>, CommandFailure> {
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

/// Reads `NAME=PROGRAM`, where blanks part the program from its arguments.
fn handler(text: &str) -> Result<(String, Vec<String>), String> {
    let wanted = "NAME=PROGRAM is needed, the name of a task or tool and what performs it";
    let (name, line) = text.split_once('=').ok_or(wanted)?;
    let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if name.is_empty() || argv.is_empty() {
        return Err(wanted.to_owned());
    }
    Ok((name.to_owned(), argv))
}

/// Refuses plug-ins, which are modules of Python that the original loads into itself.
fn refuse_plugins(
    plugins: &[String],
    named: Option<&'static dyn Language>,
) -> Result<(), CommandFailure> {
    let Some(plugin) = plugins.first() else { return Ok(()) };
    if let Some(language) = named.filter(|language| !language.is(&AgentLang)) {
        return Err(CommandFailure::usage(
            &format!("--plugin means nothing to a program of the language `{}`", language.name()),
            &format!("it is for programs of the language `{}`", AgentLang.name()),
        ));
    }
    Err(CommandFailure::usage(
        &format!("`{plugin}` is a plug-in of Python, and there is no Python here"),
        "let programs perform its tasks: `--handler TASK=PROGRAM`, each reads and prints a line of JSON",
    ))
}
