//! Run-time values: JSON with unbounded integers and ordered keys.

mod integer;
pub mod json;
mod number;

use std::sync::Arc;

pub use crate::data::integer::Integer;
pub use crate::data::json::DataJsonError;
pub use crate::data::number::DIGITS_MAX;
pub(crate) use crate::data::number::{add, number_text, parse_literal};

/// How deep lists and objects may nest.
pub const VALUE_DEPTH_MAX: u32 = 512;
/// How large a value may be, in bytes of its JSON form, more or less.
pub const VALUE_BYTES_MAX: u64 = 64 << 20;

/// A value of a running program.
#[derive(Debug, Clone)]
pub enum Data {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number that fits 64 bits.
    Int(i64),
    /// A whole number that does not.
    Big(Arc<Integer>),
    /// A finite number.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// A list.
    List(Arc<DataList>),
    /// An object.
    Object(Arc<DataObject>),
}

/// Items and their measure.
#[derive(Debug)]
pub struct DataList {
    items: Vec<Data>,
    measure: DataMeasure,
}

/// Fields in their order, each name once, and their measure.
#[derive(Debug)]
pub struct DataObject {
    fields: Vec<(Arc<str>, Data)>,
    measure: DataMeasure,
}

/// How deep and how large a value is.
#[derive(Debug, Clone, Copy, Default)]
struct DataMeasure {
    depth: u32,
    bytes: u64,
}

/// A value beyond [`VALUE_DEPTH_MAX`] or [`VALUE_BYTES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is larger than {VALUE_BYTES_MAX} bytes or nests deeper than {VALUE_DEPTH_MAX}")]
pub struct TooLarge;

impl Data {
    /// Makes a text.
    pub fn text(text: impl Into<Arc<str>>) -> Data {
        Data::Text(text.into())
    }

    /// Makes a list.
    ///
    /// # Errors
    /// Fails when the list would be too large.
    pub fn list(items: Vec<Data>) -> Result<Data, TooLarge> {
        let measure = DataMeasure::around(items.iter().map(|item| (0, item)))?;
        Ok(Data::List(Arc::new(DataList { items, measure })))
    }

    /// Makes an object. No name may occur twice.
    ///
    /// # Errors
    /// Fails when the object would be too large.
    pub fn object(fields: Vec<(Arc<str>, Data)>) -> Result<Data, TooLarge> {
        let measure = DataMeasure::around(fields.iter().map(|(name, item)| (name.len(), item)))?;
        Ok(Data::Object(Arc::new(DataObject { fields, measure })))
    }

    /// Returns the field of an object.
    pub fn get(&self, name: &str) -> Option<&Data> {
        let Data::Object(object) = self else { return None };
        object.fields.iter().find(|(field, _)| &**field == name).map(|(_, item)| item)
    }

    /// Returns the fields of an object.
    pub fn fields(&self) -> Option<&[(Arc<str>, Data)]> {
        if let Data::Object(object) = self { Some(&object.fields) } else { None }
    }

    /// Returns the items of a list.
    pub fn items(&self) -> Option<&[Data]> {
        if let Data::List(list) = self { Some(&list.items) } else { None }
    }

    /// Returns a text.
    pub fn as_text(&self) -> Option<&str> {
        if let Data::Text(text) = self { Some(text) } else { None }
    }

    /// Returns a truth value.
    pub fn as_bool(&self) -> Option<bool> {
        if let Data::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// Writes the value as a part of a text: texts as they are, numbers as printed, everything
    /// else as JSON.
    pub fn shown(&self) -> String {
        match self {
            Data::Text(text) => text.to_string(),
            Data::Null
            | Data::Bool(_)
            | Data::Int(_)
            | Data::Big(_)
            | Data::Float(_)
            | Data::List(_)
            | Data::Object(_) => json::to_text(self),
        }
    }

    /// Returns how large the value is, in bytes of its JSON form, more or less.
    pub(crate) fn bytes(&self) -> u64 {
        self.measure().bytes
    }

    fn measure(&self) -> DataMeasure {
        match self {
            Data::Null | Data::Bool(_) | Data::Int(_) | Data::Float(_) => {
                DataMeasure { depth: 0, bytes: 8 }
            }
            Data::Big(number) => DataMeasure { depth: 0, bytes: number.digits_max() as u64 },
            Data::Text(text) => DataMeasure { depth: 0, bytes: text.len() as u64 + 2 },
            Data::List(list) => list.measure,
            Data::Object(object) => object.measure,
        }
    }
}

impl DataMeasure {
    /// Measures a list or object around its parts, given with the lengths of their names.
    fn around<'a>(parts: impl Iterator<Item = (usize, &'a Data)>) -> Result<DataMeasure, TooLarge> {
        let mut measure = DataMeasure { depth: 1, bytes: 2 };
        for (name, part) in parts {
            let part = part.measure();
            measure.depth = measure.depth.max(part.depth + 1);
            measure.bytes += part.bytes + name as u64 + 4;
        }
        measure.check()
    }

    fn check(self) -> Result<DataMeasure, TooLarge> {
        if self.depth > VALUE_DEPTH_MAX || self.bytes > VALUE_BYTES_MAX {
            return Err(TooLarge);
        }
        Ok(self)
    }
}

/// Joins two texts.
///
/// # Errors
/// Fails when the text would be too large.
pub(crate) fn concat(left: &str, right: &str) -> Result<Data, TooLarge> {
    let bytes = left.len() as u64 + right.len() as u64;
    DataMeasure { depth: 0, bytes }.check()?;
    let mut joined = String::with_capacity(left.len() + right.len());
    joined.push_str(left);
    joined.push_str(right);
    Ok(Data::text(joined))
}

/// Values are equal when they are the same data: numbers by value, objects whatever their order.
impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        match (self, other) {
            (Data::Null, Data::Null) => true,
            (Data::Bool(one), Data::Bool(other)) => one == other,
            (Data::Text(one), Data::Text(other)) => one == other,
            (Data::List(one), Data::List(other)) => {
                Arc::ptr_eq(one, other) || one.items == other.items
            }
            (Data::Object(one), Data::Object(other)) => {
                Arc::ptr_eq(one, other) || are_same_fields(&one.fields, &other.fields)
            }
            _ => number::are_equal(self, other),
        }
    }
}

fn are_same_fields(one: &[(Arc<str>, Data)], other: &[(Arc<str>, Data)]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    if one.iter().zip(other).all(|((name, _), (other, _))| name == other) {
        return one.iter().zip(other).all(|((_, item), (_, other))| item == other);
    }
    let others: std::collections::BTreeMap<&str, &Data> =
        other.iter().map(|(name, item)| (&**name, item)).collect();
    one.iter().all(|(name, item)| others.get(&**name).is_some_and(|other| item == *other))
}

#[cfg(test)]
mod tests;
