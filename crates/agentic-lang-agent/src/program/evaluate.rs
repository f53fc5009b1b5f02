//! Evaluating expressions: a loop over pieces and a stack of values.

use crate::data::{Data, add, concat};
use crate::program::budget::{work_of_bytes, work_of_fields, work_of_pieces, work_of_values};
use crate::program::fault::MachineFault;
use crate::program::{ExpressionStep, FileCode, ValueCode};

/// The values that are being worked on.
#[derive(Debug, Default)]
pub(super) struct Stack {
    pub values: Vec<Data>,
    /// What was touched since somebody looked, as many statements as that is worth.
    pub work: u64,
}

impl FileCode {
    /// Evaluates an expression in an environment of slots.
    pub(super) fn evaluate(
        &self,
        value: ValueCode,
        slots: &[Data],
        stack: &mut Stack,
    ) -> Result<Data, MachineFault> {
        let pieces = &self.pieces[value.start as usize..value.end as usize];
        if let [piece] = pieces {
            match *piece {
                ExpressionStep::Constant(at) => return Ok(self.constants[at as usize].clone()),
                ExpressionStep::Load(slot) => return Ok(slots[slot as usize].clone()),
                ExpressionStep::Field { slot, names, count } => {
                    let value = &slots[slot as usize];
                    return Ok(self.field(value, names, count, &mut stack.work).clone());
                }
                ExpressionStep::Object { .. }
                | ExpressionStep::List(_)
                | ExpressionStep::Add
                | ExpressionStep::Equal
                | ExpressionStep::NotEqual => {}
            }
        }
        stack.work += work_of_pieces(pieces.len());
        let base = stack.values.len();
        let evaluated = pieces.iter().try_for_each(|piece| self.piece(*piece, slots, stack));
        let result = stack.values.pop();
        stack.values.truncate(base);
        evaluated.map(|()| result.expect("an expression leaves one value"))
    }

    fn field<'a>(&self, value: &'a Data, names: u32, count: u32, work: &mut u64) -> &'a Data {
        let names = &self.names[names as usize..(names + count) as usize];
        names.iter().fold(value, |value, name| {
            *work += work_of_fields(value.fields().map_or(0, <[_]>::len));
            value.get(name).unwrap_or(&Data::Null)
        })
    }

    fn piece(
        &self,
        piece: ExpressionStep,
        slots: &[Data],
        stack: &mut Stack,
    ) -> Result<(), MachineFault> {
        let value = match piece {
            ExpressionStep::Constant(at) => self.constants[at as usize].clone(),
            ExpressionStep::Load(slot) => slots[slot as usize].clone(),
            ExpressionStep::Field { slot, names, count } => {
                let value = &slots[slot as usize];
                self.field(value, names, count, &mut stack.work).clone()
            }
            ExpressionStep::Object { names, count } => {
                let items = stack.values.split_off(stack.values.len() - count as usize);
                let names = self.names[names as usize..(names + count) as usize].iter().cloned();
                Data::object(names.zip(items).collect()).map_err(MachineFault::too_large)?
            }
            ExpressionStep::List(count) => {
                let items = stack.values.split_off(stack.values.len() - count as usize);
                Data::list(items).map_err(MachineFault::too_large)?
            }
            ExpressionStep::Add => {
                let (left, right) = operands(stack);
                stack.work += work_of_bytes(left.bytes() + right.bytes());
                match (&left, &right) {
                    (Data::Text(left), Data::Text(right)) => {
                        concat(left, right).map_err(MachineFault::too_large)?
                    }
                    _ => add(&left, &right).ok_or_else(MachineFault::number_range)?,
                }
            }
            ExpressionStep::Equal => {
                let (left, right) = operands(stack);
                stack.work += work_of_values(&left, &right);
                Data::Bool(left == right)
            }
            ExpressionStep::NotEqual => {
                let (left, right) = operands(stack);
                stack.work += work_of_values(&left, &right);
                Data::Bool(left != right)
            }
        };
        stack.values.push(value);
        Ok(())
    }
}

fn operands(stack: &mut Stack) -> (Data, Data) {
    let right = stack.values.pop().expect("an operation has two operands");
    let left = stack.values.pop().expect("an operation has two operands");
    (left, right)
}
