//! Parallel blocks: branches start in the order they are declared, as many at once as there is
//! room for. The block ends when all of them have, and fails with the first declared failure.

use std::sync::Arc;

use agentic_replay::End;

use crate::code;
use crate::module::AgentModule;
use crate::program::CalleeCode;
use crate::program::budget::STATEMENTS_A_BRANCH;
use crate::program::fault::MachineFault;
use crate::program::machine::ModuleRun;
use crate::program::strand::{ParallelJoin, Strand, StrandId, StrandWait};
use crate::program::strand_set::Todo;

impl ModuleRun {
    /// Begins a parallel block.
    pub(super) fn fork(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        id: StrandId,
        parallel: u32,
    ) {
        let calls = &module.code.parallels[parallel as usize].calls;
        self.trace_parallel("parallel_start", calls.len());
        let scope = strand.scope.child(&format!("p{}", strand.n_parallels));
        strand.n_parallels += 1;
        let results = calls.iter().map(|_| None).collect();
        let join = ParallelJoin { parallel, scope, next: 0, n_running: 0, results, is_due: true };
        strand.wait = StrandWait::Join(Box::new(join));
        self.strands.later(Todo::Branches(id));
    }

    /// Starts the branches that have room, or ends the block when all have ended.
    pub(super) fn branches(&mut self, id: StrandId) {
        let mut parent = self.strands.take(id);
        let StrandWait::Join(mut join) = std::mem::take(&mut parent.wait) else {
            unreachable!("only joins have branches")
        };
        join.is_due = false;
        let module = Arc::clone(&self.module);
        let parallel = &module.code.parallels[join.parallel as usize];
        let workers = usize::try_from(self.options.workers).unwrap_or(usize::MAX);
        let room = parallel.limit.unwrap_or(workers);
        while join.next < parallel.calls.len() && join.n_running < room {
            let branch = join.next;
            join.next += 1;
            match self.branch(&module, id, &parent, &join, branch) {
                Ok(()) => join.n_running += 1,
                // Whoever caught it would try the next branch.
                Err(fault) if fault.code == code::TOO_MANY_BRANCHES => {
                    return self.end(End::Failed(fault.into_failure()));
                }
                Err(fault) => join.results[branch] = Some(Err(fault)),
            }
        }
        if join.n_running == 0 {
            return self.joined(&module, id, parent, *join);
        }
        parent.wait = StrandWait::Join(join);
        self.strands.put_back(id, parent);
    }

    fn branch(
        &mut self,
        module: &AgentModule,
        id: StrandId,
        parent: &Strand,
        join: &ParallelJoin,
        branch: usize,
    ) -> Result<(), MachineFault> {
        let call = module.code.parallels[join.parallel as usize].calls[branch];
        self.stack.work += STATEMENTS_A_BRANCH;
        let child = self.strands.add(Strand {
            scope: join.scope.child(&format!("b{branch}")),
            parent: Some((id, branch)),
            depth: parent.depth + parent.frames.len(),
            ..Strand::default()
        })?;
        let mut strand = self.strands.take(child);
        let arguments = self.arguments(module, &module.code.calls[call as usize], parent.locals());
        let launched =
            arguments.and_then(|base| self.launch(module, &mut strand, child, call, base));
        if launched.is_ok() {
            self.strands.put_back(child, strand);
            if matches!(module.code.calls[call as usize].callee, CalleeCode::Pipeline(_)) {
                self.strands.later(Todo::Advance(child));
            }
        } else {
            self.strands.release(child);
        }
        launched
    }

    fn joined(
        &mut self,
        module: &AgentModule,
        id: StrandId,
        mut parent: Strand,
        join: ParallelJoin,
    ) {
        let calls = &module.code.parallels[join.parallel as usize].calls;
        let mut values = Vec::with_capacity(calls.len());
        let mut failed = None;
        for result in join.results {
            match result.expect("every branch has ended") {
                Ok(value) => values.push(value),
                Err(fault) => failed = failed.or(Some(fault)),
            }
        }
        match failed {
            None => {
                for (call, value) in calls.iter().zip(values) {
                    parent.set(module.code.calls[*call as usize].target, value);
                }
                self.trace_parallel("parallel_end", calls.len());
            }
            Some(fault) => {
                if let Err(fault) = self.unwind(&mut parent, fault) {
                    return self.finish(id, &parent, Err(fault));
                }
            }
        }
        self.strands.put_back(id, parent);
        self.strands.later(Todo::Advance(id));
    }
}
