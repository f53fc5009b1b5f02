//! Interned values: a row holds numbers, each value stands here once.
//!
//! Small whole numbers are their own number, so that they take no room and compare without a look.
//! Neither numbers nor hashes ever reach an answer.

use std::hash::{BuildHasher, RandomState};

use crate::value::QueryValue;

/// The number of `null`.
pub(crate) const NULL: u32 = 0;
/// The number of `false`; `true` follows.
const FALSE: u32 = 1;
/// Numbers from here on are whole numbers themselves.
const WHOLE: u32 = 1 << 31;
/// What is added to a whole number to make it one of these.
const WHOLE_BIAS: i64 = (1 << 31) + (1 << 30);
/// The rest of a table's slots are free, so that looking stays short.
const LOAD_PARTS: usize = 2;

/// A value of a fact, as its source hands it over. Instants and durations are their milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FactCell<'a> {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number, or milliseconds.
    Int(i64),
    /// A number; one that is not finite is nothing.
    Float(f64),
    /// A text, or the text of an id.
    Text(&'a str),
}

/// All values of the facts of one base.
pub(crate) struct ValuePool {
    values: Vec<QueryValue>,
    slots: Vec<u32>,
    hasher: RandomState,
    text_bytes: usize,
}

impl Default for ValuePool {
    fn default() -> ValuePool {
        let values = vec![QueryValue::Null, QueryValue::Bool(false), QueryValue::Bool(true)];
        ValuePool { values, slots: vec![0; 64], hasher: RandomState::new(), text_bytes: 0 }
    }
}

impl ValuePool {
    /// Returns the number of a value, a new one if need be.
    pub fn intern(&mut self, cell: FactCell<'_>) -> u32 {
        match cell {
            FactCell::Null => NULL,
            FactCell::Bool(truth) => FALSE + u32::from(truth),
            FactCell::Int(number) if (-(1 << 30)..1 << 30).contains(&number) => {
                (number + WHOLE_BIAS) as u32
            }
            FactCell::Float(number) if !number.is_finite() => NULL,
            FactCell::Float(number) => self.find_or_add(FactCell::Float(number + 0.0)),
            FactCell::Int(_) | FactCell::Text(_) => self.find_or_add(cell),
        }
    }

    /// Returns the number of a value that is held as one.
    pub fn intern_value(&mut self, value: &QueryValue) -> u32 {
        match value {
            QueryValue::Null => NULL,
            QueryValue::Bool(truth) => self.intern(FactCell::Bool(*truth)),
            QueryValue::Int(number) => self.intern(FactCell::Int(*number)),
            QueryValue::Float(number) => self.intern(FactCell::Float(*number)),
            QueryValue::Text(text) => self.intern(FactCell::Text(text)),
        }
    }

    /// Returns the whole number that a number stands for by itself.
    pub fn whole(id: u32) -> Option<i64> {
        (id >= WHOLE).then(|| i64::from(id) - WHOLE_BIAS)
    }

    /// Returns the value of a number.
    pub fn value(&self, id: u32) -> QueryValue {
        match ValuePool::whole(id) {
            Some(number) => QueryValue::Int(number),
            None => self.values[id as usize].clone(),
        }
    }

    /// Returns the text of a number, if it is one.
    pub fn text(&self, id: u32) -> Option<&str> {
        match self.values.get(id as usize) {
            Some(QueryValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Counts the memory that the values take.
    pub fn bytes(&self) -> usize {
        self.text_bytes + self.values.len() * size_of::<QueryValue>() + self.slots.len() * 4
    }

    fn find_or_add(&mut self, cell: FactCell<'_>) -> u32 {
        let mut at = self.hash(cell) as usize & (self.slots.len() - 1);
        while self.slots[at] != 0 {
            let id = self.slots[at];
            if is_same(&self.values[id as usize], cell) {
                return id;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let id = self.values.len() as u32;
        assert!(id < WHOLE, "BUG: the limit of memory ends a query before values run out");
        self.slots[at] = id;
        self.values.push(match cell {
            FactCell::Text(text) => {
                self.text_bytes += text.len() + 16;
                QueryValue::text(text)
            }
            FactCell::Int(number) => QueryValue::Int(number),
            FactCell::Float(number) => QueryValue::Float(number),
            FactCell::Bool(truth) => QueryValue::Bool(truth),
            FactCell::Null => QueryValue::Null,
        });
        if self.values.len() * LOAD_PARTS > self.slots.len() {
            self.grow();
        }
        id
    }

    fn hash(&self, cell: FactCell<'_>) -> u64 {
        match cell {
            FactCell::Text(text) => self.hasher.hash_one(text),
            FactCell::Int(number) => self.hasher.hash_one(number),
            FactCell::Float(number) => self.hasher.hash_one(number.to_bits()),
            FactCell::Bool(_) | FactCell::Null => 0,
        }
    }

    fn grow(&mut self) {
        let n_slots = self.slots.len() * 4;
        self.slots = vec![0; n_slots];
        for id in FALSE + 2..self.values.len() as u32 {
            let hash = match &self.values[id as usize] {
                QueryValue::Text(text) => self.hasher.hash_one(text.as_ref()),
                QueryValue::Int(number) => self.hasher.hash_one(*number),
                QueryValue::Float(number) => self.hasher.hash_one(number.to_bits()),
                QueryValue::Bool(_) | QueryValue::Null => 0,
            };
            let mut at = hash as usize & (n_slots - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (n_slots - 1);
            }
            self.slots[at] = id;
        }
    }
}

fn is_same(value: &QueryValue, cell: FactCell<'_>) -> bool {
    match (value, cell) {
        (QueryValue::Text(held), FactCell::Text(text)) => **held == *text,
        (QueryValue::Int(held), FactCell::Int(number)) => *held == number,
        (QueryValue::Float(held), FactCell::Float(number)) => held.to_bits() == number.to_bits(),
        (_, FactCell::Null | FactCell::Bool(_) | FactCell::Int(_))
        | (_, FactCell::Float(_) | FactCell::Text(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_number_and_a_number_its_value() {
        let mut pool = ValuePool::default();
        let numbers = [0, 1, -1, (1 << 30) - 1, 1 << 30, -(1 << 30), -(1 << 30) - 1, i64::MIN];
        let mut seen = Vec::new();
        for number in numbers {
            seen.push((pool.intern(FactCell::Int(number)), QueryValue::Int(number)));
        }
        for n in 0..1_000 {
            let text = format!("text {n}");
            seen.push((pool.intern(FactCell::Text(&text)), QueryValue::text(&text)));
        }
        for (id, value) in &seen {
            assert_eq!(pool.value(*id), *value);
            assert_eq!(pool.intern_value(value), *id);
        }
        assert_eq!(pool.intern(FactCell::Float(-0.0)), pool.intern(FactCell::Float(0.0)));
        assert_eq!(pool.intern(FactCell::Float(f64::NAN)), NULL);
    }
}
