//! `parallel for`: iterations as tasks, results in the order of the list.

use crate::json::Json;
use crate::value::ContextValue;

use super::ContextRun;
use super::fault::{FaultKind, TaskFault};
use super::operator::sort;
use super::step::InstructionFlow;
use super::task::{CallFrame, ContextTask, FrameKind, TaskId};
use super::trace;
use super::waits::{ParallelFork, Waits};
use super::world::{RunWorld, TaskPause};

impl RunWorld {
    pub(super) fn fork(
        &mut self,
        task: &mut ContextTask,
        site: u32,
        at: usize,
    ) -> Result<InstructionFlow, TaskFault> {
        let list = task.pop();
        let place = self.place(at);
        let ContextValue::List(cells) = &list else {
            let message = format!("`parallel for` takes a list, not {}", sort(&list));
            return Err(TaskFault::new(place, message));
        };
        let max = usize::try_from(self.module.code.loops[site as usize].max).unwrap_or(usize::MAX);
        let items: Vec<ContextValue> = cells.items.borrow().iter().take(max).cloned().collect();
        let context = task.context_mut();
        let scope = context.scope.child(&format!("parallel#{}", context.forks));
        context.forks += 1;
        let (results, traces) = (vec![None; items.len()], vec![Json::Null; items.len()]);
        let started = self.now;
        let empty = items.is_empty();
        task.fork = Some(ParallelFork {
            site,
            scope,
            items,
            next: 0,
            running: 0,
            results,
            traces,
            held_bytes: 0,
            started,
        });
        if empty {
            return self.fork_over(task);
        }
        task.waits = Some(Waits::Fork);
        Ok(InstructionFlow::Pause(TaskPause::Forked))
    }

    /// Makes the task of the next iteration. It works on a copy of the frame, which the body can
    /// read but not change.
    fn iteration(&self, parent: &mut ContextTask, id: TaskId) -> Option<ContextTask> {
        let frame = parent.frame().clone();
        let trace_depth = parent.context_mut().depth + 1;
        let depth = parent.depth_below + parent.frames.len() as u32 - 1;
        let slots = self.module.code.functions[frame.function as usize].slots as usize;
        let fork = parent.fork.as_mut()?;
        if fork.running >= self.options.concurrency.max(1) || fork.next >= fork.items.len() {
            return None;
        }
        let index = fork.next;
        fork.next += 1;
        fork.running += 1;
        let site = &self.module.code.loops[fork.site as usize];
        let mut task = ContextTask::new(fork.scope.child(&format!("i{index}")), trace_depth);
        task.parent = Some((id, index));
        task.depth_below = depth;
        task.stack = parent.stack[frame.base..frame.base + slots].to_vec();
        task.stack[site.slot as usize] = fork.items[index].clone();
        task.frames.push(CallFrame {
            function: site.function,
            base: 0,
            return_to: 0,
            kind: FrameKind::Function,
        });
        task.at = site.body as usize;
        Some(task)
    }

    /// Goes on after the last iteration.
    pub(super) fn fork_over(
        &mut self,
        task: &mut ContextTask,
    ) -> Result<InstructionFlow, TaskFault> {
        let fork = task.fork.take().expect("a fork is over once");
        self.held_bytes -= fork.held_bytes;
        let outcome = self.outcome(fork.results);
        if self.traces() {
            let site = &self.module.code.loops[fork.site as usize];
            let summary = trace::ForkTrace {
                duration_ms: self.now.millis() - fork.started.millis(),
                concurrency: self.options.concurrency,
                iterations: fork.traces,
                failed: outcome.as_ref().err().map(|(_, failed)| failed.clone()),
            };
            let event = trace::parallel_event(site, summary);
            self.trace(task, event);
        }
        let results = outcome.map_err(|(fault, _)| fault)?;
        task.stack.push(ContextValue::list(results));
        Ok(InstructionFlow::Next)
    }

    /// Joins the results, or the messages of all that failed; a limit is passed on as it is.
    fn outcome(
        &self,
        results: Vec<Option<Result<ContextValue, TaskFault>>>,
    ) -> Result<Vec<ContextValue>, (TaskFault, Vec<usize>)> {
        let (mut values, mut faults) = (Vec::with_capacity(results.len()), Vec::new());
        for (index, result) in results.into_iter().enumerate() {
            match result.expect("every iteration ended") {
                Ok(value) => values.push(value),
                Err(fault) => faults.push((index, fault)),
            }
        }
        let Some((_, first)) = faults.first() else { return Ok(values) };
        let failed = faults.iter().map(|(index, _)| *index).collect();
        let limit = faults.iter().find(|(_, fault)| fault.kind == FaultKind::Limit);
        if let Some((_, limit)) = limit {
            return Err((limit.clone(), failed));
        }
        let place = first.place;
        let messages: Vec<String> = faults
            .iter()
            .map(|(index, fault)| format!("[{index}] {}", self.message(fault)))
            .collect();
        let message = format!("parallel for failed: {}", messages.join("; "));
        Err((TaskFault { message, place, kind: FaultKind::Inner }, failed))
    }
}

impl ContextRun {
    /// Starts as many iterations as may run at once.
    pub(super) fn start_iterations(&mut self, id: TaskId) {
        while let Some(parent) = self.tasks.get_mut(&id)
            && let Some(task) = self.world.iteration(parent, id)
        {
            self.add_task(task);
        }
    }

    /// Records how an iteration ended; the last one wakes the task that waits.
    pub(super) fn iteration_over(
        &mut self,
        task: ContextTask,
        result: Result<ContextValue, TaskFault>,
    ) {
        let Some((parent_id, index)) = task.parent else { return };
        let Some(parent) = self.tasks.get_mut(&parent_id) else { return };
        let Some(fork) = parent.fork.as_mut() else { return };
        if self.world.traces() {
            let trace = task.contexts.into_iter().next().map(|context| context.trace);
            let trace = trace.unwrap_or_default().take(&mut self.world.held_bytes);
            let code = &self.world.module.code;
            let shown = |value: &ContextValue| {
                value.to_json(code).unwrap_or_else(|unshowable| Json::text(unshowable.to_string()))
            };
            let outcome = match &result {
                Ok(value) => Ok(shown(value)),
                Err(fault) => Err(self.world.message(fault)),
            };
            let input = shown(&fork.items[index]);
            let event = trace::iteration(index, input, outcome, trace);
            let n_bytes = event.weight();
            self.world.held_bytes += n_bytes;
            fork.held_bytes += n_bytes;
            fork.traces[index] = event;
        }
        fork.results[index] = Some(result);
        fork.running -= 1;
        if fork.running == 0 && fork.next == fork.items.len() {
            self.ready.push_back(parent_id);
        } else {
            self.start_iterations(parent_id);
        }
    }
}
