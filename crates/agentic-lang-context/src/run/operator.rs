//! Operators, members and indexes.

use std::sync::Arc;

use crate::ast::Operator;
use crate::code::Place;
use crate::json::{Json, Ordered, compact, number_to_text};
use crate::value::{Handle, Value};

use super::World;
use super::fault::Fault;

/// The longest text that a program may build, in bytes: 64 MiB.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 20;
/// The longest list that a program may build.
pub(crate) const LIST_ITEMS_MAX: usize = 16 << 20;

impl World {
    pub(super) fn binary(
        &self,
        place: Place,
        operator: Operator,
        left: &Value,
        right: &Value,
    ) -> Result<Value, Fault> {
        let truth = |truth| Ok(Value::Bool(truth));
        match operator {
            Operator::Equal => truth(self.equal(place, left, right)?),
            Operator::NotEqual => truth(!self.equal(place, left, right)?),
            Operator::Add => self.add(place, left, right),
            Operator::And => truth(left.is_true() && right.is_true()),
            Operator::Or => truth(left.is_true() || right.is_true()),
            Operator::Less
            | Operator::LessEqual
            | Operator::Greater
            | Operator::GreaterEqual
            | Operator::Subtract
            | Operator::Multiply
            | Operator::Divide => numeric(place, operator, left, right),
        }
    }

    /// Compares the JSON text of both sides, so that the order of keys counts.
    fn equal(&self, place: Place, left: &Value, right: &Value) -> Result<bool, Fault> {
        if let (Value::Text(left), Value::Text(right)) = (left, right) {
            self.touch(left.len().min(right.len()));
        }
        let scalar = |value: &Value| match value {
            Value::Null => Some(Json::Null),
            Value::Bool(truth) => Some(Json::Bool(*truth)),
            Value::Number(number) if number.is_finite() => Some(Json::Number(*number)),
            Value::Number(_) => Some(Json::Null),
            Value::Text(text) => Some(Json::Text(text.clone())),
            Value::List(_) | Value::Object(_) | Value::Handle(_) => None,
        };
        match (scalar(left), scalar(right)) {
            (Some(left), Some(right)) => Ok(left == right),
            (None, None) => {
                let text = |value: &Value| self.shown(place, value).map(|json| compact(&json));
                Ok(text(left)? == text(right)?)
            }
            (Some(_), None) | (None, Some(_)) => Ok(false),
        }
    }

    fn add(&self, place: Place, left: &Value, right: &Value) -> Result<Value, Fault> {
        let is_text = |value: &Value| matches!(value, Value::Text(_));
        if !is_text(left) && !is_text(right) {
            return numeric(place, Operator::Add, left, right);
        }
        let (left, right) = (self.text_of(place, left)?, self.text_of(place, right)?);
        let length = left.len() + right.len();
        if length > TEXT_BYTES_MAX {
            let message = format!("a text is longer than {TEXT_BYTES_MAX} bytes");
            return Err(Fault::limit(place, message));
        }
        self.touch(length);
        let mut text = String::with_capacity(length);
        text.push_str(&left);
        text.push_str(&right);
        Ok(Value::Text(text.into()))
    }

    /// Returns what a value adds to a text. Before 0.1.11 containers added their JSON.
    fn text_of(&self, place: Place, value: &Value) -> Result<Arc<str>, Fault> {
        let dialect = self.module.dialects[place.file as usize];
        Ok(match value {
            Value::Text(text) => text.clone(),
            Value::Bool(truth) => if *truth { "true" } else { "false" }.into(),
            Value::Number(number) => number_to_text(*number).into(),
            _ if dialect.since(crate::Version::V0_1_11) => "".into(),
            Value::Null | Value::List(_) | Value::Object(_) | Value::Handle(_) => {
                compact(&self.told(place, value)?).into()
            }
        })
    }

    pub(super) fn member(&self, place: Place, object: &Value, name: &str) -> Result<Value, Fault> {
        match object {
            Value::Object(object) => {
                object.entries.borrow().get(name).cloned().ok_or_else(|| {
                    Fault::new(place, format!("the object has no property `{name}`"))
                })
            }
            Value::List(list) => match name {
                "length" => Ok(Value::Number(list.items.borrow().len() as f64)),
                "summary" => Ok(Value::from_json(&self.told(place, object)?)),
                _ => Err(Fault::new(place, format!("lists have no property `{name}`"))),
            },
            Value::Handle(handle) => self.handle_member(place, *handle, name),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
                let sort = sort(object);
                Err(Fault::new(place, format!("the property `{name}` of {sort} cannot be read")))
            }
        }
    }

    /// A method of a tool or memory that is not called describes itself.
    fn handle_member(&self, place: Place, handle: Handle, name: &str) -> Result<Value, Fault> {
        use crate::ast::ImportKind;
        if let Handle::Resource(at) = handle {
            let resource = &self.module.code.resources[at as usize];
            if matches!(resource.kind, ImportKind::Tool | ImportKind::Memory) {
                let mut entries = Ordered::new();
                let own = Value::Text(resource.name.clone());
                entries.set(resource.kind.word().into(), own);
                entries.set("method".into(), Value::Text(name.into()));
                return Ok(Value::object(entries));
            }
        }
        Err(Fault::new(place, format!("there is no property `{name}` to be read")))
    }
}

pub(super) fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "none",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::Text(_) => "a text",
        Value::List(_) => "a list",
        Value::Object(_) => "an object",
        Value::Handle(_) => "a resource",
    }
}

fn numeric(place: Place, operator: Operator, left: &Value, right: &Value) -> Result<Value, Fault> {
    let (Value::Number(left), Value::Number(right)) = (left, right) else {
        let symbol = operator.symbol();
        let (left, right) = (sort(left), sort(right));
        let message = format!("`{symbol}` takes two numbers, not {left} and {right}");
        return Err(Fault::new(place, message));
    };
    Ok(match operator {
        Operator::Add => Value::Number(left + right),
        Operator::Subtract => Value::Number(left - right),
        Operator::Multiply => Value::Number(left * right),
        Operator::Divide if *right == 0.0 => {
            return Err(Fault::new(place, "a number cannot be divided by zero"));
        }
        Operator::Divide => Value::Number(left / right),
        Operator::Less => Value::Bool(left < right),
        Operator::LessEqual => Value::Bool(left <= right),
        Operator::Greater => Value::Bool(left > right),
        Operator::GreaterEqual => Value::Bool(left >= right),
        Operator::Equal | Operator::NotEqual | Operator::And | Operator::Or => {
            unreachable!("BUG: {operator:?} is no operator of numbers")
        }
    })
}

/// Reads an item of a list.
pub(super) fn index(place: Place, list: &Value, index: &Value) -> Result<Value, Fault> {
    let Value::List(list) = list else {
        return Err(Fault::new(place, format!("only lists have items, not {}", sort(list))));
    };
    let items = list.items.borrow();
    if let Value::Number(number) = index
        && number.fract() == 0.0
        && *number >= 0.0
    {
        let at = if *number < items.len() as f64 { Some(*number as usize) } else { None };
        at.and_then(|at| items.get(at)).cloned().ok_or_else(|| {
            let shown = number_to_text(*number);
            let message = format!("the list has {} items and none at {shown}", items.len());
            Fault::new(place, message)
        })
    } else {
        Err(Fault::new(place, "the place of an item is a whole number, 0 or more"))
    }
}

/// Sets a member of an object.
pub(super) fn set_member(
    place: Place,
    object: &Value,
    name: &Arc<str>,
    value: Value,
) -> Result<(), Fault> {
    if let Value::Object(object) = object {
        object.entries.borrow_mut().set(name.clone(), value);
        Ok(())
    } else {
        let message = format!("a property of {} cannot be set", sort(object));
        Err(Fault::new(place, message))
    }
}
