//! Operators, members and indexes.

use std::sync::Arc;

use crate::ast::Operator;
use crate::code::CodePlace;
use crate::json::{Json, OrderedMap, compact, number_to_text};
use crate::value::{ContextValue, Handle};

use super::fault::TaskFault;
use super::world::RunWorld;

/// The longest text that a program may build, in bytes: 64 MiB.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 20;
/// The longest list that a program may build.
pub(crate) const LIST_ITEMS_MAX: usize = 16 << 20;

impl RunWorld {
    pub(super) fn binary(
        &self,
        place: CodePlace,
        operator: Operator,
        left: &ContextValue,
        right: &ContextValue,
    ) -> Result<ContextValue, TaskFault> {
        let truth = |truth| Ok(ContextValue::Bool(truth));
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

    /// Compares both sides as their JSON texts would compare, so that the order of keys counts.
    fn equal(
        &self,
        place: CodePlace,
        left: &ContextValue,
        right: &ContextValue,
    ) -> Result<bool, TaskFault> {
        if let (ContextValue::Text(left), ContextValue::Text(right)) = (left, right) {
            self.touch(left.len().min(right.len()));
        }
        let scalar = |value: &ContextValue| match value {
            ContextValue::Null => Some(Json::Null),
            ContextValue::Bool(truth) => Some(Json::Bool(*truth)),
            ContextValue::Number(number) if number.is_finite() => Some(Json::Number(*number)),
            ContextValue::Number(_) => Some(Json::Null),
            ContextValue::Text(text) => Some(Json::Text(text.clone())),
            ContextValue::List(_) | ContextValue::Object(_) | ContextValue::Handle(_) => None,
        };
        match (scalar(left), scalar(right)) {
            (Some(left), Some(right)) => Ok(left == right),
            (None, None) => {
                for side in [left, right] {
                    let seen = side.measure();
                    self.touch_seen(seen.map_err(|error| TaskFault::unshowable(place, error))?);
                }
                Ok(left.has_text_of(right, &self.module.code))
            }
            (Some(_), None) | (None, Some(_)) => Ok(false),
        }
    }

    fn add(
        &self,
        place: CodePlace,
        left: &ContextValue,
        right: &ContextValue,
    ) -> Result<ContextValue, TaskFault> {
        let is_text = |value: &ContextValue| matches!(value, ContextValue::Text(_));
        if !is_text(left) && !is_text(right) {
            return numeric(place, Operator::Add, left, right);
        }
        let (left, right) = (self.text_of(place, left)?, self.text_of(place, right)?);
        let length = left.len() + right.len();
        if length > TEXT_BYTES_MAX {
            let message = format!("a text is longer than {TEXT_BYTES_MAX} bytes");
            return Err(TaskFault::limit(place, message));
        }
        self.touch(length);
        let mut text = String::with_capacity(length);
        text.push_str(&left);
        text.push_str(&right);
        Ok(ContextValue::Text(text.into()))
    }

    /// Returns what a value adds to a text. Before 0.1.11 containers added their JSON.
    fn text_of(&self, place: CodePlace, value: &ContextValue) -> Result<Arc<str>, TaskFault> {
        let dialect = self.module.dialects[place.file as usize];
        Ok(match value {
            ContextValue::Text(text) => text.clone(),
            ContextValue::Bool(truth) => if *truth { "true" } else { "false" }.into(),
            ContextValue::Number(number) => number_to_text(*number).into(),
            _ if dialect.since(crate::Version::V0_1_11) => "".into(),
            ContextValue::Null
            | ContextValue::List(_)
            | ContextValue::Object(_)
            | ContextValue::Handle(_) => compact(&self.told(place, value)?).into(),
        })
    }

    pub(super) fn member(
        &self,
        place: CodePlace,
        object: &ContextValue,
        name: &str,
    ) -> Result<ContextValue, TaskFault> {
        match object {
            ContextValue::Object(object) => {
                object.entries.borrow().get(name).cloned().ok_or_else(|| {
                    TaskFault::new(place, format!("the object has no property `{name}`"))
                })
            }
            ContextValue::List(list) => match name {
                "length" => Ok(ContextValue::Number(list.items.borrow().len() as f64)),
                "summary" => Ok(ContextValue::from_json(&self.told(place, object)?)),
                _ => Err(TaskFault::new(place, format!("lists have no property `{name}`"))),
            },
            ContextValue::Handle(handle) => self.handle_member(place, *handle, name),
            ContextValue::Null
            | ContextValue::Bool(_)
            | ContextValue::Number(_)
            | ContextValue::Text(_) => {
                let sort = sort(object);
                Err(TaskFault::new(
                    place,
                    format!("the property `{name}` of {sort} cannot be read"),
                ))
            }
        }
    }

    /// A method of a tool or memory that is not called describes itself.
    fn handle_member(
        &self,
        place: CodePlace,
        handle: Handle,
        name: &str,
    ) -> Result<ContextValue, TaskFault> {
        use crate::ast::ImportKind;
        if let Handle::Resource(at) = handle {
            let resource = &self.module.code.resources[at as usize];
            if matches!(resource.kind, ImportKind::Tool | ImportKind::Memory) {
                let mut entries = OrderedMap::new();
                let own = ContextValue::Text(resource.name.clone());
                entries.set(resource.kind.word().into(), own);
                entries.set("method".into(), ContextValue::Text(name.into()));
                return Ok(ContextValue::object(entries));
            }
        }
        Err(TaskFault::new(place, format!("there is no property `{name}` to be read")))
    }
}

pub(super) fn sort(value: &ContextValue) -> &'static str {
    match value {
        ContextValue::Null => "none",
        ContextValue::Bool(_) => "a truth value",
        ContextValue::Number(_) => "a number",
        ContextValue::Text(_) => "a text",
        ContextValue::List(_) => "a list",
        ContextValue::Object(_) => "an object",
        ContextValue::Handle(_) => "a resource",
    }
}

fn numeric(
    place: CodePlace,
    operator: Operator,
    left: &ContextValue,
    right: &ContextValue,
) -> Result<ContextValue, TaskFault> {
    let (ContextValue::Number(left), ContextValue::Number(right)) = (left, right) else {
        let symbol = operator.symbol();
        let (left, right) = (sort(left), sort(right));
        let message = format!("`{symbol}` takes two numbers, not {left} and {right}");
        return Err(TaskFault::new(place, message));
    };
    Ok(match operator {
        Operator::Add => ContextValue::Number(left + right),
        Operator::Subtract => ContextValue::Number(left - right),
        Operator::Multiply => ContextValue::Number(left * right),
        Operator::Divide if *right == 0.0 => {
            return Err(TaskFault::new(place, "a number cannot be divided by zero"));
        }
        Operator::Divide => ContextValue::Number(left / right),
        Operator::Less => ContextValue::Bool(left < right),
        Operator::LessEqual => ContextValue::Bool(left <= right),
        Operator::Greater => ContextValue::Bool(left > right),
        Operator::GreaterEqual => ContextValue::Bool(left >= right),
        Operator::Equal | Operator::NotEqual | Operator::And | Operator::Or => {
            unreachable!("BUG: {operator:?} is no operator of numbers")
        }
    })
}

/// Reads an item of a list.
pub(super) fn index(
    place: CodePlace,
    list: &ContextValue,
    index: &ContextValue,
) -> Result<ContextValue, TaskFault> {
    let ContextValue::List(list) = list else {
        return Err(TaskFault::new(place, format!("only lists have items, not {}", sort(list))));
    };
    let items = list.items.borrow();
    if let ContextValue::Number(number) = index
        && number.fract() == 0.0
        && *number >= 0.0
    {
        let at = if *number < items.len() as f64 { Some(*number as usize) } else { None };
        at.and_then(|at| items.get(at)).cloned().ok_or_else(|| {
            let shown = number_to_text(*number);
            let message = format!("the list has {} items and none at {shown}", items.len());
            TaskFault::new(place, message)
        })
    } else {
        Err(TaskFault::new(place, "the place of an item is a whole number, 0 or more"))
    }
}

/// Sets a member of an object.
pub(super) fn set_member(
    place: CodePlace,
    object: &ContextValue,
    name: &Arc<str>,
    value: ContextValue,
) -> Result<(), TaskFault> {
    if let ContextValue::Object(object) = object {
        object.entries.borrow_mut().set(name.clone(), value);
        Ok(())
    } else {
        let message = format!("a property of {} cannot be set", sort(object));
        Err(TaskFault::new(place, message))
    }
}
