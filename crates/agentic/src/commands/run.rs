//! `agentic run`

mod adapter;
pub mod agentlang;
mod context;
pub mod durable;
mod handler;
pub mod pipeline;
mod trace_file;
mod trial;

pub use self::adapter::parse as parse_adapter;
pub use self::context::fault as context_fault;

use std::path::PathBuf;

use agentic_lang_agent::{AgentLang, MockTasks, TraceCapture};
use agentic_lang_context::{Calls, ContextLanguage, Dialect};
use agentic_lang_pipeline::PipelineLanguage;
use agentic_lang_pipeline::run::BlockOrder;
use agentic_model::AgentName;
use agentic_providers::model::Adapter;
use agentic_replay::Language;
use agentic_session::language_of_file;

use super::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::language;
use crate::live::Live;
use crate::program::{self, ProgramFile};

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
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = agentlang::workers)]
    workers: Option<i64>,
    /// Let a program perform a task; it reads and prints one line of JSON; may be repeated
    #[arg(long, value_name = "TASK=PROGRAM", value_parser = handler::parse)]
    handler: Vec<handler::Handler>,
    /// Let a program be a tool that agents of an AgentLang program may call; may be repeated
    #[arg(long, value_name = "TOOL=PROGRAM", value_parser = handler::parse)]
    tool: Vec<handler::Handler>,
    /// Who performs what agents do in an AgentLang program: mock, live or anthropic
    #[arg(long, value_name = "ADAPTER", value_parser = adapter::parse)]
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
    #[arg(long, value_name = "CHOICE=NAME", value_parser = context::choice, verbatim_doc_comment)]
    variant: Vec<(String, String)>,
    /// Let each agent that a context program calls run as a session of its own, on its own branch
    #[arg(long, requires = "session", conflicts_with = "script")]
    branches: bool,
    /// The version that a context program is held to
    #[arg(long, value_name = "VERSION", value_parser = program::dialect)]
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
}

/// Runs the verb.
pub fn run(context: &Context, args: RunArgs) -> VerbOutcome {
    // Inputs are looked at before the program is.
    let input = input_text(context, args.input.as_deref())?;
    if let Some(text) = &input {
        agentic_lang_agent::json::from_text(text).map_err(|error| {
            CommandFailure::usage(
                &format!("the input is {error}"),
                "give one JSON value to `--input`",
            )
        })?;
    }
    let named = args.lang.or_else(|| language_of_file(&args.file, b""));
    let is_agentlang = named.is_some_and(|language| language.is(&AgentLang));
    if let (Some(text), true) = (&input, is_agentlang) {
        agentlang::input(text)?;
    }
    let program = ProgramFile::read(context, &args.file, args.lang)?;
    let program =
        ProgramFile { dialect: args.dialect, imports: args.allow_import.clone(), ..program };
    refuse_foreign(&args, program.language)?;
    let setting = durable::DurableSetting { agent: args.agent.clone(), key: args.run_id.clone() };
    if !args.session && !setting.is_empty() && !program.language.is(&PipelineLanguage) {
        return Err(CommandFailure::usage(
            "a run in memory has neither agent nor key",
            "run it with `--session`",
        ));
    }
    let runner = RUNNERS.iter().find(|runner| program.language.is(runner.language));
    let runner = runner.ok_or_else(|| {
        CommandFailure::usage(
            "a script runs on behalf of an agent",
            "use `agentic session start AGENT --flow FILE`",
        )
    })?;
    (runner.run)(context, &program, AskedProgram { args, input, setting })
}

/// What is asked of a program.
struct AskedProgram {
    args: RunArgs,
    /// The text of the input.
    input: Option<String>,
    /// As whom and under which key it runs.
    setting: durable::DurableSetting,
}

impl AskedProgram {
    /// Returns the setting of a session, if the program is to run as one.
    fn session(&self) -> Option<durable::DurableSetting> {
        self.args.session.then(|| self.setting.clone())
    }
}

/// How programs of a language run that need no agent.
struct Runner {
    language: &'static dyn Language,
    run: fn(&Context, &ProgramFile, AskedProgram) -> VerbOutcome,
}

/// The languages whose programs run here.
static RUNNERS: [Runner; 3] = [
    Runner { language: &AgentLang, run: run_agentlang },
    Runner { language: &PipelineLanguage, run: run_pipeline },
    Runner { language: &ContextLanguage, run: run_context },
];

fn run_agentlang(context: &Context, program: &ProgramFile, asked: AskedProgram) -> VerbOutcome {
    refuse_plugins(&asked.args.plugin)?;
    let session = asked.session();
    let wish = agentlang_wish(context, asked.args, asked.input, session);
    agentlang::run(context, program, wish)
}

fn run_pipeline(context: &Context, program: &ProgramFile, asked: AskedProgram) -> VerbOutcome {
    let AskedProgram { args, input, setting } = asked;
    let wish = pipeline::PipelineRequest {
        input,
        registry: args.registry,
        place: match (args.session, &args.backend) {
            (true, _) => pipeline::RunPlace::Session,
            (false, Some(_)) => pipeline::RunPlace::Memory,
            (false, None) => pipeline::RunPlace::AsDeclared,
        },
        setting,
        invoked_by: None,
        blocks: BlockOrder::Sequential,
        output_trace: args.output_trace,
    };
    pipeline::run(context, program, wish)
}

fn run_context(context: &Context, program: &ProgramFile, asked: AskedProgram) -> VerbOutcome {
    let session = asked.session();
    let wish = context_wish(asked.args, asked.input, session)?;
    context::run(context, program, wish)
}

/// Gathers what the command line asks of a program of AgentLang.
fn agentlang_wish(
    context: &Context,
    args: RunArgs,
    input: Option<String>,
    session: Option<durable::DurableSetting>,
) -> agentlang::AgentlangRequest {
    let flag = if args.trace_live { TraceCapture::On } else { TraceCapture::Off };
    agentlang::AgentlangRequest {
        pipeline: args.pipeline,
        act: agentlang::Act::of(args.lower, args.test),
        input: input.unwrap_or_else(|| "{}".to_owned()),
        trace: args.output_trace,
        workers: args.workers,
        handlers: args.handler,
        tools: args.tool,
        adapter: args.adapter,
        session,
        live: Live::of(context.format, flag),
        desk: agentlang::Desk::CommandLine,
        remembered: MockTasks::default(),
    }
}

/// Gathers what the command line asks of a program of the context language.
fn context_wish(
    args: RunArgs,
    input: Option<String>,
    session: Option<durable::DurableSetting>,
) -> Result<context::ContextRequest, CommandFailure> {
    Ok(context::ContextRequest {
        input,
        mock: args.mock,
        dry_run: args.dry_run,
        script: args.script,
        trace: args.trace,
        output_trace: args.output_trace,
        quiet: args.quiet,
        entry: args.entry,
        variant: context::variants(args.variant)?,
        calls: if args.branches { Calls::Children } else { Calls::Contexts },
        concurrency: context::concurrency(args.workers)?,
        session,
    })
}

/// Returns the text of the input: what stands there, or behind `@` in a file.
pub fn input_text(
    context: &Context,
    given: Option<&str>,
) -> Result<Option<String>, CommandFailure> {
    let Some(given) = given else { return Ok(None) };
    let Some(file) = given.strip_prefix('@') else { return Ok(Some(given.to_owned())) };
    context.read_text(file).map(Some)
}

/// Refuses what means nothing to a language, so that nobody believes that it did something.
fn refuse_foreign(args: &RunArgs, language: &'static dyn Language) -> Result<(), CommandFailure> {
    let (agentlang, context): (&dyn Language, &dyn Language) = (&AgentLang, &ContextLanguage);
    let pipeline: &dyn Language = &PipelineLanguage;
    let given = [
        ("a name of a pipeline", args.pipeline.is_some(), agentlang),
        ("--lower", args.lower, agentlang),
        ("--test", args.test, agentlang),
        ("--trace-live", args.trace_live, agentlang),
        ("--plugin", !args.plugin.is_empty(), agentlang),
        ("--workers", args.workers.is_some() && !language.is(context), agentlang),
        ("--adapter", args.adapter.is_some(), agentlang),
        ("--handler", !args.handler.is_empty(), agentlang),
        ("--tool", !args.tool.is_empty(), agentlang),
        ("--registry", args.registry.is_some(), pipeline),
        ("--backend", args.backend.is_some(), pipeline),
        ("--mock", args.mock, context),
        ("--dry-run", args.dry_run, context),
        ("--script", args.script.is_some(), context),
        ("--trace", args.trace, context),
        ("--quiet", args.quiet, context),
        ("--entry", args.entry.is_some(), context),
        ("--branches", args.branches, context),
        ("--dialect", args.dialect.is_some(), context),
        ("--variant", !args.variant.is_empty(), context),
    ];
    let foreign = given.iter().find(|(_, is_given, owner)| *is_given && !owner.is(language));
    match foreign {
        None => Ok(()),
        Some((what, _, owner)) => Err(CommandFailure::usage(
            &format!("{what} means nothing to a program of the language `{}`", language.name()),
            &format!("it is for programs of the language `{}`", owner.name()),
        )),
    }
}

/// Refuses plug-ins, which are modules of Python that the original loads into itself.
fn refuse_plugins(plugins: &[String]) -> Result<(), CommandFailure> {
    let Some(plugin) = plugins.first() else { return Ok(()) };
    Err(CommandFailure::usage(
        &format!("`{plugin}` is a plug-in of Python, and there is no Python here"),
        "let programs perform its tasks: `--handler TASK=PROGRAM`, each reads and prints a line of JSON",
    ))
}

/// The failure that a program ended with.
fn failed(failure: &agentic_replay::ProgramFailure, hint: &str) -> CommandFailure {
    CommandFailure::program(&failure.code, &failure.message, hint)
}
