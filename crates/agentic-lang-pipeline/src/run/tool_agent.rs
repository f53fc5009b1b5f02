//! The loop of a model and its tools. Every reply and every use of a tool is a request of its own.

use std::sync::Arc;

use agentic_model::{Map, Value};
use agentic_plan::{AgentId, BuiltinSpec, PlanCall, Registry};
use agentic_replay::{Delivery, ProgramFailure, RequestScope};

use crate::run::attempts::{AttemptPolicy, Attempts, fits};
use crate::run::converge::{count, text_param};
use crate::run::outgoing::{Arguments, CallOrigin, OutgoingCall};
use crate::run::task::{PipelineTask, PipelineWorld, TaskStep, TaskTurn, VersionMeaning};
use crate::run::{prompts, reply};

const STEPS_DEFAULT: i64 = 10;
const STEPS_MAX: i64 = 100;
/// How much a model is told of what happened, in bytes.
const HISTORY_BYTES_MAX: usize = 8 << 20;

/// The loop under way.
pub(super) struct ToolAgent {
    origin: CallOrigin,
    scope: RequestScope,
    task: String,
    tools: Vec<AgentId>,
    steps_max: i64,
    policy: AttemptPolicy,
    attempts: Option<Attempts>,
    /// The use of a tool whose result is awaited.
    using: Option<ToolUse>,
    steps: Vec<Value>,
}

/// What the model wants done.
struct ToolUse {
    reasoning: String,
    tool: String,
    args: Map,
}

/// What the model replies.
enum AgentAction {
    Use(ToolUse),
    Final { reasoning: String, answer: Value },
}

impl ToolAgent {
    pub fn new(
        call: &PlanCall,
        origin: CallOrigin,
        scope: RequestScope,
        input: &Value,
    ) -> ToolAgent {
        let tools = call.params.get("tools").and_then(Value::as_list).unwrap_or_default();
        let tools = tools.iter().filter_map(Value::as_text);
        ToolAgent {
            origin,
            scope,
            task: text_param(&call.params, "task", input),
            tools: tools.filter_map(|id| AgentId::parse(id).ok()).collect(),
            steps_max: count(&call.params, "max_steps", STEPS_DEFAULT, STEPS_MAX),
            policy: AttemptPolicy::converse().with(call.retry.as_ref(), call.timeout_ms),
            attempts: None,
            using: None,
            steps: Vec::new(),
        }
    }

    /// Returns the tools that are registered, sorted by name, each once.
    fn offered<'a>(&self, registry: &'a Registry) -> Vec<&'a BuiltinSpec> {
        let mut offered: Vec<&BuiltinSpec> =
            self.tools.iter().filter_map(|agent| registry.by_agent(agent)).collect();
        offered.sort_by(|left, right| left.name.cmp(&right.name));
        offered.dedup_by(|left, right| left.name == right.name);
        offered
    }

    /// Asks the model for the next step, or ends at the cap.
    fn think(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        let n_steps = i64::try_from(self.steps.len()).unwrap_or(i64::MAX);
        if n_steps >= self.steps_max {
            return TaskStep::Done(Ok(self.result(String::new().into(), false.into())));
        }
        let tools = self.offered(&world.registry).into_iter().map(|spec| {
            Value::map([
                ("name", Value::text(&spec.name)),
                ("description", Value::text(&spec.description)),
                ("arguments", spec.params_value()),
            ])
        });
        let input = Value::map([
            ("task", Value::text(&self.task)),
            ("tools", Value::List(tools.collect())),
            ("history", Value::List(self.steps.clone())),
        ]);
        let mut left = HISTORY_BYTES_MAX;
        if !fits(&input, &mut left) {
            let message = format!("the steps have more than {HISTORY_BYTES_MAX} bytes");
            return TaskStep::Done(Err(ProgramFailure::new("OutputTooLarge", message)));
        }
        let model = prompts::id(prompts::TOOL_STEP);
        let input = Arc::new(input);
        let outgoing = OutgoingCall::new(self.origin.clone(), model, input, Arguments::None);
        let policy = self.policy.clone();
        self.attempts = Some(Attempts::begin(outgoing, policy, &mut self.scope, world, turn));
        TaskStep::Waiting
    }

    fn act(&mut self, reply: &Value, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        match AgentAction::read(reply, world.meaning) {
            Err(failure) => TaskStep::Done(Err(failure)),
            Ok(AgentAction::Final { reasoning, answer }) => {
                let wanted = ToolUse { reasoning, tool: String::new(), args: Map::new() };
                self.note(wanted, answer.clone(), StepOutcome::Final);
                TaskStep::Done(Ok(self.result(agentic_plan::text_of(&answer).into(), true.into())))
            }
            Ok(AgentAction::Use(wanted)) => self.use_tool(wanted, world, turn),
        }
    }

    /// Calls a tool after the same check of arguments as in a program; what is refused is a step
    /// with an error.
    fn use_tool(
        &mut self,
        wanted: ToolUse,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep {
        let registry = &world.registry;
        let offered = self.offered(registry);
        let refused = match offered.iter().find(|spec| spec.name == wanted.tool) {
            None => {
                let names: Vec<&str> = offered.iter().map(|spec| spec.name.as_str()).collect();
                format!("there is no tool `{}`; there are: {}", wanted.tool, names.join(", "))
            }
            Some(spec) => match registry.bind_named(spec, &wanted.args) {
                Err(error) => error.to_string(),
                Ok(params) => {
                    let (origin, agent) = (self.origin.clone(), spec.agent.clone());
                    let (input, arguments) = (Arc::new(Value::Null), Arguments::Params(params));
                    let outgoing = OutgoingCall::new(origin, agent, input, arguments);
                    let policy =
                        AttemptPolicy::activity().with(spec.retry.as_ref(), spec.timeout_ms);
                    let scope = &mut self.scope;
                    let attempts = Attempts::begin(outgoing, policy, scope, world, turn);
                    self.attempts = Some(attempts);
                    self.using = Some(wanted);
                    return TaskStep::Waiting;
                }
            },
        };
        self.note(wanted, Value::Text(refused), StepOutcome::Error);
        self.think(world, turn)
    }

    fn note(&mut self, wanted: ToolUse, result: Value, outcome: StepOutcome) {
        self.steps.push(Value::map([
            ("reasoning", Value::Text(wanted.reasoning)),
            ("tool", Value::Text(wanted.tool)),
            ("args", Value::Map(wanted.args)),
            ("result", result),
            ("is_error", Value::Bool(outcome == StepOutcome::Error)),
            ("final", Value::Bool(outcome == StepOutcome::Final)),
        ]));
    }

    fn result(&mut self, text: Value, converged: Value) -> Value {
        let steps = Value::List(std::mem::take(&mut self.steps));
        Value::map([("text", text), ("steps", steps), ("converged", converged)])
    }
}

/// What became of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepOutcome {
    Result,
    Error,
    Final,
}

impl PipelineTask for ToolAgent {
    fn begin(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        if self.task.trim().is_empty() {
            return TaskStep::Done(Err(ProgramFailure::new("InvalidInput", "there is no task")));
        }
        self.think(world, turn)
    }

    fn deliver(
        &mut self,
        delivery: Delivery,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep {
        let attempts = self.attempts.as_mut().expect("a task is begun before it is answered");
        let Some(outcome) = attempts.deliver(delivery, &mut self.scope, world, turn) else {
            return TaskStep::Waiting;
        };
        match (self.using.take(), outcome) {
            (None, Err(failure)) => TaskStep::Done(Err(failure)),
            (None, Ok(reply)) => self.act(&reply, world, turn),
            // Nobody withdrew a call that still waits but the host: the run is being stopped.
            (Some(_), Err(failure)) if failure.code == "Cancelled" => TaskStep::Done(Err(failure)),
            (Some(wanted), Err(failure)) => {
                self.note(wanted, Value::Text(failure.message), StepOutcome::Error);
                self.think(world, turn)
            }
            (Some(wanted), Ok(result)) => {
                self.note(wanted, result, StepOutcome::Result);
                self.think(world, turn)
            }
        }
    }
}

impl AgentAction {
    fn read(value: &Value, meaning: VersionMeaning) -> Result<AgentAction, ProgramFailure> {
        let map = reply::object(value, meaning)?;
        let reasoning = reply::text(&map, "reasoning")?;
        match map.get("action").and_then(Value::as_text) {
            Some("final") => {
                let answer = map.get("answer").cloned();
                let answer = answer.ok_or_else(|| reply::invalid("it has no `answer`"))?;
                Ok(AgentAction::Final { reasoning, answer })
            }
            Some("tool") => {
                let tool = reply::text(&map, "tool")?;
                if tool.is_empty() {
                    return Err(reply::invalid("it names no tool"));
                }
                let args = match map.get("args") {
                    None | Some(Value::Null) => Map::new(),
                    Some(Value::Map(args)) => args.clone(),
                    Some(_) => return Err(reply::invalid("its `args` is not an object")),
                };
                Ok(AgentAction::Use(ToolUse { reasoning, tool, args }))
            }
            _ => Err(reply::invalid("its `action` is neither `tool` nor `final`")),
        }
    }
}
