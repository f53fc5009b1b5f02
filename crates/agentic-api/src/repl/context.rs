//! The lines of the context language: declarations are kept, statements run at once and see what
//! earlier ones left behind.

use std::path::PathBuf;

use agentic_diag::SourceText;
use agentic_lang_context::json::{self, Json};
use agentic_lang_context::{
    ContextModule, ContextOptions, Dialect, EntryPoint, Outline, Version, trace,
};
use agentic_replay::{End, ProgramEvent};
use agentic_session::{ProgramAnswerers, ProgramModels, ProgramTools, executor_of_answerers};

use super::notebook::{self, DECLARED, Notebook, ScratchProgram};
use super::{ReplOutput, ReplReply, ReplStart, TriedLanguage};
use crate::memory::{Answers, MemoryStage};
use crate::program::{ImportRoots, NamedText, ProgramFindings, of_context};
use crate::verb::run::context::{fault, read_script, tell_debug};
use crate::watcher::NoticeDesk;
use crate::{Refusal, Surroundings};

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

/// What a piece comes to.
type TakenPiece = Result<ReplReply, Refusal>;

/// Somebody tries out the context language.
pub(super) struct ContextRepl {
    notebook: Notebook,
    answerers: ProgramAnswerers,
    /// What was asked for the statements so far.
    answers: Answers,
    /// What the last run did.
    did: trace::Collector,
    /// The folders that may be imported from beside the usual ones.
    imports: Vec<PathBuf>,
}

/// A program that is to run.
struct ReplRun<'r> {
    module: &'r ContextModule,
    entry: &'r EntryPoint,
    input: Json,
    answers: Answers,
}

impl ContextRepl {
    /// Begins, with the program that was named.
    pub fn begin(
        start: ReplStart,
        here: &Surroundings,
    ) -> Result<(ContextRepl, ReplReply), Refusal> {
        if start.adapter.is_some() || start.live {
            return Err(Refusal::usage(
                "`--adapter` and `--trace-live` mean nothing to the context language",
                "they are for AgentLang: `agentic repl --lang agentlang`",
            ));
        }
        let mut repl = ContextRepl {
            notebook: Notebook::new(start.dialect),
            answerers: answerers(&start, here)?,
            answers: Answers::default(),
            did: trace::Collector::default(),
            imports: start.imports,
        };
        let reply = match &start.file {
            Some(file) => repl.load(here, file)?,
            None => ReplReply::default(),
        };
        Ok((repl, reply))
    }
}

impl TriedLanguage for ContextRepl {
    fn take(&mut self, here: &Surroundings, piece: &str) -> Result<ReplReply, Refusal> {
        self.piece(here, piece)
    }

    fn is_whole(&self, piece: &str) -> bool {
        let is_command = piece.trim_start().starts_with(':');
        let dialect = self.notebook.chosen_dialect().unwrap_or_else(|| Dialect::detect(piece));
        is_command || agentic_lang_context::outline(piece, dialect) != Outline::Open
    }

    fn forgives(&self) -> bool {
        false
    }
}

/// Chooses who answers.
fn answerers(start: &ReplStart, here: &Surroundings) -> Result<ProgramAnswerers, Refusal> {
    let version = start.dialect.map_or(Version::V0_1_18, |dialect| dialect.version);
    let models = match (&start.script, start.mock) {
        (Some(script), _) => ProgramModels::Script(read_script(here, script)?),
        (None, true) => ProgramModels::Mock(version),
        (None, false) => ProgramModels::Configured,
    };
    Ok(ProgramAnswerers {
        models,
        tools: if start.mock { ProgramTools::Mock } else { ProgramTools::Real },
    })
}

impl ContextRepl {
    fn piece(&mut self, here: &Surroundings, piece: &str) -> TakenPiece {
        if let Some(command) = piece.trim().strip_prefix(':') {
            let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
            return self.command(here, name, rest.trim());
        }
        match self.notebook.outline(piece) {
            Outline::Nothing => Ok(ReplReply::default()),
            Outline::Declarations(declarations) => {
                let mut changed = self.notebook.clone();
                changed.declare(declarations);
                self.change(changed)
            }
            Outline::Statements | Outline::Open => self.statement(here, piece),
        }
    }

    fn command(&mut self, here: &Surroundings, name: &str, rest: &str) -> TakenPiece {
        match name {
            "help" => Ok(ReplReply::text(HELP)),
            "load" => self.load(here, rest),
            "import" => self.piece(here, &format!("import {rest}")),
            "agents" => Ok(ReplReply::text(self.notebook.agents())),
            "main" => self.choose_main(rest),
            "show" => Ok(ReplReply::text(self.notebook.program())),
            "parse" => self.lay_out(),
            "check" => self.check(here),
            "run" => self.run(here, rest),
            "trace" => Ok(ReplReply::of(ReplOutput::Trace(trace::pretty(&self.did.trace())))),
            "undo" => {
                self.notebook.undo();
                Ok(ReplReply::default())
            }
            "reset" => {
                self.notebook.reset();
                (self.answers, self.did) = (Answers::default(), trace::Collector::default());
                Ok(ReplReply::default())
            }
            "exit" | "quit" => Ok(ReplReply::leave()),
            _ => {
                let message = format!("there is no command `:{name}`");
                Err(Refusal::usage(&message, "`:help` lists the commands"))
            }
        }
    }

    fn load(&mut self, here: &Surroundings, file: &str) -> TakenPiece {
        let text = NamedText::file(file).read(here)?;
        let Outline::Declarations(declarations) = self.notebook.outline(&text) else {
            let message = format!("`{file}` holds no imports and agents");
            return Err(Refusal::refused(&message, "`agentic check FILE` shows what is wrong"));
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
            return Ok(ReplReply::faulty(ProgramFindings::of(source, vec![*finding])));
        }
        self.notebook = changed;
        Ok(ReplReply::default())
    }

    fn choose_main(&mut self, name: &str) -> TakenPiece {
        if self.notebook.choose_main(name) {
            return Ok(ReplReply::default());
        }
        let message = format!("there is no agent `{name}`");
        Err(Refusal::refused(&message, "`:agents` lists the agents"))
    }

    fn lay_out(&self) -> TakenPiece {
        let source = SourceText::new(self.notebook.path(), self.notebook.program());
        match agentic_lang_context::format(source.text(), self.notebook.chosen_dialect()) {
            Ok(text) => Ok(ReplReply::text(text)),
            Err(finding) => Ok(ReplReply::faulty(ProgramFindings::of(source, vec![*finding]))),
        }
    }

    fn check(&self, here: &Surroundings) -> TakenPiece {
        Ok(match self.compile(here, self.notebook.as_declared()) {
            Ok(module) => {
                let warned = ReplOutput::Findings(of_context(module.warned()));
                let outputs = vec![warned, ReplOutput::Text("ok".to_owned())];
                ReplReply { outputs, ..ReplReply::default() }
            }
            Err(findings) => ReplReply::faulty(findings),
        })
    }

    fn compile(
        &self,
        here: &Surroundings,
        scratch: ScratchProgram,
    ) -> Result<ContextModule, ProgramFindings> {
        let ScratchProgram { program, declared } = scratch;
        let source = SourceText::new(self.notebook.path(), program);
        let options = agentic_lang_context::CheckOptions {
            dialect: self.notebook.chosen_dialect(),
            ..agentic_lang_context::CheckOptions::default()
        };
        let roots = ImportRoots::of(&here.folder, self.notebook.path(), &self.imports);
        let mut resolver = |path: &str| match &declared {
            Some(text) if path.rsplit('/').next() == Some(DECLARED) => Ok(text.clone()),
            Some(_) | None => roots.read(path),
        };
        let compiled = agentic_lang_context::compile(source, &options, &mut resolver);
        compiled.map_err(of_context)
    }

    /// Runs a statement after those before it, whose answers it does not ask for again.
    fn statement(&mut self, here: &Surroundings, text: &str) -> TakenPiece {
        let module = match self.compile(here, self.notebook.with_statement(text)) {
            Ok(module) => module,
            Err(findings) => return Ok(ReplReply::faulty(findings)),
        };
        let entry = EntryPoint::parse(notebook::SCRATCH);
        let answers = self.answers.clone();
        let run = ReplRun { module: &module, entry: &entry, input: Json::default(), answers };
        let (reply, answers) = self.perform(here, run)?;
        self.answers = answers;
        self.notebook.keep(text);
        Ok(reply)
    }

    fn run(&mut self, here: &Surroundings, input: &str) -> TakenPiece {
        let input = match input {
            "" => Json::object::<&str>([]),
            text => json::parse(text).map_err(|fault| {
                Refusal::usage(&format!("the input is no JSON: {fault}"), "give a JSON object")
            })?,
        };
        let module = match self.compile(here, self.notebook.as_declared()) {
            Ok(module) => module,
            Err(findings) => return Ok(ReplReply::faulty(findings)),
        };
        let entry = self.notebook.entry();
        let run = ReplRun { module: &module, entry: &entry, input, answers: Answers::default() };
        Ok(self.perform(here, run)?.0)
    }

    /// Runs a program, and shows its value.
    fn perform(
        &mut self,
        here: &Surroundings,
        run: ReplRun<'_>,
    ) -> Result<(ReplReply, Answers), Refusal> {
        let ReplRun { module, entry, input, answers } = run;
        let run = module.run(entry, ContextOptions::default()).map_err(|error| {
            Refusal::refused(&error.to_string(), "choose another agent with `:main AGENT`")
        })?;
        let (executor, desk) =
            (executor_of_answerers(&self.answerers), NoticeDesk::new(&here.watcher));
        let mut did = trace::Collector::default();
        let mut sink = |event: ProgramEvent| {
            did.take(&event);
            tell_debug(here, event);
        };
        let stage = MemoryStage { here, desk: &desk, executor };
        let (end, answers) = stage.run_again(run, json::to_value(&input), answers, &mut sink);
        self.did = did;
        let mut reply = ReplReply { notices: desk.take_kept(), ..ReplReply::default() };
        match end {
            End::Done(value) => match json::from_value(&value) {
                Ok(Json::Null) => {}
                Ok(value) => reply.outputs.push(ReplOutput::Text(json::pretty(&value))),
                Err(fault) => {
                    let said = format!("the value cannot be read: {fault}");
                    reply.outputs.push(ReplOutput::Said(said));
                }
            },
            End::Failed(failure) => return Err(fault(module, &failure, &self.answerers)),
            End::Cancelled => reply.outputs.push(ReplOutput::Said("cancelled".to_owned())),
        }
        Ok((reply, answers))
    }
}
