//! Values of a running program.
//!
//! Lists and objects are shared by reference: a change through one name is seen through all.
//! They are freed without recursion, however deep they nest.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::ast::ImportKind;
use crate::code::ContextCode;
use crate::json::{Json, OrderedMap};

mod compare;
mod walk;

pub(crate) use self::walk::{DisplayLimit, ValueWalk, WalkEntry, WalkMeasure};
pub use self::walk::{SHOWN_BYTES_MAX, SHOWN_VALUES_MAX};

/// What stands for a container where it is inside itself.
pub(crate) const CIRCULAR: &str = "[Circular]";

#[derive(Debug, Clone, Default)]
pub(crate) enum ContextValue {
    #[default]
    Null,
    Bool(bool),
    Number(f64),
    Text(Arc<str>),
    List(Rc<ContextList>),
    Object(Rc<ContextObject>),
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
pub(crate) struct ContextList {
    pub items: RefCell<Vec<ContextValue>>,
}

#[derive(Debug, Default)]
pub(crate) struct ContextObject {
    pub entries: RefCell<OrderedMap<ContextValue>>,
}

impl ContextValue {
    pub fn list(items: Vec<ContextValue>) -> ContextValue {
        ContextValue::List(Rc::new(ContextList { items: RefCell::new(items) }))
    }

    pub fn object(entries: OrderedMap<ContextValue>) -> ContextValue {
        ContextValue::Object(Rc::new(ContextObject { entries: RefCell::new(entries) }))
    }

    /// Takes finished data into the program; containers become new, unshared ones.
    pub fn from_json(json: &Json) -> ContextValue {
        match json {
            Json::Null => ContextValue::Null,
            Json::Bool(truth) => ContextValue::Bool(*truth),
            Json::Number(number) => ContextValue::Number(*number),
            Json::Text(text) => ContextValue::Text(text.clone()),
            Json::List(items) => {
                ContextValue::list(items.iter().map(ContextValue::from_json).collect())
            }
            Json::Object(entries) => {
                let entries = entries.iter();
                let entries =
                    entries.map(|(key, item)| (key.clone(), ContextValue::from_json(item)));
                ContextValue::object(entries.collect())
            }
        }
    }

    pub fn is_true(&self) -> bool {
        match self {
            ContextValue::Null => false,
            ContextValue::Bool(truth) => *truth,
            ContextValue::Number(number) => *number != 0.0,
            ContextValue::Text(text) => !text.is_empty(),
            ContextValue::List(list) => !list.items.borrow().is_empty(),
            ContextValue::Object(_) | ContextValue::Handle(_) => true,
        }
    }

    /// Copies the value as data: handles become descriptions, a container inside itself becomes a
    /// mark.
    pub fn to_json(&self, code: &ContextCode) -> Result<Json, DisplayLimit> {
        self.to_json_counted(code, Addresses::Shown).map(|(json, _)| json)
    }

    /// Does the same, and counts what was copied.
    pub fn to_json_counted(
        &self,
        code: &ContextCode,
        addresses: Addresses,
    ) -> Result<(Json, WalkMeasure), DisplayLimit> {
        let mut shower = ValueWriter { code, addresses, walk: ValueWalk::default() };
        let json = shower.show(self)?;
        Ok((json, shower.walk.seen()))
    }

    /// Copies only so many items of a list or entries of an object.
    pub fn first_to_json(
        &self,
        count: usize,
        code: &ContextCode,
        addresses: Addresses,
    ) -> Result<Json, DisplayLimit> {
        let mut shower = ValueWriter { code, addresses, walk: ValueWalk::default() };
        match self {
            ContextValue::List(list) => shower.show_list(list, count),
            ContextValue::Object(object) => shower.show_object(object, count),
            ContextValue::Null
            | ContextValue::Bool(_)
            | ContextValue::Number(_)
            | ContextValue::Text(_)
            | ContextValue::Handle(_) => shower.show(self),
        }
    }
}

struct ValueWriter<'a> {
    code: &'a ContextCode,
    addresses: Addresses,
    walk: ValueWalk,
}

impl ValueWriter<'_> {
    fn show(&mut self, value: &ContextValue) -> Result<Json, DisplayLimit> {
        self.walk.see_value()?;
        Ok(match value {
            ContextValue::Null => Json::Null,
            ContextValue::Bool(truth) => Json::Bool(*truth),
            ContextValue::Number(number) => Json::Number(*number),
            ContextValue::Text(text) => {
                self.walk.see_text(text)?;
                Json::Text(text.clone())
            }
            ContextValue::List(list) => self.show_list(list, usize::MAX)?,
            ContextValue::Object(object) => self.show_object(object, usize::MAX)?,
            ContextValue::Handle(handle) => describe(*handle, self.code, self.addresses),
        })
    }

    fn show_list(&mut self, list: &Rc<ContextList>, count: usize) -> Result<Json, DisplayLimit> {
        if self.walk.enter(Rc::as_ptr(list).cast())? == WalkEntry::InsideItself {
            return Ok(Json::text(CIRCULAR));
        }
        let items = list.items.borrow();
        let items = items.iter().take(count).map(|item| self.show(item));
        let items = items.collect::<Result<_, _>>()?;
        self.walk.leave();
        Ok(Json::List(items))
    }

    fn show_object(
        &mut self,
        object: &Rc<ContextObject>,
        count: usize,
    ) -> Result<Json, DisplayLimit> {
        if self.walk.enter(Rc::as_ptr(object).cast())? == WalkEntry::InsideItself {
            return Ok(Json::text(CIRCULAR));
        }
        let entries = object.entries.borrow();
        let mut shown = Vec::with_capacity(entries.len().min(count));
        for (key, item) in entries.iter().take(count) {
            self.walk.see_text(key)?;
            shown.push((key.clone(), self.show(item)?));
        }
        self.walk.leave();
        Ok(Json::Object(OrderedMap::from_distinct(shown)))
    }
}

/// Returns what is shown of something that acts.
pub(crate) fn describe(handle: Handle, code: &ContextCode, addresses: Addresses) -> Json {
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

impl Drop for ContextList {
    fn drop(&mut self) {
        let items = self.items.get_mut();
        if items.iter().any(is_container) {
            free(std::mem::take(items));
        }
    }
}

impl Drop for ContextObject {
    fn drop(&mut self) {
        let entries = self.entries.get_mut();
        if entries.iter().any(|(_, item)| is_container(item)) {
            let items = entries.drain_values().collect();
            free(items);
        }
    }
}

fn is_container(value: &ContextValue) -> bool {
    matches!(value, ContextValue::List(_) | ContextValue::Object(_))
}

/// Frees values level by level instead of by recursion.
fn free(mut waiting: Vec<ContextValue>) {
    while let Some(value) = waiting.pop() {
        match value {
            ContextValue::List(mut list) => {
                if let Some(list) = Rc::get_mut(&mut list) {
                    waiting.append(list.items.get_mut());
                }
            }
            ContextValue::Object(mut object) => {
                if let Some(object) = Rc::get_mut(&mut object) {
                    waiting.extend(object.entries.get_mut().drain_values());
                }
            }
            ContextValue::Null
            | ContextValue::Bool(_)
            | ContextValue::Number(_)
            | ContextValue::Text(_)
            | ContextValue::Handle(_) => {}
        }
    }
}
