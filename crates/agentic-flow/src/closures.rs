//! The functions of arrays and maps that call closures.
//!
//! The built-in ones put an error of a closure inside an error of their own, which a script can
//! catch even where the error itself could not be caught, and `sort` and `dedup` answer an error
//! with an order of their own and go on. A bound that was hit would be survived, a request that
//! failed inside a comparator would vanish. These here mean the same otherwise, and let errors
//! pass.

use std::rc::Rc;

use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, FuncRegistration, NativeCallContext};

use crate::engine::note_bound;
use crate::world::FlowWorld;

pub(crate) mod captures;
mod order;

type ClosureResult<T> = Result<T, Box<EvalAltResult>>;
type ClosureContext<'c> = NativeCallContext<'c>;

/// Puts them in place of the built-in ones.
pub(crate) fn register(engine: &mut Engine, world: &Rc<FlowWorld>) {
    register_walks(engine, world);
    register_searches(engine, world);
    register_folds(engine, world);
    register_choices(engine, world);
    register_maps(engine, world);
    order::register(engine, world);
}

/// A function of the built-in set, and the closure it was given.
struct ClosureCaller<'c> {
    world: &'c FlowWorld,
    context: &'c ClosureContext<'c>,
    name: &'static str,
    closure: &'c FnPtr,
}

impl ClosureCaller<'_> {
    /// Calls the closure for an item of an array, which it may take as a parameter or as `this`,
    /// and its index, which it may leave out.
    fn item(&self, item: &mut Dynamic, index: usize) -> ClosureResult<Dynamic> {
        self.check(self.closure.call_raw_with_extra_args(
            self.name,
            self.context,
            Some(item),
            [],
            [number(index)],
            Some(0),
        ))
    }

    fn is_chosen(&self, item: &mut Dynamic, index: usize) -> ClosureResult<bool> {
        Ok(self.item(item, index)?.as_bool().unwrap_or(false))
    }

    /// Calls the closure for an item, given what the items before it came to.
    fn fold(&self, item: &mut Dynamic, result: Dynamic, index: usize) -> ClosureResult<Dynamic> {
        self.check(self.closure.call_raw_with_extra_args(
            self.name,
            self.context,
            Some(item),
            [result],
            [number(index)],
            Some(1),
        ))
    }

    /// Calls the closure for a member of a map.
    fn member(&self, key: &str, item: &mut Dynamic) -> ClosureResult<Dynamic> {
        self.check(self.closure.call_raw_with_extra_args(
            self.name,
            self.context,
            Some(item),
            [key.into()],
            [],
            Some(1),
        ))
    }

    /// Calls the closure with two values.
    fn pair(&self, first: Dynamic, second: Dynamic) -> ClosureResult<Dynamic> {
        self.check(self.closure.call_raw(self.context, None, [first, second]))
    }

    /// Ends the run if a bound was hit inside.
    fn check(&self, result: ClosureResult<Dynamic>) -> ClosureResult<Dynamic> {
        result.inspect_err(|error| note_bound(self.world, error))
    }
}

fn number(index: usize) -> Dynamic {
    i64::try_from(index).unwrap_or(i64::MAX).into()
}

/// Registers a function that takes a container and a closure. `Pure` ones may be called on
/// constants.
fn put<C, T>(
    engine: &mut Engine,
    world: &Rc<FlowWorld>,
    name: &'static str,
    purity: Purity,
    run: fn(&ClosureCaller<'_>, &mut C) -> ClosureResult<T>,
) where
    C: rhai::Variant + Clone,
    T: rhai::Variant + Clone,
{
    let world = Rc::clone(world);
    FuncRegistration::new(name).with_purity(purity == Purity::Pure).register_into_engine(
        engine,
        move |context: ClosureContext, container: &mut C, closure: FnPtr| -> ClosureResult<T> {
            let caller =
                ClosureCaller { world: &world, context: &context, name, closure: &closure };
            run(&caller, container)
        },
    );
}

/// As [`put`], with one more argument.
fn put_with<C, A, T>(
    engine: &mut Engine,
    world: &Rc<FlowWorld>,
    name: &'static str,
    run: fn(&ClosureCaller<'_>, &mut C, A) -> ClosureResult<T>,
) where
    C: rhai::Variant + Clone,
    A: rhai::Variant + Clone,
    T: rhai::Variant + Clone,
{
    let world = Rc::clone(world);
    FuncRegistration::new(name).with_purity(true).register_into_engine(
        engine,
        move |context: ClosureContext,
              container: &mut C,
              closure: FnPtr,
              argument: A|
              -> ClosureResult<T> {
            let caller =
                ClosureCaller { world: &world, context: &context, name, closure: &closure };
            run(&caller, container, argument)
        },
    );
}

/// Whether a function leaves its container as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purity {
    Pure,
    Changes,
}

fn register_walks(engine: &mut Engine, world: &Rc<FlowWorld>) {
    put(engine, world, "for_each", Purity::Changes, |caller, array: &mut Array| {
        for (index, item) in array.iter_mut().enumerate() {
            let _ = caller.item(item, index)?;
        }
        Ok(())
    });
    put(engine, world, "map", Purity::Pure, |caller, array: &mut Array| {
        let items = array.iter_mut().enumerate();
        items.map(|(index, item)| caller.item(item, index)).collect::<ClosureResult<Array>>()
    });
    put(engine, world, "filter", Purity::Pure, |caller, array: &mut Array| {
        let mut chosen = Array::new();
        for (index, item) in array.iter_mut().enumerate() {
            if caller.is_chosen(item, index)? {
                chosen.push(item.clone());
            }
        }
        Ok(chosen)
    });
    let w = Rc::clone(world);
    FuncRegistration::new("zip").with_purity(true).register_into_engine(
        engine,
        move |context: ClosureContext, left: &mut Array, right: Array, closure: FnPtr| {
            let caller =
                ClosureCaller { world: &w, context: &context, name: "zip", closure: &closure };
            let pairs = left.iter().cloned().zip(right).enumerate();
            let call = |(index, (first, second))| {
                let (items, extras) = ([first, second], [number(index)]);
                caller.check(
                    closure.call_raw_with_extra_args("zip", &context, None, items, extras, None),
                )
            };
            pairs.map(call).collect::<ClosureResult<Array>>()
        },
    );
}

fn register_searches(engine: &mut Engine, world: &Rc<FlowWorld>) {
    put(engine, world, "find", Purity::Pure, |caller, array: &mut Array| find(caller, array, 0));
    put_with(engine, world, "find", find);
    put(engine, world, "find_map", Purity::Pure, |caller, array: &mut Array| {
        find_map(caller, array, 0)
    });
    put_with(engine, world, "find_map", find_map);
    put(engine, world, "index_of", Purity::Pure, |caller, array: &mut Array| {
        index_of(caller, array, 0)
    });
    put_with(engine, world, "index_of", index_of);
    put(engine, world, "some", Purity::Pure, |caller, array: &mut Array| {
        Ok(first(caller, array, 0)?.is_some())
    });
    put(engine, world, "all", Purity::Pure, |caller, array: &mut Array| {
        for (index, item) in array.iter_mut().enumerate() {
            if !caller.is_chosen(item, index)? {
                return Ok(false);
            }
        }
        Ok(true)
    });
}

fn find(caller: &ClosureCaller<'_>, array: &mut Array, start: i64) -> ClosureResult<Dynamic> {
    let found = first(caller, array, start)?;
    Ok(found.map_or(Dynamic::UNIT, |index| array[index].clone()))
}

fn find_map(caller: &ClosureCaller<'_>, array: &mut Array, start: i64) -> ClosureResult<Dynamic> {
    let skipped = skipped(array.len(), start);
    for (index, item) in array.iter_mut().enumerate().skip(skipped) {
        let value = caller.item(item, index)?;
        if !value.is_unit() {
            return Ok(value);
        }
    }
    Ok(Dynamic::UNIT)
}

fn index_of(caller: &ClosureCaller<'_>, array: &mut Array, start: i64) -> ClosureResult<i64> {
    let found = first(caller, array, start)?;
    Ok(found.map_or(-1, |index| i64::try_from(index).unwrap_or(i64::MAX)))
}

/// Finds the first item that the closure chooses.
fn first(
    caller: &ClosureCaller<'_>,
    array: &mut Array,
    start: i64,
) -> ClosureResult<Option<usize>> {
    let skipped = skipped(array.len(), start);
    for (index, item) in array.iter_mut().enumerate().skip(skipped) {
        if caller.is_chosen(item, index)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Turns a start into a number of items to skip; a negative one counts from the end.
fn skipped(length: usize, start: i64) -> usize {
    let distance = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
    if start < 0 { length.saturating_sub(distance) } else { distance.min(length) }
}

fn register_folds(engine: &mut Engine, world: &Rc<FlowWorld>) {
    put(engine, world, "reduce", Purity::Pure, |caller, array: &mut Array| {
        reduce(caller, array, Dynamic::UNIT)
    });
    put_with(engine, world, "reduce", reduce);
    put(engine, world, "reduce_rev", Purity::Pure, |caller, array: &mut Array| {
        reduce_rev(caller, array, Dynamic::UNIT)
    });
    put_with(engine, world, "reduce_rev", reduce_rev);
}

fn reduce(
    caller: &ClosureCaller<'_>,
    array: &mut Array,
    initial: Dynamic,
) -> ClosureResult<Dynamic> {
    let mut items = array.iter_mut().enumerate();
    items.try_fold(initial, |result, (index, item)| caller.fold(item, result, index))
}

fn reduce_rev(
    caller: &ClosureCaller<'_>,
    array: &mut Array,
    initial: Dynamic,
) -> ClosureResult<Dynamic> {
    let mut items = array.iter_mut().enumerate().rev();
    items.try_fold(initial, |result, (index, item)| caller.fold(item, result, index))
}

fn register_choices(engine: &mut Engine, world: &Rc<FlowWorld>) {
    put(engine, world, "drain", Purity::Changes, |caller, array: &mut Array| {
        let (chosen, left) = split(caller, array)?;
        *array = left;
        Ok(chosen)
    });
    put(engine, world, "retain", Purity::Changes, |caller, array: &mut Array| {
        let (chosen, left) = split(caller, array)?;
        *array = chosen;
        Ok(left)
    });
}

/// Splits an array into what the closure chooses and the rest. On an error the array stays whole.
fn split(caller: &ClosureCaller<'_>, array: &mut Array) -> ClosureResult<(Array, Array)> {
    let (mut chosen, mut left) = (Array::new(), Array::new());
    for (index, item) in array.iter_mut().enumerate() {
        let side = if caller.is_chosen(item, index)? { &mut chosen } else { &mut left };
        side.push(item.clone());
    }
    Ok((chosen, left))
}

fn register_maps(engine: &mut Engine, world: &Rc<FlowWorld>) {
    put(engine, world, "map", Purity::Pure, |caller, map: &mut rhai::Map| {
        let members = map.iter_mut();
        let call =
            |(key, item): (&rhai::Identifier, _)| Ok((key.clone(), caller.member(key, item)?));
        members.map(call).collect::<ClosureResult<rhai::Map>>()
    });
    put(engine, world, "filter", Purity::Pure, |caller, map: &mut rhai::Map| {
        Ok(split_map(caller, map)?.0)
    });
    put(engine, world, "drain", Purity::Changes, |caller, map: &mut rhai::Map| {
        let (chosen, left) = split_map(caller, map)?;
        *map = left;
        Ok(chosen)
    });
    put(engine, world, "retain", Purity::Changes, |caller, map: &mut rhai::Map| {
        let (chosen, left) = split_map(caller, map)?;
        *map = chosen;
        Ok(left)
    });
}

fn split_map(
    caller: &ClosureCaller<'_>,
    map: &mut rhai::Map,
) -> ClosureResult<(rhai::Map, rhai::Map)> {
    let (mut chosen, mut left) = (rhai::Map::new(), rhai::Map::new());
    for (key, item) in map.iter_mut() {
        let is_chosen = caller.member(key, item)?.as_bool().unwrap_or(false);
        let side = if is_chosen { &mut chosen } else { &mut left };
        side.insert(key.clone(), item.clone());
    }
    Ok((chosen, left))
}
