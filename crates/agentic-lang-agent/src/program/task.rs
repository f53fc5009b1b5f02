//! Calls of tasks: their attempts, pauses, deadlines and fallbacks.

use std::sync::Arc;

use agentic_model::Value as Model;
use agentic_replay::{Answer, Failure, Request};

use crate::code;
use crate::data::{Data, json};
use crate::module::Module;
use crate::program::conform::{conforms, find_stranger};
use crate::program::decision;
use crate::program::fault::Fault;
use crate::program::machine::Run;
use crate::program::options::{Capture, Performer};
use crate::program::request::{self, AGENT_TASK, MOCK, TASK};
use crate::program::roster::Todo;
use crate::program::strand::{Phase, Strand, StrandId, TaskCall, Wait};
use crate::program::{Call, Callee, Task};

/// The first pause after a failed attempt is twice this long, in seconds.
const PAUSE_S: f64 = 0.1;
/// No pause is longer than this, in seconds, before it is stretched or shrunk by chance.
const PAUSE_S_MAX: f64 = 5.0;

/// Why an attempt failed.
struct Attempt {
    class: String,
    text: String,
    is_timeout: bool,
    /// The error of a result that does not conform, reported as it is.
    invalid: Option<Fault>,
}

impl Run {
    /// Begins a call of a task whose arguments stand on the stack from `base` on.
    pub(super) fn start_task(
        &mut self,
        module: &Module,
        strand: &mut Strand,
        id: StrandId,
        call: u32,
        task: &Task,
        base: usize,
    ) -> Result<(), Fault> {
        let code = &module.code.calls[call as usize];
        for (arg, value) in code.args.iter().zip(&self.stack.values[base..]) {
            let declared = task.params[arg.param as usize].1;
            if let Some(stranger) = find_stranger(&module.ast, value, declared) {
                let place = format!("Task '{}' arg '{}'", task.name, arg.name);
                return Err(Fault::new(code::ARGUMENT_VARIANT, stranger.shown(&place)));
            }
        }
        let args = self.arguments_text(code, base);
        self.n_calls += 1;
        let number = self.n_calls;
        self.progress(|| match code.agent {
            Some(at) => {
                let agent = module.ast.text(module.ast.agents[at as usize].name.symbol);
                format!("▶ Executing task '{}' [agent: {agent}]...", task.name)
            }
            None => format!("▶ Executing task '{}'...", task.name),
        });
        self.trace_start(&task.name, number, &args);
        let path = agentic_replay::Path::root();
        let (attempt, phase, started) = (1, Phase::Attempt, self.now);
        let waiting = TaskCall { call, args, attempt, number, started, phase, path };
        self.attempt(module, strand, id, Box::new(waiting));
        Ok(())
    }

    /// Asks for the task to be performed.
    fn attempt(
        &mut self,
        module: &Module,
        strand: &mut Strand,
        id: StrandId,
        mut waiting: Box<TaskCall>,
    ) {
        if !self.may_open(waiting.args.len()) {
            return;
        }
        let call = &module.code.calls[waiting.call as usize];
        let Callee::Task(at) = call.callee else { unreachable!("only tasks are attempted") };
        let task = &module.code.tasks[at as usize];
        let kind = match self.performers[at as usize] {
            Performer::Handler => TASK,
            Performer::Model => AGENT_TASK,
            Performer::Mock | Performer::Nobody => MOCK,
        };
        let agent = call.agent.map(|at| module.bound_agent(at as usize, kind));
        let payload = request::payload(&module.ast, task, &waiting.args, agent.as_ref(), kind);
        waiting.path = strand.scope.next_path();
        waiting.phase = Phase::Attempt;
        let mut request = Request::new(waiting.path.clone(), kind, payload);
        request.timeout_ms = call.timeout.as_ref().map(|timeout| timeout.millis);
        request.position = Some(call.position);
        self.open.insert(waiting.path.clone(), id);
        self.turn.opened.push(request);
        strand.wait = Wait::Task(waiting);
    }

    /// Pauses before the next attempt.
    fn pause(&mut self, strand: &mut Strand, id: StrandId, mut waiting: Box<TaskCall>) {
        if !self.may_open(0) {
            return;
        }
        let path = strand.scope.next_path();
        let doubled = PAUSE_S * 2_f64.powf((waiting.attempt as f64).min(64.0));
        let factor = 0.5 + self.seed.unit(&path, 0);
        let seconds = doubled.min(PAUSE_S_MAX) * factor;
        let until = self.now.plus_millis((seconds * 1000.0) as i64);
        waiting.path = path.clone();
        waiting.phase = Phase::Pause;
        waiting.attempt += 1;
        self.open.insert(path.clone(), id);
        self.turn.opened.push(Request::sleep(path, until));
        strand.wait = Wait::Task(waiting);
    }

    /// Goes on with the strand whose request was answered.
    pub(super) fn answered(&mut self, id: StrandId, answer: Answer) {
        let mut strand = self.roster.take(id);
        let module = Arc::clone(&self.module);
        let waiting = match std::mem::take(&mut strand.wait) {
            Wait::Task(waiting) => waiting,
            Wait::Decision(slot) => {
                return self.resume(id, strand, slot, decision::verdict(answer));
            }
            Wait::Nothing | Wait::Join(_) => unreachable!("these wait for no answer"),
        };
        if let Answer::Cancelled(_) = answer {
            let fault = Fault::new(code::CANCELLED, "Run cancelled: the request was withdrawn");
            let target = module.code.calls[waiting.call as usize].target;
            return self.resume(id, strand, target, Err(fault));
        }
        if waiting.phase == Phase::Pause {
            self.attempt(&module, &mut strand, id, waiting);
            return self.roster.put_back(id, strand);
        }
        let call = &module.code.calls[waiting.call as usize];
        let Callee::Task(at) = call.callee else { unreachable!("only tasks are attempted") };
        let task = &module.code.tasks[at as usize];
        match result(&module, task, call, answer) {
            Ok(value) => {
                if let Some(stranger) = find_stranger(&module.ast, &value, task.result) {
                    let text = stranger.shown(&format!("Task '{}' result", task.name));
                    let fault = Fault::new(code::RESULT_VARIANT, text);
                    return self.resume(id, strand, call.target, Err(fault));
                }
                if self.options.trace == Capture::On {
                    self.trace_task_end(task, &waiting, &json::to_text(&value));
                }
                self.resume(id, strand, call.target, Ok(value));
            }
            Err(failed) => self.failed(&module, id, strand, waiting, failed),
        }
    }

    fn failed(
        &mut self,
        module: &Module,
        id: StrandId,
        mut strand: Strand,
        waiting: Box<TaskCall>,
        failed: Attempt,
    ) {
        let call = &module.code.calls[waiting.call as usize];
        let Callee::Task(at) = call.callee else { unreachable!("only tasks are attempted") };
        let task = &module.code.tasks[at as usize];
        let is_plain = call.retries == 0 && call.fallback.is_none();
        if let (true, Some(fault)) = (is_plain, &failed.invalid) {
            let fault = fault.clone();
            return self.resume(id, strand, call.target, Err(fault));
        }
        let error = error_text(&failed);
        self.trace_retry(task, &waiting, &error);
        if waiting.attempt <= call.retries && !failed.is_timeout {
            self.progress(|| {
                let (attempt, retries) = (waiting.attempt, call.retries);
                format!("  ↻ Retrying task '{}' (attempt {attempt}/{retries})...", task.name)
            });
            self.pause(&mut strand, id, waiting);
            return self.roster.put_back(id, strand);
        }
        if let Some(fallback) = call.fallback {
            let locals = self.environment(&strand);
            let mut stack = std::mem::take(&mut self.stack);
            let value = module.code.evaluate(fallback, self.locals_of(locals, &strand), &mut stack);
            self.stack = stack;
            if let (Ok(value), true) = (&value, self.options.trace == Capture::On) {
                self.trace_task_end(task, &waiting, &json::to_text(value));
            }
            return self.resume(id, strand, call.target, value);
        }
        self.trace_task_error(task, &waiting, &error);
        let fault = failed.invalid.unwrap_or_else(|| {
            let agent = call.agent.map(|at| module.ast.agents[at as usize].name.symbol);
            let agent = agent.map(|name| format!(" by agent '{}'", module.ast.text(name)));
            let (name, agent) = (&task.name, agent.unwrap_or_default());
            let count = call.retries.saturating_add(1);
            let text =
                format!("Task '{name}'{agent} failed after {count} attempts. Last error: {error}");
            Fault::new(code::TASK_FAILED, text)
        });
        self.resume(id, strand, call.target, Err(fault));
    }

    /// Says whose slots a call of this strand reads: its own, or those of the strand around it.
    fn environment(&self, strand: &Strand) -> Option<StrandId> {
        if strand.frames.is_empty() { strand.parent.map(|(parent, _)| parent) } else { None }
    }

    fn locals_of<'a>(&'a self, parent: Option<StrandId>, strand: &'a Strand) -> &'a [Data] {
        match parent {
            Some(parent) => self.roster.parent(parent).locals(),
            None => strand.locals(),
        }
    }

    /// Lets a strand go on after what it waited for.
    pub(super) fn resume(
        &mut self,
        id: StrandId,
        mut strand: Strand,
        target: u32,
        result: Result<Data, Fault>,
    ) {
        if strand.frames.is_empty() {
            return self.finish(id, &strand, result);
        }
        match result {
            Ok(value) => strand.set(target, value),
            Err(fault) => {
                if let Err(fault) = self.unwind(&mut strand, fault) {
                    return self.finish(id, &strand, Err(fault));
                }
            }
        }
        self.roster.put_back(id, strand);
        self.roster.later(Todo::Advance(id));
    }

    /// Raises an error in a strand that waits for a request.
    pub(super) fn interrupt(&mut self, id: StrandId, fault: Fault) {
        let mut strand = self.roster.take(id);
        strand.wait = Wait::Nothing;
        self.resume(id, strand, 0, Err(fault));
    }
}

/// Reads the answer to an attempt.
fn result(module: &Module, task: &Task, call: &Call, answer: Answer) -> Result<Data, Attempt> {
    let failed = |class: &str, text: String, is_timeout| Attempt {
        class: class.to_owned(),
        text,
        is_timeout,
        invalid: None,
    };
    let value = match answer {
        Answer::Ok(Model::Text(text)) => json::from_text(&text)
            .map_err(|error| failed("InvalidAnswer", error.to_string(), false))?,
        Answer::Ok(other) => {
            let text = format!("the answer is {}, not JSON text", other.variant());
            return Err(failed("InvalidAnswer", text, false));
        }
        Answer::Failed(Failure { code, message, .. }) => return Err(failed(&code, message, false)),
        Answer::TimedOut => {
            let seconds = call.timeout.as_ref().map_or("0.0", |timeout| &timeout.shown);
            let text = format!(
                "Task handler exceeded {seconds}s deadline \
                 (handler may still be running in background)."
            );
            return Err(failed("HandlerTimeoutError", text, true));
        }
        Answer::Cancelled(_) => unreachable!("handled before"),
    };
    if conforms(&module.ast, &value, task.result) {
        return Ok(value);
    }
    let shown = module.ast.shown(task.result);
    let text = format!(
        "Task '{}' returned invalid value {} for type {shown}.",
        task.name,
        json::to_text(&value)
    );
    let invalid = Some(Fault::new(code::RESULT_INVALID, text.clone()));
    Err(Attempt { class: "ExecutionError".to_owned(), text, is_timeout: false, invalid })
}

/// Writes an error as programs and traces show it.
fn error_text(failed: &Attempt) -> String {
    let text = failed.text.trim();
    if text.is_empty() { failed.class.clone() } else { format!("{}: {text}", failed.class) }
}
