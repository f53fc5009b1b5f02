//! Compiled sources as programs.
//!
//! Every contact with the world is a request of its own: each attempt of each call, each pause,
//! each hold, each step of a loop. A node of a plan is its own context (`b0/n7`), so that paths do
//! not depend on the order in which things happen to finish.

use std::fmt;
use std::sync::Arc;

use agentic_model::{Instant, Value};
use agentic_plan::{Plan, PlanSourceMap, Registry};
use agentic_replay::{Delivery, End, Path, Program, ProgramFailure, RequestScope, Start, Turn};

use crate::compile::CompiledSource;
use crate::run::plan_run::PlanRun;
use crate::run::prepare::PreparedPlan;
use crate::run::task::{PipelineTask, PipelineWorld, Routes, TaskStep, TaskTurn, VersionMeaning};
use crate::run::usage::AttemptUsage;

mod attempts;
mod call;
mod child;
mod converge;
mod decompose;
mod failure;
mod hold;
mod options;
mod outgoing;
mod plan_run;
mod prepare;
mod progress;
pub(crate) mod prompts;
mod reply;
mod result;
mod supervisor;
mod task;
mod tool_agent;
mod usage;

pub use crate::run::call::AgentCall;
pub use crate::run::options::{BlockOrder, PartsPlace, PipelineOptions};
pub use crate::run::outgoing::{RequestKind, add_kinds};
pub use crate::run::progress::{BlockProgress, BlockState};
pub use crate::run::prompts::reply_schema;
pub use crate::run::result::{BlockResult, RunResult, Status};

/// A run of the blocks of a source. Its result is a [`RunResult`] as data; when it fails, the
/// result so far stands in the details of the failure.
pub struct PipelineProgram {
    plans: Vec<(Arc<Plan>, Arc<PlanSourceMap>)>,
    registry: Arc<Registry>,
    options: PipelineOptions,
    first_block: usize,
    meaning: VersionMeaning,
    run: Option<FlowRun>,
}

/// A flow under way.
struct FlowRun {
    world: PipelineWorld,
    blocks: Vec<BlockRun>,
    order: BlockOrder,
    /// Which block waits where, if several may run.
    routes: Routes,
    n_started: usize,
    n_done: usize,
    failure: Option<ProgramFailure>,
}

/// One block under way.
struct BlockRun {
    plan: PlanRun,
    decisions: Vec<Value>,
    usage: AttemptUsage,
    started: Option<Instant>,
    ended: Option<Instant>,
    outcome: Option<Result<Value, ProgramFailure>>,
}

impl PipelineProgram {
    /// Makes the program of all blocks of a source; block `n` runs in the context `bn`.
    pub fn new(compiled: &CompiledSource, options: PipelineOptions) -> PipelineProgram {
        let blocks = compiled.blocks.iter();
        let plans = blocks.map(|block| (Arc::clone(&block.plan), Arc::clone(&block.source_map)));
        PipelineProgram::of_plans(plans.collect(), Arc::clone(&compiled.registry), options)
    }

    /// Makes the program of one block of a source, in the context it has in the whole. Nothing if
    /// there is no such block.
    pub fn of_block(
        compiled: &CompiledSource,
        index: usize,
        options: PipelineOptions,
    ) -> Option<PipelineProgram> {
        let block = compiled.blocks.get(index)?;
        let plans = vec![(Arc::clone(&block.plan), Arc::clone(&block.source_map))];
        let program = PipelineProgram::of_plans(plans, Arc::clone(&compiled.registry), options);
        Some(PipelineProgram { first_block: index, ..program })
    }

    /// Makes the program of a plan that came from elsewhere.
    pub fn of_plan(
        plan: Plan,
        registry: Arc<Registry>,
        options: PipelineOptions,
    ) -> PipelineProgram {
        let plans = vec![(Arc::new(plan), Arc::default())];
        PipelineProgram::of_plans(plans, registry, options)
    }

    fn of_plans(
        plans: Vec<(Arc<Plan>, Arc<PlanSourceMap>)>,
        registry: Arc<Registry>,
        options: PipelineOptions,
    ) -> PipelineProgram {
        let meaning = VersionMeaning::of(crate::SEMANTICS_VERSION);
        PipelineProgram { plans, registry, options, first_block: 0, meaning, run: None }
    }

    /// Prepares every block before the first node of any starts.
    fn prepare(&self, start: &Start) -> Result<FlowRun, ProgramFailure> {
        let world = PipelineWorld {
            registry: Arc::clone(&self.registry),
            seed: start.seed,
            max_concurrency: self.options.max_concurrency.max(1),
            invoked_by: self.options.invoked_by.clone(),
            children: self.options.children,
            meaning: self.meaning,
        };
        let input = Arc::new(start.input.clone());
        let mut blocks = Vec::with_capacity(self.plans.len());
        for (index, (plan, places)) in self.plans.iter().enumerate() {
            let prepared = PreparedPlan::of(Arc::clone(plan), &self.registry)?;
            let scope = RequestScope::root().child(&format!("b{}", self.first_block + index));
            let plan = PlanRun::new(Arc::new(prepared), scope, Arc::clone(&input));
            let plan = plan.with_places(Arc::clone(places));
            blocks.push(BlockRun {
                plan,
                decisions: Vec::new(),
                usage: AttemptUsage::default(),
                started: None,
                ended: None,
                outcome: None,
            });
        }
        Ok(FlowRun {
            world,
            blocks,
            order: self.options.blocks,
            routes: Routes::default(),
            n_started: 0,
            n_done: 0,
            failure: None,
        })
    }

    /// Starts what may start and ends the run when nothing is left.
    fn proceed(&mut self, turn: TaskTurn) -> Turn {
        let mut turn = turn;
        let first_block = self.first_block;
        let n_at_once = match self.options.blocks {
            BlockOrder::Sequential => 1,
            BlockOrder::Parallel => usize::MAX,
        };
        let run = self.run.as_mut().expect("a run is prepared before it proceeds");
        while run.failure.is_none()
            && run.n_started < run.blocks.len()
            && run.n_started - run.n_done < n_at_once
        {
            run.start_block(&mut turn);
        }
        let mut end = None;
        if let Some(failure) = run.failure.take() {
            run.withdraw_all(&mut turn);
            let details = run.result(first_block).to_value();
            end = Some(End::Failed(ProgramFailure { details, ..failure }));
        } else if run.n_done == run.blocks.len() {
            end = Some(End::Done(run.result(first_block).to_value()));
        }
        if end.is_some() {
            self.run = None;
        }
        Turn { opened: turn.opened, withdrawn: turn.withdrawn, events: turn.events, end }
    }
}

impl FlowRun {
    fn start_block(&mut self, turn: &mut TaskTurn) {
        let index = self.n_started;
        self.n_started += 1;
        self.blocks[index].started = Some(turn.now);
        let mark = turn.mark();
        let step = self.blocks[index].plan.begin(&self.world, turn);
        self.absorb(index, mark, step, turn);
    }

    /// Finds the block that waits at a path. Of blocks that run one after the other it is the one
    /// that was started last; it knows itself what it waits for.
    fn block_at(&mut self, path: &Path) -> Option<usize> {
        match self.order {
            BlockOrder::Sequential => self.n_started.checked_sub(1),
            BlockOrder::Parallel => self.routes.take(path),
        }
    }

    /// Withdraws everything that is still waited for.
    fn withdraw_all(&mut self, turn: &mut TaskTurn) {
        match self.order {
            BlockOrder::Sequential => {
                let running = self.n_started.checked_sub(1);
                if let Some(index) = running {
                    self.blocks[index].plan.withdraw_all(turn);
                }
            }
            BlockOrder::Parallel => self.routes.withdraw_all(turn),
        }
    }

    fn absorb(&mut self, index: usize, mark: task::TurnMark, step: TaskStep, turn: &mut TaskTurn) {
        match self.order {
            BlockOrder::Sequential => {}
            BlockOrder::Parallel => self.routes.note(index, mark, turn),
        }
        let block = &mut self.blocks[index];
        block.decisions.append(&mut turn.decisions);
        block.usage.add(std::mem::take(&mut turn.usage));
        let TaskStep::Done(outcome) = step else { return };
        block.ended = Some(turn.now);
        self.n_done += 1;
        if let Err(failure) = &outcome {
            self.failure = Some(failure.clone());
        }
        block.outcome = Some(outcome);
    }

    /// Returns what became of every block that was started.
    fn result(&mut self, first_block: usize) -> RunResult {
        let started = self.blocks.iter_mut().take(self.n_started).enumerate();
        let blocks = started.map(|(index, block)| {
            let outcome = block.outcome.take();
            let span = block.started.zip(block.ended);
            let duration_ms = span.map_or(0, |(from, to)| to.millis() - from.millis());
            let prepared = block.plan.prepared();
            let (outputs, omitted) = block.plan.outputs();
            BlockResult {
                index: first_block + index,
                backend: prepared.plan.backend(),
                mode: prepared.plan.mode(),
                status: match &outcome {
                    Some(Ok(_)) => Status::Ok,
                    Some(Err(_)) => Status::Failed,
                    None => Status::Stopped,
                },
                error: outcome.as_ref().and_then(|outcome| outcome.as_ref().err()).cloned(),
                result: outcome.and_then(Result::ok).unwrap_or(Value::Null),
                outputs,
                omitted,
                node_states: block.plan.node_states(),
                decisions: std::mem::take(&mut block.decisions),
                duration_ms,
                usage: std::mem::take(&mut block.usage),
            }
        });
        RunResult { blocks: blocks.collect() }
    }
}

impl Program for PipelineProgram {
    fn start(&mut self, start: &Start) -> Turn {
        match self.prepare(start) {
            Ok(run) => {
                self.run = Some(run);
                self.proceed(TaskTurn::at(start.at))
            }
            Err(failure) => Turn { end: Some(End::Failed(failure)), ..Turn::default() },
        }
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        let Some(run) = &mut self.run else { return Turn::default() };
        let Some(index) = run.block_at(&delivery.path) else { return Turn::default() };
        let mut turn = TaskTurn::at(delivery.at);
        let mark = turn.mark();
        let step = run.blocks[index].plan.deliver(delivery, &run.world, &mut turn);
        run.absorb(index, mark, step, &mut turn);
        self.proceed(turn)
    }

    fn mean_as(&mut self, semantics: u32) {
        self.meaning = VersionMeaning::of(semantics);
    }

    fn cancel(&mut self, _reason: &str, at: Instant) -> Turn {
        let mut turn = TaskTurn::at(at);
        if let Some(mut run) = self.run.take() {
            run.withdraw_all(&mut turn);
        }
        Turn { withdrawn: turn.withdrawn, end: Some(End::Cancelled), ..Turn::default() }
    }

    fn progress(&self) -> Vec<Value> {
        PipelineProgram::progress(self).iter().map(|block| block.to_value()).collect()
    }
}

impl fmt::Debug for PipelineProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_blocks = self.plans.len();
        f.debug_struct("FlowProgram").field("n_blocks", &n_blocks).finish_non_exhaustive()
    }
}

/// Returns the plans of the programs in the nodes of a plan; none of one that cannot run.
pub fn inner_plans(plan: &Arc<Plan>, registry: &Registry) -> Vec<Arc<Plan>> {
    let mut plans = Vec::new();
    if let Ok(prepared) = PreparedPlan::of(Arc::clone(plan), registry) {
        prepared.collect_inner(&mut plans);
    }
    plans
}
