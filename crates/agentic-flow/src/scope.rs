//! Scopes: parts of a script with paths of their own, and changes that a script asks about.

use std::rc::Rc;

use agentic_model::Value;
use agentic_replay::{PATCH, Request, SCOPE, ScopeStep, settle};
use rhai::{Dynamic, Engine, FnPtr, NativeCallContext};

use crate::context::is_scope_name;
use crate::engine::note_bound;
use crate::failure::{bad_call, not_settled};
use crate::host::{HostResult, data_of, perform};
use crate::value::from_value;
use crate::world::FlowWorld;

/// Registers `scope` and `patched`.
pub(crate) fn register(engine: &mut Engine, world: &Rc<FlowWorld>) {
    let w = Rc::clone(world);
    engine.register_fn(
        "scope",
        move |c: NativeCallContext, name: &str, body: FnPtr| -> HostResult {
            check_name(name, &c)?;
            w.context.borrow_mut().enter(name);
            let result = body.call_within_context(&c, ());
            leave(&w, result)
        },
    );
    let w = Rc::clone(world);
    engine.register_fn(
        "scope",
        move |c: NativeCallContext, name: &str, value: Dynamic, body: FnPtr| -> HostResult {
            value_scope(&w, &c, name, value, &body)
        },
    );
    let w = Rc::clone(world);
    engine.register_fn("patched", move |c: NativeCallContext, id: &str| -> HostResult {
        check_name(id, &c)?;
        let path = w.context.borrow_mut().patch_path(id);
        perform(&w, &c, Request::new(path, PATCH, Value::text(id)))
    });
}

/// Runs a scope that takes one value and gives one, and touches nothing else of the script: once it
/// is over its result stands for it.
fn value_scope(
    world: &FlowWorld,
    context: &NativeCallContext,
    name: &str,
    value: Dynamic,
    body: &FnPtr,
) -> HostResult {
    check_name(name, context)?;
    if body.iter_curry().next().is_some() {
        let message = "a scope that takes a value captures nothing; hand it over in the value";
        return Err(bad_call(message, context.call_position()));
    }
    let value = data_of(&value, context)?;
    let path = world.context.borrow_mut().enter(name);
    if world.skipped.borrow().contains(&path) {
        world.context.borrow_mut().leave();
        return perform(world, context, Request::new(path, SCOPE, Value::Null));
    }
    world.note_scope(ScopeStep::Entered(path.clone()));
    let result = body.call_within_context(context, (from_value(value),));
    let result = leave(world, result).and_then(|result: Dynamic| {
        // What a replay would give in place of the scope.
        settle(data_of(&result, context)?)
            .map_err(|error| not_settled(&error, context.call_position()))
    });
    match result {
        Ok(result) => {
            world.note_scope(ScopeStep::Ended { path, result: result.clone() });
            Ok(from_value(result))
        }
        Err(error) => {
            world.note_scope(ScopeStep::Failed(path));
            Err(error)
        }
    }
}

fn leave(world: &FlowWorld, result: HostResult) -> HostResult {
    world.context.borrow_mut().leave();
    if let Err(error) = &result {
        note_bound(world, error);
    }
    result
}

fn check_name(name: &str, context: &NativeCallContext) -> Result<(), Box<rhai::EvalAltResult>> {
    if is_scope_name(name) {
        return Ok(());
    }
    let message = format!("`{name}` does not name a scope: letters, digits, `_`, `-`");
    Err(bad_call(message, context.call_position()))
}
