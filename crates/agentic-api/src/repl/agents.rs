//! The lines of AgentLang: a program is loaded, its pipelines are run. Nothing that goes wrong ends
//! it.

use std::sync::Arc;

use agentic_diag::SourceText;
use agentic_lang_agent::{AgentLang, AgentModule, MockTasks, SignatureInfo, TraceCapture};
use agentic_providers::model::Adapter;

use super::{ReplOutput, ReplReply, ReplStart, TriedLanguage};
use crate::program::{NamedText, ProgramFindings, ProgramSource, unreadable};
use crate::verb::run::agents::{PreparedAgents, RunDesk, lower, read_input};
use crate::verb::{Reply, RunAct, VerbCompletion};
use crate::view::RunAnswer;
use crate::watcher::NoticeDesk;
use crate::{Refusal, Surroundings};

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

/// What a line comes to.
type TakenLine = Result<ReplReply, Refusal>;

/// Somebody tries out AgentLang.
pub(super) struct AgentsRepl {
    adapter: Option<Adapter>,
    live: TraceCapture,
    kept_trace: TraceCapture,
    loaded: Option<ReplProgram>,
    /// What the built-in tasks remember: their counters last as long as this does.
    remembered: MockTasks,
}

/// A program that was loaded.
struct ReplProgram {
    source: SourceText,
    module: Arc<AgentModule>,
}

impl TriedLanguage for AgentsRepl {
    fn take(&mut self, here: &Surroundings, piece: &str) -> TakenLine {
        let line = piece.trim();
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        self.command(here, &command.to_lowercase(), rest.trim())
    }

    fn is_whole(&self, _piece: &str) -> bool {
        true
    }

    fn forgives(&self) -> bool {
        true
    }
}

impl AgentsRepl {
    /// Begins, with the program that was named if nothing is wrong with it.
    pub fn begin(
        start: ReplStart,
        here: &Surroundings,
    ) -> Result<(AgentsRepl, ReplReply), Refusal> {
        for (what, is_given) in [
            ("--mock", start.mock),
            ("--script", start.script.is_some()),
            ("--dialect", start.dialect.is_some()),
            ("--allow-import", !start.imports.is_empty()),
        ] {
            if is_given {
                return Err(Refusal::usage(
                    &format!("`{what}` means nothing to AgentLang"),
                    "the tasks of agents are made up with `--adapter mock`",
                ));
            }
        }
        let capture = |is_on: bool| if is_on { TraceCapture::On } else { TraceCapture::Off };
        let mut repl = AgentsRepl {
            adapter: start.adapter,
            live: capture(start.live),
            kept_trace: capture(start.keep_trace),
            loaded: None,
            remembered: MockTasks::default(),
        };
        let mut reply = ReplReply::of(ReplOutput::Said(BANNER.to_owned()));
        if let Some(file) = &start.file {
            match repl.load(here, file) {
                Ok(loaded) => reply.outputs.extend(loaded.outputs),
                Err(refusal) => reply.outputs.push(ReplOutput::Refused(refusal)),
            }
        }
        Ok((repl, reply))
    }

    fn command(&mut self, here: &Surroundings, command: &str, rest: &str) -> TakenLine {
        match command {
            "" => Ok(ReplReply::default()),
            "load" => self.load(here, rest),
            "run" => self.run(here, rest),
            "test" => self.start(here, RunAct::Test, "", "{}"),
            "lower" => self.lower(rest),
            "list" => self.list(),
            "clear" => {
                self.loaded = None;
                Ok(ReplReply::default())
            }
            "help" => Ok(ReplReply::text(HELP)),
            "exit" | "quit" => Ok(ReplReply::leave()),
            _ => {
                let message = format!("there is no command `{command}`");
                Err(Refusal::usage(&message, "`help` lists the commands"))
            }
        }
    }

    /// Takes a program in place of the one before, unless something is wrong with it.
    fn load(&mut self, here: &Surroundings, file: &str) -> TakenLine {
        if file.is_empty() {
            return Err(Refusal::usage("no file is named", "`load PATH` takes a program"));
        }
        let program = ProgramSource::of(NamedText::file(file)).read(here, Some(&AgentLang))?;
        let findings = |findings| ReplReply::of(ReplOutput::Findings(findings));
        let source = match agentic_lang_agent::read(&program.name, &program.bytes) {
            Ok(source) => source,
            Err(finding) => return Ok(findings(unreadable(&program, *finding))),
        };
        let module = match agentic_lang_agent::compile(&source) {
            Ok(module) => module,
            Err(found) => return Ok(findings(ProgramFindings::of(source, found))),
        };
        let mut reply = findings(ProgramFindings::of(source.clone(), module.warnings().to_vec()));
        let (n_agents, n_tasks, n_pipelines) = module.counts();
        reply.outputs.push(ReplOutput::Text(format!(
            "{file}: {}, {}, {}",
            counted(n_agents, "agent"),
            counted(n_tasks, "task"),
            counted(n_pipelines, "pipeline")
        )));
        self.loaded = Some(ReplProgram { source, module });
        Ok(reply)
    }

    fn run(&mut self, here: &Surroundings, rest: &str) -> TakenLine {
        self.loaded()?;
        let (name, input) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if name.is_empty() {
            return Err(no_name());
        }
        self.start(here, RunAct::Run, name, if input.trim().is_empty() { "{}" } else { input })
    }

    fn lower(&self, name: &str) -> TakenLine {
        let source = &self.loaded()?.source;
        if name.is_empty() {
            return Err(no_name());
        }
        lower(source, name).map(shown_run)
    }

    /// Runs a pipeline or the tests.
    fn start(&mut self, here: &Surroundings, act: RunAct, name: &str, input: &str) -> TakenLine {
        let ReplProgram { source, module } = self.loaded()?;
        let prepared = PreparedAgents {
            module: Arc::clone(module),
            source: source.clone(),
            name: name.to_owned(),
            act,
            input: read_input(input)?,
            output_trace: None,
            kept_trace: self.kept_trace,
            live: self.live,
            workers: None,
            handlers: Default::default(),
            tools: Default::default(),
            adapter: self.adapter,
            session: None,
            desk: RunDesk::Repl,
            remembered: self.remembered.clone(),
        };
        let desk = NoticeDesk::new(&here.watcher);
        let (outcome, remembered) = prepared.remembering(here, &desk)?;
        self.remembered = remembered;
        Ok(shown_run(desk.before(outcome?)))
    }

    fn list(&self) -> TakenLine {
        let module = &self.loaded()?.module;
        let agents = module.agents().into_iter().map(|agent| format!("agent {agent}"));
        let tasks = module.tasks().into_iter().map(|task| format!("task {}", shown(&task)));
        let pipelines = module.pipelines().into_iter();
        let pipelines = pipelines.map(|pipeline| format!("pipeline {}", shown(&pipeline)));
        let lines = agents.chain(tasks).chain(pipelines).map(ReplOutput::Text);
        Ok(ReplReply { outputs: lines.collect(), ..ReplReply::default() })
    }

    fn loaded(&self) -> Result<&ReplProgram, Refusal> {
        let none = || Refusal::refused("no program is loaded", "`load PATH` takes one");
        self.loaded.as_ref().ok_or_else(none)
    }
}

/// Shows what a run came to, and why it did not come to what was asked for.
fn shown_run(reply: Reply<RunAnswer>) -> ReplReply {
    let Reply { answer, notices, completion } = reply;
    let mut outputs = vec![ReplOutput::Run(answer)];
    match completion {
        VerbCompletion::Short(refusal) => outputs.push(ReplOutput::Refused(refusal)),
        VerbCompletion::Whole | VerbCompletion::Held | VerbCompletion::Over(_) => {}
    }
    ReplReply { outputs, notices, ..ReplReply::default() }
}

/// Counts things: `1 task`, `2 tasks`.
fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn no_name() -> Refusal {
    Refusal::usage("no pipeline is named", "`list` shows those that there are")
}

fn shown(signature: &SignatureInfo) -> String {
    let inputs = signature.inputs.iter().map(|(name, declared)| format!("{name}: {declared}"));
    let inputs: Vec<String> = inputs.collect();
    format!("{}({}) -> {}", signature.name, inputs.join(", "), signature.result)
}
