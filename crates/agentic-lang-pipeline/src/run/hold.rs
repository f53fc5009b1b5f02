//! A human's decision: of a node that waits for one, or about the output of an agent.

use std::sync::Arc;

use agentic_model::{Instant, Map, Value};
use agentic_plan::{AgentId, PlanCall, VerdictQuestion, text_of};
use agentic_replay::{Delivery, Path, ProgramFailure, Request, RequestAnswer, RequestScope};

use crate::run::failure::failure_with;
use crate::run::outgoing::{CallOrigin, RequestKind};
use crate::run::task::{PipelineTask, PipelineWorld, TaskStep, TaskTurn};

/// Who decides when nobody did in time.
const TIMEOUT_ACTOR: &str = "system:timeout";
const ACCEPT: &str = "accept";
const REJECT: &str = "reject";

/// A hold under way.
pub(super) struct HoldTask {
    params: Map,
    origin: CallOrigin,
    scope: RequestScope,
    input: Arc<Value>,
}

/// What somebody decided.
struct PipelineDecision {
    choice: String,
    actor: String,
    note: String,
    /// What goes on in place of the input.
    edited: Option<Value>,
}

impl HoldTask {
    pub fn new(
        call: &PlanCall,
        origin: CallOrigin,
        scope: RequestScope,
        input: Arc<Value>,
    ) -> HoldTask {
        HoldTask { params: call.params.clone(), origin, scope, input }
    }

    /// Asks about the output of an agent, as the registry says; it is the input of the hold.
    pub fn about(
        verdict: &VerdictQuestion,
        agent: &AgentId,
        (origin, scope): (CallOrigin, RequestScope),
        output: Value,
    ) -> HoldTask {
        let params = verdict.params(agent.as_str());
        HoldTask { params, origin, scope, input: Arc::new(output) }
    }

    /// Makes the request at a path.
    pub fn request(&self, path: Path, now: Instant) -> Request {
        let mut payload = self.params.clone();
        if let Some(seconds) = payload.remove("timeout_s").as_ref().and_then(Value::as_int) {
            let deadline = now.plus_millis(seconds.saturating_mul(1_000));
            payload.insert("deadline".to_owned(), Value::Int(deadline.millis()));
        }
        payload.insert("node".to_owned(), Value::text(self.origin.node.as_str()));
        payload.insert("input".to_owned(), self.input.as_ref().clone());
        Request::new(path, RequestKind::Hold.as_str(), Value::Map(payload))
    }

    /// Takes the decision: what was decided and about what, or why the node fails.
    pub fn decided(
        &self,
        answer: RequestAnswer,
        turn: &mut TaskTurn,
    ) -> Result<Value, ProgramFailure> {
        match answer {
            RequestAnswer::Ok(value) if is_expired(&value) => self.overdue(turn),
            RequestAnswer::Ok(value) => match PipelineDecision::read(&value) {
                Some(decision) => self.decide(decision, turn),
                None => {
                    let message = "the answer to the hold is not a decision";
                    Err(ProgramFailure::new("InvalidInput", message))
                }
            },
            RequestAnswer::TimedOut => self.overdue(turn),
            RequestAnswer::Failed(failure) => Err(failure),
            RequestAnswer::Cancelled(_) => {
                Err(ProgramFailure::new("Cancelled", "the hold was withdrawn"))
            }
        }
    }

    fn decide(
        &self,
        decision: PipelineDecision,
        turn: &mut TaskTurn,
    ) -> Result<Value, ProgramFailure> {
        let PipelineDecision { choice, actor, note, edited } = decision;
        turn.decisions.push(Value::map([
            ("node", Value::text(self.scope.path().as_str())),
            ("choice", Value::text(&choice)),
            ("actor", Value::text(&actor)),
            ("note", Value::text(&note)),
        ]));
        if choice == REJECT {
            let message = format!("`{actor}` rejected it");
            let details = [("actor", Value::Text(actor)), ("note", Value::Text(note))];
            return Err(failure_with("Rejected", message, &details));
        }
        let offered = self.params.get("choices").and_then(Value::as_list).unwrap_or_default();
        let is_offered = offered.iter().any(|offer| offer.as_text() == Some(&choice));
        if !is_offered && choice != ACCEPT {
            let message = format!("`{choice}` is not one of the choices");
            return Err(ProgramFailure::new("ChoiceNotOffered", message));
        }
        let input = edited.unwrap_or_else(|| self.input.as_ref().clone());
        Ok(Value::map([
            ("choice", Value::Text(choice)),
            ("actor", Value::Text(actor)),
            ("note", Value::Text(note)),
            ("text", Value::Text(text_of(&input))),
            ("input", input),
        ]))
    }

    fn overdue(&self, turn: &mut TaskTurn) -> Result<Value, ProgramFailure> {
        let by_timeout = |choice: &str| PipelineDecision {
            choice: choice.to_owned(),
            actor: TIMEOUT_ACTOR.to_owned(),
            note: String::new(),
            edited: None,
        };
        match self.params.get("on_timeout").and_then(Value::as_text) {
            Some(ACCEPT) => self.decide(by_timeout(ACCEPT), turn),
            Some(REJECT) => self.decide(by_timeout(REJECT), turn),
            _ => Err(ProgramFailure::new("HoldTimeout", "nobody decided in time")),
        }
    }
}

impl PipelineTask for HoldTask {
    fn begin(&mut self, _world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        let path = self.scope.next_path();
        turn.opened.push(self.request(path, turn.now));
        TaskStep::Waiting
    }

    fn deliver(
        &mut self,
        delivery: Delivery,
        _world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep {
        TaskStep::Done(self.decided(delivery.answer, turn))
    }
}

/// Says whether a decision is that of the clock: nobody decided before the deadline.
fn is_expired(decision: &Value) -> bool {
    decision.get("action").and_then(Value::as_text) == Some("expire")
}

impl PipelineDecision {
    /// Reads a decision: a choice as text, a map with `choice`, or one with the `action` of a
    /// decision commit.
    fn read(value: &Value) -> Option<PipelineDecision> {
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
        Some(PipelineDecision {
            choice: choice.to_owned(),
            actor: actor.to_owned(),
            note: note.to_owned(),
            edited: value.get("value").filter(|_| is_edit).cloned(),
        })
    }
}
