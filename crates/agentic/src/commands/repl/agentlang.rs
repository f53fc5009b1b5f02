//! The lines of AgentLang: a program is loaded, its pipelines are run. Nothing that goes wrong ends
//! it.

use std::process::ExitCode;
use std::sync::Arc;

use agentic_diag::SourceText;
use agentic_lang_agent::{AgentLang, MockTasks, Module, SignatureInfo, TraceCapture};
use agentic_providers::model::Adapter;

use super::ReplArgs;
use super::lines::{LinePlace, Lines, NextLine};
use crate::commands::VerbOutcome;
use crate::commands::run::agentlang::{self, Act, AgentlangRequest, Desk};
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::frontend::unreadable;
use crate::live::Live;
use crate::output::{Format, counted, print_text, talk};
use crate::program::{CheckedProgram, ProgramFile};

/// How many lines in a row may be unreadable before the input is.
const UNREADABLE_MAX: usize = 100;
/// What is said first.
const BANNER: &str = "AgentLang; `help` lists the commands";
/// What `help` says.
const HELP: &str = "\
load PATH         check a program and take it in place of the one before
run NAME [JSON]   run one of its pipelines
test              run its tests
lower NAME        print a pipeline as it runs, its workflows lowered
list              list its agents, tasks and pipelines
clear             forget the program
help              show this
exit              leave (also quit)";

/// Runs the verb.
pub fn run(context: &Context, args: ReplArgs) -> VerbOutcome {
    for (what, is_given) in [
        ("--mock", args.mock),
        ("--script", args.script.is_some()),
        ("--dialect", args.dialect.is_some()),
        ("--allow-import", !args.allow_import.is_empty()),
    ] {
        if is_given {
            return Err(CommandFailure::usage(
                &format!("`{what}` means nothing to AgentLang"),
                "the tasks of agents are made up with `--adapter mock`",
            ));
        }
    }
    let flag = if args.trace_live { TraceCapture::On } else { TraceCapture::Off };
    let live = Live::of(context.format, flag);
    let remembered = MockTasks::default();
    let mut repl = AgentlangRepl { context, adapter: args.adapter, live, loaded: None, remembered };
    talk(BANNER);
    if let Some(file) = &args.file {
        repl.told(|repl| repl.load(file));
    }
    let mut lines = Lines::open()?;
    let mut n_unreadable = 0;
    loop {
        let line = match lines.next(LinePlace::First) {
            Ok(NextLine::Text(line)) => line,
            Ok(NextLine::Dropped) => continue,
            Ok(NextLine::End) => break,
            Err(failure) if n_unreadable == UNREADABLE_MAX => return Err(failure),
            Err(failure) => {
                n_unreadable += 1;
                failure.report(context.format == Format::Json);
                continue;
            }
        };
        n_unreadable = 0;
        let (command, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((&line, ""));
        let command = command.trim().to_lowercase();
        if matches!(command.as_str(), "exit" | "quit") {
            break;
        }
        repl.told(|repl| repl.take(&command, rest.trim()));
    }
    lines.close();
    Ok(ExitCode::SUCCESS)
}

struct AgentlangRepl<'a> {
    context: &'a Context,
    adapter: Option<Adapter>,
    live: Live,
    loaded: Option<ReplProgram>,
    /// What the built-in tasks remember: their counters last as long as the process.
    remembered: MockTasks,
}

/// A program that was loaded.
struct ReplProgram {
    source: SourceText,
    module: Arc<Module>,
}

impl AgentlangRepl<'_> {
    /// Does something and tells what went wrong with it.
    fn told(&mut self, what: impl FnOnce(&mut Self) -> Result<(), CommandFailure>) {
        if let Err(failure) = what(self) {
            failure.report(self.context.format == Format::Json);
        }
    }

    fn take(&mut self, command: &str, rest: &str) -> Result<(), CommandFailure> {
        match command {
            "" => Ok(()),
            "load" => self.load(rest),
            "run" => self.run(rest),
            "test" => self.start(Act::Test, "", "{}"),
            "lower" => self.lower(rest),
            "list" => self.list(),
            "clear" => {
                self.loaded = None;
                Ok(())
            }
            "help" => {
                print_text(HELP);
                Ok(())
            }
            _ => {
                let message = format!("there is no command `{command}`");
                Err(CommandFailure::usage(&message, "`help` lists the commands"))
            }
        }
    }

    /// Takes a program in place of the one before, unless something is wrong with it.
    fn load(&mut self, file: &str) -> Result<(), CommandFailure> {
        if file.is_empty() {
            return Err(CommandFailure::usage("no file is named", "`load PATH` takes a program"));
        }
        let program = ProgramFile::read(self.context, file, Some(&AgentLang))?;
        let source = match agentic_lang_agent::read(&program.name, &program.bytes) {
            Ok(source) => source,
            Err(finding) => {
                unreadable(&program, *finding).show();
                return Ok(());
            }
        };
        match agentic_lang_agent::compile(&source) {
            Ok(module) => {
                CheckedProgram::of(source.clone(), module.warnings().to_vec()).show();
                let (n_agents, n_tasks, n_pipelines) = module.counts();
                print_text(&format!(
                    "{file}: {}, {}, {}",
                    counted(n_agents, "agent"),
                    counted(n_tasks, "task"),
                    counted(n_pipelines, "pipeline")
                ));
                self.loaded = Some(ReplProgram { source, module });
            }
            Err(findings) => CheckedProgram::of(source, findings).show(),
        }
        Ok(())
    }

    fn run(&mut self, rest: &str) -> Result<(), CommandFailure> {
        self.loaded()?;
        let (name, input) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if name.is_empty() {
            return Err(no_name());
        }
        self.start(Act::Run, name, if input.trim().is_empty() { "{}" } else { input })
    }

    fn lower(&self, name: &str) -> Result<(), CommandFailure> {
        let source = &self.loaded()?.source;
        if name.is_empty() {
            return Err(no_name());
        }
        agentlang::lower(self.context, source, name).map(|_| ())
    }

    /// Runs a pipeline or the tests.
    fn start(&mut self, act: Act, name: &str, input: &str) -> Result<(), CommandFailure> {
        let wish = AgentlangRequest {
            pipeline: None,
            act,
            input: String::new(),
            trace: None,
            workers: None,
            handlers: Vec::new(),
            tools: Vec::new(),
            adapter: self.adapter,
            session: None,
            live: self.live,
            desk: Desk::Repl,
            remembered: self.remembered.clone(),
        };
        let ReplProgram { source, module } = self.loaded()?;
        let input = agentlang::input(input)?;
        let started = agentlang::start(self.context, module, source, name, &input, wish)?;
        self.remembered = started.remembered;
        started.outcome.map(|_| ())
    }

    fn list(&self) -> Result<(), CommandFailure> {
        let module = &self.loaded()?.module;
        for agent in module.agents() {
            print_text(&format!("agent {agent}"));
        }
        for task in module.tasks() {
            print_text(&format!("task {}", shown(&task)));
        }
        for pipeline in module.pipelines() {
            print_text(&format!("pipeline {}", shown(&pipeline)));
        }
        Ok(())
    }

    fn loaded(&self) -> Result<&ReplProgram, CommandFailure> {
        let none = || CommandFailure::refused("no program is loaded", "`load PATH` takes one");
        self.loaded.as_ref().ok_or_else(none)
    }
}

fn no_name() -> CommandFailure {
    CommandFailure::usage("no pipeline is named", "`list` shows those that there are")
}

fn shown(signature: &SignatureInfo) -> String {
    let inputs = signature.inputs.iter().map(|(name, declared)| format!("{name}: {declared}"));
    let inputs: Vec<String> = inputs.collect();
    format!("{}({}) -> {}", signature.name, inputs.join(", "), signature.result)
}
