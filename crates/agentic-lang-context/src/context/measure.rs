//! How long a value is when it is shown, found without showing it.
//!
//! A value that does not fit its budget is looked at as a whole, for its size is recorded, but only
//! what is kept of it is copied and printed.

use std::rc::Rc;

use super::clip::size;
use crate::code::ContextCode;
use crate::json::{number_size, text_size};
use crate::value::{
    Addresses, CIRCULAR, ContextList, ContextObject, ContextValue, DisplayLimit, ValueWalk,
    WalkEntry, WalkMeasure, describe,
};

/// How many blanks each level is indented by.
const INDENT: u64 = 2;
/// What the brackets of a list or object cost.
const BRACKETS_COST: u64 = 4;
/// What the comma and the line break before an item cost.
const SEPARATOR_COST: u64 = 2;

/// How the cost of an item is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CostMeasure {
    /// Texts count without quotation marks and escapes, so that lists of texts may overshoot.
    Estimated,
    /// Items count as they are rendered, as in 0.1.0.
    Exact,
}

/// What a value is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueBudget {
    /// The most UTF-16 units.
    pub limit: u64,
    pub measure: CostMeasure,
    /// Whether what is held to it shows addresses.
    pub addresses: Addresses,
}

/// How long a list or object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MeasuredLength {
    /// The size of its rendering, in UTF-16 units.
    pub size: u64,
    /// How many of its items fit the budget, from the first on.
    pub n_fitting: usize,
    /// How many items it has.
    pub n_items: usize,
    pub seen: WalkMeasure,
}

/// Measures a list.
pub(crate) fn list(
    list: &Rc<ContextList>,
    code: &ContextCode,
    budget: ValueBudget,
) -> Result<MeasuredLength, DisplayLimit> {
    let mut meter = Meter::new(code, budget.addresses);
    meter.walk.see_value()?;
    meter.walk.enter(Rc::as_ptr(list).cast())?;
    let items = list.items.borrow();
    let mut tally = Tally::new(items.len(), budget);
    for item in items.iter() {
        let size = meter.size(item, INDENT)?;
        tally.add(0, meter.as_text(item), size);
    }
    Ok(tally.measured(meter.walk.seen()))
}

/// Measures an object.
pub(crate) fn object(
    object: &Rc<ContextObject>,
    code: &ContextCode,
    budget: ValueBudget,
) -> Result<MeasuredLength, DisplayLimit> {
    let mut meter = Meter::new(code, budget.addresses);
    meter.walk.see_value()?;
    meter.walk.enter(Rc::as_ptr(object).cast())?;
    let entries = object.entries.borrow();
    let mut tally = Tally::new(entries.len(), budget);
    for (key, item) in entries.iter() {
        meter.walk.see_text(key)?;
        let size = meter.size(item, INDENT)?;
        tally.add(label_size(key), meter.as_text(item), size);
    }
    Ok(tally.measured(meter.walk.seen()))
}

/// Adds up the items of the outermost container.
struct Tally {
    budget: ValueBudget,
    /// What the items cost that fit.
    cost: u64,
    n_fitting: usize,
    n_items: usize,
    is_full: bool,
    size: u64,
}

impl Tally {
    fn new(n_items: usize, budget: ValueBudget) -> Tally {
        let (cost, size) = (BRACKETS_COST, frame_size(n_items, 0));
        Tally { budget, cost, n_fitting: 0, n_items, is_full: false, size }
    }

    /// Adds the next item: the size of its label, its text if it is one, and the size of its
    /// rendering.
    fn add(&mut self, label: u64, text: Option<&str>, size: u64) {
        self.size += label + size;
        if self.is_full {
            return;
        }
        let separator = if self.n_fitting > 0 { SEPARATOR_COST } else { 0 };
        let own = match (text, self.budget.measure) {
            (Some(text), CostMeasure::Estimated) => bare_cost(text),
            (Some(_), CostMeasure::Exact) | (None, _) => INDENT + size,
        };
        self.cost += separator + label + own;
        self.is_full = self.cost > self.budget.limit;
        self.n_fitting += usize::from(!self.is_full);
    }

    fn measured(self, seen: WalkMeasure) -> MeasuredLength {
        MeasuredLength { size: self.size, n_fitting: self.n_fitting, n_items: self.n_items, seen }
    }
}

/// Returns what a text costs that is an item, or the value under a key: its quotation marks and
/// escapes do not count.
fn bare_cost(text: &str) -> u64 {
    let n_lines = 1 + text.bytes().filter(|byte| *byte == b'\n').count() as u64;
    size(text) + INDENT * n_lines
}

/// Returns the size of a key with what stands between it and its value.
fn label_size(key: &str) -> u64 {
    const BETWEEN: u64 = 2;
    text_size(key) + BETWEEN
}

/// Returns the size of brackets, commas, line breaks and indentation of a container.
fn frame_size(n_items: usize, indent: u64) -> u64 {
    const BRACKETS: u64 = 2;
    const BREAK: u64 = 1;
    let n_items = n_items as u64;
    if n_items == 0 {
        return BRACKETS;
    }
    BRACKETS + n_items * (BREAK + indent + INDENT) + (n_items - 1) + BREAK + indent
}

struct Meter<'a> {
    code: &'a ContextCode,
    addresses: Addresses,
    walk: ValueWalk,
}

impl Meter<'_> {
    fn new(code: &ContextCode, addresses: Addresses) -> Meter<'_> {
        Meter { code, addresses, walk: ValueWalk::default() }
    }

    /// Returns the text that stands for an item of the container that the walk is in, if it is one.
    fn as_text<'v>(&self, item: &'v ContextValue) -> Option<&'v str> {
        let is_around = match item {
            ContextValue::Text(text) => return Some(text),
            ContextValue::List(list) => self.walk.is_inside(Rc::as_ptr(list).cast()),
            ContextValue::Object(object) => self.walk.is_inside(Rc::as_ptr(object).cast()),
            ContextValue::Null
            | ContextValue::Bool(_)
            | ContextValue::Number(_)
            | ContextValue::Handle(_) => false,
        };
        is_around.then_some(CIRCULAR)
    }

    /// Returns the size of a value that begins on a line of this indentation.
    fn size(&mut self, value: &ContextValue, indent: u64) -> Result<u64, DisplayLimit> {
        self.walk.see_value()?;
        Ok(match value {
            ContextValue::Null => "null".len() as u64,
            ContextValue::Bool(truth) => if *truth { "true" } else { "false" }.len() as u64,
            ContextValue::Number(number) => number_size(*number),
            ContextValue::Text(text) => {
                self.walk.see_text(text)?;
                text_size(text)
            }
            ContextValue::List(list) => {
                if self.walk.enter(Rc::as_ptr(list).cast())? == WalkEntry::InsideItself {
                    return Ok(text_size(CIRCULAR));
                }
                let items = list.items.borrow();
                let mut size = frame_size(items.len(), indent);
                for item in items.iter() {
                    size += self.size(item, indent + INDENT)?;
                }
                self.walk.leave();
                size
            }
            ContextValue::Object(object) => {
                if self.walk.enter(Rc::as_ptr(object).cast())? == WalkEntry::InsideItself {
                    return Ok(text_size(CIRCULAR));
                }
                let entries = object.entries.borrow();
                let mut size = frame_size(entries.len(), indent);
                for (key, item) in entries.iter() {
                    self.walk.see_text(key)?;
                    size += label_size(key) + self.size(item, indent + INDENT)?;
                }
                self.walk.leave();
                size
            }
            ContextValue::Handle(handle) => {
                let shown = ContextValue::from_json(&describe(*handle, self.code, self.addresses));
                Meter::new(self.code, self.addresses).size(&shown, indent)?
            }
        })
    }
}
