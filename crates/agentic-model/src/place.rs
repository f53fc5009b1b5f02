//! Places in source texts.

use std::fmt;

use crate::Value;

/// A range of a source text: lines and columns from 1, columns in Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The first line.
    pub line: u32,
    /// The first column.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column just after the end.
    pub end_column: u32,
}

impl Place {
    /// Returns the four numbers as a list.
    pub fn to_value(self) -> Value {
        let numbers = [self.line, self.column, self.end_line, self.end_column];
        Value::List(numbers.iter().map(|number| Value::Int(i64::from(*number))).collect())
    }

    /// Reads four numbers; nothing from any other value.
    pub fn from_value(value: &Value) -> Option<Place> {
        let [line, column, end_line, end_column] = value.as_list()? else { return None };
        let number = |value: &Value| u32::try_from(value.as_int()?).ok();
        Some(Place {
            line: number(line)?,
            column: number(column)?,
            end_line: number(end_line)?,
            end_column: number(end_column)?,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
