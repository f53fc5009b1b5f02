//! Whether an answer may be given to a hold: by this person, with this action and this value.

use agentic_model::{Value, canonical, json};
use agentic_replay::{HoldReason, OpenHold};
use agentic_space::schema::fits;

use crate::action::{Action, ApprovalScope};
use crate::draft::{APPROVED_BYTES_MAX, DecisionDraft, VALUE_BYTES_MAX};
use crate::error::{DecisionError, RequestError};
use crate::policy::Policy;
use crate::{Error, Result, SessionSpace};

/// An answer that may be given, as far as that can be told without the lock.
#[derive(Debug)]
pub struct AdmittedAnswer<'d> {
    /// What the person said.
    pub draft: &'d DecisionDraft,
    /// The value that it has in effect.
    pub value: Option<Value>,
}

/// Checks everything that can be checked without the lock.
///
/// # Errors
/// Fails with what is wrong with the answer.
pub fn check<'d>(
    space: &SessionSpace,
    hold: &OpenHold,
    policy: &Policy,
    draft: &'d DecisionDraft,
) -> Result<AdmittedAnswer<'d>> {
    check_question(hold, draft)?;
    check_person(hold, &draft.principal)?;
    check_assigned(space, hold, policy, &draft.principal)?;
    check_answer(hold, policy, draft)
}

/// Checks that a hold is this person's to decide.
///
/// # Errors
/// Fails when it is assigned to others, and when git's configuration cannot be read.
pub fn check_assigned(
    space: &SessionSpace,
    hold: &OpenHold,
    policy: &Policy,
    principal: &str,
) -> Result<()> {
    match others(space, policy, principal)? {
        Some(wanted) => Err(assigned_to_others(hold, wanted, principal)),
        None => Ok(()),
    }
}

/// Does the same for a hold elsewhere, as far as it can be told here: who has which role is known there.
///
/// # Errors
/// Fails with what is wrong with the answer.
pub(crate) fn check_elsewhere<'d>(
    hold: &OpenHold,
    policy: &Policy,
    draft: &'d DecisionDraft,
    person: &str,
) -> Result<AdmittedAnswer<'d>> {
    check_question(hold, draft)?;
    check_person(hold, &draft.principal)?;
    check_person(hold, person)?;
    let names_all = policy.assignees.iter().all(|wanted| !wanted.starts_with("role:"));
    if names_all && !policy.assignees.is_empty() && !policy.assignees.iter().any(|it| it == person)
    {
        return Err(assigned_to_others(hold, &policy.assignees, person));
    }
    check_answer(hold, policy, draft)
}

/// Checks that the question is the one that is meant.
fn check_question(hold: &OpenHold, draft: &DecisionDraft) -> Result<()> {
    let Some(expected) = &draft.expect else { return Ok(()) };
    let hash = hold.ask.hash.to_string();
    if expected.len() >= 10 && hash.starts_with(expected.as_str()) {
        return Ok(());
    }
    let request = hold.session.short_request(&hold.id);
    Err(Error::Request(RequestError::Other { request, expected: expected.clone(), found: hash }))
}

fn check_person(hold: &OpenHold, principal: &str) -> Result<()> {
    match principal.strip_prefix("user:").is_none_or(str::is_empty) {
        true => Err(not_allowed(hold, format!("`{principal}` is not a person"))),
        false => Ok(()),
    }
}

/// Checks the answer itself, whoever gives it.
fn check_answer<'d>(
    hold: &OpenHold,
    policy: &Policy,
    draft: &'d DecisionDraft,
) -> Result<AdmittedAnswer<'d>> {
    if !policy.actions.contains(&draft.action) {
        let offered: Vec<&str> = policy.actions.iter().map(|action| action.name()).collect();
        return Err(not_allowed(hold, format!("only {} is offered", offered.join(", "))));
    }
    check_scope(hold, draft)?;
    check_given(draft)?;
    let value = policy.effective_value(draft.action, draft.value.as_ref());
    if draft.value.is_none() {
        check_offered(value.as_ref())?;
    }
    check_value(hold, policy, draft.action, value.as_ref())?;
    Ok(AdmittedAnswer { draft, value })
}

fn assigned_to_others(hold: &OpenHold, wanted: &[String], principal: &str) -> Error {
    not_allowed(hold, format!("it is assigned to {}, not to {principal}", wanted.join(", ")))
}

fn not_allowed(hold: &OpenHold, reason: String) -> Error {
    let what = format!("decide {}", hold.session.short_request(&hold.id));
    Error::Decision(DecisionError::NotAllowed { what, reason })
}

/// Tells whether a hold is this person's to decide.
///
/// # Errors
/// Fails when git's configuration cannot be read.
pub fn is_assigned(space: &SessionSpace, policy: &Policy, principal: &str) -> Result<bool> {
    Ok(others(space, policy, principal)?.is_none())
}

/// Returns to whom a hold is assigned, if that is not this person.
fn others<'p>(
    space: &SessionSpace,
    policy: &'p Policy,
    principal: &str,
) -> Result<Option<&'p [String]>> {
    for wanted in [policy.assignees.as_slice(), policy.role.as_slice()] {
        if !wanted.is_empty() && !is_one_of(space, wanted, principal)? {
            return Ok(Some(wanted));
        }
    }
    Ok(None)
}

/// Checks that an answer which is to count for later requests too is one about a permission.
fn check_scope(hold: &OpenHold, draft: &DecisionDraft) -> Result<()> {
    let reason = match (draft.scope, draft.action, hold.reason) {
        (ApprovalScope::Once, _, _)
        | (ApprovalScope::RestOfSession, Action::Approve, HoldReason::NotAllowed) => return Ok(()),
        // The program knows what to do with such an answer, and says so.
        (ApprovalScope::RestOfSession, Action::Approve, HoldReason::Asked) if offers_more(hold) => {
            return Ok(());
        }
        (ApprovalScope::RestOfSession, Action::Approve, HoldReason::Asked) => {
            "it is a question of the program, not one for a permission"
        }
        (ApprovalScope::RestOfSession, Action::Approve, HoldReason::InDoubt) => {
            "the question is what happened before a crash, not whether it may happen"
        }
        (ApprovalScope::RestOfSession, _, _) => "only an approval can count so long",
    };
    let request = hold.session.short_request(&hold.id);
    Err(Error::Decision(DecisionError::NotForSession { request, reason }))
}

/// Tells whether the program offers an answer that counts for longer than this question.
fn offers_more(hold: &OpenHold) -> bool {
    let scopes = hold.payload.get("scopes").and_then(Value::as_list).unwrap_or_default();
    scopes.iter().any(|scope| scope.as_text() == Some(ApprovalScope::RestOfSession.name()))
}

/// Checks that a value which was given is one that can be recorded.
fn check_given(draft: &DecisionDraft) -> Result<()> {
    let Some(given) = &draft.value else { return Ok(()) };
    let reason = if json::to_text(given).len() > VALUE_BYTES_MAX {
        format!("it is longer than {VALUE_BYTES_MAX} bytes")
    } else if canonical::encode(given).is_err() {
        "it is no data".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::Request(RequestError::ValueMisfit { pointer: String::new(), reason }))
}

/// Checks that what was offered can be kept with a decision.
fn check_offered(offered: Option<&Value>) -> Result<()> {
    let encoded = offered.and_then(|value| canonical::encode(value).ok());
    let n_bytes = encoded.map_or(0, |bytes| bytes.len());
    if n_bytes <= APPROVED_BYTES_MAX {
        return Ok(());
    }
    let reason = format!(
        "what was offered has {n_bytes} bytes, more than the {APPROVED_BYTES_MAX} that are approved; \
         answer with a value of your own, or reject"
    );
    Err(Error::Request(RequestError::ValueMisfit { pointer: String::new(), reason }))
}

fn check_value(
    hold: &OpenHold,
    policy: &Policy,
    action: Action,
    value: Option<&Value>,
) -> Result<()> {
    let misfit = |pointer: &str, reason: String| {
        Error::Request(RequestError::ValueMisfit { pointer: pointer.to_owned(), reason })
    };
    let Some(value) = value else {
        return match action {
            Action::Edit | Action::Respond => {
                Err(misfit("", "this action needs a value".to_owned()))
            }
            Action::Approve if policy.schema.is_some() => {
                Err(misfit("", "there is nothing to approve without a value".to_owned()))
            }
            Action::Approve | Action::Reject | Action::Expire | Action::Withdrawn => Ok(()),
        };
    };
    if action == Action::Edit && hold.ask.kind == "exec" && !is_program(value) {
        return Err(misfit("", "an edited `exec` is a map with `argv` or `command`".to_owned()));
    }
    let is_choice = value.as_text().is_some_and(|text| policy.choices.iter().any(|c| c == text));
    if action == Action::Respond && !policy.choices.is_empty() && !is_choice {
        return Err(misfit("", format!("the choices are {}", policy.choices.join(", "))));
    }
    let Some(schema) = &policy.schema else { return Ok(()) };
    if action == Action::Reject {
        return Ok(());
    }
    fits(schema, value).map_err(|unfit| misfit(&unfit.pointer, unfit.reason))
}

/// Tells whether an `exec` could start this.
fn is_program(value: &Value) -> bool {
    let is_text = |item: &Value| item.as_text().is_some();
    let argv = value.get("argv").and_then(Value::as_list);
    let has_argv = argv.is_some_and(|argv| !argv.is_empty() && argv.iter().all(is_text));
    has_argv || value.get("command").is_some_and(is_text)
}

/// Tells whether a person is among those named, by name or by role.
fn is_one_of(space: &SessionSpace, assignees: &[String], principal: &str) -> Result<bool> {
    for assignee in assignees {
        if assignee == principal {
            return Ok(true);
        }
        if let Some(role) = assignee.strip_prefix("role:") {
            let key = format!("agentic.role.{role}");
            let members = space.repository().git(&["config", "--get-all", &key])?.stdout;
            if members.lines().any(|member| member == principal) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
