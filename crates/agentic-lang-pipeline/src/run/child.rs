//! A part of a supervisor as a session of its own, on a branch of its own: one request of the run.
//!
//! What runs there is a program like any other, so the session can be shown, forked and replayed
//! by itself, and its calls are recorded there.

use agentic_model::Value;
use agentic_plan::{Backend, BuiltinSpec};
use agentic_replay::{Answer, Delivery, Failure, Request, Scope};

use crate::printer::quoted;
use crate::run::outgoing::{RequestKind, spawn_payload};
use crate::run::task::{Step, Task, Turning, World};
use crate::run::{Children, prompts};

/// The agent of the loop that answers one question.
const CONVERGE: &str = "sibyl/converge";

/// A part under way.
pub(super) struct ChildSession {
    scope: Scope,
    question: String,
    program: String,
}

impl ChildSession {
    /// Makes the session that answers a question in so many rounds. Nothing where the host has no
    /// sessions, or where programs cannot say it.
    pub fn converge(
        world: &World,
        scope: Scope,
        question: &str,
        rounds_max: i64,
    ) -> Option<ChildSession> {
        let spec = world.registry.by_agent(&prompts::id(CONVERGE));
        let spec = spec.filter(|spec| world.children == Children::Sessions && fits(spec))?;
        let (name, quoted) = (&spec.name, quoted(question));
        let program =
            format!("temporal static ( {name} ( question : {quoted} max_rounds : {rounds_max} ) )");
        Some(ChildSession { scope, question: question.to_owned(), program })
    }
}

/// Says whether programs can call the loop with a question and a bound.
fn fits(spec: &BuiltinSpec) -> bool {
    let has = |name: &str| spec.schema.params.iter().any(|param| param.name == name);
    spec.runs_on(Backend::Temporal) && has("question") && has("max_rounds")
}

impl Task for ChildSession {
    fn begin(&mut self, _world: &World, turn: &mut Turning) -> Step {
        let path = self.scope.next_path();
        let briefing = format!("Answer this question: {}", self.question);
        let payload = spawn_payload(&path, briefing, [("program", Value::text(&self.program))]);
        turn.opened.push(Request::new(path, RequestKind::Spawn.as_str(), payload));
        Step::Waiting
    }

    fn deliver(&mut self, delivery: Delivery, _world: &World, _turn: &mut Turning) -> Step {
        Step::Done(match delivery.answer {
            Answer::Ok(value) => Ok(value),
            Answer::Failed(failure) => Err(failure),
            Answer::TimedOut => Err(Failure::new("TimedOut", "the session took too long")),
            Answer::Cancelled(_) => Err(Failure::new("Cancelled", "the session was cancelled")),
        })
    }
}
