//! Evaluating expressions: a loop over pieces and a stack of values.

use crate::data::{Data, add, concat};
use crate::program::fault::Fault;
use crate::program::{Code, Piece, Value};

impl Code {
    /// Evaluates an expression in an environment of slots.
    pub fn evaluate(
        &self,
        value: Value,
        slots: &[Data],
        stack: &mut Vec<Data>,
    ) -> Result<Data, Fault> {
        let pieces = &self.pieces[value.start as usize..value.end as usize];
        if let [piece] = pieces {
            match *piece {
                Piece::Constant(at) => return Ok(self.constants[at as usize].clone()),
                Piece::Load(slot) => return Ok(slots[slot as usize].clone()),
                Piece::Field { slot, names, count } => {
                    return Ok(self.field(&slots[slot as usize], names, count).clone());
                }
                Piece::Object { .. }
                | Piece::List(_)
                | Piece::Add
                | Piece::Equal
                | Piece::NotEqual => {}
            }
        }
        let base = stack.len();
        let evaluated = pieces.iter().try_for_each(|piece| self.piece(*piece, slots, stack));
        let result = stack.pop();
        stack.truncate(base);
        evaluated.map(|()| result.expect("an expression leaves one value"))
    }

    fn field<'a>(&self, value: &'a Data, names: u32, count: u32) -> &'a Data {
        let names = &self.names[names as usize..(names + count) as usize];
        names.iter().fold(value, |value, name| value.get(name).unwrap_or(&Data::Null))
    }

    fn piece(&self, piece: Piece, slots: &[Data], stack: &mut Vec<Data>) -> Result<(), Fault> {
        let value = match piece {
            Piece::Constant(at) => self.constants[at as usize].clone(),
            Piece::Load(slot) => slots[slot as usize].clone(),
            Piece::Field { slot, names, count } => {
                self.field(&slots[slot as usize], names, count).clone()
            }
            Piece::Object { names, count } => {
                let items = stack.split_off(stack.len() - count as usize);
                let names = self.names[names as usize..(names + count) as usize].iter().cloned();
                Data::object(names.zip(items).collect()).map_err(Fault::too_large)?
            }
            Piece::List(count) => {
                let items = stack.split_off(stack.len() - count as usize);
                Data::list(items).map_err(Fault::too_large)?
            }
            Piece::Add => {
                let (left, right) = operands(stack);
                match (&left, &right) {
                    (Data::Text(left), Data::Text(right)) => {
                        concat(left, right).map_err(Fault::too_large)?
                    }
                    _ => add(&left, &right).ok_or_else(Fault::number_range)?,
                }
            }
            Piece::Equal => {
                let (left, right) = operands(stack);
                Data::Bool(left == right)
            }
            Piece::NotEqual => {
                let (left, right) = operands(stack);
                Data::Bool(left != right)
            }
        };
        stack.push(value);
        Ok(())
    }
}

fn operands(stack: &mut Vec<Data>) -> (Data, Data) {
    let right = stack.pop().expect("an operation has two operands");
    let left = stack.pop().expect("an operation has two operands");
    (left, right)
}
