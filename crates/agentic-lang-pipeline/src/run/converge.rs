//! The loop of a researcher and a critic.

use std::sync::Arc;

use agentic_model::{Map, Value};
use agentic_plan::{AgentId, PlanCall, text_of};
use agentic_replay::{Delivery, ProgramFailure, RequestScope};

use crate::run::attempts::{AttemptPolicy, Attempts};
use crate::run::outgoing::{Arguments, CallOrigin, OutgoingCall};
use crate::run::task::{PipelineTask, PipelineWorld, TaskStep, TaskTurn, VersionMeaning};
use crate::run::{prompts, reply};

/// The rounds of a `converge` that does not say.
const ROUNDS_DEFAULT: i64 = 5;
/// The most rounds that any plan may ask for.
const ROUNDS_MAX: i64 = 50;

/// The loop under way.
pub(super) struct Converge {
    origin: CallOrigin,
    scope: RequestScope,
    question: String,
    researcher: AgentId,
    critic: AgentId,
    rounds_max: i64,
    policy: AttemptPolicy,
    round: i64,
    stage: ConvergeStage,
    attempts: Option<Attempts>,
    candidate: String,
    feedback: String,
    history: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ConvergeStage {
    Researching,
    Criticising,
}

impl Converge {
    pub fn new(
        call: &PlanCall,
        origin: CallOrigin,
        scope: RequestScope,
        input: &Value,
    ) -> Converge {
        let agent = |key: &str, default: &str| {
            let given = call.params.get(key).and_then(Value::as_text);
            given.and_then(|id| AgentId::parse(id).ok()).unwrap_or_else(|| prompts::id(default))
        };
        let policy = AttemptPolicy::converse().with(call.retry.as_ref(), call.timeout_ms);
        Converge {
            researcher: agent("researcher", prompts::RESEARCH),
            critic: agent("critic", prompts::CRITIQUE),
            rounds_max: count(&call.params, "max_rounds", ROUNDS_DEFAULT, ROUNDS_MAX),
            policy,
            ..Converge::of_question(text_param(&call.params, "question", input), origin, scope)
        }
    }

    /// Makes the loop with the standard agents.
    pub fn of_question(question: String, origin: CallOrigin, scope: RequestScope) -> Converge {
        Converge {
            origin,
            scope,
            question,
            researcher: prompts::id(prompts::RESEARCH),
            critic: prompts::id(prompts::CRITIQUE),
            rounds_max: ROUNDS_DEFAULT,
            policy: AttemptPolicy::converse(),
            round: 0,
            stage: ConvergeStage::Researching,
            attempts: None,
            candidate: String::new(),
            feedback: String::new(),
            history: Vec::new(),
        }
    }

    /// Bounds the rounds.
    pub fn with_rounds_max(self, rounds_max: i64) -> Converge {
        Converge { rounds_max: rounds_max.clamp(1, ROUNDS_MAX), ..self }
    }

    fn research(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) {
        self.round += 1;
        self.stage = ConvergeStage::Researching;
        let input = Value::map([
            ("question", Value::text(&self.question)),
            ("previous_answer", Value::text(&self.candidate)),
            ("critic_feedback", Value::text(&self.feedback)),
        ]);
        let researcher = self.researcher.clone();
        self.ask(&researcher, input, world, turn);
    }

    fn criticise(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) {
        self.stage = ConvergeStage::Criticising;
        let input = Value::map([
            ("question", Value::text(&self.question)),
            ("answer", Value::text(&self.candidate)),
            ("round", Value::Int(self.round)),
        ]);
        let critic = self.critic.clone();
        self.ask(&critic, input, world, turn);
    }

    fn ask(&mut self, agent: &AgentId, input: Value, world: &PipelineWorld, turn: &mut TaskTurn) {
        let input = Arc::new(input);
        let outgoing =
            OutgoingCall::new(self.origin.clone(), agent.clone(), input, Arguments::None);
        let policy = self.policy.clone();
        self.attempts = Some(Attempts::begin(outgoing, policy, &mut self.scope, world, turn));
    }

    /// Takes the critic's reply; gives the result once the loop is over.
    fn judge(
        &mut self,
        reply: &Value,
        meaning: VersionMeaning,
    ) -> Result<Option<Value>, ProgramFailure> {
        let verdict = CriticVerdict::read(reply, meaning)?;
        self.history.push(Value::map([
            ("number", Value::Int(self.round)),
            ("research", Value::text(&self.candidate)),
            ("verdict", verdict.to_value()),
        ]));
        let is_approved = verdict.approval == Approval::Approved;
        self.feedback = verdict.feedback;
        if !is_approved && self.round < self.rounds_max {
            return Ok(None);
        }
        Ok(Some(Value::map([
            ("text", Value::text(&self.candidate)),
            ("rounds", Value::Int(self.round)),
            ("converged", Value::Bool(is_approved)),
            ("history", Value::List(std::mem::take(&mut self.history))),
        ])))
    }
}

impl PipelineTask for Converge {
    fn begin(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        if self.question.trim().is_empty() {
            return TaskStep::Done(Err(ProgramFailure::new(
                "InvalidInput",
                "there is no question",
            )));
        }
        self.research(world, turn);
        TaskStep::Waiting
    }

    fn deliver(
        &mut self,
        delivery: Delivery,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep {
        let attempts = self.attempts.as_mut().expect("a task is begun before it is answered");
        let reply = match attempts.deliver(delivery, &mut self.scope, world, turn) {
            None => return TaskStep::Waiting,
            Some(Err(failure)) => return TaskStep::Done(Err(failure)),
            Some(Ok(reply)) => reply,
        };
        if self.stage == ConvergeStage::Researching {
            self.candidate = text_of(&reply);
            self.criticise(world, turn);
            return TaskStep::Waiting;
        }
        match self.judge(&reply, world.meaning) {
            Ok(None) => {
                self.research(world, turn);
                TaskStep::Waiting
            }
            Ok(Some(result)) => TaskStep::Done(Ok(result)),
            Err(failure) => TaskStep::Done(Err(failure)),
        }
    }
}

/// Whether a critic lets an answer pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Approval {
    Approved,
    Refused,
}

/// What a critic says.
struct CriticVerdict {
    approval: Approval,
    confidence: f64,
    feedback: String,
}

impl CriticVerdict {
    fn read(value: &Value, meaning: VersionMeaning) -> Result<CriticVerdict, ProgramFailure> {
        let map = reply::object(value, meaning)?;
        let approval = match map.get("approved") {
            Some(Value::Bool(true)) => Approval::Approved,
            Some(Value::Bool(false)) => Approval::Refused,
            _ => return Err(reply::invalid("its `approved` is not true or false")),
        };
        let confidence = match map.get("confidence") {
            None | Some(Value::Null) => 0.0,
            Some(Value::Int(number)) => *number as f64,
            Some(Value::Float(number)) => *number,
            Some(_) => return Err(reply::invalid("its `confidence` is not a number")),
        };
        let feedback = reply::text(&map, "feedback")?;
        Ok(CriticVerdict { approval, confidence: confidence.clamp(0.0, 1.0), feedback })
    }

    fn to_value(&self) -> Value {
        Value::map([
            ("approved", Value::Bool(self.approval == Approval::Approved)),
            ("confidence", Value::Float(self.confidence)),
            ("feedback", Value::text(&self.feedback)),
        ])
    }
}

/// Returns a text parameter, or else the text of the input.
pub(super) fn text_param(params: &Map, key: &str, input: &Value) -> String {
    match params.get(key).and_then(Value::as_text) {
        Some(text) => text.to_owned(),
        None => text_of(input),
    }
}

/// Returns a count between 1 and a bound; plans from elsewhere may hold anything.
pub(super) fn count(params: &Map, key: &str, default: i64, max: i64) -> i64 {
    params.get(key).and_then(Value::as_int).unwrap_or(default).clamp(1, max)
}
