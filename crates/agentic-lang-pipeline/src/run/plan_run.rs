//! A plan under way. A node starts when what it requires is there, not layer by layer; the first
//! failure stops everything.

use std::collections::BTreeSet;
use std::sync::Arc;

use agentic_model::{Map, Value};
use agentic_plan::{CallKind, NodeId, NodeWork, PlanSourceMap};
use agentic_replay::{Delivery, ProgramEvent, ProgramFailure, RequestScope};

use crate::run::attempts::{AttemptPolicy, Attempts, check_output, fits};
use crate::run::converge::Converge;
use crate::run::failure::failure_with;
use crate::run::hold::HoldTask;
use crate::run::outgoing::{Arguments, CallOrigin, OutgoingCall};
use crate::run::prepare::PreparedPlan;
use crate::run::supervisor::Supervisor;
use crate::run::task::{PipelineTask, PipelineWorld, Routes, TaskStep, TaskTurn, TurnMark};
use crate::run::tool_agent::ToolAgent;

/// How many bytes of outputs the result of a block repeats, roughly: 4 MiB. All of them stand in
/// the record of the run anyway.
const OUTPUTS_BYTES_MAX: usize = 4 << 20;

/// How far a node came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeState {
    Pending,
    Running,
    Done,
    Failed,
    Stopped,
}

impl NodeState {
    fn as_str(self) -> &'static str {
        match self {
            NodeState::Pending => "pending",
            NodeState::Running => "running",
            NodeState::Done => "done",
            NodeState::Failed => "failed",
            NodeState::Stopped => "stopped",
        }
    }
}

/// A plan under way.
pub(super) struct PlanRun {
    prepared: Arc<PreparedPlan>,
    places: Arc<PlanSourceMap>,
    scope: RequestScope,
    input: Arc<Value>,
    /// How many requirements of each node are still open.
    missing: Vec<usize>,
    outputs: Vec<Option<Arc<Value>>>,
    states: Vec<NodeState>,
    tasks: Vec<Option<Box<dyn PipelineTask>>>,
    routes: Routes,
    ready: BTreeSet<usize>,
    n_running: usize,
}

impl PlanRun {
    pub fn new(prepared: Arc<PreparedPlan>, scope: RequestScope, input: Arc<Value>) -> PlanRun {
        let n_nodes = prepared.plan.nodes().len();
        let missing = (0..n_nodes).map(|index| prepared.plan.required_by(index).len()).collect();
        PlanRun {
            prepared,
            places: Arc::default(),
            scope,
            input,
            missing,
            outputs: vec![None; n_nodes],
            states: vec![NodeState::Pending; n_nodes],
            tasks: std::iter::repeat_with(|| None).take(n_nodes).collect(),
            routes: Routes::default(),
            ready: BTreeSet::new(),
            n_running: 0,
        }
    }

    /// Lets failures say where their node stands in the source.
    pub fn with_places(self, places: Arc<PlanSourceMap>) -> PlanRun {
        PlanRun { places, ..self }
    }

    /// Withdraws everything that is still waited for.
    pub fn withdraw_all(&mut self, turn: &mut TaskTurn) {
        self.routes.withdraw_all(turn);
    }

    pub fn prepared(&self) -> &PreparedPlan {
        &self.prepared
    }

    /// Returns the outputs so far, by node, as long as there is room for them; names the others.
    pub fn outputs(&self) -> (Map, Vec<Value>) {
        let mut left = OUTPUTS_BYTES_MAX;
        let (mut kept, mut omitted) = (Map::new(), Vec::new());
        for (node, output) in self.prepared.plan.nodes().iter().zip(&self.outputs) {
            let Some(output) = output else { continue };
            let before = left;
            if fits(output, &mut left) {
                kept.insert(node.id.to_string(), output.as_ref().clone());
            } else {
                left = before;
                omitted.push(Value::text(node.id.as_str()));
            }
        }
        (kept, omitted)
    }

    /// Returns how far each node came.
    pub fn node_states(&self) -> Map {
        let nodes = self.prepared.plan.nodes().iter().zip(&self.states);
        nodes.map(|(node, state)| (node.id.to_string(), Value::text(state.as_str()))).collect()
    }

    /// Starts nodes until none is ready or no place is free.
    fn proceed(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        while self.n_running < world.max_concurrency {
            let Some(index) = self.ready.pop_first() else { break };
            let mark = turn.mark();
            self.states[index] = NodeState::Running;
            self.n_running += 1;
            let step = self.start_node(index, world, turn);
            if let Some(end) = self.absorb(index, mark, step, turn) {
                return end;
            }
        }
        TaskStep::Waiting
    }

    fn start_node(&mut self, index: usize, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        let prepared = Arc::clone(&self.prepared);
        let node = &prepared.plan.nodes()[index];
        let call = match &node.work {
            NodeWork::Join => return TaskStep::Done(Ok(self.tuple(index))),
            NodeWork::Call(call) => call,
        };
        let scope = self.scope.child(node.id.as_str());
        let origin = CallOrigin {
            plan: Arc::clone(&prepared.id),
            node: node.id.clone(),
            requires: node.requires.first().cloned(),
        };
        let input = self.input_of(index);
        let mut task: Box<dyn PipelineTask> = match (call.kind, call.agent.as_str()) {
            (CallKind::Hold, _) => Box::new(HoldTask::new(call, origin, scope, input)),
            (CallKind::Dynamic, _) => {
                let inner = prepared.inner.get(&index).expect("programs are prepared before");
                Box::new(PlanRun::new(Arc::clone(inner), scope, input))
            }
            (CallKind::Workflow, "sibyl/converge") => {
                Box::new(Converge::new(call, origin, scope, &input))
            }
            (CallKind::Workflow, "sibyl/tool_agent") => {
                Box::new(ToolAgent::new(call, origin, scope, &input))
            }
            (CallKind::Workflow, "sibyl/supervisor") => {
                Box::new(Supervisor::new(call, origin, scope, &input))
            }
            (CallKind::Workflow | CallKind::Activity, _) => {
                let policy = AttemptPolicy::activity().with(call.retry.as_ref(), call.timeout_ms);
                let arguments = Arguments::Node(Arc::clone(&prepared), index);
                let outgoing = OutgoingCall::new(origin, call.agent.clone(), input, arguments);
                Box::new(Activity::new(outgoing, policy, scope))
            }
        };
        let step = task.begin(world, turn);
        self.tasks[index] = Some(task);
        step
    }

    /// Returns what flows into a node: the input of the run at an entry, else the output before.
    fn input_of(&self, index: usize) -> Arc<Value> {
        match self.prepared.plan.required_by(index) {
            [] => Arc::clone(&self.input),
            [source, ..] => {
                let output = self.outputs[*source].as_ref();
                Arc::clone(output.expect("a node starts after what it requires"))
            }
        }
    }

    fn tuple(&self, index: usize) -> Value {
        let sources = self.prepared.plan.required_by(index).iter();
        let outputs = sources.map(|source| self.outputs[*source].as_deref().cloned());
        Value::List(outputs.map(|output| output.expect("a join starts last")).collect())
    }

    /// Takes what a node came to; gives the end of the run once there is one.
    fn absorb(
        &mut self,
        index: usize,
        mark: TurnMark,
        step: TaskStep,
        turn: &mut TaskTurn,
    ) -> Option<TaskStep> {
        self.routes.note(index, mark, turn);
        let TaskStep::Done(outcome) = step else { return None };
        self.tasks[index] = None;
        self.n_running -= 1;
        let is_join = self.prepared.plan.nodes()[index].work == NodeWork::Join;
        let outcome = match outcome {
            Ok(value) => check_output(&value).map(|()| value),
            Err(failure) => Err(failure),
        };
        match outcome {
            Ok(value) => {
                if !is_join {
                    self.report(index, NodeState::Done, turn);
                }
                self.complete(index, value)
            }
            Err(cause) => {
                self.report(index, NodeState::Failed, turn);
                Some(self.fail(index, cause, turn))
            }
        }
    }

    fn complete(&mut self, index: usize, value: Value) -> Option<TaskStep> {
        self.states[index] = NodeState::Done;
        let value = Arc::new(value);
        self.outputs[index] = Some(Arc::clone(&value));
        let prepared = Arc::clone(&self.prepared);
        for &next in prepared.plan.dependents_of(index) {
            self.missing[next] -= 1;
            if self.missing[next] == 0 {
                self.ready.insert(next);
            }
        }
        let is_exit = index == prepared.plan.exit_index();
        is_exit.then(|| TaskStep::Done(Ok(value.as_ref().clone())))
    }

    /// Stops everything that runs and says which node failed, where and why.
    fn fail(&mut self, index: usize, cause: ProgramFailure, turn: &mut TaskTurn) -> TaskStep {
        self.states[index] = NodeState::Failed;
        for state in self.states.iter_mut().filter(|state| **state == NodeState::Running) {
            *state = NodeState::Stopped;
        }
        self.routes.withdraw_all(turn);
        self.tasks.clear();
        let node = &self.prepared.plan.nodes()[index];
        let mut details = vec![("node", Value::text(node.id.as_str()))];
        let mut message = format!("node `{}`", node.id);
        if let NodeWork::Call(call) = &node.work {
            details.push(("agent", Value::text(call.agent.as_str())));
            message.push_str(&format!(" (`{}`)", call.agent));
        }
        if let Some(place) = self.places.place(&node.id) {
            details.push(("line", Value::Int(i64::from(place.line))));
            details.push(("col", Value::Int(i64::from(place.column))));
            message.push_str(&format!(" at {place}"));
        }
        message.push_str(&format!(" failed: {}", cause.message));
        details.push(("cause", cause_value(&cause)));
        TaskStep::Done(Err(failure_with("NodeFailed", message, &details)))
    }

    fn report(&self, index: usize, state: NodeState, turn: &mut TaskTurn) {
        let node: &NodeId = &self.prepared.plan.nodes()[index].id;
        let path = self.scope.path().child(node.as_str());
        let data = [
            ("node", Value::text(path.as_str())),
            ("state", Value::text(state.as_str())),
            ("timestamp", Value::Float(turn.now.millis() as f64 / 1000.0)),
        ];
        turn.events.push(ProgramEvent { kind: "node".to_owned(), data: Value::map(data) });
    }
}

impl PipelineTask for PlanRun {
    fn begin(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        let free = self.missing.iter().enumerate().filter(|(_, missing)| **missing == 0);
        self.ready = free.map(|(index, _)| index).collect();
        self.proceed(world, turn)
    }

    fn deliver(
        &mut self,
        delivery: Delivery,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep {
        let Some(index) = self.routes.take(&delivery.path) else { return TaskStep::Waiting };
        let Some(task) = &mut self.tasks[index] else { return TaskStep::Waiting };
        let mark = turn.mark();
        let step = task.deliver(delivery, world, turn);
        match self.absorb(index, mark, step, turn) {
            Some(end) => end,
            None => self.proceed(world, turn),
        }
    }
}

/// Returns the cause of a failure as data. What lies deeper is clipped, so that failures of nested
/// programs stay recordable.
pub(super) fn cause_value(cause: &ProgramFailure) -> Value {
    let mut map = Map::from([
        ("code".to_owned(), Value::text(&cause.code)),
        ("message".to_owned(), Value::text(&cause.message)),
    ]);
    let is_small = check_output(&cause.details).is_ok();
    if cause.details != Value::Null && is_small {
        map.insert("details".to_owned(), cause.details.clone());
    }
    Value::Map(map)
}

/// A node that is one call of an agent.
struct Activity {
    scope: RequestScope,
    planned: Option<(OutgoingCall, AttemptPolicy)>,
    attempts: Option<Attempts>,
}

impl Activity {
    fn new(outgoing: OutgoingCall, policy: AttemptPolicy, scope: RequestScope) -> Activity {
        Activity { scope, planned: Some((outgoing, policy)), attempts: None }
    }
}

impl PipelineTask for Activity {
    fn begin(&mut self, world: &PipelineWorld, turn: &mut TaskTurn) -> TaskStep {
        let (outgoing, policy) = self.planned.take().expect("a task begins once");
        self.attempts = Some(Attempts::begin(outgoing, policy, &mut self.scope, world, turn));
        TaskStep::Waiting
    }

    fn deliver(
        &mut self,
        delivery: Delivery,
        world: &PipelineWorld,
        turn: &mut TaskTurn,
    ) -> TaskStep {
        let attempts = self.attempts.as_mut().expect("a task is begun before it is answered");
        match attempts.deliver(delivery, &mut self.scope, world, turn) {
            Some(outcome) => TaskStep::Done(outcome),
            None => TaskStep::Waiting,
        }
    }
}
