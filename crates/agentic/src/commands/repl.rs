//! `agentic repl`

mod agentlang;
mod lines;
mod notebook;

use std::path::PathBuf;
use std::process::ExitCode;

use agentic_diag::SourceText;
use agentic_lang_agent::AgentLang;
use agentic_lang_context::json::{self, Json};
use agentic_lang_context::{
    ContextLanguage, ContextOptions, Dialect, EntryPoint, Module, Outline, Version, trace,
};
use agentic_providers::model::Adapter;
use agentic_replay::{End, Language};
use agentic_session::{Cast, ProgramModels, ProgramTools, RunExecutor, language_of_file};

use self::lines::{Lines, NextLine};
use self::notebook::{DECLARED, Notebook, ScratchProgram};
use super::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::frontend;
use crate::import::ImportRoots;
use crate::language;
use crate::memory::{self, Answers};
use crate::output::{Format, print_text, talk};
use crate::program::{self, CheckedProgram};
use crate::{screen, script};

/// Try out a language, line by line
///
/// That is the context language, unless the file or --lang says agentlang.
///
/// Imports and agents are kept, statements run at once and see what earlier ones left behind. What
/// was asked once is not asked again. A line goes on while a bracket is open; an empty line ends
/// it. :help lists the commands. On a terminal lines can be edited and come back later; from a
/// pipe it exits with 1 if anything went wrong.
///
/// Example: agentic repl review.as --mock
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ReplArgs {
    /// A program to begin with
    file: Option<String>,
    /// The language: context or agentlang
    #[arg(long, value_name = "LANGUAGE", value_parser = language::parser())]
    lang: Option<&'static dyn Language>,
    /// Who performs what agents do in an AgentLang program: mock, live or anthropic
    #[arg(long, value_name = "ADAPTER", value_parser = super::run::parse_adapter)]
    adapter: Option<Adapter>,
    /// Show what happens in an AgentLang program, as it happens
    #[arg(long)]
    trace_live: bool,
    /// Let models, tools and memories be made up, always alike
    #[arg(long)]
    mock: bool,
    /// Answer models from a list of `{"text"}`, `{"value"}`, `{"error"}`
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// The version that programs are held to
    #[arg(long, value_name = "VERSION", value_parser = program::dialect)]
    dialect: Option<Dialect>,
    /// Let programs import files from this folder, too; may be repeated
    #[arg(long, value_name = "DIR")]
    allow_import: Vec<PathBuf>,
}

/// What `:help` says.
const HELP: &str = "\
import …, agent …     declare something, or replace what has the name
anything else         run it; the value of an expression is printed
:load FILE            add the declarations of a program
:import SORT N from S add an import
:agents               list the agents
:main AGENT           begin `:run` with this agent
:show                 print the program
:parse                print the program laid out anew
:check                find what is wrong with the program
:run [JSON]           run the program with an input
:trace                show what the last run did
:undo                 forget the last statement
:reset                forget everything
:exit                 leave (also :quit)";

/// Runs the verb.
pub fn run(context: &Context, args: ReplArgs) -> VerbOutcome {
    let named = args.file.as_deref().and_then(|file| language_of_file(file, b""));
    let language = args.lang.or(named).unwrap_or(&ContextLanguage);
    if language.is(&AgentLang) {
        return agentlang::run(context, args);
    }
    if !language.is(&ContextLanguage) {
        return Err(CommandFailure::usage(
            &format!("programs of the language `{}` have no lines to try out", language.name()),
            "run them with `agentic flow run` or `agentic session start`",
        ));
    }
    if args.adapter.is_some() || args.trace_live {
        return Err(CommandFailure::usage(
            "`--adapter` and `--trace-live` mean nothing to the context language",
            "they are for AgentLang: `agentic repl --lang agentlang`",
        ));
    }
    let cast = cast(context, &args)?;
    let mut repl = Repl {
        context,
        notebook: Notebook::new(args.dialect),
        cast,
        answers: Answers::default(),
        did: trace::Collector::default(),
        imports: args.allow_import.clone(),
    };
    if let Some(file) = &args.file {
        repl.load(file)?;
    }
    let mut lines = Lines::open()?;
    let mut has_failed = false;
    while let Some(piece) = next_piece(&mut lines, args.dialect)? {
        match repl.take(&piece) {
            Ok(Done::GoOn) => {}
            Ok(Done::Faulty) => has_failed = true,
            Ok(Done::Leave) => break,
            Err(failure) => {
                has_failed = true;
                failure.report(context.format == Format::Json);
            }
        }
    }
    lines.close();
    let is_scripted = !lines.is_terminal();
    Ok(if has_failed && is_scripted { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Chooses who answers.
fn cast(context: &Context, args: &ReplArgs) -> Result<Cast, CommandFailure> {
    let version = args.dialect.map_or(Version::V0_1_18, |dialect| dialect.version);
    let models = match (&args.script, args.mock) {
        (Some(file), _) => ProgramModels::Script(script::read(context, file)?),
        (None, true) => ProgramModels::Mock(version),
        (None, false) => ProgramModels::Configured,
    };
    Ok(Cast { models, tools: if args.mock { ProgramTools::Mock } else { ProgramTools::Real } })
}

/// Reads lines until nothing is open any more. An empty line ends what stays open.
fn next_piece(
    lines: &mut Lines,
    dialect: Option<Dialect>,
) -> Result<Option<String>, CommandFailure> {
    let mut piece = String::new();
    loop {
        let place =
            if piece.is_empty() { lines::LinePlace::First } else { lines::LinePlace::Further };
        match lines.next(place)? {
            NextLine::End if piece.trim().is_empty() => return Ok(None),
            NextLine::End => return Ok(Some(piece)),
            NextLine::Dropped => {
                piece.clear();
                continue;
            }
            NextLine::Text(line) if line.trim().is_empty() && !piece.is_empty() => {
                return Ok(Some(piece));
            }
            NextLine::Text(line) => piece.push_str(&line),
        }
        piece.push('\n');
        let is_command = piece.trim_start().starts_with(':');
        let dialect = dialect.unwrap_or_else(|| Dialect::detect(&piece));
        if is_command || agentic_lang_context::outline(&piece, dialect) != Outline::Open {
            return Ok(Some(piece));
        }
    }
}

/// What a piece came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    GoOn,
    /// Something was wrong with it, and was told.
    Faulty,
    Leave,
}

struct Repl<'a> {
    context: &'a Context,
    notebook: Notebook,
    cast: Cast,
    /// What was asked for the statements so far.
    answers: Answers,
    /// What the last run did.
    did: trace::Collector,
    /// The folders that may be imported from beside the usual ones.
    imports: Vec<PathBuf>,
}

type TakenPiece = Result<Done, CommandFailure>;

impl Repl<'_> {
    fn take(&mut self, piece: &str) -> TakenPiece {
        if let Some(command) = piece.trim().strip_prefix(':') {
            let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
            return self.command(name, rest.trim());
        }
        match self.notebook.outline(piece) {
            Outline::Nothing => Ok(Done::GoOn),
            Outline::Declarations(declarations) => {
                let mut changed = self.notebook.clone();
                changed.declare(declarations);
                self.change(changed)
            }
            Outline::Statements | Outline::Open => self.statement(piece),
        }
    }

    fn command(&mut self, name: &str, rest: &str) -> TakenPiece {
        match name {
            "help" => print_text(HELP),
            "load" => return self.load(rest),
            "import" => return self.take(&format!("import {rest}")),
            "agents" => print_text(&self.notebook.agents()),
            "main" => return self.choose_main(rest),
            "show" => print_text(&self.notebook.program()),
            "parse" => return self.lay_out(),
            "check" => return self.check(),
            "run" => return self.run(rest),
            "trace" => {
                print_text(&screen::plain(&trace::pretty(&self.did.trace())));
            }
            "undo" => self.notebook.undo(),
            "reset" => {
                self.notebook.reset();
                (self.answers, self.did) = (Answers::default(), trace::Collector::default());
            }
            "exit" | "quit" => return Ok(Done::Leave),
            _ => {
                let message = format!("there is no command `:{name}`");
                return Err(CommandFailure::usage(&message, "`:help` lists the commands"));
            }
        }
        Ok(Done::GoOn)
    }

    fn load(&mut self, file: &str) -> TakenPiece {
        let text = self.context.read_text(file)?;
        let Outline::Declarations(declarations) = self.notebook.outline(&text) else {
            let message = format!("`{file}` holds no imports and agents");
            return Err(CommandFailure::refused(
                &message,
                "`agentic check FILE` shows what is wrong",
            ));
        };
        let mut changed = self.notebook.clone();
        changed.set_path(file);
        changed.declare(declarations);
        self.change(changed)
    }

    /// Keeps a changed program unless something is wrong with its form.
    fn change(&mut self, changed: Notebook) -> TakenPiece {
        let source = SourceText::new(changed.path(), changed.program());
        if let Err(finding) = agentic_lang_context::format(source.text(), changed.chosen_dialect())
        {
            CheckedProgram::of(source, vec![*finding]).show();
            return Ok(Done::Faulty);
        }
        self.notebook = changed;
        Ok(Done::GoOn)
    }

    fn choose_main(&mut self, name: &str) -> TakenPiece {
        if self.notebook.choose_main(name) {
            return Ok(Done::GoOn);
        }
        let message = format!("there is no agent `{name}`");
        Err(CommandFailure::refused(&message, "`:agents` lists the agents"))
    }

    fn lay_out(&self) -> TakenPiece {
        let source = SourceText::new(self.notebook.path(), self.notebook.program());
        match agentic_lang_context::format(source.text(), self.notebook.chosen_dialect()) {
            Ok(text) => print_text(&text),
            Err(finding) => {
                CheckedProgram::of(source, vec![*finding]).show();
                return Ok(Done::Faulty);
            }
        }
        Ok(Done::GoOn)
    }

    fn check(&self) -> TakenPiece {
        Ok(match self.compile(self.notebook.as_declared()) {
            Ok(module) => {
                frontend::of_context(module.warned()).show();
                print_text("ok");
                Done::GoOn
            }
            Err(checked) => {
                checked.show();
                Done::Faulty
            }
        })
    }

    fn compile(&self, scratch: ScratchProgram) -> Result<Module, CheckedProgram> {
        let ScratchProgram { program, declared } = scratch;
        let source = SourceText::new(self.notebook.path(), program);
        let options = agentic_lang_context::CheckOptions {
            dialect: self.notebook.chosen_dialect(),
            ..agentic_lang_context::CheckOptions::default()
        };
        let roots = ImportRoots::of(&self.context.directory, self.notebook.path(), &self.imports);
        let mut resolver = |path: &str| match &declared {
            Some(text) if path.rsplit('/').next() == Some(DECLARED) => Ok(text.clone()),
            Some(_) | None => roots.read(path),
        };
        let compiled = agentic_lang_context::compile(source, &options, &mut resolver);
        compiled.map_err(frontend::of_context)
    }

    /// Runs a statement after those before it, whose answers it does not ask for again.
    fn statement(&mut self, text: &str) -> TakenPiece {
        let module = match self.compile(self.notebook.with_statement(text)) {
            Ok(module) => module,
            Err(checked) => {
                checked.show();
                return Ok(Done::Faulty);
            }
        };
        let entry = EntryPoint::parse(notebook::SCRATCH);
        let answers = self.answers.clone();
        let (done, answers) = self.perform(&module, &entry, &Json::default(), answers)?;
        if done == Done::GoOn {
            self.answers = answers;
            self.notebook.keep(text);
        }
        Ok(done)
    }

    fn run(&mut self, input: &str) -> TakenPiece {
        let input = match input {
            "" => Json::object::<&str>([]),
            text => json::parse(text).map_err(|fault| {
                CommandFailure::usage(
                    &format!("the input is no JSON: {fault}"),
                    "give a JSON object",
                )
            })?,
        };
        let module = match self.compile(self.notebook.as_declared()) {
            Ok(module) => module,
            Err(checked) => {
                checked.show();
                return Ok(Done::Faulty);
            }
        };
        let entry = self.notebook.entry();
        let (done, _) = self.perform(&module, &entry, &input, Answers::default())?;
        Ok(done)
    }

    /// Runs a program and prints its value.
    fn perform(
        &mut self,
        module: &Module,
        entry: &EntryPoint,
        input: &Json,
        answers: Answers,
    ) -> Result<(Done, Answers), CommandFailure> {
        let run = module.run(entry, ContextOptions::default()).map_err(|error| {
            CommandFailure::refused(&error.to_string(), "choose another agent with `:main AGENT`")
        })?;
        let executor = RunExecutor::of_cast(&self.cast);
        let again = memory::Again { executor, answers };
        let mut did = trace::Collector::default();
        let mut sink = |event| {
            screen::hear(&event);
            did.take(&event);
        };
        let (end, answers) =
            memory::run_again(self.context, run, json::to_value(input), again, &mut sink);
        self.did = did;
        match end {
            End::Done(value) => match json::from_value(&value) {
                Ok(Json::Null) => {}
                Ok(value) => print_text(&json::pretty(&value)),
                Err(fault) => talk(&format!("the value cannot be read: {fault}")),
            },
            End::Failed(failure) => {
                return Err(super::run::context_fault(module, &failure, &self.cast));
            }
            End::Cancelled => talk("cancelled"),
        }
        Ok((Done::GoOn, answers))
    }
}
