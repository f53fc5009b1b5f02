//! Keeping a version of a behaviour that a model proposed: checked, and adopted by nobody yet.

use std::collections::BTreeSet;

use agentic_model::behaviour::{BehaviourProposal, check_prompt, news};
use agentic_model::edge::Party;
use agentic_model::hidden::is_hidden;
use agentic_model::{
    AboutBehaviour, BehaviourForm, Cid, LibraryName, Object, Person, StoredBehaviour, Value,
};
use agentic_replay::{Performance, StartRecord};
use agentic_space::library::{BehaviourAddition, keep_behaviour};

use crate::behaviour::check_flow;
use crate::error::ProgramError;
use crate::{Error, Result, SessionSpace};

/// How many things that are new in a proposal are named.
const NEWS_MAX: usize = 50;
/// How long the reason of a proposal may be, in bytes.
const REASON_BYTES_MAX: usize = 2_000;

/// Keeps a proposed version, made from one that is there. Only its text may differ, and it may be
/// granted less.
pub(super) fn propose(
    space: &SessionSpace,
    start: &StartRecord,
    performance: &Performance,
) -> Result<Value> {
    let payload = &performance.request.payload;
    let name = library_name(payload)?;
    let base = named_behaviour(space, payload, "from")?;
    let source = text(payload, "source")?;
    let allow = match payload.get("allow") {
        None | Some(Value::Null) => None,
        Some(kinds) => Some(texts(kinds).ok_or_else(|| bad("`allow` is no list of texts"))?),
    };
    let proposal = BehaviourProposal { base: &base, source, allow: allow.as_deref() };
    let object = proposal.object().map_err(|fault| bad(fault.to_string()))?;
    let reason = reason(payload)?;
    let (before, after) = (read(&base)?, read(&object)?);
    let cid = object.cid();
    if space.repository().is_private(&start.agent)? {
        // What a private agent makes is kept with it: no push takes it along.
        for object in parts(space, &object, &after)?.iter().chain([&object]) {
            space.put_object(&start.agent, object)?.visible()?;
        }
        return Ok(told(cid, &before, &after));
    }
    let addition = BehaviourAddition {
        parts: parts(space, &object, &after)?,
        about: AboutBehaviour {
            names: [name.clone()].into(),
            parents: [base.cid()].into(),
            note: reason,
            proposed_by: Some(Party::Agent(start.agent.clone())),
            evidence: BTreeSet::new(),
        },
        author: Some(Person::of_agent(&start.agent)),
        name,
        object,
    };
    keep_behaviour(space, &addition)?.written.visible()?;
    Ok(told(cid, &before, &after))
}

/// Says what was kept, and what it names that the version before does not.
fn told(cid: Cid, before: &StoredBehaviour, after: &StoredBehaviour) -> Value {
    let named = news(before, after);
    let more = named.len().saturating_sub(NEWS_MAX);
    let mut named: Vec<Value> =
        named.iter().take(NEWS_MAX).map(|one| Value::text(one.to_string())).collect();
    if more > 0 {
        named.push(Value::text(format!("and {more} more")));
    }
    Value::map([
        ("cid", Value::text(cid.to_string())),
        ("before", Value::text(before.source.clone().unwrap_or_default())),
        ("after", Value::text(after.source.clone().unwrap_or_default())),
        ("news", Value::List(named)),
    ])
}

/// Checks that a behaviour can run here, and returns the objects that it consists of besides its own.
pub(super) fn parts(
    space: &SessionSpace,
    object: &Object,
    read: &StoredBehaviour,
) -> Result<Vec<Object>> {
    match read.form {
        BehaviourForm::Flow => check_flow(space, object),
        BehaviourForm::Prompt => {
            let source = read.source.as_deref().unwrap_or_default();
            check_prompt(source).map_err(|fault| bad(fault.to_string()))?;
            Ok(Vec::new())
        }
    }
}

/// Reads why a version is proposed: a short text without anything that nobody sees.
fn reason(payload: &Value) -> Result<String> {
    let reason = text(payload, "reason")?.trim();
    if reason.len() > REASON_BYTES_MAX {
        return Err(bad(format!("the reason has more than {REASON_BYTES_MAX} bytes")));
    }
    if reason.chars().any(|c| is_hidden(c) && c != '\n' && c != '\t') {
        return Err(bad("the reason has characters that nobody sees"));
    }
    Ok(reason.to_owned())
}

pub(super) fn read(object: &Object) -> Result<StoredBehaviour> {
    StoredBehaviour::from_object(object).map_err(|error| bad(error.to_string()))
}

/// Finds the behaviour that a field names by its id.
pub(super) fn named_behaviour(
    space: &SessionSpace,
    payload: &Value,
    field: &str,
) -> Result<Object> {
    let cid = Cid::parse(text(payload, field)?);
    let cid = cid.map_err(|_| bad(format!("`{field}` is no id of a behaviour")))?;
    let object = space.object(cid)?;
    read(&object)?;
    Ok(object)
}

pub(super) fn library_name(payload: &Value) -> Result<LibraryName> {
    LibraryName::parse(text(payload, "name")?).map_err(|error| bad(error.to_string()))
}

pub(super) fn text<'p>(payload: &'p Value, field: &str) -> Result<&'p str> {
    let found = payload.get(field).and_then(Value::as_text);
    found.ok_or_else(|| bad(format!("the request lacks the text `{field}`")))
}

fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_list()?.iter().map(|one| one.as_text().map(str::to_owned)).collect()
}

pub(super) fn bad(reason: impl Into<String>) -> Error {
    Error::Program(ProgramError::BadRequest { reason: reason.into() })
}
