//! What a decision is, and how it stands in its commit.

use agentic_model::commit::{Claims, OpenFields};
use agentic_model::{Cid, Instant, Map, Oid, Value, canonical};
use agentic_replay::{Hold, HoldReason, OpenHold, RequestAnswer, RequestId, WithdrawnRequest};
use agentic_store::user_id;

use crate::action::{Action, ApprovalScope};
use crate::admission::AdmittedAnswer;
use crate::draft::DecisionDraft;
use crate::policy::{Policy, effective_value};
use crate::{Result, SessionSpace};

/// The version of the decision record.
const VERSION: i64 = 1;

/// What decisions from the command line name as their client.
pub const COMMAND_LINE: &str = "cli";

/// The field that names the head on which the hold was put before people.
const HOLD_HEAD: &str = "hold_head";
/// The field that names the decision which this one makes its own.
pub(crate) const ACCEPTS: &str = "accepts";
/// The field that names for whom somebody decided, or whose decision was made one's own.
pub(crate) const ON_BEHALF_OF: &str = "on_behalf_of";
/// The field that names the capability by which somebody decided for somebody else.
pub(crate) const GRANT: &str = "grant";
/// The field that names the peer by whose key it is signed.
pub(crate) const IDENTITY: &str = "identity";

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
    /// The id of the request.
    pub request: RequestId,
}

impl Decision {
    /// Tells whether somebody gives the same answer once more. An approval without a value gives what
    /// was to be approved.
    pub fn is_repeated_by(&self, draft: &DecisionDraft, subject: Option<&Value>) -> bool {
        // A commit records no value as null.
        let is_some = |value: &&Value| **value != Value::Null;
        let value = effective_value(draft.action, draft.value.as_ref(), subject).filter(is_some);
        draft.action == self.action
            && value == self.value.as_ref().filter(is_some)
            && Some(draft.scope) == self.scope()
            && draft.principal == self.principal
    }

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
    pub fn outcome(&self, policy: &Policy) -> RequestAnswer {
        let value = match self.action {
            Action::Withdrawn => None,
            Action::Approve | Action::Edit | Action::Respond | Action::Reject | Action::Expire => {
                policy.effective_value(self.action, self.value.as_ref())
            }
        };
        RequestAnswer::Ok(Value::map([
            ("action", Value::text(self.action.name())),
            ("value", value.unwrap_or(Value::Null)),
            ("principal", Value::text(&self.principal)),
        ]))
    }

    /// Makes the decision that closes a hold which nobody waits for.
    pub fn system(action: Action, principal: &str, withdrawn: &WithdrawnRequest) -> Decision {
        let record = Map::from([("path".to_owned(), Value::text(withdrawn.request.path.as_str()))]);
        Decision {
            action,
            value: None,
            principal: principal.to_owned(),
            rationale: "Nobody waits for the answer any more".to_owned(),
            record,
            request: withdrawn.id,
        }
    }

    /// Makes the decision of a hold that nobody answered in time.
    pub fn expired(hold: &Hold, policy: &Policy, now: Instant) -> Decision {
        let deadline = policy.deadline.unwrap_or(now);
        let record = Map::from([
            ("path".to_owned(), Value::text(hold.request.path.as_str())),
            ("request_hash".to_owned(), Value::text(hold.hash.to_string())),
            ("deadline".to_owned(), Value::text(deadline.to_string())),
            ("escalated".to_owned(), count(policy.level)),
        ]);
        Decision {
            action: Action::Expire,
            value: policy.on_expiry.clone(),
            principal: "system:expiry".to_owned(),
            rationale: format!("Nobody answered until {deadline}"),
            record,
            request: hold.id,
        }
    }

    /// Makes the decision of a person whose answer was admitted.
    pub(crate) fn of_human(
        answer: AdmittedAnswer<'_>,
        hold: &OpenHold,
        policy: &Policy,
    ) -> Decision {
        let AdmittedAnswer { draft, value } = answer;
        let offered = policy.actions.iter().map(|action| Value::text(action.name()));
        let authn = draft.authn.clone().unwrap_or_else(|| format!("uid:{}", user_id()));
        let mut record = Map::from([
            ("path".to_owned(), Value::text(hold.ask.path.as_str())),
            ("kind".to_owned(), Value::text(&hold.ask.kind)),
            ("reason".to_owned(), Value::text(hold.reason.name())),
            ("request_hash".to_owned(), Value::text(hold.ask.hash.to_string())),
            ("payload".to_owned(), Value::text(hold.ask.payload.cid().to_string())),
            ("offered".to_owned(), Value::List(offered.collect())),
            ("scope".to_owned(), Value::text(draft.scope.name())),
            ("client".to_owned(), Value::text(draft.client)),
            ("preselected".to_owned(), Value::Bool(preselects(draft.client, policy))),
            ("authn".to_owned(), Value::text(authn)),
            ("requested_at".to_owned(), Value::text(hold.asked_at.to_string())),
        ]);
        if let Some(schema) = hold.ask.schema {
            record.insert("schema".to_owned(), Value::text(schema.to_string()));
        }
        if let Some(deadline) = policy.deadline {
            record.insert("deadline".to_owned(), Value::text(deadline.to_string()));
        }
        record.extend(policy_of(hold, policy));
        if let (Action::Edit, Some(value)) = (draft.action, &draft.value) {
            record.insert("edited".to_owned(), Value::Bool(true));
            let edited = canonical::encode(value).map(|bytes| Cid::of(&bytes).to_string());
            record.extend(edited.ok().map(|cid| ("edited_payload".to_owned(), Value::text(cid))));
        }
        if let Some(shown) = &draft.shown {
            record.insert("shown".to_owned(), Value::text(&shown.hash));
            record.insert("renderer".to_owned(), Value::text(&shown.renderer));
            record.insert("shown_at".to_owned(), Value::text(shown.at.to_string()));
        }
        if let Some((commit, principal)) = &draft.accepts {
            record.insert(ACCEPTS.to_owned(), Value::text(commit.to_string()));
            record.insert(ON_BEHALF_OF.to_owned(), Value::text(principal));
        }
        Decision {
            action: draft.action,
            value,
            principal: draft.principal.clone(),
            rationale: draft.rationale.clone(),
            record,
            request: hold.id,
        }
    }

    /// Names the head on which the hold was put before people.
    pub(crate) fn on(mut self, published: Option<&str>) -> Decision {
        self.record.extend(published.map(|head| (HOLD_HEAD.to_owned(), Value::text(head))));
        self
    }

    /// Returns the head on which the hold was put before people, as far as it is known.
    pub(crate) fn published(&self) -> Option<&str> {
        self.record.get(HOLD_HEAD).and_then(Value::as_text)
    }

    /// Returns for how long it counts; nothing where it says so in a word that nobody here knows.
    pub fn scope(&self) -> Option<ApprovalScope> {
        match self.record.get("scope") {
            None => Some(ApprovalScope::Once),
            Some(scope) => ApprovalScope::parse(scope.as_text()?),
        }
    }

    /// Returns what was to be approved by a request with this payload, as far as this decides a hold of
    /// a program: what an effect is given is nothing that anybody approves.
    pub(crate) fn subject_of(&self, payload: &Value) -> Option<Value> {
        let reason = self.record.get("reason").and_then(Value::as_text);
        let is_asked = reason.is_none_or(|reason| reason == HoldReason::Asked.name());
        is_asked.then(|| Policy::of_payload(HoldReason::Asked, payload).subject).flatten()
    }

    /// Tells whether it answers this very question. An effect that is in doubt a second time is asked
    /// about under the same id, and what was said of the first time is not about the second.
    pub(crate) fn answers(&self, hold: &OpenHold) -> bool {
        let asked_at = self.record.get("requested_at").and_then(Value::as_text);
        asked_at.and_then(Instant::parse) == Some(hold.asked_at)
    }

    /// Returns until when it could be made, where that was said.
    pub fn deadline(&self) -> Option<Instant> {
        self.record.get("deadline").and_then(Value::as_text).and_then(Instant::parse)
    }

    /// Returns when it was made, as its commit says.
    pub fn decided_at(&self) -> Option<&str> {
        self.record.get("decided_at").and_then(Value::as_text)
    }

    /// Drafts the same decision once more, to be told somebody through this client.
    pub fn drafted_again(&self, client: &'static str) -> DecisionDraft {
        DecisionDraft {
            action: self.action,
            value: self.value.clone(),
            scope: self.scope().unwrap_or_default(),
            rationale: self.rationale.clone(),
            expect: None,
            principal: self.principal.clone(),
            client,
            authn: None,
            shown: None,
            accepts: None,
        }
    }

    /// Returns the person whose voice it is: who decided, or who gave that one the right to.
    pub fn person(&self) -> &str {
        match (self.text(GRANT), self.text(ON_BEHALF_OF)) {
            (Some(_), Some(person)) => person,
            (None, _) | (_, None) => &self.principal,
        }
    }

    /// Returns the capability by which it speaks for somebody else, as it says.
    pub fn grant(&self) -> Option<&str> {
        self.text(GRANT)
    }

    /// Returns the commit of the decision that it makes its own.
    pub fn accepted(&self) -> Option<Oid> {
        Oid::parse(self.text(ACCEPTS)?).ok()
    }

    /// Lists everybody whose voice is used up by it: the person, and the peer who signed it.
    pub fn voices(&self) -> impl Iterator<Item = &str> {
        [Some(self.person()), self.text(IDENTITY)].into_iter().flatten()
    }

    /// Tells whether somebody's voice is used up by it.
    pub(crate) fn has_voice(&self, of: &str) -> bool {
        self.voices().any(|voice| voice == of)
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.record.get(field).and_then(Value::as_text)
    }

    /// Returns the record for a commit that is made at that time, of a hold that stands on that head.
    pub(crate) fn fields(&self, hold_head: Oid, at: Instant) -> Map {
        let mut map = self.record.clone();
        let asked_at = map.get("requested_at").and_then(Value::as_text).and_then(Instant::parse);
        if let Some(asked_at) = asked_at {
            let latency_ms = (at.millis() - asked_at.millis()).max(0);
            map.insert("latency_ms".to_owned(), Value::Int(latency_ms));
        }
        map.extend([
            ("v".to_owned(), Value::Int(VERSION)),
            ("action".to_owned(), Value::text(self.action.name())),
            ("value".to_owned(), self.value.clone().unwrap_or(Value::Null)),
            ("principal".to_owned(), Value::text(&self.principal)),
            (HOLD_HEAD.to_owned(), Value::text(hold_head.to_string())),
            ("decided_at".to_owned(), Value::text(at.to_string())),
        ]);
        map
    }

    /// Reads the decision that a commit claims to be. Whether it counts is another question.
    ///
    /// # Errors
    /// Fails when the commit cannot be read.
    pub fn of_commit(space: &SessionSpace, commit: Oid) -> Result<Option<Decision>> {
        Ok(Decision::read(space, &space.read_commit(commit)?.message))
    }

    pub(crate) fn read(space: &SessionSpace, message: &str) -> Option<Decision> {
        Decision::of_claims(space, claims_of_decision(message)?, message)
    }

    /// Reads the decision that a message claims to be.
    pub(crate) fn of_claims(
        space: &SessionSpace,
        claims: Claims,
        message: &str,
    ) -> Option<Decision> {
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
            request: RequestId::parse(&claims.request?)?,
            record: map,
        })
    }
}

/// Returns what a message claims, where it claims to be a decision, readable or not.
pub(crate) fn claims_of_decision(message: &str) -> Option<Claims> {
    Some(Claims::read(message))
        .filter(|claims| claims.kind.as_ref().is_some_and(|kind| kind.as_str() == "decision"))
}

/// Says what the hold asked of its decision: until when, of how many, and what happens without one.
fn policy_of(hold: &OpenHold, policy: &Policy) -> Map {
    let mut map = Map::new();
    if policy.need > 1 {
        map.insert("need".to_owned(), count(policy.need));
        let votes = hold.votes.iter().map(|vote| Value::text(&vote.decision)).collect();
        map.insert("votes".to_owned(), Value::List(votes));
    }
    let role = policy.role.as_ref().map(|role| ("role".to_owned(), Value::text(role)));
    map.extend(role);
    if policy.level > 0 {
        map.insert("escalated".to_owned(), count(policy.level));
    }
    let on_expiry = hold.payload.get("on_expiry").cloned();
    map.extend(on_expiry.map(|form| ("on_expiry".to_owned(), form)));
    map
}

/// Tells whether the answer was filled in before the person came: a form of another protocol shows
/// the defaults of the schema. Our own dialog and command line have none.
fn preselects(client: &str, policy: &Policy) -> bool {
    let properties = policy.schema.as_ref().and_then(|schema| schema.get("properties"));
    let parts = properties.and_then(Value::as_map).into_iter().flat_map(Map::values);
    let has_default = |schema: &Value| schema.get("default").is_some();
    client != COMMAND_LINE && parts.chain(&policy.schema).any(has_default)
}

fn count(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
