//! Trace events and progress lines.
//!
//! Both are events of a turn. The data of one is a text: an object as JSON for `trace`, a line
//! for people for `progress`.

use agentic_model::{Instant, Value};
use agentic_replay::ProgramEvent;

use crate::data::{json, number_text};
use crate::module::AgentModule;
use crate::program::TaskCode;
use crate::program::attempt::AttemptFault;
use crate::program::fault::MachineFault;
use crate::program::machine::ModuleRun;
use crate::program::options::TraceCapture;
use crate::program::room::Room;
use crate::program::strand::{RoutineId, StrandFrame, TaskCall};
use crate::program::task::task_of;
use crate::program::usage::CallUsage;

/// The kind of a trace event.
pub const TRACE: &str = "trace";
/// The kind of a line for people.
pub const PROGRESS: &str = "progress";

/// An object of a trace, in the making.
struct TraceObject(String);

impl TraceObject {
    fn new(kind: &str, at: Instant) -> TraceObject {
        let mut entry = TraceObject(format!("{{\"type\":\"{kind}\",\"timestamp\":"));
        number_text(at.millis() as f64 / 1000.0, &mut entry.0);
        entry
    }

    fn text(mut self, key: &str, text: &str) -> TraceObject {
        self.key(key);
        json::write_text(text, &mut self.0);
        self
    }

    /// Adds a value that is JSON already.
    fn raw(mut self, key: &str, value: &str) -> TraceObject {
        self.key(key);
        self.0.push_str(value);
        self
    }

    /// Adds what models told of the cost of a call.
    fn usage(self, usage: &CallUsage) -> TraceObject {
        match usage.shown() {
            Some([sum, attempts]) => self.raw("usage", &sum).raw("usage_of_attempts", &attempts),
            None => self,
        }
    }

    fn finished(mut self) -> ProgramEvent {
        self.0.push('}');
        ProgramEvent { kind: TRACE.to_owned(), data: Value::Text(self.0) }
    }

    fn key(&mut self, key: &str) {
        self.0.push_str(",\"");
        self.0.push_str(key);
        self.0.push_str("\":");
    }
}

/// What a traced call is called.
fn id(task: &str, number: u64) -> String {
    format!("task:{task}:{number}")
}

/// What the call of a task is called in the trace.
fn call_id(module: &AgentModule, call: &TaskCall) -> String {
    id(&task_of(module, call).1.name, call.number)
}

/// Writes how long something took, in seconds.
fn seconds(from: Instant, to: Instant) -> String {
    let mut out = String::new();
    number_text((to.millis() - from.millis()) as f64 / 1000.0, &mut out);
    out
}

impl ModuleRun {
    fn emit(&mut self, entry: TraceObject) {
        let event = entry.finished();
        if self.room.take(&event) {
            self.turn.events.push(event);
        }
    }

    /// Says how many events found no room since the last answer, if any did not.
    pub(super) fn trace_gap(&mut self) {
        let room = Room::of(self.options.trace_bytes_max);
        let n_left_out = std::mem::replace(&mut self.room, room).n_left_out;
        if n_left_out > 0 {
            let entry = TraceObject::new("trace_gap", self.now);
            let entry = entry.raw("events", &n_left_out.to_string());
            self.turn.events.push(entry.finished());
        }
    }

    fn traces(&self) -> bool {
        self.options.trace == TraceCapture::On
    }

    pub(super) fn trace_pipeline(&mut self, name: &str, args: &str) {
        if self.traces() {
            let entry = TraceObject::new("pipeline_call", self.now);
            self.emit(entry.text("pipeline", name).raw("args", args));
        }
    }

    pub(super) fn trace_start(&mut self, task: &str, number: u64, args: &str) {
        if self.traces() {
            let entry = TraceObject::new("task_start", self.now);
            self.emit(entry.text("task", task).raw("args", args).text("id", &id(task, number)));
        }
    }

    fn end_entry(&self, task: &str, number: u64, started: Instant, result: &str) -> TraceObject {
        let duration = seconds(started, self.now);
        let entry = TraceObject::new("task_end", self.now).text("task", task).raw("result", result);
        entry.raw("duration_s", &duration).text("id", &id(task, number))
    }

    fn error_entry(&self, task: &str, number: u64, error: &str) -> TraceObject {
        let entry = TraceObject::new("task_error", self.now);
        entry.text("task", task).text("error", error).text("id", &id(task, number))
    }

    pub(super) fn trace_task_end(&mut self, task: &TaskCode, call: &TaskCall, result: &str) {
        if self.traces() {
            let entry = self.end_entry(&task.name, call.number, call.started, result);
            self.emit(entry.usage(&call.usage));
        }
    }

    pub(super) fn trace_task_error(&mut self, task: &TaskCode, call: &TaskCall, error: &str) {
        if self.traces() {
            let entry = self.error_entry(&task.name, call.number, error);
            self.emit(entry.usage(&call.usage));
        }
    }

    /// Traces what a call cost that ends without an event, if a model told.
    pub(super) fn trace_usage(&mut self, task: &TaskCode, call: &TaskCall) {
        if self.traces() && call.usage.shown().is_some() {
            let entry = TraceObject::new("task_usage", self.now).text("task", &task.name);
            let entry = entry.text("id", &id(&task.name, call.number));
            self.emit(entry.usage(&call.usage));
        }
    }

    pub(super) fn trace_retry(&mut self, task: &TaskCode, call: &TaskCall, error: &str) {
        if self.traces() {
            let entry = TraceObject::new("retry", self.now).text("task", &task.name);
            let entry = entry.raw("attempt", &call.attempt.to_string()).text("error", error);
            self.emit(entry.text("id", &id(&task.name, call.number)));
        }
    }

    pub(super) fn trace_tool_call(&mut self, module: &AgentModule, call: &TaskCall) {
        let Some(conversation) = call.conversation.as_ref().filter(|_| self.traces()) else {
            return;
        };
        let (tool, _) = conversation.current();
        let entry = TraceObject::new("tool_call", self.now).text("tool", &tool.name);
        let entry = entry.raw("args", &tool.args).text("id", &call_id(module, call));
        self.emit(entry);
    }

    /// Traces what came of the tool that was called last.
    pub(super) fn trace_tool_end(
        &mut self,
        module: &AgentModule,
        call: &TaskCall,
        outcome: &Result<String, AttemptFault>,
    ) {
        let Some(conversation) = call.conversation.as_ref().filter(|_| self.traces()) else {
            return;
        };
        let (tool, called) = conversation.current();
        let entry = match outcome {
            Ok(result) => {
                let entry = TraceObject::new("tool_end", self.now).text("tool", &tool.name);
                let seconds = seconds(called, self.now);
                entry.raw("result", result).raw("duration_s", &seconds)
            }
            Err(failed) => {
                let entry = TraceObject::new("tool_error", self.now).text("tool", &tool.name);
                entry.text("error", &failed.text)
            }
        };
        self.emit(entry.text("id", &call_id(module, call)));
    }

    pub(super) fn trace_parallel(&mut self, kind: &str, n_branches: usize) {
        if self.traces() {
            let entry = TraceObject::new(kind, self.now);
            self.emit(entry.raw("branch_count", &n_branches.to_string()));
        }
    }

    /// Traces the end of a pipeline that was called by another one.
    pub(super) fn trace_frame_end(&mut self, frame: &StrandFrame, result: &crate::data::Data) {
        if let (true, Some(number)) = (self.traces(), frame.call) {
            let name = format!("pipeline:{}", self.frame_name(frame));
            let entry = self.end_entry(&name, number, frame.started, &json::to_text(result));
            self.emit(entry);
        }
    }

    pub(super) fn trace_frame_error(&mut self, frame: &StrandFrame, fault: &MachineFault) {
        if let (true, Some(number)) = (self.traces(), frame.call) {
            let name = format!("pipeline:{}", self.frame_name(frame));
            let error = format!("ExecutionError: {}", fault.text);
            let entry = self.error_entry(&name, number, &error);
            self.emit(entry);
        }
    }

    fn frame_name(&self, frame: &StrandFrame) -> String {
        match frame.routine {
            RoutineId::Pipeline(at) => self.module.code.pipelines[at].name.to_string(),
            RoutineId::Test(at) => self.module.code.tests[at].name.to_string(),
        }
    }

    /// Says something to the person who waits.
    pub(super) fn progress(&mut self, line: impl FnOnce() -> String) {
        if self.options.progress == TraceCapture::On {
            let data = Value::Text(line());
            self.turn.events.push(ProgramEvent { kind: PROGRESS.to_owned(), data });
        }
    }
}
