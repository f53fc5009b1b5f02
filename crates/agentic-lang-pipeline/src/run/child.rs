//! A part of a supervisor: a program of its own.
//!
//! Where the host has sessions it is one, on a branch of its own, and one request of the run; so it
//! can be shown, forked and replayed by itself, and its calls are recorded there. Elsewhere the same
//! program runs in a context of the run.

use std::sync::Arc;

use agentic_model::Value;
use agentic_plan::{Backend, BuiltinSpec};
use agentic_replay::{Delivery, ProgramFailure, Request, RequestAnswer, RequestScope};

use crate::compile::compile;
use crate::printer::quoted;
use crate::run::options::PartsPlace;
use crate::run::outgoing::{RequestKind, spawn_payload};
use crate::run::plan_run::PlanRun;
use crate::run::prepare::PreparedPlan;
use crate::run::prompts;
use crate::run::task::{PipelineTask, PipelineWorld, TaskStep, TaskTurn};

/// The agent of the loop that answers one question.
const CONVERGE: &str = "sibyl/converge";

/// Makes the program that answers a question in so many rounds. Nothing where programs cannot say
/// it.
pub(super) fn converging(
    world: &PipelineWorld,
    scope: RequestScope,
    question: &str,
    rounds_max: i64,
) -> Option<Box<dyn PipelineTask>> {
    let spec = world.registry.by_agent(&prompts::id(CONVERGE)).filter(|spec| fits(spec))?;
    let (name, quoted) = (&spec.name, quoted(question));
    let program =
        format!("temporal static ( {name} ( question : {quoted} max_rounds : {rounds_max} ) )");
    match world.children {
        PartsPlace::Sessions => {
            Some(Box::new(ChildSession { scope, question: question.to_owned(), program }))
        }
        PartsPlace::Contexts => {
            let compiled = compile(&program, Arc::clone(&world.registry)).ok()?;
            let block = compiled.blocks.into_iter().next()?;
            let prepared = PreparedPlan::of(block.plan, &world.registry).ok()?;
            let run = PlanRun::new(Arc::new(prepared), scope, Arc::new(Value::Null));
            Some(Box::new(run.with_places(block.source_map)))
        }
    }
}

/// Says whether programs can call the loop with a question and a bound.
fn fits(spec: &BuiltinSpec) -> bool {
    let has = |name: &str| spec.schema.params.iter().any(|param| param.name == name);
    spec.runs_on(Backend::Temporal) && has("question") && has("max_rounds")
}

/// A part that is a session, under way.
struct ChildSession {
    scope: RequestScope,
    question: String,
    program: String,
}

impl PipelineTask for ChildSession {
    fn begin(&mut self, _world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        let path = self.scope.next_path();
        let briefing = format!("Answer this question: {}", self.question);
        let payload = spawn_payload(&path, briefing, [("program", Value::text(&self.program))]);
        turn.opened.push(Request::new(path, RequestKind::Spawn.as_str(), payload));
        TaskStep::Waiting
    }

    fn deliver(
        &mut self,
        delivery: Delivery,
        _world: &PipelineWorld,
        _turn: &mut TaskTurn,
    ) -> TaskStep {
        TaskStep::Done(match delivery.answer {
            RequestAnswer::Ok(value) => Ok(value),
            RequestAnswer::Failed(failure) => Err(failure),
            RequestAnswer::TimedOut => {
                Err(ProgramFailure::new("TimedOut", "the session took too long"))
            }
            RequestAnswer::Cancelled(_) => {
                Err(ProgramFailure::new("Cancelled", "the session was cancelled"))
            }
        })
    }
}
