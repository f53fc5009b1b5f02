//! Putting arrays in the order of a closure.

use std::cmp::Ordering;
use std::rc::Rc;

use rhai::{Array, Dynamic, Engine, EvalAltResult};

use super::{ClosureCaller, ClosureResult, Purity, put};
use crate::world::FlowWorld;

pub(super) fn register(engine: &mut Engine, world: &Rc<FlowWorld>) {
    for name in ["sort", "sort_by"] {
        put(engine, world, name, Purity::Changes, |caller, array: &mut Array| {
            *array = merge_sort(caller, array.clone())?;
            Ok(())
        });
    }
    for name in ["order", "order_by"] {
        put(engine, world, name, Purity::Pure, |caller, array: &mut Array| {
            merge_sort(caller, array.clone())
        });
    }
    put(engine, world, "dedup", Purity::Changes, |caller, array: &mut Array| {
        let mut kept = Array::new();
        for item in array.iter() {
            let is_same = match kept.last() {
                Some(last) => caller.pair(last.clone(), item.clone())?.as_bool().unwrap_or(false),
                None => false,
            };
            if !is_same {
                kept.push(item.clone());
            }
        }
        *array = kept;
        Ok(())
    });
}

/// Sorts without moving equal items past each other. Whom it compares depends on the answers
/// alone, so requests inside a comparator come in the same order on every run.
fn merge_sort(caller: &ClosureCaller<'_>, mut items: Array) -> ClosureResult<Array> {
    if items.len() < 2 {
        return Ok(items);
    }
    let right = items.split_off(items.len() / 2);
    let left = merge_sort(caller, items)?;
    let right = merge_sort(caller, right)?;
    let mut merged = Array::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
        let order = compare(caller, first.clone(), second.clone())?;
        merged.extend(if order == Ordering::Greater { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

/// Asks the closure: a negative number, or `true`, puts the first item first.
fn compare(caller: &ClosureCaller<'_>, first: Dynamic, second: Dynamic) -> ClosureResult<Ordering> {
    let answer = caller.pair(first, second)?;
    if let Ok(number) = answer.as_int() {
        return Ok(number.cmp(&0));
    }
    match answer.as_bool() {
        Ok(true) => Ok(Ordering::Less),
        Ok(false) => Ok(Ordering::Greater),
        Err(found) => {
            let wanted = "an integer or a truth value".to_owned();
            let position = caller.context.call_position();
            Err(EvalAltResult::ErrorMismatchDataType(wanted, found.to_owned(), position).into())
        }
    }
}
