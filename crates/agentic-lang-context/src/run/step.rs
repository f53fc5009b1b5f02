//! The machine: one instruction after the other until the task pauses.

use crate::code::{CodePlace, Op};
use crate::json::Json;
use crate::value::{Addresses, ContextValue, Handle, WalkMeasure};

use super::fault::TaskFault;
use super::live::{ENTRY_BYTES, ITEM_BYTES};
use super::operator::{self, LIST_ITEMS_MAX};
use super::task::ContextTask;
use super::waits::Waits;
use super::world::{RunWorld, TaskPause};

/// To touch so many bytes is as much work as an instruction.
const BYTES_A_STEP: u64 = 16;
/// To begin a round of a `for`, which the trace tells, is as much work as to touch so many bytes.
const ROUND_BYTES: usize = 1600;
/// To copy a value is as much work as to touch so many bytes.
const VALUE_BYTES: usize = 64;

/// What an instruction leads to.
pub(super) enum InstructionFlow {
    Next,
    Pause(TaskPause),
}

impl RunWorld {
    /// Runs a task until it pauses.
    pub(super) fn advance(&mut self, task: &mut ContextTask) -> TaskPause {
        let resumed = match task.waits.take() {
            Some(waits) => self.resume(task, waits),
            None => Ok(InstructionFlow::Next),
        };
        let pause = match resumed {
            Ok(InstructionFlow::Next) => self.run_ops(task),
            Ok(InstructionFlow::Pause(pause)) => Ok(pause),
            Err(fault) => Err(fault),
        };
        pause.unwrap_or_else(|fault| self.fail(task, fault))
    }

    /// Ends a task with a fault.
    pub(super) fn fail(&mut self, task: &mut ContextTask, fault: TaskFault) -> TaskPause {
        self.unwind(task, &fault);
        TaskPause::Failed(fault)
    }

    fn run_ops(&mut self, task: &mut ContextTask) -> Result<TaskPause, TaskFault> {
        let module = self.module.clone();
        let code = &module.code;
        loop {
            let at = task.at;
            let Some(left) = self.steps_left.checked_sub(1 + self.touched.take()) else {
                let limit = self.options.steps_max;
                let message = format!("the work of {limit} instructions was done");
                return Err(TaskFault::limit(code.places[at], message));
            };
            self.steps_left = left;
            if self.is_measure_due() {
                return Ok(TaskPause::Grown);
            }
            task.at += 1;
            if let InstructionFlow::Pause(pause) = self.step(task, code.ops[at], at)? {
                return Ok(pause);
            }
        }
    }

    // size: an arm for each instruction.
    fn step(
        &mut self,
        task: &mut ContextTask,
        op: Op,
        at: usize,
    ) -> Result<InstructionFlow, TaskFault> {
        match op {
            Op::Local(slot) => {
                let value = task.slot(slot).clone();
                task.stack.push(value);
            }
            Op::Store(slot) => {
                let value = task.pop();
                *task.slot_mut(slot) = value;
            }
            Op::Constant(constant) => {
                let value = ContextValue::from_json(&self.module.code.constants[constant as usize]);
                task.stack.push(value);
            }
            Op::Binary(operator) => {
                let (right, left) = (task.pop(), task.pop());
                let value = self.binary(self.place(at), operator, &left, &right)?;
                task.stack.push(value);
            }
            Op::Not => {
                let value = !task.pop().is_true();
                task.stack.push(ContextValue::Bool(value));
            }
            Op::Truth => {
                let value = task.pop().is_true();
                task.stack.push(ContextValue::Bool(value));
            }
            Op::Pop => drop(task.pop()),
            Op::Swap => {
                let top = task.stack.len();
                task.stack.swap(top - 1, top - 2);
            }
            Op::Copy => {
                let value = task.stack.last().expect("the compiler balances the stack").clone();
                task.stack.push(value);
            }
            Op::Jump(target) => task.at = target as usize,
            Op::JumpIfFalse(target) => {
                if !task.pop().is_true() {
                    task.at = target as usize;
                }
            }
            Op::JumpIfTrue(target) => {
                if task.pop().is_true() {
                    task.at = target as usize;
                }
            }
            Op::CountDown { slot, exit } => count_down(task, slot, exit),
            Op::Return => return self.return_from(task, at),
            Op::Resource(resource) => {
                let value = self.resource_value(resource);
                task.stack.push(value);
            }
            Op::Agent(agent) => task.stack.push(ContextValue::Handle(Handle::Agent(agent))),
            Op::Function(function) => {
                task.stack.push(ContextValue::Handle(Handle::Function(function)))
            }
            Op::Member(name) => {
                let object = task.pop();
                let name = &self.module.code.names[name as usize];
                if self.is_foreign_tool(&object) {
                    let name = name.clone();
                    return self.read_tool(task, self.place(at), &object, name);
                }
                let value = self.member(self.place(at), &object, name)?;
                task.stack.push(value);
            }
            Op::SetMember(name) => {
                let (object, value) = (task.pop(), task.pop());
                let name = &self.module.code.names[name as usize];
                operator::set_member(self.place(at), &object, name, value)?;
                self.make(ENTRY_BYTES);
            }
            Op::Index => {
                let (index, list) = (task.pop(), task.pop());
                task.stack.push(operator::index(self.place(at), &list, &index)?);
            }
            Op::List(count) => {
                let items = task.pop_many(count as usize);
                self.make_container(items.len());
                task.stack.push(ContextValue::list(items));
            }
            Op::Object(shape) => {
                let keys = &self.module.code.shapes[shape as usize];
                let values = task.pop_many(keys.len());
                self.make_container(values.len());
                let entries = keys.iter().cloned().zip(values).collect();
                task.stack.push(ContextValue::object(entries));
            }
            Op::Call(function) => self.call(task, function, at)?,
            Op::CallAgent(function) => return self.call_agent(task, function, at),
            Op::CallMethod { name, args } => return self.call_method(task, name, args, at),
            Op::ForStart(site) => self.for_start(task, site, at)?,
            Op::ForNext { site, exit } => self.for_next(task, site, exit, at)?,
            Op::Parallel(site) => return self.fork(task, site, at),
            Op::DeclareUse(site) => self.declare_use(task, site, at)?,
            Op::Generate(site) => return self.generate(task, site, at),
            Op::SourceEnd => return self.source_end(task, at),
        }
        Ok(InstructionFlow::Next)
    }

    pub(super) fn place(&self, at: usize) -> CodePlace {
        self.module.code.places[at]
    }

    fn resource_value(&self, resource: u32) -> ContextValue {
        if matches!(
            self.module.code.resources[resource as usize].kind,
            crate::ast::ImportKind::File
        ) {
            self.files[resource as usize].clone()
        } else {
            ContextValue::Handle(Handle::Resource(resource))
        }
    }

    fn resume(
        &mut self,
        task: &mut ContextTask,
        waits: Waits,
    ) -> Result<InstructionFlow, TaskFault> {
        match waits {
            Waits::Model => self.model_answered(task),
            Waits::Resource(call) => self.resource_answered(task, call),
            Waits::Child(call) => self.child_answered(task, call),
            Waits::Input(state) => self.input_answered(task, state),
            Waits::Fork => self.fork_over(task),
        }
    }

    fn for_start(&mut self, task: &mut ContextTask, site: u32, at: usize) -> Result<(), TaskFault> {
        let slot = self.module.code.loops[site as usize].slot;
        let value = task.pop();
        let ContextValue::List(list) = &value else {
            let sort = operator::sort(&value);
            return Err(TaskFault::new(self.place(at), format!("`for` takes a list, not {sort}")));
        };
        let count = list.items.borrow().len();
        *task.slot_mut(slot + 1) = ContextValue::Number(0.0);
        *task.slot_mut(slot + 2) = ContextValue::Number(count as f64);
        *task.slot_mut(slot) = value;
        Ok(())
    }

    fn for_next(
        &mut self,
        task: &mut ContextTask,
        site: u32,
        exit: u32,
        at: usize,
    ) -> Result<(), TaskFault> {
        let loop_site = &self.module.code.loops[site as usize];
        let slot = loop_site.slot;
        let (ContextValue::Number(index), ContextValue::Number(count)) =
            (task.slot(slot + 1), task.slot(slot + 2))
        else {
            unreachable!("BUG: the slots of a loop hold its numbers")
        };
        let (index, count) = (*index, *count);
        if index >= count || index >= loop_site.max as f64 {
            task.at = exit as usize;
            return Ok(());
        }
        let ContextValue::List(list) = task.slot(slot) else {
            unreachable!("BUG: the slots of a loop hold its list")
        };
        let item = list.items.borrow().get(index as usize).cloned().unwrap_or_default();
        *task.slot_mut(slot + 1) = ContextValue::Number(index + 1.0);
        // Whether anybody listens changes nothing about what a run may do.
        self.touch(ROUND_BYTES);
        if self.traces() {
            let value = item.to_json(&self.module.code);
            let value =
                value.map_err(|unshowable| TaskFault::unshowable(self.place(at), unshowable))?;
            let event = super::trace::for_event(loop_site, index, count, value);
            self.trace(task, event);
        }
        *task.slot_mut(slot + 3) = item;
        Ok(())
    }

    /// Copies a value as data.
    pub(super) fn shown(&self, place: CodePlace, value: &ContextValue) -> Result<Json, TaskFault> {
        self.copied(place, value, Addresses::Shown)
    }

    /// Copies a value as data that may reach a model, now or later.
    pub(super) fn told(&self, place: CodePlace, value: &ContextValue) -> Result<Json, TaskFault> {
        self.copied(place, value, self.meaning.addresses())
    }

    fn copied(
        &self,
        place: CodePlace,
        value: &ContextValue,
        addresses: Addresses,
    ) -> Result<Json, TaskFault> {
        let (json, seen) = value
            .to_json_counted(&self.module.code, addresses)
            .map_err(|unshowable| TaskFault::unshowable(place, unshowable))?;
        self.touch_seen(seen);
        Ok(json)
    }

    /// Takes note of the work of looking at all of a value.
    pub(super) fn touch_seen(&self, seen: WalkMeasure) {
        self.touch(seen.n_values.saturating_mul(VALUE_BYTES).saturating_add(seen.n_bytes));
    }

    /// Takes note of work that grows with what it is done to.
    pub(super) fn touch(&self, n_bytes: usize) {
        // What is looked at may have been made: it is measured a little too often then.
        self.make(n_bytes as u64);
        self.touched.set(self.touched.get().saturating_add(n_bytes as u64 / BYTES_A_STEP));
    }

    /// Appends to a list.
    pub(super) fn list_add(
        &self,
        place: CodePlace,
        list: &ContextValue,
        mut args: Vec<ContextValue>,
    ) -> Result<ContextValue, TaskFault> {
        let ContextValue::List(cells) = list else { unreachable!("BUG: only lists get here") };
        let (Some(item), true) = (args.pop(), args.is_empty()) else {
            return Err(TaskFault::new(place, "`add` takes exactly one value"));
        };
        if cells.items.borrow().len() >= LIST_ITEMS_MAX {
            let message = format!("a list has more than {LIST_ITEMS_MAX} items");
            return Err(TaskFault::limit(place, message));
        }
        cells.items.borrow_mut().push(item);
        self.make(ITEM_BYTES);
        Ok(list.clone())
    }
}

fn count_down(task: &mut ContextTask, slot: u32, exit: u32) {
    if let ContextValue::Number(left) = task.slot_mut(slot)
        && *left >= 1.0
    {
        *left -= 1.0
    } else {
        task.at = exit as usize
    }
}
