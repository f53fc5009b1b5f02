//! Decisions: a human's answer to a hold, as a commit.
//!
//! Under the agent's lock the durable record of a `decide` transaction *is* the decision; moving the
//! branch publishes it. A commit that merely looks like one decides nothing: only those count whose
//! record is in the agent's journal, or whose vote the session has already noted.

use std::collections::BTreeSet;

use agentic_model::commit::{Claims, CommitData, OpenFields};
use agentic_model::{ConsoleTrace, Instant, Kind, Map, Oid, Person, Value, json};
use agentic_replay::{Answer, Hold, HoldReason, Request, RequestId, StartRecord, Withdrawn};
use agentic_store::journal::{
    self, Body, BranchMove, GitKind, GitObject, KeptObject, NotesEdit, Taken, Transaction,
};
use agentic_store::{Durability, Stream};

use crate::commit::{bring_along, follow_branch};
use crate::hold::Pending;
use crate::session::drive::decision_entry;
use crate::session::{OpenHold, summary};
use crate::space::Written;
use crate::{Error, Result, Space};

/// The longest value of an answer, as JSON, in bytes.
pub const VALUE_BYTES_MAX: usize = 256 << 10;
/// The version of the decision record.
const VERSION: i64 = 1;

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

/// What a human may offer as an answer.
#[derive(Debug, Clone)]
pub struct Draft {
    /// What to do.
    pub action: Action,
    /// The value, where the action takes one.
    pub value: Option<Value>,
    /// Why.
    pub rationale: String,
    /// The hash that the request must have.
    pub expect: Option<String>,
    /// Who decides.
    pub principal: String,
    /// Through what.
    pub client: &'static str,
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

/// What became of a decision.
#[derive(Debug)]
pub struct Decided {
    /// The commit.
    pub commit: Oid,
    /// The decision that counts: this one, or the same one made before.
    pub decision: Decision,
    /// The session.
    pub session: agentic_replay::SessionId,
    /// Whether everything is visible.
    pub written: Written,
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
        let all = vec![Action::Approve, Action::Reject, Action::Edit, Action::Respond];
        let need = get("quorum").and_then(|quorum| quorum.get("need")).and_then(Value::as_int);
        Policy {
            actions: if offered.is_empty() { all } else { offered },
            assignees: texts("assignees"),
            deadline: get("deadline").and_then(instant),
            on_expiry: get("on_expiry").cloned(),
            need: need.map_or(1, |need| usize::try_from(need).unwrap_or(1).max(1)),
            subject: if is_asked { payload.get("payload").cloned() } else { Some(payload.clone()) },
            schema: get("schema").cloned(),
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

    fn of_human(draft: &Draft, hold: &OpenHold, policy: &Policy) -> Decision {
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
            value: draft.value.clone(),
            principal: draft.principal.clone(),
            rationale: draft.rationale.clone(),
            record,
            request: hold.id.to_string(),
        }
    }

    fn fields(&self, hold_head: Oid, at: Instant) -> Map {
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

    fn read(space: &Space, message: &str) -> Option<Decision> {
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

/// Finds the decisions of a request that count, oldest first.
///
/// # Errors
/// Fails when history or the journal cannot be read.
pub fn find(space: &Space, start: &StartRecord, id: &RequestId) -> Result<Vec<(Oid, Decision)>> {
    let agent = &start.agent;
    let Ok(head) = space.head(agent) else { return Ok(Vec::new()) };
    let wanted = id.to_string();
    let mut found = Vec::new();
    for commit in space.repository().first_parents(head) {
        let commit = commit?;
        if start.head.as_deref() == Some(commit.oid.to_string().as_str()) {
            break;
        }
        let decision = Decision::read(space, &commit.message);
        if let Some(decision) = decision.filter(|decision| decision.request == wanted) {
            found.push((commit.oid, decision));
        }
    }
    if found.is_empty() {
        return Ok(found);
    }
    let trusted = trusted(space, start)?;
    found.retain(|(commit, _)| trusted.contains(commit));
    found.reverse();
    Ok(found)
}

/// Lists the commits that are decisions by record: those of `decide` transactions, and votes that
/// the session has noted.
fn trusted(space: &Space, start: &StartRecord) -> Result<BTreeSet<Oid>> {
    let stream = Stream::Agent(start.agent.clone());
    let mut commits = BTreeSet::new();
    for record in journal::records(space.repository().layout(), &stream)? {
        if let Body::Transaction(transaction) = record.body
            && transaction.verb == "decide"
        {
            commits.extend(transaction.branch.map(|branch| branch.new));
        }
    }
    if let Ok(summary) = summary::read(space, &start.session) {
        let votes = summary.holds.iter().flat_map(|hold| &hold.votes);
        commits.extend(votes.filter_map(|vote| Oid::parse(&vote.decision).ok()));
    }
    Ok(commits)
}

/// Decides a hold. When this returns the decision is durable; the session goes on with
/// [`crate::session::resume`].
///
/// # Errors
/// Fails when the hold is decided already, overdue or not this principal's to decide, and when the
/// value does not fit; nothing is written then, except the expiry of an overdue hold.
pub fn decide(space: &Space, pending: &Pending, draft: &Draft) -> Result<Decided> {
    let hold = &pending.hold;
    let policy = Policy::of_payload(hold.reason, &hold.payload);
    check(space, hold, &policy, draft)?;
    let journal = crate::session::folder::read_journal(space, &hold.session)?;
    let start = journal.start().clone();
    let decision = Decision::of_human(draft, hold, &policy);
    let written = record(space, &start, &decision, Some(&policy))?;
    match written {
        Recorded::New { commit, written } => {
            Ok(Decided { commit, decision, session: hold.session, written })
        }
        Recorded::Before { commit, decision: earlier } => {
            let same = earlier.principal == decision.principal
                && earlier.action == decision.action
                && earlier.value == decision.value;
            if same {
                let written = Written::default();
                return Ok(Decided { commit, decision: earlier, session: hold.session, written });
            }
            Err(Error::AlreadyDecided {
                request: hold.session.short_request(&hold.id),
                principal: earlier.principal,
                action: earlier.action.name(),
                commit: Some(commit),
            })
        }
        Recorded::Closed => Err(Error::AlreadyDecided {
            request: hold.session.short_request(&hold.id),
            principal: "the session".to_owned(),
            action: "answered",
            commit: None,
        }),
        Recorded::Overdue => Err(Error::HoldExpired {
            request: hold.session.short_request(&hold.id),
            deadline: policy.deadline.unwrap_or(space.now()),
        }),
    }
}

/// Records a decision of the engine itself, unless somebody has decided before. Returns the commit.
pub(crate) fn record_system(
    space: &Space,
    start: &StartRecord,
    decision: &Decision,
) -> Result<Option<Oid>> {
    if space.head(&start.agent).is_err() {
        return Ok(None);
    }
    match record(space, start, decision, None)? {
        Recorded::New { commit, .. } | Recorded::Before { commit, .. } => Ok(Some(commit)),
        Recorded::Closed | Recorded::Overdue => Ok(None),
    }
}

enum Recorded {
    New { commit: Oid, written: Written },
    Before { commit: Oid, decision: Decision },
    Closed,
    Overdue,
}

/// Writes the decision under the agent's lock, after looking once more whether it may be made.
fn record(
    space: &Space,
    start: &StartRecord,
    decision: &Decision,
    policy: Option<&Policy>,
) -> Result<Recorded> {
    let agent = &start.agent;
    let person = match decision.principal.strip_prefix("user:") {
        Some(_) => space.repository().identity()?.person,
        None => Person::new(&decision.principal, "system@agents.invalid"),
    };
    let (mut writer, head) = space.writer(agent)?;
    if let Some(policy) = policy {
        let open = summary::read(space, &start.session)?.holds;
        let is_open = open.iter().any(|hold| hold.id.to_string() == decision.request);
        let found = find_text(space, start, &decision.request)?;
        if let Some((commit, earlier)) = policy.settle(&found) {
            return Ok(Recorded::Before { commit, decision: earlier.clone() });
        }
        let voted = found.iter().find(|(_, vote)| vote.principal == decision.principal);
        if let Some((commit, vote)) = voted {
            return Ok(Recorded::Before { commit: *commit, decision: vote.clone() });
        }
        if !is_open {
            return Ok(Recorded::Closed);
        }
        if policy.is_overdue(space.now()) {
            return Ok(Recorded::Overdue);
        }
    } else if let Some((commit, earlier)) =
        find_text(space, start, &decision.request)?.into_iter().next_back()
    {
        return Ok(Recorded::Before { commit, decision: earlier });
    }
    let signatures = space.signatures_of(person)?;
    let at = signatures.committer.at;
    let (fields, fields_object) = OpenFields::place(decision.fields(head, at))?;
    let claims = Claims {
        kind: Kind::parse("decision").ok(),
        agent: Some(agent.clone()),
        session: Some(start.session.to_string()),
        request: Some(decision.request.clone()),
        fields,
        ..Claims::default()
    };
    let tree = space.read_commit(head)?.tree;
    let data = CommitData {
        tree,
        parents: vec![head],
        author: signatures.author.clone(),
        committer: signatures.committer.clone(),
        message: claims.write(&message(decision))?,
    };
    let object = GitObject { kind: GitKind::Commit, bytes: data.to_bytes() };
    let new = space.repository().name_object(&object);
    let follow = follow_branch(space, &agent.branch_ref(), &[])?;
    let (trace_objects, note) = trace_of(decision, agent, at)?;
    let mut kept: Vec<KeptObject> = fields_object.iter().map(KeptObject::from).collect();
    kept.extend(trace_objects);
    let transaction = Transaction {
        verb: "decide".to_owned(),
        objects: vec![object],
        branch: Some(BranchMove { name: agent.branch_ref(), expect: Some(head), new }),
        notes: Some(NotesEdit { name: agent.notes_ref(), notes: vec![(new, note)], objects: kept }),
        taken: Taken::default(),
        follow: follow.as_ref().map(|(_, follow)| follow.clone()),
        author: signatures.author,
        committer: signatures.committer,
    };
    // A decision is never less than fully durable.
    let outcome = writer.carry_out(transaction, Durability::Full, space.now())?;
    let written = Written::from_outcome(outcome, agent.as_str(), Some(head))?;
    if let (Some((worktree, follow)), None) = (follow, &written.deferred) {
        // The trees are equal; a worktree that does not follow shows no difference.
        let bring = || bring_along(space, &worktree, &follow, &[], head, new);
        let _ = writer.follow(&worktree, bring);
        writer.settle(space.now());
    }
    Ok(Recorded::New { commit: new, written })
}

fn find_text(space: &Space, start: &StartRecord, request: &str) -> Result<Vec<(Oid, Decision)>> {
    let summary = summary::read(space, &start.session)?;
    let asked = summary.asked.iter().find(|asked| asked.id.to_string() == request);
    asked.map_or(Ok(Vec::new()), |asked| find(space, start, &asked.id))
}

/// The trace of a decision: one entry, bound to its commit.
fn trace_of(
    decision: &Decision,
    agent: &agentic_model::AgentName,
    at: Instant,
) -> Result<(Vec<KeptObject>, String)> {
    let text = format!(
        "decided {} {} by {}",
        &decision.request[..12.min(decision.request.len())],
        decision.action.name(),
        decision.principal
    );
    let trace = ConsoleTrace { agent: agent.clone(), entries: vec![decision_entry(text, at)] };
    let objects = trace.to_objects()?;
    let cid = objects.last().expect("a trace has a naming object").cid();
    Ok((objects.iter().map(KeptObject::from).collect(), trace.note_text(cid)))
}

fn message(decision: &Decision) -> String {
    if !decision.rationale.trim().is_empty() {
        return decision.rationale.clone();
    }
    let mut name = decision.action.name().to_owned();
    name[..1].make_ascii_uppercase();
    format!("{name} by {}", decision.principal)
}

/// Checks everything that can be checked without the lock.
fn check(space: &Space, hold: &OpenHold, policy: &Policy, draft: &Draft) -> Result<()> {
    let request = hold.session.short_request(&hold.id);
    if let Some(expected) = &draft.expect {
        let hash = hold.ask.hash.to_string();
        if expected.len() < 10 || !hash.starts_with(expected.as_str()) {
            return Err(Error::OtherRequest { request, expected: expected.clone(), found: hash });
        }
    }
    let not_allowed =
        |reason: String| Error::NotAllowed { what: format!("decide {request}"), reason };
    if draft.principal == format!("agent:{}", hold.agent) || !draft.principal.contains(':') {
        return Err(not_allowed(format!("`{}` is not a person", draft.principal)));
    }
    if !policy.assignees.is_empty() && !is_assigned(space, policy, &draft.principal)? {
        let reason = format!(
            "it is assigned to {}, not to {}",
            policy.assignees.join(", "),
            draft.principal
        );
        return Err(not_allowed(reason));
    }
    if !policy.actions.contains(&draft.action) {
        let offered: Vec<&str> = policy.actions.iter().map(|action| action.name()).collect();
        return Err(not_allowed(format!("only {} is offered", offered.join(", "))));
    }
    check_value(policy, draft)
}

fn check_value(policy: &Policy, draft: &Draft) -> Result<()> {
    let misfit =
        |pointer: &str, reason: String| Error::ValueMisfit { pointer: pointer.to_owned(), reason };
    let Some(value) = &draft.value else {
        return match draft.action {
            Action::Edit | Action::Respond => {
                Err(misfit("", "this action needs a value".to_owned()))
            }
            _ => Ok(()),
        };
    };
    if json::to_text(value).len() > VALUE_BYTES_MAX {
        return Err(misfit("", format!("it is longer than {VALUE_BYTES_MAX} bytes")));
    }
    if agentic_model::canonical::encode(value).is_err() {
        return Err(misfit("", "it is no data".to_owned()));
    }
    let Some(schema) = &policy.schema else { return Ok(()) };
    if draft.action == Action::Reject {
        return Ok(());
    }
    let validator = jsonschema::validator_for(&json::to_json(schema))
        .map_err(|error| misfit("", format!("the schema of the request is not valid: {error}")))?;
    let value = json::to_json(value);
    let first = validator.iter_errors(&value).next();
    match first {
        Some(error) => Err(misfit(&error.instance_path().to_string(), error.to_string())),
        None => Ok(()),
    }
}

fn is_assigned(space: &Space, policy: &Policy, principal: &str) -> Result<bool> {
    for assignee in &policy.assignees {
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

fn instant(value: &Value) -> Option<Instant> {
    match value {
        Value::Int(millis) => Some(Instant::from_millis(*millis)),
        Value::Text(text) => Instant::parse(text),
        _ => None,
    }
}
