//! Values of a running program.
//!
//! Lists and objects are shared by reference: a change through one name is seen through all.
//! They are freed without recursion, however deep they nest.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::ast::ImportKind;
use crate::code::Code;
use crate::json::{Json, Ordered};

mod walk;

pub(crate) use self::walk::{Entered, Seen, Unshowable, Walk};
pub use self::walk::{SHOWN_BYTES_MAX, SHOWN_VALUES_MAX};

/// What stands for a container where it is inside itself.
pub(crate) const CIRCULAR: &str = "[Circular]";

#[derive(Debug, Clone, Default)]
pub(crate) enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(f64),
    Text(Arc<str>),
    List(Rc<List>),
    Object(Rc<Object>),
    Handle(Handle),
}

/// Whether the addresses of resources are shown with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addresses {
    /// To people, and in traces.
    Shown,
    /// In whatever a model may be told: addresses are for the run alone.
    LeftOut,
}

/// Something that acts and is no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handle {
    /// A tool, model or memory.
    Resource(u32),
    Agent(u32),
    Function(u32),
}

#[derive(Debug, Default)]
pub(crate) struct List {
    pub items: RefCell<Vec<Value>>,
}

#[derive(Debug, Default)]
pub(crate) struct Object {
    pub entries: RefCell<Ordered<Value>>,
}

impl Value {
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(List { items: RefCell::new(items) }))
    }

    pub fn object(entries: Ordered<Value>) -> Value {
        Value::Object(Rc::new(Object { entries: RefCell::new(entries) }))
    }

    /// Takes finished data into the program; containers become new, unshared ones.
    pub fn from_json(json: &Json) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => Value::Number(*number),
            Json::Text(text) => Value::Text(text.clone()),
            Json::List(items) => Value::list(items.iter().map(Value::from_json).collect()),
            Json::Object(entries) => {
                let entries = entries.iter();
                let entries = entries.map(|(key, item)| (key.clone(), Value::from_json(item)));
                Value::object(entries.collect())
            }
        }
    }

    pub fn is_true(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Bool(truth) => *truth,
            Value::Number(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(list) => !list.items.borrow().is_empty(),
            Value::Object(_) | Value::Handle(_) => true,
        }
    }

    /// Copies the value as data: handles become descriptions, a container inside itself becomes a
    /// mark.
    pub fn to_json(&self, code: &Code) -> Result<Json, Unshowable> {
        self.to_json_counted(code, Addresses::Shown).map(|(json, _)| json)
    }

    /// Does the same, and counts what was copied.
    pub fn to_json_counted(
        &self,
        code: &Code,
        addresses: Addresses,
    ) -> Result<(Json, Seen), Unshowable> {
        let mut shower = Shower { code, addresses, walk: Walk::default() };
        let json = shower.show(self)?;
        Ok((json, shower.walk.seen()))
    }

    /// Copies only so many items of a list or entries of an object.
    pub fn first_to_json(
        &self,
        count: usize,
        code: &Code,
        addresses: Addresses,
    ) -> Result<Json, Unshowable> {
        let mut shower = Shower { code, addresses, walk: Walk::default() };
        match self {
            Value::List(list) => shower.show_list(list, count),
            Value::Object(object) => shower.show_object(object, count),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Handle(_) => {
                shower.show(self)
            }
        }
    }
}

struct Shower<'a> {
    code: &'a Code,
    addresses: Addresses,
    walk: Walk,
}

impl Shower<'_> {
    fn show(&mut self, value: &Value) -> Result<Json, Unshowable> {
        self.walk.see_value()?;
        Ok(match value {
            Value::Null => Json::Null,
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Number(number) => Json::Number(*number),
            Value::Text(text) => {
                self.walk.see_text(text)?;
                Json::Text(text.clone())
            }
            Value::List(list) => self.show_list(list, usize::MAX)?,
            Value::Object(object) => self.show_object(object, usize::MAX)?,
            Value::Handle(handle) => describe(*handle, self.code, self.addresses),
        })
    }

    fn show_list(&mut self, list: &Rc<List>, count: usize) -> Result<Json, Unshowable> {
        if self.walk.enter(Rc::as_ptr(list).cast())? == Entered::InsideItself {
            return Ok(Json::text(CIRCULAR));
        }
        let items = list.items.borrow();
        let items = items.iter().take(count).map(|item| self.show(item));
        let items = items.collect::<Result<_, _>>()?;
        self.walk.leave();
        Ok(Json::List(items))
    }

    fn show_object(&mut self, object: &Rc<Object>, count: usize) -> Result<Json, Unshowable> {
        if self.walk.enter(Rc::as_ptr(object).cast())? == Entered::InsideItself {
            return Ok(Json::text(CIRCULAR));
        }
        let entries = object.entries.borrow();
        let mut shown = Vec::with_capacity(entries.len().min(count));
        for (key, item) in entries.iter().take(count) {
            self.walk.see_text(key)?;
            shown.push((key.clone(), self.show(item)?));
        }
        self.walk.leave();
        Ok(Json::Object(Ordered::from_distinct(shown)))
    }
}

/// Returns what is shown of something that acts.
pub(crate) fn describe(handle: Handle, code: &Code, addresses: Addresses) -> Json {
    match handle {
        Handle::Resource(at) => {
            let resource = &code.resources[at as usize];
            let kind = match resource.kind {
                ImportKind::Tool => "tool",
                ImportKind::Llm => "llm",
                ImportKind::Memory => "memory",
                ImportKind::File | ImportKind::Agent => "file",
            };
            let name = Json::Text(resource.name.clone());
            match addresses {
                Addresses::Shown => {
                    Json::object([(kind, name), ("uri", Json::Text(resource.uri.clone()))])
                }
                Addresses::LeftOut => Json::object([(kind, name)]),
            }
        }
        Handle::Agent(at) => {
            Json::object([("agent", Json::Text(code.agents[at as usize].name.clone()))])
        }
        Handle::Function(at) => {
            let function = &code.functions[at as usize];
            let agent = code.agents[function.agent as usize].name.clone();
            Json::object([
                ("function", Json::Text(function.name.clone())),
                ("agent", Json::Text(agent)),
            ])
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        let items = self.items.get_mut();
        if items.iter().any(is_container) {
            free(std::mem::take(items));
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        let entries = self.entries.get_mut();
        if entries.iter().any(|(_, item)| is_container(item)) {
            let items = entries.drain_values().collect();
            free(items);
        }
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Object(_))
}

/// Frees values level by level instead of by recursion.
fn free(mut waiting: Vec<Value>) {
    while let Some(value) = waiting.pop() {
        match value {
            Value::List(mut list) => {
                if let Some(list) = Rc::get_mut(&mut list) {
                    waiting.append(list.items.get_mut());
                }
            }
            Value::Object(mut object) => {
                if let Some(object) = Rc::get_mut(&mut object) {
                    waiting.extend(object.entries.get_mut().drain_values());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Handle(_) => {
            }
        }
    }
}
