//! Reading maps field by field, with one way of saying what is wrong and where.

use agentic_model::{Map, Value};

/// A piece of data does not have the shape that its format demands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{at}` must be {expected}")]
pub struct ShapeError {
    /// Where, such as `nodes[3].params`.
    pub at: String,
    /// What must be there.
    pub expected: String,
}

impl ShapeError {
    /// Says what must be at a place.
    pub(crate) fn new(at: &str, expected: impl Into<String>) -> ShapeError {
        ShapeError { at: at.to_owned(), expected: expected.into() }
    }
}

/// A map under reading.
pub(crate) struct PlanFields<'a> {
    map: &'a Map,
    at: &'a str,
}

impl<'a> PlanFields<'a> {
    pub fn of(value: &'a Value, at: &'a str) -> Result<PlanFields<'a>, ShapeError> {
        let map = value.as_map().ok_or_else(|| ShapeError::new(at, "a map"))?;
        Ok(PlanFields { map, at })
    }

    pub fn map(&self) -> &'a Map {
        self.map
    }

    pub fn wrong(&self, field: &str, expected: impl Into<String>) -> ShapeError {
        ShapeError { at: self.place(field), expected: expected.into() }
    }

    pub fn place(&self, field: &str) -> String {
        if self.at.is_empty() { field.to_owned() } else { format!("{}.{field}", self.at) }
    }

    /// Refuses fields that the format does not know: what is not understood must not be run.
    pub fn only(&self, known: &[&str]) -> Result<(), ShapeError> {
        match self.map.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(self.wrong(key, "absent: the field is not known")),
        }
    }

    pub fn text(&self, field: &str) -> Result<&'a str, ShapeError> {
        self.optional_text(field)?.ok_or_else(|| self.wrong(field, "text"))
    }

    pub fn optional_text(&self, field: &str) -> Result<Option<&'a str>, ShapeError> {
        match self.map.get(field) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(field, "text")),
        }
    }

    pub fn optional_texts(&self, field: &str) -> Result<Option<Vec<String>>, ShapeError> {
        let Some(items) = self.optional_list(field)? else { return Ok(None) };
        let texts: Option<Vec<String>> =
            items.iter().map(|item| item.as_text().map(str::to_owned)).collect();
        texts.map(Some).ok_or_else(|| self.wrong(field, "a list of texts"))
    }

    pub fn optional_list(&self, field: &str) -> Result<Option<&'a [Value]>, ShapeError> {
        match self.map.get(field) {
            None => Ok(None),
            Some(Value::List(items)) => Ok(Some(items)),
            Some(_) => Err(self.wrong(field, "a list")),
        }
    }

    pub fn optional_map(&self, field: &str) -> Result<Option<&'a Map>, ShapeError> {
        match self.map.get(field) {
            None => Ok(None),
            Some(Value::Map(map)) => Ok(Some(map)),
            Some(_) => Err(self.wrong(field, "a map")),
        }
    }

    pub fn flag(&self, field: &str) -> Result<bool, ShapeError> {
        match self.map.get(field) {
            None => Ok(false),
            Some(Value::Bool(truth)) => Ok(*truth),
            Some(_) => Err(self.wrong(field, "true or false")),
        }
    }

    /// Reads a whole number from `1` to `max`.
    pub fn optional_count(&self, field: &str, max: u64) -> Result<Option<u64>, ShapeError> {
        let Some(value) = self.map.get(field) else { return Ok(None) };
        let number = value.as_int().and_then(|number| u64::try_from(number).ok());
        match number {
            Some(number) if (1..=max).contains(&number) => Ok(Some(number)),
            _ => Err(self.wrong(field, format!("a whole number from 1 to {max}"))),
        }
    }

    pub fn optional_number(&self, field: &str) -> Result<Option<f64>, ShapeError> {
        let Some(value) = self.map.get(field) else { return Ok(None) };
        value.as_number().map(Some).ok_or_else(|| self.wrong(field, "a number"))
    }
}
