//! What a decision is, what a hold asks of it, and how it stands in its commit.

use std::collections::BTreeSet;

use agentic_model::commit::{Claims, OpenFields};
use agentic_model::{Instant, Map, Oid, Value};
use agentic_replay::{Answer, Hold, HoldReason, Request, Withdrawn};

use crate::decide::Draft;
use crate::session::OpenHold;
use crate::{Result, Space};

/// The version of the decision record.
const VERSION: i64 = 1;
/// Who a hold is assigned to whose assignees cannot be read. No principal is called like this.
const NOBODY: &str = "nobody";

/// What a decision does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Yes, as it was asked.
    Approve,
    /// No.
    Reject,
    /// Yes, with this instead.
    Edit,
    /// This is the answer.
    Respond,
    /// Nobody answered in time.
    Expire,
    /// Nobody waits for the answer any more.
    Withdrawn,
}

/// A decision, as its commit records it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What it does.
    pub action: Action,
    /// The value.
    pub value: Option<Value>,
    /// Who decided.
    pub principal: String,
    /// Why, in free text; the message of the commit.
    pub rationale: String,
    /// Everything else that is recorded.
    pub record: Map,
    /// The id of the request, in full.
    pub request: String,
}

/// What a hold asks of its decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The actions that are offered.
    pub actions: Vec<Action>,
    /// Who may decide; anyone, if empty.
    pub assignees: Vec<String>,
    /// Until when.
    pub deadline: Option<Instant>,
    /// The value when nobody decided in time.
    pub on_expiry: Option<Value>,
    /// How many different people must approve.
    pub need: usize,
    /// What is to be approved.
    pub subject: Option<Value>,
    /// The JSON Schema of the value.
    pub schema: Option<Value>,
}

impl Action {
    /// Parses an action that a human may take.
    pub fn parse(text: &str) -> Option<Action> {
        match text {
            "approve" => Some(Action::Approve),
            "reject" => Some(Action::Reject),
            "edit" => Some(Action::Edit),
            "respond" => Some(Action::Respond),
            _ => None,
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Action::Approve => "approve",
            Action::Reject => "reject",
            Action::Edit => "edit",
            Action::Respond => "respond",
            Action::Expire => "expire",
            Action::Withdrawn => "withdrawn",
        }
    }

    fn parse_any(text: &str) -> Option<Action> {
        Action::parse(text).or(match text {
            "expire" => Some(Action::Expire),
            "withdrawn" => Some(Action::Withdrawn),
            _ => None,
        })
    }
}

impl Policy {
    /// Reads what a request asks of its decision.
    pub fn of(reason: HoldReason, request: &Request) -> Policy {
        Policy::of_payload(reason, &request.payload)
    }

    /// Does the same from a recorded payload.
    pub fn of_payload(reason: HoldReason, payload: &Value) -> Policy {
        let is_asked = reason == HoldReason::Asked;
        let get = |key: &str| payload.get(key).filter(|_| is_asked);
        let texts = |key: &str| -> Vec<String> {
            let list = get(key).and_then(Value::as_list).unwrap_or_default();
            list.iter().filter_map(Value::as_text).map(str::to_owned).collect()
        };
        let offered: Vec<Action> =
            texts("actions").iter().filter_map(|name| Action::parse(name)).collect();
        // What has not begun can only be let go, changed or refused; what may have happened can
        // be told.
        let all = match reason {
            HoldReason::Asked => {
                vec![Action::Approve, Action::Reject, Action::Edit, Action::Respond]
            }
            HoldReason::NotAllowed => vec![Action::Approve, Action::Reject, Action::Edit],
            HoldReason::InDoubt => vec![Action::Approve, Action::Reject, Action::Respond],
        };
        // What is malformed lets nobody in.
        let assignees = match get("assignees") {
            None => Vec::new(),
            Some(Value::Text(one)) => vec![one.clone()],
            Some(Value::List(all)) if all.iter().all(|item| item.as_text().is_some()) => {
                texts("assignees")
            }
            Some(_) => vec![NOBODY.to_owned()],
        };
        let need = match get("quorum").map(|quorum| quorum.get("need").and_then(Value::as_int)) {
            None => 1,
            Some(need) => {
                need.and_then(|need| usize::try_from(need).ok()).unwrap_or(usize::MAX).max(1)
            }
        };
        Policy {
            actions: if offered.is_empty() { all } else { offered },
            assignees,
            deadline: get("deadline").and_then(instant),
            on_expiry: get("on_expiry").cloned(),
            need,
            subject: if is_asked { payload.get("payload").cloned() } else { None },
            schema: get("schema").cloned(),
        }
    }

    /// Returns the value that an answer has in effect: an approval without one takes what was
    /// offered.
    pub fn effective_value(&self, action: Action, value: Option<&Value>) -> Option<Value> {
        match (action, value) {
            (Action::Approve, None) => self.subject.clone(),
            (_, value) => value.cloned(),
        }
    }

    /// Tells whether it is too late to decide.
    pub fn is_overdue(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Finds the decision that settles a hold: the first that is no approval, or the approval that
    /// completes the number of people that are needed.
    pub fn settle<'d>(&self, found: &'d [(Oid, Decision)]) -> Option<(Oid, &'d Decision)> {
        let mut approved = BTreeSet::new();
        for (commit, decision) in found {
            if decision.action == Action::Approve {
                approved.insert(&decision.principal);
                if approved.len() < self.need {
                    continue;
                }
            }
            return Some((*commit, decision));
        }
        None
    }
}

impl Decision {
    /// Returns the message of the commit: why, or in short what.
    pub(crate) fn message(&self) -> String {
        if !self.rationale.trim().is_empty() {
            return self.rationale.clone();
        }
        let mut name = self.action.name().to_owned();
        name[..1].make_ascii_uppercase();
        format!("{name} by {}", self.principal)
    }

    /// What the program gets from a hold that it asked for itself.
    pub fn outcome(&self, policy: &Policy) -> Answer {
        let value = match self.action {
            Action::Approve => self.value.clone().or(policy.subject.clone()),
            Action::Edit | Action::Respond | Action::Reject => self.value.clone(),
            Action::Expire => policy.on_expiry.clone(),
            Action::Withdrawn => None,
        };
        Answer::Ok(Value::map([
            ("action", Value::text(self.action.name())),
            ("value", value.unwrap_or(Value::Null)),
        ]))
    }

    /// Makes the decision that closes a hold which nobody waits for.
    pub fn system(action: Action, principal: &str, withdrawn: &Withdrawn) -> Decision {
        let record = Map::from([("path".to_owned(), Value::text(withdrawn.request.path.as_str()))]);
        Decision {
            action,
            value: None,
            principal: principal.to_owned(),
            rationale: "Nobody waits for the answer any more".to_owned(),
            record,
            request: withdrawn.id.to_string(),
        }
    }

    /// Makes the decision of a hold that nobody answered in time.
    pub fn expired(hold: &Hold, policy: &Policy, now: Instant) -> Decision {
        let deadline = policy.deadline.unwrap_or(now);
        let record = Map::from([
            ("path".to_owned(), Value::text(hold.request.path.as_str())),
            ("request_hash".to_owned(), Value::text(hold.hash.to_string())),
            ("deadline".to_owned(), Value::text(deadline.to_string())),
        ]);
        Decision {
            action: Action::Expire,
            value: policy.on_expiry.clone(),
            principal: "system:expiry".to_owned(),
            rationale: format!("Nobody answered until {deadline}"),
            record,
            request: hold.id.to_string(),
        }
    }

    pub(crate) fn of_human(draft: &Draft, hold: &OpenHold, policy: &Policy) -> Decision {
        let mut record = Map::from([
            ("path".to_owned(), Value::text(hold.ask.path.as_str())),
            ("request_hash".to_owned(), Value::text(hold.ask.hash.to_string())),
            ("payload".to_owned(), Value::text(hold.ask.payload.cid().to_string())),
            ("client".to_owned(), Value::text(draft.client)),
            ("requested_at".to_owned(), Value::text(hold.asked_at.to_string())),
        ]);
        if let Some(schema) = hold.ask.schema {
            record.insert("schema".to_owned(), Value::text(schema.to_string()));
        }
        if let Some(deadline) = policy.deadline {
            record.insert("deadline".to_owned(), Value::text(deadline.to_string()));
        }
        if draft.action == Action::Edit {
            record.insert("edited".to_owned(), Value::Bool(true));
        }
        Decision {
            action: draft.action,
            value: policy.effective_value(draft.action, draft.value.as_ref()),
            principal: draft.principal.clone(),
            rationale: draft.rationale.clone(),
            record,
            request: hold.id.to_string(),
        }
    }

    pub(crate) fn fields(&self, hold_head: Oid, at: Instant) -> Map {
        let mut map = self.record.clone();
        map.extend([
            ("v".to_owned(), Value::Int(VERSION)),
            ("action".to_owned(), Value::text(self.action.name())),
            ("value".to_owned(), self.value.clone().unwrap_or(Value::Null)),
            ("principal".to_owned(), Value::text(&self.principal)),
            ("hold_head".to_owned(), Value::text(hold_head.to_string())),
            ("decided_at".to_owned(), Value::text(at.to_string())),
        ]);
        map
    }

    /// Reads the decision that a commit claims to be. Whether it counts is another question.
    ///
    /// # Errors
    /// Fails when the commit cannot be read.
    pub fn of_commit(space: &Space, commit: Oid) -> Result<Option<Decision>> {
        Ok(Decision::read(space, &space.read_commit(commit)?.message))
    }

    pub(crate) fn read(space: &Space, message: &str) -> Option<Decision> {
        let claims = Claims::read(message);
        if claims.kind.as_ref()?.as_str() != "decision" {
            return None;
        }
        let map = match claims.fields {
            OpenFields::Inline(map) => map,
            OpenFields::Object(cid) => {
                space.object(cid).ok()?.map().get("fields")?.as_map()?.clone()
            }
        };
        Some(Decision {
            action: Action::parse_any(map.get("action")?.as_text()?)?,
            value: map.get("value").filter(|value| **value != Value::Null).cloned(),
            principal: map.get("principal")?.as_text()?.to_owned(),
            rationale: agentic_model::trailer::strip(message),
            request: claims.request?,
            record: map,
        })
    }
}

fn instant(value: &Value) -> Option<Instant> {
    match value {
        Value::Int(millis) => Some(Instant::from_millis(*millis)),
        Value::Text(text) => Instant::parse(text),
        _ => None,
    }
}
