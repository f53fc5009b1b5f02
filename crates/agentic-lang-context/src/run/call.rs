//! Calls of functions and agents, and returning from them.

use std::sync::Arc;

use crate::ast::ImportKind;
use crate::code::CodePlace;
use crate::json::Json;
use crate::module::Calls;
use crate::value::{ContextValue, Handle};

use super::fault::TaskFault;
use super::step::InstructionFlow;
use super::task::{CallContext, CallFrame, ContextTask, FrameKind};
use super::trace;
use super::{RunWorld, TaskPause};

impl RunWorld {
    /// Calls a function of the same agent; its arguments are on the stack.
    pub(super) fn call(
        &self,
        task: &mut ContextTask,
        function: u32,
        at: usize,
    ) -> Result<(), TaskFault> {
        self.enter(task, function, self.place(at), FrameKind::Function)
    }

    /// Calls a function of an agent, as a child context or as a program of its own.
    pub(super) fn call_agent(
        &mut self,
        task: &mut ContextTask,
        function: u32,
        at: usize,
    ) -> Result<InstructionFlow, TaskFault> {
        match self.module.calls {
            Calls::Contexts => self.enter_agent(task, function, at).map(|()| InstructionFlow::Next),
            Calls::Children => self.spawn_child(task, function, at),
        }
    }

    /// Calls a function of an agent as a child context: its own requests, its own trace.
    fn enter_agent(
        &self,
        task: &mut ContextTask,
        function: u32,
        at: usize,
    ) -> Result<(), TaskFault> {
        let place = self.place(at);
        let code = &self.module.code;
        let called = &code.functions[function as usize];
        let args = if self.traces() {
            let from = task.stack.len() - called.params as usize;
            let shown = task.stack[from..].iter().map(|arg| self.shown(place, arg));
            Json::List(shown.collect::<Result<_, _>>()?)
        } else {
            Json::Null
        };
        self.enter(task, function, place, FrameKind::Agent { args })?;
        let agent = &code.agents[called.agent as usize].name;
        let context = task.context_mut();
        let number = context.agents;
        context.agents += 1;
        let scope = context.scope.child(&format!("{agent}.{}#{number}", called.name));
        let depth = context.depth + 1;
        task.contexts.push(CallContext::new(scope, depth));
        Ok(())
    }

    fn enter(
        &self,
        task: &mut ContextTask,
        function: u32,
        place: CodePlace,
        kind: FrameKind,
    ) -> Result<(), TaskFault> {
        let depth = task.depth_below as usize + task.frames.len();
        if depth >= self.options.call_depth_max as usize {
            let message = format!("calls nest deeper than {}", self.options.call_depth_max);
            return Err(TaskFault::new(place, message));
        }
        let called = &self.module.code.functions[function as usize];
        let base = task.stack.len() - called.params as usize;
        task.stack.resize(base + called.slots as usize, ContextValue::Null);
        task.frames.push(CallFrame { function, base, return_to: task.at, kind });
        task.at = called.address as usize;
        Ok(())
    }

    /// Begins the first function of a task.
    pub(super) fn begin(
        &self,
        task: &mut ContextTask,
        function: u32,
        args: Vec<ContextValue>,
    ) -> Result<(), TaskFault> {
        task.stack.extend(args);
        let place = self.module.code.functions[function as usize].place;
        self.enter(task, function, place, FrameKind::Function)
    }

    pub(super) fn return_from(
        &mut self,
        task: &mut ContextTask,
        at: usize,
    ) -> Result<InstructionFlow, TaskFault> {
        let result = task.pop();
        let frame = task.frames.pop().expect("a running task has a frame");
        task.stack.truncate(frame.base);
        task.at = frame.return_to;
        if let FrameKind::Agent { args } = frame.kind {
            let context = task.contexts.pop().expect("a call of an agent has a context");
            if self.traces() {
                let shown = self.shown(self.place(at), &result)?;
                let (agent, function) = self.names_of(frame.function);
                let inside = context.trace.take(&mut self.held_bytes);
                let event = trace::agent_event(agent, function, args, shown, inside);
                self.trace(task, event);
            }
        }
        if task.frames.is_empty() {
            return Ok(InstructionFlow::Pause(TaskPause::Ended(result)));
        }
        task.stack.push(result);
        Ok(InstructionFlow::Next)
    }

    pub(super) fn names_of(&self, function: u32) -> (Arc<str>, Arc<str>) {
        let code = &self.module.code;
        let function = &code.functions[function as usize];
        (code.agents[function.agent as usize].name.clone(), function.name.clone())
    }

    /// Calls a method of whatever value stands below the arguments.
    pub(super) fn call_method(
        &mut self,
        task: &mut ContextTask,
        name: u32,
        args: u32,
        at: usize,
    ) -> Result<InstructionFlow, TaskFault> {
        let args = task.pop_many(args as usize);
        let object = task.pop();
        let place = self.place(at);
        let name = self.module.code.names[name as usize].clone();
        match &object {
            ContextValue::List(_) if &*name == "add" => {
                let list = self.list_add(place, &object, args)?;
                task.stack.push(list);
                Ok(InstructionFlow::Next)
            }
            ContextValue::Handle(Handle::Agent(agent)) => {
                self.call_agent_named(task, *agent, &name, args, at)
            }
            ContextValue::Handle(Handle::Resource(resource)) => {
                match self.module.code.resources[*resource as usize].kind {
                    ImportKind::Tool => self.call_tool(task, place, *resource, name, &args),
                    ImportKind::Memory => self.call_memory(task, place, *resource, name, &args),
                    ImportKind::Llm | ImportKind::File | ImportKind::Agent => {
                        Err(no_method(place, &object, &name))
                    }
                }
            }
            ContextValue::Null
            | ContextValue::Bool(_)
            | ContextValue::Number(_)
            | ContextValue::Text(_)
            | ContextValue::List(_)
            | ContextValue::Object(_)
            | ContextValue::Handle(_) => Err(no_method(place, &object, &name)),
        }
    }

    fn call_agent_named(
        &mut self,
        task: &mut ContextTask,
        agent: u32,
        name: &Arc<str>,
        args: Vec<ContextValue>,
        at: usize,
    ) -> Result<InstructionFlow, TaskFault> {
        let module = self.module.clone();
        let agent = &module.code.agents[agent as usize];
        let Some(function) = agent.functions.get(name) else {
            let message = format!("the agent `{}` has no function `{name}`", agent.name);
            return Err(TaskFault::new(self.place(at), message));
        };
        self.expect_arity(*function, args.len())?;
        task.stack.extend(args);
        self.call_agent(task, *function, at)
    }

    /// Fails, at the function, when it takes another number of values.
    pub(super) fn expect_arity(&self, function: u32, count: usize) -> Result<(), TaskFault> {
        let called = &self.module.code.functions[function as usize];
        if called.params as usize == count {
            return Ok(());
        }
        let (agent, name) = self.names_of(function);
        let message = format!("`{agent}.{name}` takes {} arguments, not {count}", called.params);
        Err(TaskFault::new(called.place, message))
    }

    /// Closes what a fault leaves open, so that the trace shows how far the calls had come.
    pub(super) fn unwind(&mut self, task: &mut ContextTask, fault: &TaskFault) {
        if !self.traces() {
            return;
        }
        let message = self.message(fault);
        while let Some(frame) = task.frames.pop() {
            if let FrameKind::Agent { args } = frame.kind
                && let Some(context) = task.contexts.pop()
            {
                let (agent, function) = self.names_of(frame.function);
                let inside = context.trace.take(&mut self.held_bytes);
                let event = trace::failed_agent(agent, function, args, &message, inside);
                self.trace(task, event);
            }
        }
    }
}

fn no_method(place: CodePlace, object: &ContextValue, name: &str) -> TaskFault {
    let sort = super::operator::sort(object);
    TaskFault::new(place, format!("{sort} has no method `{name}`"))
}
