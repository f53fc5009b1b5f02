//! A node that waits for a human's decision.

use std::sync::Arc;

use agentic_model::{Map, Value};
use agentic_plan::{Call, text_of};
use agentic_replay::{Answer, Delivery, Failure, Request, Scope};

use crate::run::failure_with;
use crate::run::outgoing::{Origin, RequestKind};
use crate::run::task::{Step, Task, Turning, World};

/// Who decides when nobody did in time.
const TIMEOUT_ACTOR: &str = "system:timeout";
const ACCEPT: &str = "accept";
const REJECT: &str = "reject";

/// A hold under way.
pub(super) struct Hold {
    params: Map,
    origin: Origin,
    scope: Scope,
    input: Arc<Value>,
}

/// What somebody decided.
struct Decision {
    choice: String,
    actor: String,
    note: String,
    /// What goes on in place of the input.
    edited: Option<Value>,
}

impl Hold {
    pub fn new(call: &Call, origin: Origin, scope: Scope, input: Arc<Value>) -> Hold {
        Hold { params: call.params.clone(), origin, scope, input }
    }

    fn decide(&self, decision: Decision, turn: &mut Turning) -> Step {
        let Decision { choice, actor, note, edited } = decision;
        turn.decisions.push(Value::map([
            ("node", Value::text(self.scope.path().as_str())),
            ("choice", Value::text(&choice)),
            ("actor", Value::text(&actor)),
            ("note", Value::text(&note)),
        ]));
        if choice == REJECT {
            let message = format!("`{actor}` rejected it");
            let details = [("actor", Value::Text(actor)), ("note", Value::Text(note))];
            return Step::Done(Err(failure_with("Rejected", message, &details)));
        }
        let offered = self.params.get("choices").and_then(Value::as_list).unwrap_or_default();
        let is_offered = offered.iter().any(|offer| offer.as_text() == Some(&choice));
        if !is_offered && choice != ACCEPT {
            let message = format!("`{choice}` is not one of the choices");
            return Step::Done(Err(Failure::new("ChoiceNotOffered", message)));
        }
        let input = edited.unwrap_or_else(|| self.input.as_ref().clone());
        Step::Done(Ok(Value::map([
            ("choice", Value::Text(choice)),
            ("actor", Value::Text(actor)),
            ("note", Value::Text(note)),
            ("text", Value::Text(text_of(&input))),
            ("input", input),
        ])))
    }

    fn overdue(&self, turn: &mut Turning) -> Step {
        let by_timeout = |choice: &str| Decision {
            choice: choice.to_owned(),
            actor: TIMEOUT_ACTOR.to_owned(),
            note: String::new(),
            edited: None,
        };
        match self.params.get("on_timeout").and_then(Value::as_text) {
            Some(ACCEPT) => self.decide(by_timeout(ACCEPT), turn),
            Some(REJECT) => self.decide(by_timeout(REJECT), turn),
            _ => Step::Done(Err(Failure::new("HoldTimeout", "nobody decided in time"))),
        }
    }
}

impl Task for Hold {
    fn begin(&mut self, _world: &World, turn: &mut Turning) -> Step {
        let mut payload = self.params.clone();
        if let Some(seconds) = payload.remove("timeout_s").as_ref().and_then(Value::as_int) {
            let deadline = turn.now.plus_millis(seconds.saturating_mul(1_000));
            payload.insert("deadline".to_owned(), Value::Int(deadline.millis()));
        }
        payload.insert("node".to_owned(), Value::text(self.origin.node.as_str()));
        payload.insert("input".to_owned(), self.input.as_ref().clone());
        let kind = RequestKind::Hold.as_str();
        turn.opened.push(Request::new(self.scope.next_path(), kind, Value::Map(payload)));
        Step::Waiting
    }

    fn deliver(&mut self, delivery: Delivery, _world: &World, turn: &mut Turning) -> Step {
        match delivery.answer {
            Answer::Ok(value) if is_expired(&value) => self.overdue(turn),
            Answer::Ok(value) => match Decision::read(&value) {
                Some(decision) => self.decide(decision, turn),
                None => {
                    let message = "the answer to the hold is not a decision";
                    Step::Done(Err(Failure::new("InvalidInput", message)))
                }
            },
            Answer::TimedOut => self.overdue(turn),
            Answer::Failed(failure) => Step::Done(Err(failure)),
            Answer::Cancelled(_) => {
                Step::Done(Err(Failure::new("Cancelled", "the hold was withdrawn")))
            }
        }
    }
}

/// Says whether a decision is that of the clock: nobody decided before the deadline.
fn is_expired(decision: &Value) -> bool {
    decision.get("action").and_then(Value::as_text) == Some("expire")
}

impl Decision {
    /// Reads a decision: a choice as text, a map with `choice`, or one with the `action` of a
    /// decision commit.
    fn read(value: &Value) -> Option<Decision> {
        let text = |key: &str| value.get(key).and_then(Value::as_text);
        let choice = match (value, text("action")) {
            (Value::Text(choice), _) => choice.as_str(),
            (_, Some("approve" | "edit")) => ACCEPT,
            (_, Some("reject")) => REJECT,
            (_, Some("respond")) => text("value")?,
            (_, Some(_)) => return None,
            (_, None) => text("choice")?,
        };
        let actor = text("actor").or_else(|| text("principal")).unwrap_or_default();
        let note = text("note").or_else(|| text("rationale")).unwrap_or_default();
        let is_edit = text("action") == Some("edit");
        Some(Decision {
            choice: choice.to_owned(),
            actor: actor.to_owned(),
            note: note.to_owned(),
            edited: value.get("value").filter(|_| is_edit).cloned(),
        })
    }
}
