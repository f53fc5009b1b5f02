//! How a run begins: its input, held to the contract of the entry function.

use agentic_model::Value as Data;
use agentic_replay::{RequestAnswer, RequestScope, Start};

use crate::ast::TypeExpr;
use crate::code::{CodePlace, Validation};
use crate::json::{self, Json, OrderedMap};
use crate::reply;
use crate::value::ContextValue;

use super::fault::TaskFault;
use super::step::InstructionFlow;
use super::task::ContextTask;
use super::trace;
use super::waits::{InputState, Waits};
use super::world::{RunWorld, TaskPause};

/// The kind of a request for a field that the input lacks.
pub const INPUT_REQUEST: &str = "input";

impl RunWorld {
    /// Makes the task of the program itself.
    pub(super) fn entry_task(
        &mut self,
        function: u32,
        start: &Start,
    ) -> Result<ContextTask, TaskFault> {
        if let Some(child) = self.child_task(start) {
            return child;
        }
        let called = &self.module.code.functions[function as usize];
        let mut task = ContextTask::new(RequestScope::root(), 0);
        if called.params == 0 {
            self.begin(&mut task, function, Vec::new())?;
            return Ok(task);
        }
        self.expect_arity(function, 1)?;
        let input = match &start.input {
            Data::Null => Json::Object(OrderedMap::new()),
            value @ (Data::Bool(_)
            | Data::Int(_)
            | Data::Float(_)
            | Data::Text(_)
            | Data::Bytes(_)
            | Data::List(_)
            | Data::Map(_)
            | Data::Link(_)) => json::from_value(value)
                .map_err(|fault| TaskFault::new(called.place, format!("the input: {fault}")))?,
        };
        if called.input.is_none() {
            self.begin(&mut task, function, vec![ContextValue::from_json(&input)])?;
            return Ok(task);
        }
        if !matches!(input, Json::Object(_)) {
            return Err(TaskFault::new(called.place, "the input is an object of fields"));
        }
        task.waits = Some(Waits::Input(InputState { function, input, field: 0 }));
        Ok(task)
    }

    /// Looks at field after field and asks for the first that is missing; then begins.
    pub(super) fn input_answered(
        &mut self,
        task: &mut ContextTask,
        mut state: InputState,
    ) -> Result<InstructionFlow, TaskFault> {
        let module = self.module.clone();
        let called = &module.code.functions[state.function as usize];
        let fields = called.input.iter().flat_map(|contract| &contract.fields);
        for (at, field) in fields.enumerate().skip(state.field) {
            let path = format!("input.{}", field.name);
            if at == state.field
                && let Some(answer) = task.answer.take()
            {
                let value = answered(field.place, &path, answer)?;
                let value = typed(value, &field.kind);
                self.record_input(task, &path, &value);
                set(&mut state.input, &field.name, value);
            }
            state.field = at;
            match state.input.get(&field.name) {
                None | Some(Json::Null) => {
                    return Ok(self.ask_input(task, state, field.place, &path));
                }
                Some(value) => {
                    let wrong = reply::wrong_type(value, &field.kind, Validation::Strict);
                    if let Some(expected) = wrong {
                        let message = format!("the field `{path}` is a {expected}");
                        return Err(TaskFault::new(field.place, message));
                    }
                }
            }
            state.field = at + 1;
        }
        self.begin(task, state.function, vec![ContextValue::from_json(&state.input)])?;
        Ok(InstructionFlow::Next)
    }

    fn ask_input(
        &mut self,
        task: &mut ContextTask,
        state: InputState,
        place: CodePlace,
        path: &str,
    ) -> InstructionFlow {
        let payload = Data::map([("path", Data::text(path))]);
        let request = self.ask(task, place, INPUT_REQUEST, payload);
        task.waits = Some(Waits::Input(state));
        InstructionFlow::Pause(TaskPause::Asked(request))
    }

    fn record_input(&mut self, task: &mut ContextTask, path: &str, value: &Json) {
        if self.traces() {
            let event = trace::input_event(path, value.clone());
            self.trace(task, event);
        }
    }
}

fn set(input: &mut Json, name: &std::sync::Arc<str>, value: Json) {
    if let Json::Object(entries) = input {
        entries.set(name.clone(), value);
    }
}

/// Reads what a person typed: for a field that takes no text it is JSON. What is none stays a text,
/// which then is of the wrong type.
fn typed(value: Json, kind: &TypeExpr) -> Json {
    match (value, kind) {
        (Json::Text(text), TypeExpr::Text) => Json::Text(text),
        (Json::Text(text), _) => match json::parse(&text) {
            // `null` is no answer.
            Ok(Json::Null) | Err(_) => Json::Text(text),
            Ok(value) => value,
        },
        (value, _) => value,
    }
}

/// Takes the value out of the answer to a question for a field. `null` is no answer.
fn answered(place: CodePlace, path: &str, answer: RequestAnswer) -> Result<Json, TaskFault> {
    let reason = match answer {
        RequestAnswer::Ok(value) => match json::from_value(&value) {
            Ok(Json::Null) => "nothing was given".to_owned(),
            Ok(json) => return Ok(json),
            Err(fault) => fault.to_string(),
        },
        RequestAnswer::Failed(failure) => failure.message,
        RequestAnswer::TimedOut => "nobody answered in time".to_owned(),
        RequestAnswer::Cancelled(_) => "the question was withdrawn".to_owned(),
    };
    Err(TaskFault::new(place, format!("the field `{path}` is missing: {reason}")))
}
