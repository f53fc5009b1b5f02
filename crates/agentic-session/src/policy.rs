//! What a hold asks of its decision: who may decide what, until when, and how many must agree.
//!
//! All of it stands in the payload of the request, so that every process reads the same. What is
//! malformed lets nobody in. Nobody is asked so any more ([`check_hold`]), but journals of before hold
//! such requests, and they keep their meaning.

mod check;

use agentic_model::{Instant, Value};
use agentic_replay::{HoldReason, OpenHold, Request};

use crate::action::Action;

pub(crate) use self::check::check_policy;
pub use self::check::{check_hold, is_principal};

/// Who a hold is assigned to whose assignees cannot be read. No principal is called like this.
const NOBODY: &str = "nobody";
/// How often a hold may go on to other people.
pub const ESCALATIONS_MAX: usize = 16;

/// What a hold asks of its decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The actions that are offered.
    pub actions: Vec<Action>,
    /// Who may decide; anyone, if empty.
    pub assignees: Vec<String>,
    /// The role that everybody who decides must have besides.
    pub role: Option<String>,
    /// Until when.
    pub deadline: Option<Instant>,
    /// The value when nobody decided in time.
    pub on_expiry: Option<Value>,
    /// How many different people must give the same answer.
    pub need: usize,
    /// How many different people must reject.
    pub rejections: usize,
    /// What is to be approved.
    pub subject: Option<Value>,
    /// The JSON Schema of the value.
    pub schema: Option<Value>,
    /// The texts that a response may be; anything, if empty.
    pub choices: Vec<String>,
    /// To whom it goes on when nobody decides in time, in order.
    pub escalations: Vec<Escalation>,
    /// How many of these steps are taken.
    pub level: usize,
}

/// One step by which a hold goes on to other people.
#[derive(Debug, Clone, PartialEq)]
pub struct Escalation {
    /// Who may decide from then on, besides those who could before.
    pub to: Vec<String>,
    /// Until when.
    pub deadline: Option<Instant>,
    /// The value when nobody decided until then.
    pub on_expiry: Option<Value>,
}

impl Policy {
    /// Reads what a request asks of its decision.
    pub fn of(reason: HoldReason, request: &Request) -> Policy {
        Policy::of_payload(reason, &request.payload)
    }

    /// Does the same from a recorded payload.
    pub fn of_payload(reason: HoldReason, payload: &Value) -> Policy {
        let asked = (reason == HoldReason::Asked).then_some(payload);
        let get = |key: &str| asked.and_then(|payload| payload.get(key));
        let quorum = get("quorum");
        let (assignees, role) = voters(get("assignees"), quorum);
        let deadline = get("deadline").and_then(instant);
        let (on_expiry, escalations) = expiry(deadline, get("on_expiry"));
        Policy {
            actions: actions(reason, get("actions")),
            assignees,
            role,
            deadline,
            on_expiry,
            need: needed(quorum),
            // In doubt one rejection is enough.
            rejections: quorum.and_then(|quorum| count(quorum.get("reject"))).unwrap_or(1),
            subject: get("payload").cloned(),
            schema: payload.get("schema").filter(|_| asked.is_some()).cloned(),
            choices: choices(asked),
            escalations,
            level: 0,
        }
    }

    /// Reads what an open hold asks of its decision at this moment.
    pub(crate) fn of_hold(hold: &OpenHold, now: Instant) -> Policy {
        Policy::of_payload(hold.reason, &hold.payload).at(hold.n_escalations, now)
    }

    /// Takes the steps that are due: those that were recorded, and those whose time has come.
    pub fn at(mut self, n_recorded: usize, now: Instant) -> Policy {
        while let Some(step) = self.escalations.get(self.level).cloned() {
            if self.level >= n_recorded && !self.is_overdue(now) {
                break;
            }
            if !self.assignees.is_empty() {
                self.assignees.extend(step.to);
            }
            self.deadline = step.deadline;
            self.on_expiry = step.on_expiry;
            self.level += 1;
        }
        self
    }

    /// Returns the value that an answer has in effect.
    pub fn effective_value(&self, action: Action, value: Option<&Value>) -> Option<Value> {
        effective_value(action, value, self.subject.as_ref()).cloned()
    }

    /// Tells whether it is too late to decide.
    pub fn is_overdue(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}

/// Returns the value that an answer has in effect: an approval without one gives what was to be
/// approved.
pub(crate) fn effective_value<'v>(
    action: Action,
    value: Option<&'v Value>,
    subject: Option<&'v Value>,
) -> Option<&'v Value> {
    value.or(subject.filter(|_| action == Action::Approve))
}

/// Reads the actions that are offered. What has not begun can only be let go, changed or refused;
/// what may have happened can be told.
fn actions(reason: HoldReason, offered: Option<&Value>) -> Vec<Action> {
    let offered: Vec<Action> =
        texts(offered).iter().filter_map(|name| Action::parse(name)).collect();
    if !offered.is_empty() {
        return offered;
    }
    match reason {
        HoldReason::Asked => {
            vec![Action::Approve, Action::Reject, Action::Edit, Action::Respond]
        }
        HoldReason::NotAllowed => vec![Action::Approve, Action::Reject, Action::Edit],
        HoldReason::InDoubt => vec![Action::Approve, Action::Reject, Action::Respond],
    }
}

/// Reads who may decide, and the role that they need besides.
fn voters(assignees: Option<&Value>, quorum: Option<&Value>) -> (Vec<String>, Option<String>) {
    let assignees = assignees.map(|named| names(named).unwrap_or(vec![NOBODY.to_owned()]));
    let role = quorum.and_then(|quorum| quorum.get("role")).map(|role| match role.as_text() {
        Some(role) if role.starts_with("role:") => role.to_owned(),
        Some(role) => format!("role:{role}"),
        None => NOBODY.to_owned(),
    });
    match (assignees, role) {
        (Some(assignees), role) if !assignees.is_empty() => (assignees, role),
        (_, Some(role)) => (vec![role], None),
        (_, None) => (Vec::new(), None),
    }
}

/// Reads what happens when nobody decides in time: a value, or a chain of other people.
fn expiry(
    mut deadline: Option<Instant>,
    mut form: Option<&Value>,
) -> (Option<Value>, Vec<Escalation>) {
    let mut first = None;
    let mut steps: Vec<Escalation> = Vec::new();
    loop {
        let next = form.and_then(|form| form.get("escalate"));
        let to = next.and_then(|next| next.get("to")).and_then(names);
        let (Some(next), Some(to), Some(before)) = (next, to, deadline) else { break };
        if steps.len() >= ESCALATIONS_MAX {
            break;
        }
        let after = next.get("after_ms").and_then(Value::as_int).map(|ms| before.plus_millis(ms));
        deadline = next.get("deadline").and_then(instant).or(after);
        form = next.get("on_expiry");
        steps.push(Escalation { to, deadline, on_expiry: None });
    }
    // What comes behind the last step is a value.
    match steps.last_mut() {
        Some(last) => last.on_expiry = form.cloned(),
        None => first = form.cloned(),
    }
    (first, steps)
}

/// Reads one name or a list of them; nothing, if it is neither.
fn names(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Text(one) => Some(vec![one.clone()]),
        Value::List(all) => {
            all.iter().map(|item| item.as_text().map(str::to_owned)).collect::<Option<_>>()
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Map(_)
        | Value::Link(_) => None,
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_list).unwrap_or_default();
    list.iter().filter_map(Value::as_text).map(str::to_owned).collect()
}

/// Reads how many must agree: one, unless it says otherwise.
fn needed(quorum: Option<&Value>) -> usize {
    match quorum {
        None => 1,
        Some(Value::Map(quorum)) if !quorum.contains_key("need") => 1,
        Some(quorum) => count(quorum.get("need")).unwrap_or(usize::MAX),
    }
}

/// Reads how many people; nothing, if it is no number above zero.
fn count(value: Option<&Value>) -> Option<usize> {
    let count = value?.as_int().and_then(|count| usize::try_from(count).ok())?;
    (count > 0).then_some(count)
}

/// Reads what may be chosen. A node of a plan takes its own choices and the two standard ones.
fn choices(asked: Option<&Value>) -> Vec<String> {
    let Some(payload) = asked else { return Vec::new() };
    let mut choices = texts(payload.get("choices"));
    let is_node = payload.get("node").and_then(Value::as_text).is_some();
    if is_node && payload.get("input").is_some() {
        for standard in ["accept", "reject"] {
            if !choices.iter().any(|choice| choice == standard) {
                choices.push(standard.to_owned());
            }
        }
    }
    choices
}

pub(super) fn instant(value: &Value) -> Option<Instant> {
    match value {
        Value::Int(millis) => Some(Instant::from_millis(*millis)),
        Value::Text(text) => Instant::parse(text),
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Link(_) => None,
    }
}

#[cfg(test)]
mod tests;
