//! Comparing values as their JSON texts would compare, without making these: what shares its parts
//! may be far larger as a text than it is.

use std::rc::Rc;

use crate::code::ContextCode;

use super::{
    Addresses, CIRCULAR, ContextList, ContextObject, ContextValue, DisplayLimit, ValueWalk,
    WalkEntry, WalkMeasure, describe,
};

impl ContextValue {
    /// Counts what a text of the value would show.
    ///
    /// # Errors
    /// Fails when that is more than may be shown.
    pub fn measure(&self) -> Result<WalkMeasure, DisplayLimit> {
        let mut walk = ValueWalk::default();
        measure(&mut walk, self)?;
        Ok(walk.seen())
    }

    /// Tells whether two values have one text. Both are known to be showable; the order of keys counts.
    pub fn has_text_of(&self, other: &ContextValue, code: &ContextCode) -> bool {
        let mut pair =
            ComparedPair { code, left: ValueWalk::default(), right: ValueWalk::default() };
        pair.is_same(self, other) == Ok(true)
    }
}

fn measure(walk: &mut ValueWalk, value: &ContextValue) -> Result<(), DisplayLimit> {
    walk.see_value()?;
    match value {
        ContextValue::Null
        | ContextValue::Bool(_)
        | ContextValue::Number(_)
        | ContextValue::Handle(_) => {}
        ContextValue::Text(text) => walk.see_text(text)?,
        ContextValue::List(list) => {
            if walk.enter(Rc::as_ptr(list).cast())? == WalkEntry::Inside {
                for item in list.items.borrow().iter() {
                    measure(walk, item)?;
                }
                walk.leave();
            }
        }
        ContextValue::Object(object) => {
            if walk.enter(Rc::as_ptr(object).cast())? == WalkEntry::Inside {
                for (key, item) in object.entries.borrow().iter() {
                    walk.see_text(key)?;
                    measure(walk, item)?;
                }
                walk.leave();
            }
        }
    }
    Ok(())
}

/// Two values that are walked over side by side.
struct ComparedPair<'a> {
    code: &'a ContextCode,
    left: ValueWalk,
    right: ValueWalk,
}

impl ComparedPair<'_> {
    fn is_same(&mut self, left: &ContextValue, right: &ContextValue) -> Result<bool, DisplayLimit> {
        match (self.left.inner(left), self.right.inner(right)) {
            (true, true) => return Ok(true),
            (true, false) => return self.is_same(&ContextValue::Text(CIRCULAR.into()), right),
            (false, true) => return self.is_same(left, &ContextValue::Text(CIRCULAR.into())),
            (false, false) => {}
        }
        Ok(match (left, right) {
            (ContextValue::Handle(handle), other) => {
                self.is_same(&self.described(*handle), other)?
            }
            (other, ContextValue::Handle(handle)) => {
                self.is_same(other, &self.described(*handle))?
            }
            (ContextValue::List(left), ContextValue::List(right)) => {
                self.are_same_lists(left, right)?
            }
            (ContextValue::Object(left), ContextValue::Object(right)) => {
                self.are_same_objects(left, right)?
            }
            (ContextValue::Text(left), ContextValue::Text(right)) => left == right,
            (ContextValue::Bool(left), ContextValue::Bool(right)) => left == right,
            (left, right) => match (number_of(left), number_of(right)) {
                (Some(left), Some(right)) => left == right,
                (None, _) | (_, None) => false,
            },
        })
    }

    fn described(&self, handle: super::Handle) -> ContextValue {
        ContextValue::from_json(&describe(handle, self.code, Addresses::Shown))
    }

    fn are_same_lists(
        &mut self,
        left: &Rc<ContextList>,
        right: &Rc<ContextList>,
    ) -> Result<bool, DisplayLimit> {
        let (ours, theirs) = (left.items.borrow(), right.items.borrow());
        if ours.len() != theirs.len() {
            return Ok(false);
        }
        self.left.enter(Rc::as_ptr(left).cast())?;
        self.right.enter(Rc::as_ptr(right).cast())?;
        for (left, right) in ours.iter().zip(theirs.iter()) {
            if !self.is_same(left, right)? {
                return Ok(false);
            }
        }
        self.left.leave();
        self.right.leave();
        Ok(true)
    }

    fn are_same_objects(
        &mut self,
        left: &Rc<ContextObject>,
        right: &Rc<ContextObject>,
    ) -> Result<bool, DisplayLimit> {
        let (ours, theirs) = (left.entries.borrow(), right.entries.borrow());
        if ours.len() != theirs.len() {
            return Ok(false);
        }
        self.left.enter(Rc::as_ptr(left).cast())?;
        self.right.enter(Rc::as_ptr(right).cast())?;
        for ((key, left), (other, right)) in ours.iter().zip(theirs.iter()) {
            if key != other || !self.is_same(left, right)? {
                return Ok(false);
            }
        }
        self.left.leave();
        self.right.leave();
        Ok(true)
    }
}

impl ValueWalk {
    /// Tells whether a value is a container that is inside itself here.
    fn inner(&self, value: &ContextValue) -> bool {
        match value {
            ContextValue::List(list) => self.is_inside(Rc::as_ptr(list).cast()),
            ContextValue::Object(object) => self.is_inside(Rc::as_ptr(object).cast()),
            ContextValue::Null
            | ContextValue::Bool(_)
            | ContextValue::Number(_)
            | ContextValue::Text(_)
            | ContextValue::Handle(_) => false,
        }
    }
}

/// Returns the number that stands in the text of a value; nothing inside for one that has no text but
/// `null`.
fn number_of(value: &ContextValue) -> Option<Option<f64>> {
    match value {
        ContextValue::Null => Some(None),
        ContextValue::Number(number) => Some(Some(*number).filter(|number| number.is_finite())),
        ContextValue::Bool(_)
        | ContextValue::Text(_)
        | ContextValue::List(_)
        | ContextValue::Object(_)
        | ContextValue::Handle(_) => None,
    }
}
