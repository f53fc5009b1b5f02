//! Calls: what tasks and pipelines have in common, and how pipelines are entered.

use crate::code;
use crate::data::{Data, json};
use crate::module::AgentModule;
use crate::program::budget::work_of_slots;
use crate::program::fault::MachineFault;
use crate::program::machine::ModuleRun;
use crate::program::options::{RECURSION_MAX, TaskPerformer, TraceCapture};
use crate::program::strand::{RoutineId, Strand, StrandFrame, StrandId};
use crate::program::{CallCode, CalleeCode};

/// How much room an argument gets before its length is known, in bytes.
const ARGUMENT_BYTES: usize = 30;

impl ModuleRun {
    /// Begins a call in the strand's own environment.
    pub(super) fn call(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        id: StrandId,
        call: u32,
    ) -> Result<(), MachineFault> {
        let base = self.arguments(module, &module.code.calls[call as usize], strand.locals())?;
        self.launch(module, strand, id, call, base)
    }

    /// Evaluates the arguments of a call onto the stack, and returns where they begin.
    pub(super) fn arguments(
        &mut self,
        module: &AgentModule,
        call: &CallCode,
        locals: &[Data],
    ) -> Result<usize, MachineFault> {
        if let CalleeCode::Task(at) = call.callee
            && self.performers[at as usize] == TaskPerformer::Nobody
        {
            let name = &module.code.tasks[at as usize].name;
            let text = format!("No runtime handler registered for task '{name}'.");
            return Err(MachineFault::new(code::NO_HANDLER, text));
        }
        let base = self.stack.values.len();
        for arg in &call.args {
            match module.code.evaluate(arg.value, locals, &mut self.stack) {
                Ok(value) => self.stack.values.push(value),
                Err(fault) => {
                    self.stack.values.truncate(base);
                    return Err(fault);
                }
            }
        }
        Ok(base)
    }

    /// Goes on with a call whose arguments stand on the stack from `base` on.
    pub(super) fn launch(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        id: StrandId,
        call: u32,
        base: usize,
    ) -> Result<(), MachineFault> {
        let code = &module.code.calls[call as usize];
        let launched = match code.callee {
            CalleeCode::Pipeline(at) => self.enter(module, strand, code, at as usize, base),
            CalleeCode::Task(at) => {
                let task = &module.code.tasks[at as usize];
                self.start_task(module, strand, id, call, task, base)
            }
        };
        self.stack.values.truncate(base);
        launched
    }

    fn enter(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        call: &CallCode,
        at: usize,
        base: usize,
    ) -> Result<(), MachineFault> {
        let routine = &module.code.pipelines[at];
        if strand.depth + strand.frames.len() >= RECURSION_MAX {
            let name = &routine.name;
            let text =
                format!("Pipeline '{name}' exceeded the recursion limit of {RECURSION_MAX}.");
            return Err(MachineFault::new(code::RECURSION, text));
        }
        self.n_calls += 1;
        let number = self.n_calls;
        if self.options.trace == TraceCapture::On {
            let args = self.arguments_text(call, base);
            self.trace_start(&format!("pipeline:{}", routine.name), number, &args);
            self.trace_pipeline(&routine.name, &args);
        }
        self.stack.work += work_of_slots(routine.slots);
        let frame_base = strand.slots.len();
        strand.slots.resize(frame_base + routine.slots, Data::Null);
        for (arg, value) in call.args.iter().zip(self.stack.values.drain(base..)) {
            strand.slots[frame_base + arg.param as usize] = value;
        }
        strand.frames.push(StrandFrame {
            routine: RoutineId::Pipeline(at),
            at: routine.entry,
            base: frame_base,
            target: call.target,
            call: Some(number),
            started: self.now,
        });
        Ok(())
    }

    /// Prints the arguments on the stack as a JSON object in the order they were written.
    pub(super) fn arguments_text(&self, call: &CallCode, base: usize) -> String {
        let mut text = String::with_capacity(2 + call.args.len() * ARGUMENT_BYTES);
        text.push('{');
        for (at, (arg, value)) in call.args.iter().zip(&self.stack.values[base..]).enumerate() {
            text.push_str(if at == 0 { "" } else { "," });
            json::write_text(&arg.name, &mut text);
            text.push(':');
            json::write(value, &mut text);
        }
        text.push('}');
        text
    }
}
