//! What a script can call: everything that leaves it, and nothing else does.

use std::rc::Rc;

use agentic_model::{Cid, Map, Value};
use agentic_replay::{
    HOLD, KIND_BYTES_MAX, ProgramFailure, ProgramPosition, RESERVED, Request, SUSPEND, schema,
};
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, NativeCallContext};

use crate::branch::own_copy;
use crate::failure::{
    CANCELLED, TOO_LARGE, bad_call, catchable, not_data, terminated, value_of_answer,
};
use crate::value::{ScriptLink, fits, from_value, to_value};
use crate::world::{BranchInput, BranchOutput, FlowWorld, JoinMode};

pub(crate) type HostResult = Result<Dynamic, Box<EvalAltResult>>;

/// Registers the functions of the host.
pub(crate) fn register(engine: &mut Engine, world: &Rc<FlowWorld>) {
    register_requests(engine, world);
    register_payload_requests(engine, world);
    register_branches(engine, world);
    register_values(engine, world);
    engine.register_type_with_name::<ScriptLink>("Link");
    engine.register_fn("to_string", |link: &mut ScriptLink| link.0.to_string());
    engine.register_fn("==", |left: ScriptLink, right: ScriptLink| left == right);
    engine.register_fn("!=", |left: ScriptLink, right: ScriptLink| left != right);
}

/// `request`, `suspend`, `hold`, `sleep`.
fn register_requests(engine: &mut Engine, world: &Rc<FlowWorld>) {
    let w = Rc::clone(world);
    engine.register_fn("request", move |c: NativeCallContext, kind: &str, payload: Dynamic| {
        ask(&w, &c, kind, payload, Map::new())
    });
    let w = Rc::clone(world);
    engine.register_fn(
        "request",
        move |c: NativeCallContext, kind: &str, payload: Dynamic, options: rhai::Map| {
            let options = map_of(options, &c)?;
            ask(&w, &c, kind, payload, options)
        },
    );
    let w = Rc::clone(world);
    engine.register_fn("suspend", move |c: NativeCallContext, tag: &str| {
        let payload = Value::map([("tag", Value::text(tag))]);
        ask_value(&w, &c, SUSPEND, payload, Map::new())
    });
    let w = Rc::clone(world);
    engine.register_fn("hold", move |c: NativeCallContext, question: &str| {
        hold(&w, &c, question, Map::new())
    });
    let w = Rc::clone(world);
    engine.register_fn("hold", move |c: NativeCallContext, question: &str, options: rhai::Map| {
        let options = map_of(options, &c)?;
        hold(&w, &c, question, options)
    });
    let w = Rc::clone(world);
    engine.register_fn("sleep", move |c: NativeCallContext, millis: i64| {
        if millis < 0 {
            return Err(bad_call("a sleep takes no less than 0 milliseconds", c.call_position()));
        }
        let until = w.now.get().plus_millis(millis);
        let path = w.context.borrow_mut().next_path();
        perform(&w, &c, Request::sleep(path, until))
    });
}

/// `exec`, `commit`, `spawn`, `trace`, `continue_with`.
fn register_payload_requests(engine: &mut Engine, world: &Rc<FlowWorld>) {
    let w = Rc::clone(world);
    engine.register_fn("exec", move |c: NativeCallContext, command: Dynamic| {
        let payload = match data_of(&command, &c)? {
            text @ Value::Text(_) => Value::map([("command", text)]),
            list @ Value::List(_) => Value::map([("argv", list)]),
            map @ Value::Map(_) => map,
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Bytes(_)
            | Value::Link(_)) => {
                let message =
                    format!("`exec` takes a text, a list or a map, not {}", other.variant());
                return Err(bad_call(message, c.call_position()));
            }
        };
        ask_value(&w, &c, "exec", payload, Map::new())
    });
    for kind in ["commit", "spawn"] {
        let w = Rc::clone(world);
        engine.register_fn(kind, move |c: NativeCallContext, fields: rhai::Map| {
            let payload = Value::Map(map_of(fields, &c)?);
            ask_value(&w, &c, kind, payload, Map::new())
        });
    }
    let w = Rc::clone(world);
    engine.register_fn(
        "trace",
        move |c: NativeCallContext, data: Dynamic| -> Result<(), Box<EvalAltResult>> {
            w.say("trace", data_of(&data, &c)?);
            Ok(())
        },
    );
    let w = Rc::clone(world);
    engine.register_fn(
        "continue_with",
        move |c: NativeCallContext, state: Dynamic| -> HostResult {
            let state = data_of(&state, &c)?;
            if !w.is_stopping() {
                w.baton.suspend(BranchOutput::Continue(state));
            }
            Err(terminated())
        },
    );
}

/// `all`, `any`, `scope`, `patched`.
fn register_branches(engine: &mut Engine, world: &Rc<FlowWorld>) {
    for (name, mode) in [("all", JoinMode::All), ("any", JoinMode::Any)] {
        let w = Rc::clone(world);
        engine.register_fn(name, move |c: NativeCallContext, closures: Array| {
            join(&w, &c, mode, closures)
        });
    }
    crate::scope::register(engine, world);
}

/// `now`, `random`; and `exit`, which would end a run past everyone who joins its branches.
fn register_values(engine: &mut Engine, world: &Rc<FlowWorld>) {
    let no_exit = |c: NativeCallContext| -> HostResult {
        Err(bad_call(
            "`exit` is not available in flows; use `return` or `throw`",
            c.call_position(),
        ))
    };
    engine.register_fn("exit", no_exit);
    engine.register_fn("exit", move |c: NativeCallContext, _: Dynamic| no_exit(c));
    let w = Rc::clone(world);
    engine.register_fn("now", move || w.now.get().millis());
    let w = Rc::clone(world);
    engine.register_fn("random", move || {
        let (path, counter) = w.context.borrow_mut().next_random();
        w.seed.get().unit(&path, counter)
    });
}

/// Runs closures as branches. They are called as from where the join stands, so that those of a
/// module find its functions, and calls nest on from there.
#[allow(deprecated)] // `store_data` is volatile, not obsolete.
fn join(
    world: &FlowWorld,
    context: &NativeCallContext,
    mode: JoinMode,
    closures: Array,
) -> HostResult {
    let position = context.call_position();
    if let Some(variable) = world.shared_by(&closures) {
        let message = format!(
            "closures of one loop share `{variable}`, which the loop changes: all of them would see its last value; make them with `map`, as in `list.map(|item| || …)`"
        );
        return Err(bad_call(message, position));
    }
    let mut branches = Vec::new();
    for closure in closures {
        let Some(closure) = closure.read_lock::<FnPtr>() else {
            return Err(bad_call("a join takes an array of closures", position));
        };
        let closure = own_copy(&closure).map_err(|message| bad_call(message, position))?;
        branches.push((world.context.borrow_mut().next_branch(), closure));
    }
    if branches.is_empty() {
        return match mode {
            JoinMode::All => Ok(Dynamic::from_array(Array::new())),
            JoinMode::Any => Err(bad_call("`any` of no branches has no winner", position)),
        };
    }
    if world.is_stopping() {
        return Err(terminated());
    }
    let caller = Rc::new(context.store_data());
    match world.baton.suspend(BranchOutput::Join { mode, branches, caller }) {
        Some(BranchInput::Joined(outcome)) => outcome,
        Some(BranchInput::Cancel(reason)) => Err(cancelled(reason, context)),
        Some(BranchInput::Begin | BranchInput::Answer(_) | BranchInput::Kill) | None => {
            Err(terminated())
        }
    }
}

fn hold(
    world: &FlowWorld,
    context: &NativeCallContext,
    question: &str,
    options: Map,
) -> HostResult {
    let mut payload = options;
    payload.insert("question".to_owned(), Value::text(question));
    let mut request_options = Map::new();
    if let Some(given) = payload.remove("schema") {
        payload.insert("schema".to_owned(), schema::shape(&given));
        request_options.insert("schema".to_owned(), given);
    }
    let mut decision = ask_value(world, context, HOLD, Value::Map(payload), request_options)?;
    if !world.tells_who_decided()
        && let Some(mut decision) = decision.write_lock::<rhai::Map>()
    {
        // Such a script has gone on without; what it asked since may hold the whole decision.
        decision.remove("principal");
    }
    Ok(decision)
}

fn ask(
    world: &FlowWorld,
    context: &NativeCallContext,
    kind: &str,
    payload: Dynamic,
    options: Map,
) -> HostResult {
    if kind.starts_with(RESERVED) {
        let message = format!("kinds that begin with `{RESERVED}` are not for scripts");
        return Err(bad_call(message, context.call_position()));
    }
    let payload = data_of(&payload, context)?;
    ask_value(world, context, kind, payload, options)
}

fn ask_value(
    world: &FlowWorld,
    context: &NativeCallContext,
    kind: &str,
    payload: Value,
    options: Map,
) -> HostResult {
    let position = context.call_position();
    if kind.is_empty() || kind.len() > KIND_BYTES_MAX {
        return Err(bad_call("the kind of a request has no proper length", position));
    }
    let (schema, timeout_ms) =
        read_options(options).map_err(|message| bad_call(message, position))?;
    let path = world.context.borrow_mut().next_path();
    let request = Request { schema, timeout_ms, ..Request::new(path, kind, payload) };
    perform(world, context, request)
}

/// Reads what a request may be given beside its payload.
fn read_options(options: Map) -> Result<(Option<Cid>, Option<u64>), String> {
    let (mut schema, mut timeout_ms) = (None, None);
    for (name, value) in options {
        match (name.as_str(), &value) {
            ("schema", value) => schema = Some(schema::cid(value)),
            ("timeout_ms", Value::Int(millis)) if *millis > 0 => {
                timeout_ms = Some(millis.unsigned_abs());
            }
            _ => return Err(format!("the option `{name}` of a request is unknown or malformed")),
        }
    }
    Ok((schema, timeout_ms))
}

/// Asks, and waits for the answer.
pub(crate) fn perform(
    world: &FlowWorld,
    context: &NativeCallContext,
    request: Request,
) -> HostResult {
    if world.is_stopping() {
        return Err(terminated());
    }
    let called_at = context.call_position();
    let position =
        called_at.line().zip(called_at.position()).map(|(line, column)| ProgramPosition {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        });
    let answer = match world.baton.suspend(BranchOutput::Ask(Request { position, ..request })) {
        Some(BranchInput::Answer(answer)) => answer,
        Some(BranchInput::Cancel(reason)) => return Err(cancelled(reason, context)),
        Some(BranchInput::Begin | BranchInput::Joined(_) | BranchInput::Kill) | None => {
            return Err(terminated());
        }
    };
    let value = value_of_answer(answer, called_at)?;
    if fits(&value) {
        return Ok(from_value(value));
    }
    let failure = ProgramFailure::new(TOO_LARGE, "the answer is too large for a script");
    Err(catchable(failure, called_at))
}

fn cancelled(reason: String, context: &NativeCallContext) -> Box<EvalAltResult> {
    let failure = ProgramFailure::new(CANCELLED, reason);
    catchable(failure, context.call_position())
}

pub(crate) fn data_of(
    dynamic: &Dynamic,
    context: &NativeCallContext,
) -> Result<Value, Box<EvalAltResult>> {
    to_value(dynamic).map_err(|error| not_data(&error, context.call_position()))
}

fn map_of(map: rhai::Map, context: &NativeCallContext) -> Result<Map, Box<EvalAltResult>> {
    let pairs = map.into_iter().map(|(key, item)| Ok((key.to_string(), data_of(&item, context)?)));
    pairs.collect()
}
