//! The interpreter, locked: no clock, no `eval`, no modules but by id, every size bounded.

use std::rc::Rc;

use agentic_model::Value;
use rhai::packages::{
    BasicArrayPackage, BasicMapPackage, CorePackage, LogicPackage, MoreStringPackage, Package,
};
use rhai::{
    Array, Dynamic, Engine, EvalAltResult, EvalContext, FnPtr, ImmutableString, Module, Token,
};

use crate::failure::{innermost, terminated};
use crate::limits::{
    BYTES_PER_WORK, CALLS_MAX, DEPTH_MAX, EXPRESSION_DEPTH_MAX, FUNCTIONS_MAX, ITEMS_MAX,
    ITEMS_PER_WORK, MODULES_MAX, TEXT_BYTES_MAX, VARIABLES_MAX, WORK_MAX,
};
use crate::modules::{FlowResolver, Modules};
use crate::world::FlowWorld;
use crate::{closures, host};

/// What a flow must not use: code made at run time, and powers of floats, whose last bit depends on
/// the machine.
pub(crate) const DISABLED: [&str; 2] = ["eval", "**"];

/// Gives an interpreter of the language alone all that a flow runs with. It may have parsed the flow
/// before: to make one takes longer than most flows run.
pub(crate) fn furnish(engine: &mut Engine, world: &Rc<FlowWorld>, modules: Rc<dyn Modules>) {
    closures::register(engine, world);
    host::register(engine, world);
    watch(engine, world);
    engine.set_module_resolver(FlowResolver::new(Rc::clone(world), modules));
}

/// Makes an interpreter with the language alone: enough to parse.
#[allow(deprecated)] // `on_parse_token` is volatile, not obsolete.
pub(crate) fn locked() -> Engine {
    let mut engine = Engine::new_raw();
    for package in packages() {
        engine.register_global_module(package);
    }
    for symbol in DISABLED {
        engine.disable_symbol(symbol);
    }
    // The language keeps the word for itself, without a use for it.
    engine.on_parse_token(|token, _, _| {
        if let Token::Reserved(word) = &token
            && **word == "spawn"
        {
            return Token::Identifier(word.clone());
        }
        token
    });
    engine.set_strict_variables(true);
    engine.set_fail_on_invalid_map_property(true);
    engine.set_max_operations(0);
    engine.set_max_call_levels(CALLS_MAX);
    engine.set_max_expr_depths(EXPRESSION_DEPTH_MAX, EXPRESSION_DEPTH_MAX);
    engine.set_max_string_size(TEXT_BYTES_MAX);
    engine.set_max_array_size(ITEMS_MAX);
    engine.set_max_map_size(ITEMS_MAX);
    engine.set_max_variables(VARIABLES_MAX);
    engine.set_max_functions(FUNCTIONS_MAX);
    engine.set_max_modules(MODULES_MAX);
    engine
}

fn packages() -> [rhai::Shared<Module>; 5] {
    [
        CorePackage::new().as_shared_module(),
        LogicPackage::new().as_shared_module(),
        BasicArrayPackage::new().as_shared_module(),
        BasicMapPackage::new().as_shared_module(),
        MoreStringPackage::new().as_shared_module(),
    ]
}

/// Ends the run if the error at the bottom is a bound that was hit.
pub(crate) fn note_bound(world: &FlowWorld, error: &EvalAltResult) {
    let inner = innermost(error);
    if inner.is_system_exception() {
        world.fail(inner.to_string());
    }
}

/// Watches operations, variables and output.
#[allow(deprecated)] // `on_var` is volatile, not obsolete.
fn watch(engine: &mut Engine, world: &Rc<FlowWorld>) {
    let counted = Rc::clone(world);
    engine.on_progress(move |_| counted.spend(1).then_some(Dynamic::UNIT));
    let weighed = Rc::clone(world);
    engine.on_var(move |name, _, context| {
        weigh(&weighed, name, &context);
        if weighed.is_stopping() { Err(terminated()) } else { Ok(None) }
    });
    let printed = Rc::clone(world);
    engine.on_print(move |text| printed.say("print", Value::text(text)));
    let debugged = Rc::clone(world);
    engine.on_debug(move |text, _, _| debugged.say("debug", Value::text(text)));
}

/// Charges for touching a variable and bounds how deep its value nests. Closures are variables
/// too when they are captured, so a chain of closures cannot grow beyond the bound; dropping a
/// deeper one would overflow the stack.
fn weigh(world: &FlowWorld, name: &str, context: &EvalContext<'_, '_, '_, '_, '_, '_>) {
    let Some(value) = context.scope().get(name) else { return };
    let mut weight = Weight { items: 0, bytes: 0 };
    if !weight.add(value, 0) {
        world.fail(format!("the value of `{name}` is too large, or nests deeper than {DEPTH_MAX}"));
    }
    let work = weight.items / ITEMS_PER_WORK + weight.bytes / BYTES_PER_WORK;
    if work > 0 {
        world.spend(work as u64);
    }
}

struct Weight {
    items: usize,
    bytes: usize,
}

/// How many items a value may have before it is not looked at any further.
const ITEMS_WEIGHED_MAX: usize = WORK_MAX as usize * ITEMS_PER_WORK;

impl Weight {
    /// Adds a value; says no when it nests too deep or is too large to be looked at. A closure
    /// counts for more than other items: it is copied with all that it holds.
    fn add(&mut self, value: &Dynamic, depth: usize) -> bool {
        if value.is_int() || value.is_float() || value.is_bool() || value.is_unit() {
            return true;
        }
        if depth > DEPTH_MAX || self.items > ITEMS_WEIGHED_MAX {
            return false;
        }
        if let Some(text) = value.read_lock::<ImmutableString>() {
            self.bytes += text.len();
        } else if let Some(items) = value.read_lock::<Array>() {
            self.items += items.len();
            return items.iter().all(|item| self.add(item, depth + 1));
        } else if let Some(map) = value.read_lock::<rhai::Map>() {
            self.items += map.len();
            return map.values().all(|item| self.add(item, depth + 1));
        } else if let Some(closure) = value.read_lock::<FnPtr>() {
            self.items += ITEMS_PER_WORK * (1 + closure.curry().len());
            return closure.iter_curry().all(|item| self.add(item, depth + 1));
        }
        true
    }
}
