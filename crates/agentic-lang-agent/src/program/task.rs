//! Calls of tasks: their attempts, pauses, deadlines and fallbacks.

use std::sync::Arc;

use agentic_model::Value as Model;
use agentic_replay::{ProgramFailure, Request, RequestAnswer};

use crate::code;
use crate::data::{Data, json};
use crate::module::AgentModule;
use crate::program::attempt::AttemptFault;
use crate::program::conform::{conforms, find_stranger};
use crate::program::decision;
use crate::program::fault::MachineFault;
use crate::program::machine::ModuleRun;
use crate::program::options::{TaskPerformer, TraceCapture};
use crate::program::request::{self, AGENT_TASK, MOCK, TASK};
use crate::program::store::{self, AskedWork};
use crate::program::strand::{CallPhase, Strand, StrandId, StrandWait, TaskCall};
use crate::program::strand_set::Todo;
use crate::program::talk::Talk;
use crate::program::usage::CallUsage;
use crate::program::{CallCode, CalleeCode, TaskCode};

/// The first pause after a failed attempt is twice this long, in seconds.
const PAUSE_S: f64 = 0.1;
/// No pause is longer than this, in seconds, before it is stretched or shrunk by chance.
const PAUSE_S_MAX: f64 = 5.0;

impl ModuleRun {
    /// Begins a call of a task whose arguments stand on the stack from `base` on.
    pub(super) fn start_task(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        id: StrandId,
        call: u32,
        task: &TaskCode,
        base: usize,
    ) -> Result<(), MachineFault> {
        let code = &module.code.calls[call as usize];
        for (arg, value) in code.args.iter().zip(&self.stack.values[base..]) {
            let declared = task.params[arg.param as usize].1;
            if let Some(stranger) = find_stranger(&module.ast, value, declared) {
                let place = format!("Task '{}' arg '{}'", task.name, arg.name);
                return Err(MachineFault::new(code::ARGUMENT_VARIANT, stranger.shown(&place)));
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
        let (started, tried) = (self.now, self.now);
        let waiting = TaskCall {
            call,
            args,
            attempt: 1,
            number,
            started,
            tried,
            conversation: None,
            phase: CallPhase::Attempt,
            usage: CallUsage::default(),
            path,
        };
        self.attempt(module, strand, id, Box::new(waiting));
        Ok(())
    }

    /// Tries to have the task performed.
    fn attempt(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        id: StrandId,
        mut waiting: Box<TaskCall>,
    ) {
        (waiting.tried, waiting.conversation) = (self.now, None);
        let asked = self.ask(module, strand, id, waiting);
        debug_assert!(matches!(asked, Talk::GoesOn), "an attempt that begins has time");
    }

    /// Asks for the task to be performed, after what was said in this attempt.
    pub(super) fn ask(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        id: StrandId,
        waiting: Box<TaskCall>,
    ) -> Talk {
        let call = &module.code.calls[waiting.call as usize];
        let (at, task) = task_of(module, &waiting);
        let kind = match self.performers[at] {
            TaskPerformer::Store(verb) => {
                let work = AskedWork::of_store(verb, &waiting.args, CallPhase::Attempt);
                return self.send(module, strand, id, waiting, work);
            }
            TaskPerformer::Handler => TASK,
            TaskPerformer::Model => AGENT_TASK,
            TaskPerformer::Mock | TaskPerformer::Nobody => MOCK,
        };
        let agent = call.agent.map(|at| module.bound_agent(at as usize, kind));
        let turns = waiting.conversation.as_ref().map(|it| it.turns());
        let asked = request::TaskRequest { args: &waiting.args, agent: agent.as_ref(), turns };
        let payload = request::payload(&module.ast, task, asked, kind);
        let work = AskedWork::new(kind, payload, CallPhase::Attempt);
        self.send(module, strand, id, waiting, work)
    }

    /// Opens a request for a call, in the time that is left of its attempt.
    pub(super) fn send(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        id: StrandId,
        mut waiting: Box<TaskCall>,
        work: AskedWork,
    ) -> Talk {
        let call = &module.code.calls[waiting.call as usize];
        let spent = self.now.millis().saturating_sub(waiting.tried.millis());
        let left = call.timeout.as_ref().map(|it| it.millis.saturating_sub(spent.max(0) as u64));
        if left == Some(0) && waiting.conversation.is_some() {
            return Talk::Over(waiting, Err(late(call)));
        }
        let n_said = waiting.conversation.as_ref().map_or(0, |it| it.n_bytes());
        if !self.may_open(waiting.args.len() + n_said) {
            return Talk::GoesOn;
        }
        waiting.path = strand.scope.next_path();
        waiting.phase = work.phase;
        let mut request = Request::new(waiting.path.clone(), work.kind, work.payload);
        request.schema = work.schema;
        request.timeout_ms = left;
        request.position = Some(call.position);
        self.open.insert(waiting.path.clone(), id);
        self.turn.opened.push(request);
        self.turn.events.extend(work.told);
        strand.wait = StrandWait::Task(waiting);
        Talk::GoesOn
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
        waiting.phase = CallPhase::Pause;
        waiting.attempt += 1;
        self.open.insert(path.clone(), id);
        self.turn.opened.push(Request::sleep(path, until));
        strand.wait = StrandWait::Task(waiting);
    }

    /// Goes on with the strand whose request was answered.
    pub(super) fn answered(&mut self, id: StrandId, answer: RequestAnswer) {
        let mut strand = self.strands.take(id);
        let module = Arc::clone(&self.module);
        let mut waiting = match std::mem::take(&mut strand.wait) {
            StrandWait::Task(waiting) => waiting,
            StrandWait::Decision(slot) => {
                return self.resume(id, strand, slot, decision::verdict(answer));
            }
            StrandWait::Nothing | StrandWait::Join(_) => unreachable!("these wait for no answer"),
        };
        if let RequestAnswer::Cancelled(_) = answer {
            let fault =
                MachineFault::new(code::CANCELLED, "Run cancelled: the request was withdrawn");
            let target = module.code.calls[waiting.call as usize].target;
            return self.resume(id, strand, target, Err(fault));
        }
        if waiting.phase == CallPhase::Pause {
            self.attempt(&module, &mut strand, id, waiting);
            return self.strands.put_back(id, strand);
        }
        if waiting.phase == CallPhase::Attempt && self.is_of_model(&module, &waiting) {
            waiting.usage.count(waiting.attempt, &answer);
        }
        let answer =
            if self.is_of_store(&module, &waiting) { store::as_text(answer) } else { answer };
        match self.converse(&module, &mut strand, id, waiting, answer) {
            Talk::GoesOn => self.strands.put_back(id, strand),
            Talk::Over(waiting, outcome) => self.attempted(&module, id, strand, waiting, outcome),
        }
    }

    /// Goes on with the strand whose attempt is over.
    fn attempted(
        &mut self,
        module: &AgentModule,
        id: StrandId,
        strand: Strand,
        waiting: Box<TaskCall>,
        outcome: Result<Data, AttemptFault>,
    ) {
        let call = &module.code.calls[waiting.call as usize];
        let (_, task) = task_of(module, &waiting);
        match outcome {
            Ok(value) => {
                if let Some(stranger) = find_stranger(&module.ast, &value, task.result) {
                    let text = stranger.shown(&format!("Task '{}' result", task.name));
                    let fault = MachineFault::new(code::RESULT_VARIANT, text);
                    self.trace_usage(task, &waiting);
                    return self.resume(id, strand, call.target, Err(fault));
                }
                if self.options.trace == TraceCapture::On {
                    self.trace_task_end(task, &waiting, &json::to_text(&value));
                }
                self.resume(id, strand, call.target, Ok(value));
            }
            Err(failed) => self.failed(module, id, strand, waiting, failed),
        }
    }

    fn failed(
        &mut self,
        module: &AgentModule,
        id: StrandId,
        mut strand: Strand,
        waiting: Box<TaskCall>,
        failed: AttemptFault,
    ) {
        let call = &module.code.calls[waiting.call as usize];
        let (_, task) = task_of(module, &waiting);
        let is_plain = call.retries == 0 && call.fallback.is_none();
        if let (true, Some(fault)) = (is_plain, &failed.invalid) {
            let fault = fault.clone();
            self.trace_usage(task, &waiting);
            return self.resume(id, strand, call.target, Err(fault));
        }
        let error = error_text(&failed);
        self.trace_retry(task, &waiting, &error);
        if waiting.attempt <= call.retries && !failed.is_timeout {
            self.progress(|| {
                // The attempt that is about to begin, of all that there may be.
                let (attempt, attempts) = (waiting.attempt + 1, call.retries + 1);
                format!("  ↻ Retrying task '{}' (attempt {attempt}/{attempts})...", task.name)
            });
            self.pause(&mut strand, id, waiting);
            return self.strands.put_back(id, strand);
        }
        if let Some(fallback) = call.fallback {
            let locals = self.environment(&strand);
            let mut stack = std::mem::take(&mut self.stack);
            let value = module.code.evaluate(fallback, self.locals_of(locals, &strand), &mut stack);
            self.stack = stack;
            if let (Ok(value), true) = (&value, self.options.trace == TraceCapture::On) {
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
            MachineFault::new(code::TASK_FAILED, text)
        });
        self.resume(id, strand, call.target, Err(fault));
    }

    /// Says whose slots a call of this strand reads: its own, or those of the strand around it.
    fn environment(&self, strand: &Strand) -> Option<StrandId> {
        if strand.frames.is_empty() { strand.parent.map(|(parent, _)| parent) } else { None }
    }

    fn locals_of<'a>(&'a self, parent: Option<StrandId>, strand: &'a Strand) -> &'a [Data] {
        match parent {
            Some(parent) => self.strands.parent(parent).locals(),
            None => strand.locals(),
        }
    }

    /// Lets a strand go on after what it waited for.
    pub(super) fn resume(
        &mut self,
        id: StrandId,
        mut strand: Strand,
        target: u32,
        result: Result<Data, MachineFault>,
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
        self.strands.put_back(id, strand);
        self.strands.later(Todo::Advance(id));
    }

    /// Raises an error in a strand that waits for a request.
    pub(super) fn interrupt(&mut self, id: StrandId, fault: MachineFault) {
        let mut strand = self.strands.take(id);
        strand.wait = StrandWait::Nothing;
        self.resume(id, strand, 0, Err(fault));
    }
}

/// Returns the task that is called, and its place among the tasks.
pub(super) fn task_of<'m>(module: &'m AgentModule, waiting: &TaskCall) -> (usize, &'m TaskCode) {
    let CalleeCode::Task(at) = module.code.calls[waiting.call as usize].callee else {
        unreachable!("only tasks are attempted")
    };
    (at as usize, &module.code.tasks[at as usize])
}

/// Makes the failure of an attempt that took too long.
pub(super) fn late(call: &CallCode) -> AttemptFault {
    let seconds = call.timeout.as_ref().map_or("0.0", |timeout| &timeout.shown);
    let text = format!(
        "Task handler exceeded {seconds}s deadline (handler may still be running in background)."
    );
    AttemptFault { class: "HandlerTimeoutError".to_owned(), text, is_timeout: true, invalid: None }
}

/// Reads the answer to an attempt.
pub(super) fn result(
    module: &AgentModule,
    waiting: &TaskCall,
    answer: RequestAnswer,
) -> Result<Data, AttemptFault> {
    let (_, task) = task_of(module, waiting);
    let failed = |class: &str, text: String| AttemptFault {
        class: class.to_owned(),
        ..AttemptFault::failed(text)
    };
    let value = match answer {
        RequestAnswer::Ok(Model::Text(text)) => {
            json::from_text(&text).map_err(|error| failed("InvalidAnswer", error.to_string()))?
        }
        RequestAnswer::Ok(other) if other.get("usage").is_some() => {
            let text = other.get("result").and_then(Model::as_text).unwrap_or_default();
            json::from_text(text).map_err(|error| failed("InvalidAnswer", error.to_string()))?
        }
        RequestAnswer::Ok(other) => {
            let text = format!("the answer is {}, not JSON text", other.variant());
            return Err(failed("InvalidAnswer", text));
        }
        RequestAnswer::Failed(ProgramFailure { code, message, .. }) => {
            return Err(failed(&code, message));
        }
        RequestAnswer::TimedOut => return Err(late(&module.code.calls[waiting.call as usize])),
        RequestAnswer::Cancelled(_) => unreachable!("handled before"),
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
    let invalid = Some(MachineFault::new(code::RESULT_INVALID, text.clone()));
    Err(AttemptFault { invalid, ..AttemptFault::failed(text) })
}

/// Writes an error as programs and traces show it.
fn error_text(failed: &AttemptFault) -> String {
    let text = failed.text.trim();
    if text.is_empty() { failed.class.clone() } else { format!("{}: {text}", failed.class) }
}
