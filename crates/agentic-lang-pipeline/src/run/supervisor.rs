//! Splits a question, works on the parts at once and puts the answers together.

use std::sync::Arc;

use agentic_model::Value;
use agentic_plan::{PlanCall, text_of};
use agentic_replay::{Delivery, ProgramFailure, RequestScope};

use crate::run::attempts::{AttemptPolicy, Attempts};
use crate::run::child::converging;
use crate::run::converge::{Converge, count, text_param};
use crate::run::decompose::{SubAnswer, decompose, synthesize};
use crate::run::outgoing::{Arguments, CallOrigin, OutgoingCall};
use crate::run::task::{PipelineTask, PipelineWorld, Routes, TaskStep, TaskTurn, VersionMeaning};
use crate::run::{prompts, reply};

const SUBQUESTIONS_DEFAULT: i64 = 5;
const SUBQUESTIONS_MAX: i64 = 20;
const ROUNDS_DEFAULT: i64 = 3;
const ROUNDS_MAX: i64 = 50;

/// The supervisor under way.
pub(super) struct Supervisor {
    origin: CallOrigin,
    scope: RequestScope,
    question: String,
    subquestions_max: usize,
    rounds_max: i64,
    stage: SupervisorStage,
    children: Vec<QuestionPart>,
    routes: Routes,
}

enum SupervisorStage {
    New,
    Decomposing(Attempts),
    Working,
    Synthesizing(Attempts),
}

/// One part of the question.
struct QuestionPart {
    question: String,
    task: Box<dyn PipelineTask>,
    outcome: Option<Result<Value, ProgramFailure>>,
}

impl Supervisor {
    pub fn new(
        call: &PlanCall,
        origin: CallOrigin,
        scope: RequestScope,
        input: &Value,
    ) -> Supervisor {
        let subquestions =
            count(&call.params, "max_subquestions", SUBQUESTIONS_DEFAULT, SUBQUESTIONS_MAX);
        Supervisor {
            origin,
            scope,
            question: text_param(&call.params, "question", input),
            subquestions_max: usize::try_from(subquestions).unwrap_or(1),
            rounds_max: count(&call.params, "max_rounds_per_child", ROUNDS_DEFAULT, ROUNDS_MAX),
            stage: SupervisorStage::New,
            children: Vec::new(),
            routes: Routes::default(),
        }
    }

    /// Asks an agent of the registry, if it has one of this id.
    fn ask(
        &mut self,
        id: &str,
        input: Value,
        policy: AttemptPolicy,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> Option<Attempts> {
        let agent = prompts::id(id);
        world.registry.by_agent(&agent)?;
        let input = Arc::new(input);
        let outgoing = OutgoingCall::new(self.origin.clone(), agent, input, Arguments::None);
        Some(Attempts::begin(outgoing, policy, &mut self.scope, world, turn))
    }

    /// Starts a loop for every part.
    fn work(
        &mut self,
        mut parts: Vec<String>,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep {
        parts.truncate(self.subquestions_max);
        self.stage = SupervisorStage::Working;
        for (index, question) in parts.into_iter().enumerate() {
            let scope = self.scope.child(&format!("sub{index}"));
            let program = converging(world, scope.clone(), &question, self.rounds_max);
            let task = program.unwrap_or_else(|| {
                let task = Converge::of_question(question.clone(), self.origin.clone(), scope);
                Box::new(task.with_rounds_max(self.rounds_max))
            });
            self.children.push(QuestionPart { question, task, outcome: None });
        }
        for index in 0..self.children.len() {
            let mark = turn.mark();
            let step = self.children[index].task.begin(world, turn);
            self.routes.note(index, mark, turn);
            if let TaskStep::Done(outcome) = step {
                self.children[index].outcome = Some(outcome);
            }
        }
        self.gather(world, turn)
    }

    /// Goes on once every part has ended.
    fn gather(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        if self.children.iter().any(|child| child.outcome.is_none()) {
            return TaskStep::Waiting;
        }
        if self.children.iter().all(|child| !matches!(child.outcome, Some(Ok(_)))) {
            let message = "no part of the question could be answered";
            return TaskStep::Done(Err(ProgramFailure::new("AllChildrenFailed", message)));
        }
        let input = Value::map([
            ("question", Value::text(&self.question)),
            ("sub_answers", self.sub_answers()),
        ]);
        let policy = AttemptPolicy::of(3, 60_000);
        match self.ask(prompts::SYNTHESIZE, input, policy, world, turn) {
            Some(attempts) => {
                self.stage = SupervisorStage::Synthesizing(attempts);
                TaskStep::Waiting
            }
            None => {
                let answers: Vec<SubAnswer> =
                    self.children.iter().map(QuestionPart::answer).collect();
                let text = synthesize(&self.question, &answers);
                TaskStep::Done(Ok(self.result(text)))
            }
        }
    }

    fn result(&self, text: String) -> Value {
        let n_failed = self.children.iter().filter(|child| child.answer().outcome.is_err()).count();
        let int = |number: usize| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
        Value::map([
            ("text", Value::Text(text)),
            ("sub_answers", self.sub_answers()),
            ("success_count", int(self.children.len() - n_failed)),
            ("failure_count", int(n_failed)),
        ])
    }

    fn sub_answers(&self) -> Value {
        let answers = self.children.iter().enumerate();
        Value::List(answers.map(|(index, child)| child.to_value(index)).collect())
    }

    fn deliver_to_child(
        &mut self,
        delivery: Delivery,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep {
        let Some(index) = self.routes.take(&delivery.path) else { return TaskStep::Waiting };
        let mark = turn.mark();
        let step = self.children[index].task.deliver(delivery, world, turn);
        self.routes.note(index, mark, turn);
        match step {
            TaskStep::Waiting => TaskStep::Waiting,
            TaskStep::Done(outcome) => {
                self.children[index].outcome = Some(outcome);
                self.gather(world, turn)
            }
        }
    }
}

impl PipelineTask for Supervisor {
    fn begin(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        if self.question.trim().is_empty() {
            return TaskStep::Done(Err(ProgramFailure::new(
                "InvalidInput",
                "there is no question",
            )));
        }
        let input = Value::map([
            ("question", Value::text(&self.question)),
            ("max_subquestions", Value::Int(self.subquestions_max as i64)),
        ]);
        let policy = AttemptPolicy::of(3, 30_000);
        match self.ask(prompts::DECOMPOSE, input, policy, world, turn) {
            Some(attempts) => {
                self.stage = SupervisorStage::Decomposing(attempts);
                TaskStep::Waiting
            }
            None => self.work(decompose(&self.question), world, turn),
        }
    }

    fn deliver(
        &mut self,
        delivery: Delivery,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep {
        let outcome = match &mut self.stage {
            SupervisorStage::New => None,
            SupervisorStage::Working => return self.deliver_to_child(delivery, world, turn),
            SupervisorStage::Decomposing(attempts) | SupervisorStage::Synthesizing(attempts) => {
                attempts.deliver(delivery, &mut self.scope, world, turn)
            }
        };
        match outcome {
            None => TaskStep::Waiting,
            Some(Err(failure)) => TaskStep::Done(Err(failure)),
            Some(Ok(reply)) if matches!(self.stage, SupervisorStage::Synthesizing(_)) => {
                TaskStep::Done(Ok(self.result(text_of(&reply))))
            }
            Some(Ok(reply)) => match read_parts(&reply, world.meaning) {
                Ok(parts) => self.work(parts, world, turn),
                Err(failure) => TaskStep::Done(Err(failure)),
            },
        }
    }
}

impl QuestionPart {
    fn answer(&self) -> SubAnswer {
        let outcome = match &self.outcome {
            Some(Ok(answer)) => Ok(text_of(answer)),
            Some(Err(failure)) => Err(failure.message.clone()),
            None => Err("it has not ended".to_owned()),
        };
        SubAnswer { question: self.question.clone(), outcome }
    }

    fn to_value(&self, index: usize) -> Value {
        let answer = self.outcome.as_ref().and_then(|outcome| outcome.as_ref().ok());
        let field = |key: &str, default: Value| {
            answer.and_then(|answer| answer.get(key)).cloned().unwrap_or(default)
        };
        let mut pairs = vec![
            ("index", Value::Int(i64::try_from(index).unwrap_or(i64::MAX))),
            ("question", Value::text(&self.question)),
            ("text", field("text", Value::text(""))),
            ("converged", field("converged", Value::Bool(false))),
            ("rounds", field("rounds", Value::Int(0))),
        ];
        if let Some(Err(failure)) = &self.outcome {
            pairs.push(("error", Value::text(&failure.message)));
        }
        Value::map(pairs)
    }
}

/// Reads the parts that an agent found: a list of texts, or of maps with `text`.
fn read_parts(value: &Value, meaning: VersionMeaning) -> Result<Vec<String>, ProgramFailure> {
    let wrong = || reply::invalid("it is not a list of questions");
    let items = reply::data(value, meaning).ok_or_else(wrong)?;
    let items = items.as_list().ok_or_else(wrong)?;
    let mut parts = Vec::new();
    for item in items {
        let text = item.as_text().or_else(|| item.get("text").and_then(Value::as_text));
        parts.push(text.ok_or_else(wrong)?.trim().to_owned());
    }
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() { Err(wrong()) } else { Ok(parts) }
}
