//! Behaviours that sessions run: whether their programs can run, and what they consist of.

use std::cell::RefCell;
use std::collections::BTreeMap;

use agentic_model::{AgentName, Cid, Object, StoredBehaviour, Value};
use agentic_replay::{Kinds, PinnedProgram, SessionId, TraceDetail};

use super::language::{kinds_of, language_of, of_fault};
use super::listing::with_key;
use super::own;
use crate::error::ProgramError;
use crate::{Error, Result, SessionSpace};

/// The word that stands for all kinds of effects.
const EVERYTHING: &str = "*";

/// Tells whether a program may be granted a kind of effects: one that is known here or to its language,
/// all of them, or one that its source names, which somebody else answers.
///
/// # Errors
/// Fails when its language is not known.
pub fn knows_effect(flow: &Object, kind: &str) -> Result<bool> {
    let source = flow.map().get("source").and_then(Value::as_text).unwrap_or_default();
    let is_named = || source.contains(&format!("\"{kind}\""));
    Ok(kind == EVERYTHING || kinds_of(flow)?.effects().contains(kind) || is_named())
}

/// Lists the kinds of effects that every program may ask for.
pub fn built_in_effects() -> Vec<String> {
    Kinds::built_in().effects().into_iter().map(str::to_owned).collect()
}

/// Checks that the program of a behaviour can run here, and returns the objects that it consists of
/// besides its own: they have to be wherever it is.
///
/// # Errors
/// Fails when its language is not known, when it does not parse, and when a flow that it names by its
/// id is nowhere.
pub fn check_flow(space: &SessionSpace, flow: &Object) -> Result<Vec<Object>> {
    check_flow_with(space, flow, |_| None)
}

/// Does the same for a flow whose parts may stand somewhere else.
///
/// # Errors
/// Fails as [`check_flow`] does.
pub fn check_flow_with(
    space: &SessionSpace,
    flow: &Object,
    elsewhere: impl Fn(&Cid) -> Option<Object>,
) -> Result<Vec<Object>> {
    let read = read(flow)?;
    let language = language_of(flow)?;
    kinds_of(flow)?;
    let (found, lost) = (RefCell::new(BTreeMap::new()), RefCell::new(None));
    let objects = |cid: &Cid| match space.object(*cid).ok().or_else(|| elsewhere(cid)) {
        Some(object) => {
            found.borrow_mut().insert(*cid, object.clone());
            Some(object)
        }
        None => {
            lost.borrow_mut().get_or_insert(*cid);
            None
        }
    };
    let (semantics, detail) = (language.semantics(), TraceDetail::Told);
    let pinned = PinnedProgram { flow, objects: &objects, semantics, detail };
    let program = language.program(&pinned);
    for cid in read.modules.values().chain(&language.parts(flow)) {
        objects(cid);
    }
    program.map_err(|fault| of_fault(flow, fault))?;
    if let Some(cid) = lost.into_inner() {
        let reason = format!("it names {cid}, which is nowhere here");
        return Err(Error::Program(ProgramError::BrokenFlow {
            id: flow.cid().to_string(),
            reason,
        }));
    }
    Ok(found.into_inner().into_values().collect())
}

/// Refuses what a program would be granted beyond what it may be at most.
///
/// # Errors
/// Fails when there is such a thing, and when it cannot be told what it may be granted.
pub(crate) fn check_allowed(flow: &Object, granted: &[String]) -> Result<()> {
    match read(flow)?.beyond(granted) {
        None => Ok(()),
        Some(kind) => Err(Error::Program(ProgramError::BeyondAllow {
            id: flow.cid().to_string(),
            kind: kind.to_owned(),
        })),
    }
}

/// Leaves of what a program would be granted what it may be.
///
/// # Errors
/// Fails when it cannot be told what it may be granted.
pub fn within(flow: &Object, granted: Vec<String>) -> Result<Vec<String>> {
    let read = read(flow)?;
    // Where everything would be granted, what it may be is what is left.
    if let Some(allow) = &read.allow
        && granted.iter().any(|kind| kind == EVERYTHING)
    {
        return Ok(allow.clone());
    }
    let is_within = |kind: &String| read.beyond(std::slice::from_ref(kind)).is_none();
    Ok(granted.into_iter().filter(is_within).collect())
}

fn read(flow: &Object) -> Result<StoredBehaviour> {
    Ok(StoredBehaviour::from_object(flow).map_err(agentic_space::Error::Object)?)
}

/// Finds the session of an agent that was started with a key.
///
/// # Errors
/// Fails when sessions cannot be listed.
pub fn session_with_key(
    space: &SessionSpace,
    agent: &AgentName,
    key: &str,
) -> Result<Option<SessionId>> {
    Ok(with_key(space, agent, key)?.into_iter().next())
}

/// Finds the program of the session of an agent that was started with a key.
///
/// # Errors
/// Fails when sessions cannot be listed, and when the program is nowhere.
pub fn flow_with_key(space: &SessionSpace, agent: &AgentName, key: &str) -> Result<Option<Object>> {
    let Some(id) = session_with_key(space, agent, key)? else { return Ok(None) };
    let flow = own::first(space, &id)?.start.flow;
    Ok(Some(space.object(flow)?))
}
