//! How a run begins: its input, held to the contract of the entry function.

use agentic_model::Value as Data;
use agentic_replay::{Answer, Scope, Start};

use crate::ast::Type;
use crate::code::{Place, Validation};
use crate::json::{self, Json, Ordered};
use crate::reply;
use crate::value::Value;

use super::fault::Fault;
use super::step::Flow;
use super::task::{Task, Waits};
use super::{Pause, World, trace};

/// The kind of a request for a field that the input lacks.
pub const INPUT_REQUEST: &str = "input";

/// An input that is being completed.
pub(super) struct InputState {
    function: u32,
    input: Json,
    /// The field of the contract that is looked at.
    field: usize,
}

impl World {
    /// Makes the task of the program itself.
    pub(super) fn entry_task(&mut self, function: u32, start: &Start) -> Result<Task, Fault> {
        if let Some(child) = self.child_task(start) {
            return child;
        }
        let called = &self.module.code.functions[function as usize];
        let mut task = Task::new(Scope::root(), 0);
        if called.params == 0 {
            self.begin(&mut task, function, Vec::new())?;
            return Ok(task);
        }
        self.expect_arity(function, 1)?;
        let input = match &start.input {
            Data::Null => Json::Object(Ordered::new()),
            value @ (Data::Bool(_)
            | Data::Int(_)
            | Data::Float(_)
            | Data::Text(_)
            | Data::Bytes(_)
            | Data::List(_)
            | Data::Map(_)
            | Data::Link(_)) => json::from_value(value)
                .map_err(|fault| Fault::new(called.place, format!("the input: {fault}")))?,
        };
        if called.input.is_none() {
            self.begin(&mut task, function, vec![Value::from_json(&input)])?;
            return Ok(task);
        }
        if !matches!(input, Json::Object(_)) {
            return Err(Fault::new(called.place, "the input is an object of fields"));
        }
        task.waits = Some(Waits::Input(InputState { function, input, field: 0 }));
        Ok(task)
    }

    /// Looks at field after field and asks for the first that is missing; then begins.
    pub(super) fn input_answered(
        &mut self,
        task: &mut Task,
        mut state: InputState,
    ) -> Result<Flow, Fault> {
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
                        return Err(Fault::new(field.place, message));
                    }
                }
            }
            state.field = at + 1;
        }
        self.begin(task, state.function, vec![Value::from_json(&state.input)])?;
        Ok(Flow::Next)
    }

    fn ask_input(&mut self, task: &mut Task, state: InputState, place: Place, path: &str) -> Flow {
        let payload = Data::map([("path", Data::text(path))]);
        let request = self.ask(task, place, INPUT_REQUEST, payload);
        task.waits = Some(Waits::Input(state));
        Flow::Pause(Pause::Asked(request))
    }

    fn record_input(&mut self, task: &mut Task, path: &str, value: &Json) {
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
fn typed(value: Json, kind: &Type) -> Json {
    match (value, kind) {
        (Json::Text(text), Type::Text) => Json::Text(text),
        (Json::Text(text), _) => match json::parse(&text) {
            // `null` is no answer.
            Ok(Json::Null) | Err(_) => Json::Text(text),
            Ok(value) => value,
        },
        (value, _) => value,
    }
}

/// Takes the value out of the answer to a question for a field. `null` is no answer.
fn answered(place: Place, path: &str, answer: Answer) -> Result<Json, Fault> {
    let reason = match answer {
        Answer::Ok(value) => match json::from_value(&value) {
            Ok(Json::Null) => "nothing was given".to_owned(),
            Ok(json) => return Ok(json),
            Err(fault) => fault.to_string(),
        },
        Answer::Failed(failure) => failure.message,
        Answer::TimedOut => "nobody answered in time".to_owned(),
        Answer::Cancelled(_) => "the question was withdrawn".to_owned(),
    };
    Err(Fault::new(place, format!("the field `{path}` is missing: {reason}")))
}
