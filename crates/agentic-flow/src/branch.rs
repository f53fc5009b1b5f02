//! What a branch takes with it: copies of its own.

use rhai::{Array, Dynamic, FnPtr};

use crate::limits::DEPTH_MAX;

/// Copies a closure with everything it captured, so that branches share nothing: what one changes,
/// no other sees, in whatever order they run.
pub(crate) fn own_copy(closure: &FnPtr) -> Result<FnPtr, String> {
    own_closure(closure, 0)
}

/// Copies the value that a branch ended with.
pub(crate) fn own_value(value: &Dynamic) -> Result<Dynamic, String> {
    own(value, 0)
}

fn own_closure(closure: &FnPtr, depth: usize) -> Result<FnPtr, String> {
    let captured = closure.iter_curry().map(|item| {
        let is_shared = item.is_shared();
        let copy = own(item, depth + 1)?;
        Ok(if is_shared { copy.into_shared() } else { copy })
    });
    let captured: Vec<Dynamic> = captured.collect::<Result<_, String>>()?;
    let mut copy = closure.clone();
    copy.set_curry(captured);
    Ok(copy)
}

fn own(value: &Dynamic, depth: usize) -> Result<Dynamic, String> {
    if depth > DEPTH_MAX {
        return Err(format!("a branch cannot take a value that nests deeper than {DEPTH_MAX}"));
    }
    if let Some(closure) = value.read_lock::<FnPtr>() {
        return Ok(Dynamic::from(own_closure(&closure, depth)?));
    }
    if let Some(items) = value.read_lock::<Array>() {
        let items = items.iter().map(|item| own(item, depth + 1));
        return Ok(Dynamic::from_array(items.collect::<Result<_, _>>()?));
    }
    if let Some(map) = value.read_lock::<rhai::Map>() {
        let pairs = map.iter().map(|(key, item)| Ok((key.clone(), own(item, depth + 1)?)));
        return Ok(Dynamic::from_map(pairs.collect::<Result<_, String>>()?));
    }
    Ok(value.flatten_clone())
}
