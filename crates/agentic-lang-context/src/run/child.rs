//! Calls of agents as programs of their own.
//!
//! The request names the function and its arguments; whoever performs it runs the same program once
//! more, which begins there. What is changed in an argument is lost, so the analyzer refuses calls
//! that could.

use agentic_model::Value as Data;
use agentic_replay::{RequestScope, Start};

use crate::json::{self, Json};
use crate::value::ContextValue;

use super::answer::data_of;
use super::fault::{FaultKind, TaskFault};
use super::step::InstructionFlow;
use super::task::ContextTask;
use super::trace;
use super::waits::{ChildCall, Waits};
use super::world::{RunWorld, TaskPause};

/// The kind of a request for a child.
pub const CHILD_REQUEST: &str = "spawn";

/// What stands in such a request for the program that makes it.
pub const OWN_FLOW: &str = "self";

/// How deep children may nest.
pub const CHILD_DEPTH_MAX: u32 = 32;

impl RunWorld {
    /// Asks for a child that runs a function; its arguments are on the stack.
    pub(super) fn spawn_child(
        &mut self,
        task: &mut ContextTask,
        function: u32,
        at: usize,
    ) -> Result<InstructionFlow, TaskFault> {
        let place = self.place(at);
        if self.child_depth >= CHILD_DEPTH_MAX {
            let message = format!("children nest deeper than {CHILD_DEPTH_MAX}");
            return Err(TaskFault::limit(place, message));
        }
        let params = self.module.code.functions[function as usize].params as usize;
        let args = task.pop_many(params);
        let shown = args.iter().map(|arg| self.told(place, arg));
        let args = Json::List(shown.collect::<Result<_, _>>()?);
        let (agent, name) = self.names_of(function);
        let call = format!("{agent}.{name}");
        let input = Data::map([
            ("call", Data::text(call.as_str())),
            ("args", Data::Text(json::compact(&args))),
            ("depth", Data::Int(i64::from(self.child_depth) + 1)),
        ]);
        let payload = Data::map([
            ("briefing", Data::Text(format!("Run `{call}` of {}", self.module.sources[0].name()))),
            ("flow", Data::text(OWN_FLOW)),
            ("input", input),
            ("allow", Data::List(vec![Data::text("*")])),
        ]);
        let path = self.ask(task, place, CHILD_REQUEST, payload);
        task.waits = Some(Waits::Child(ChildCall { place, function, args }));
        Ok(InstructionFlow::Pause(TaskPause::Asked(path)))
    }

    pub(super) fn child_answered(
        &mut self,
        task: &mut ContextTask,
        call: ChildCall,
    ) -> Result<InstructionFlow, TaskFault> {
        let answer = task.answer.take().expect("a task wakes with its answer");
        let (agent, function) = self.names_of(call.function);
        match data_of(answer) {
            Ok(result) => {
                task.stack.push(ContextValue::from_json(&result));
                if self.traces() {
                    let event = trace::agent_event(agent, function, call.args, result, Vec::new());
                    self.trace(task, event);
                }
                Ok(InstructionFlow::Next)
            }
            Err(message) => {
                if self.traces() {
                    let event =
                        trace::failed_agent(agent, function, call.args, &message, Vec::new());
                    self.trace(task, event);
                }
                Err(TaskFault { message, place: call.place, kind: FaultKind::Inner })
            }
        }
    }

    /// Makes the task of a child; nothing if the start is not that of one.
    pub(super) fn child_task(&mut self, start: &Start) -> Option<Result<ContextTask, TaskFault>> {
        let field = |key: &str| start.input.get(key);
        let (agent, name) = field("call")?.as_text()?.split_once('.')?;
        let Ok(Json::List(args)) = json::parse(field("args")?.as_text()?) else { return None };
        self.child_depth = u32::try_from(field("depth")?.as_int()?).ok()?;
        let code = &self.module.code;
        let agent = code.agents.iter().find(|known| *known.name == *agent)?;
        let function = *agent.functions.get(name)?;
        let begun = self.expect_arity(function, args.len()).and_then(|()| {
            let mut task = ContextTask::new(RequestScope::root(), 0);
            self.begin(&mut task, function, args.iter().map(ContextValue::from_json).collect())?;
            Ok(task)
        });
        Some(begun)
    }
}
