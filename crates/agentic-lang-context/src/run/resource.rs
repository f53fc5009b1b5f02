//! Calls of tools and memories: requests, answers and their trace.

use std::sync::Arc;

use agentic_model::Value as Data;
use agentic_model::json as model_json;
use agentic_model::{STORE_ADDRESS, StoreVerb};
use agentic_replay::{StoreCall, store_call};

use crate::ast::ImportKind;
use crate::code::CodePlace;
use crate::json::{self, Json};
use crate::module::StoreReach;
use crate::value::{ContextValue, Handle};

use super::answer::data_of;
use super::fault::TaskFault;
use super::step::InstructionFlow;
use super::task::ContextTask;
use super::trace;
use super::waits::{ResourceCall, Waits};
use super::world::{RunWorld, TaskPause};

/// The kind of a request to a tool.
pub const TOOL_REQUEST: &str = "tool";
/// The kind of a request to a memory.
pub const MEMORY_REQUEST: &str = "memory";

/// Whether a tool is called, or one of its properties read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Call,
    Read,
}

impl RunWorld {
    pub(super) fn call_tool(
        &mut self,
        task: &mut ContextTask,
        place: CodePlace,
        resource: u32,
        method: Arc<str>,
        args: &[ContextValue],
    ) -> Result<InstructionFlow, TaskFault> {
        let args = self.shown_args(place, args)?;
        let call = ResourceCall { place, resource, method, args };
        match self.store_verb(&call) {
            Some(verb) => self.ask_store(task, call, verb),
            None => Ok(self.ask_tool(task, call, Access::Call)),
        }
    }

    /// Returns what a call asks of the store, if it is one of a tool at its address.
    fn store_verb(&self, call: &ResourceCall) -> Option<StoreVerb> {
        let resource = &self.module.code.resources[call.resource as usize];
        let is_meant = self.options.store == StoreReach::Session && &*resource.uri == STORE_ADDRESS;
        if is_meant { StoreVerb::parse(&call.method) } else { None }
    }

    /// Asks the store, as a flow does; an entry of the trace is only told.
    fn ask_store(
        &mut self,
        task: &mut ContextTask,
        call: ResourceCall,
        verb: StoreVerb,
    ) -> Result<InstructionFlow, TaskFault> {
        let refused =
            |reason: String| TaskFault::new(call.place, format!("Tool {}: {reason}", verb.name()));
        let given = model_json::from_text(&json::compact(&call.args))
            .map_err(|error| refused(error.to_string()))?;
        let path = task.context_mut().scope.next_path();
        let called = store_call(verb, path.clone(), given);
        match called.map_err(refused)? {
            StoreCall::Told(event) => {
                self.events.push(event);
                task.stack.push(ContextValue::from_json(&Json::Null));
                if self.traces() {
                    let module = self.module.clone();
                    let resource = &module.code.resources[call.resource as usize];
                    let event =
                        trace::resource_event(resource, &call.method, call.args, Json::Null);
                    self.trace(task, event);
                }
                Ok(InstructionFlow::Next)
            }
            StoreCall::Asked(request) => {
                self.open(call.place, *request);
                task.waits = Some(Waits::Resource(call));
                Ok(InstructionFlow::Pause(TaskPause::Asked(path)))
            }
        }
    }

    /// Tools of a JavaScript host have properties that are really read.
    pub(super) fn is_foreign_tool(&self, value: &ContextValue) -> bool {
        let ContextValue::Handle(Handle::Resource(at)) = value else { return false };
        let resource = &self.module.code.resources[*at as usize];
        resource.kind == ImportKind::Tool
            && (resource.uri.starts_with("npm:") || resource.uri.starts_with("node:"))
    }

    pub(super) fn read_tool(
        &mut self,
        task: &mut ContextTask,
        place: CodePlace,
        tool: &ContextValue,
        property: Arc<str>,
    ) -> Result<InstructionFlow, TaskFault> {
        let ContextValue::Handle(Handle::Resource(resource)) = *tool else {
            unreachable!("BUG: only tools get here")
        };
        let call = ResourceCall { place, resource, method: property, args: Json::List(Vec::new()) };
        Ok(self.ask_tool(task, call, Access::Read))
    }

    fn ask_tool(
        &mut self,
        task: &mut ContextTask,
        call: ResourceCall,
        access: Access,
    ) -> InstructionFlow {
        let resource = &self.module.code.resources[call.resource as usize];
        let mut payload = vec![
            ("tool", Data::text(&*resource.name)),
            ("method", Data::text(&*call.method)),
            ("uri", Data::text(&*resource.uri)),
            ("args", Data::Text(json::compact(&call.args))),
        ];
        if access == Access::Read {
            payload.push(("access", Data::text("read")));
        }
        let path = self.ask(task, call.place, TOOL_REQUEST, Data::map(payload));
        task.waits = Some(Waits::Resource(call));
        InstructionFlow::Pause(TaskPause::Asked(path))
    }

    pub(super) fn call_memory(
        &mut self,
        task: &mut ContextTask,
        place: CodePlace,
        resource: u32,
        method: Arc<str>,
        args: &[ContextValue],
    ) -> Result<InstructionFlow, TaskFault> {
        let memory = &self.module.code.resources[resource as usize];
        if !matches!(&*method, "add" | "query") {
            return Err(TaskFault::new(place, format!("a memory has no method `{method}`")));
        }
        if args.len() != 1 {
            let message =
                format!("`{}.{method}` takes 1 argument, not {}", memory.name, args.len());
            return Err(TaskFault::new(place, message));
        }
        let (name, uri) = (memory.name.clone(), memory.uri.clone());
        let args = self.shown_args(place, args)?;
        let payload = Data::map([
            ("memory", Data::text(&*name)),
            ("operation", Data::text(&*method)),
            ("uri", Data::text(&*uri)),
            ("args", Data::Text(json::compact(&args))),
        ]);
        let path = self.ask(task, place, MEMORY_REQUEST, payload);
        task.waits = Some(Waits::Resource(ResourceCall { place, resource, method, args }));
        Ok(InstructionFlow::Pause(TaskPause::Asked(path)))
    }

    fn shown_args(&self, place: CodePlace, args: &[ContextValue]) -> Result<Json, TaskFault> {
        let shown = args.iter().map(|arg| self.told(place, arg));
        Ok(Json::List(shown.collect::<Result<_, _>>()?))
    }

    pub(super) fn resource_answered(
        &mut self,
        task: &mut ContextTask,
        call: ResourceCall,
    ) -> Result<InstructionFlow, TaskFault> {
        let module = self.module.clone();
        let resource = &module.code.resources[call.resource as usize];
        let answer = task.answer.take().expect("a task wakes with its answer");
        match data_of(answer) {
            Ok(result) => {
                task.stack.push(ContextValue::from_json(&result));
                if self.traces() {
                    let event = trace::resource_event(resource, &call.method, call.args, result);
                    self.trace(task, event);
                }
                Ok(InstructionFlow::Next)
            }
            Err(reason) => {
                let word = if resource.kind == ImportKind::Memory { "Memory" } else { "Tool" };
                let (name, method, uri) = (&resource.name, &call.method, &resource.uri);
                let message = format!("{word} {name}.{method} ({uri}) failed: {reason}");
                if self.traces() {
                    let event = trace::failed_resource(resource, method, call.args, &message);
                    self.trace(task, event);
                }
                Err(TaskFault::new(call.place, message))
            }
        }
    }
}
