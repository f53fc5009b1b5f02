//! Evaluating expressions: a loop over pieces and a stack of values.

use crate::data::{Data, add, concat};
use crate::program::budget::{work_of_bytes, work_of_fields, work_of_pieces, work_of_values};
use crate::program::fault::Fault;
use crate::program::{Code, Piece, Value};

/// The values that are being worked on.
#[derive(Debug, Default)]
pub(super) struct Stack {
    pub values: Vec<Data>,
    /// What was touched since somebody looked, as many statements as that is worth.
    pub work: u64,
}

impl Code {
    /// Evaluates an expression in an environment of slots.
    pub(super) fn evaluate(
        &self,
        value: Value,
        slots: &[Data],
        stack: &mut Stack,
    ) -> Result<Data, Fault> {
        let pieces = &self.pieces[value.start as usize..value.end as usize];
        if let [piece] = pieces {
            match *piece {
                Piece::Constant(at) => return Ok(self.constants[at as usize].clone()),
                Piece::Load(slot) => return Ok(slots[slot as usize].clone()),
                Piece::Field { slot, names, count } => {
                    let value = &slots[slot as usize];
                    return Ok(self.field(value, names, count, &mut stack.work).clone());
                }
                Piece::Object { .. }
                | Piece::List(_)
                | Piece::Add
                | Piece::Equal
                | Piece::NotEqual => {}
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

    fn piece(&self, piece: Piece, slots: &[Data], stack: &mut Stack) -> Result<(), Fault> {
        let value = match piece {
            Piece::Constant(at) => self.constants[at as usize].clone(),
            Piece::Load(slot) => slots[slot as usize].clone(),
            Piece::Field { slot, names, count } => {
                let value = &slots[slot as usize];
                self.field(value, names, count, &mut stack.work).clone()
            }
            Piece::Object { names, count } => {
                let items = stack.values.split_off(stack.values.len() - count as usize);
                let names = self.names[names as usize..(names + count) as usize].iter().cloned();
                Data::object(names.zip(items).collect()).map_err(Fault::too_large)?
            }
            Piece::List(count) => {
                let items = stack.values.split_off(stack.values.len() - count as usize);
                Data::list(items).map_err(Fault::too_large)?
            }
            Piece::Add => {
                let (left, right) = operands(stack);
                stack.work += work_of_bytes(left.bytes() + right.bytes());
                match (&left, &right) {
                    (Data::Text(left), Data::Text(right)) => {
                        concat(left, right).map_err(Fault::too_large)?
                    }
                    _ => add(&left, &right).ok_or_else(Fault::number_range)?,
                }
            }
            Piece::Equal => {
                let (left, right) = operands(stack);
                stack.work += work_of_values(&left, &right);
                Data::Bool(left == right)
            }
            Piece::NotEqual => {
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
