//! Decisions: a human's answer to a hold, as a commit.
//!
//! Under the agent's lock the durable record of a `decide` transaction *is* the decision; moving the
//! branch publishes it. A commit that merely looks like one decides nothing: only those count whose
//! record is in the agent's journal, or whose vote the session has already noted.

use std::collections::BTreeSet;

use agentic_model::commit::{Claims, CommitData, OpenFields};
use agentic_model::{ConsoleTrace, Instant, Kind, Oid, Person, Value, json};
use agentic_replay::{RequestId, StartRecord};
use agentic_store::journal::{
    self, BranchMove, DECIDE, GitKind, GitObject, KeptObject, NotesEdit, Taken, Transaction,
};
use agentic_store::{Durability, Stream};

pub use crate::decision::{Action, Decision, Policy};
use crate::following::{Following, carry_out};
use crate::hold::Pending;
use crate::session::trace::decision_entry;
use crate::session::{OpenHold, summary};
use crate::space::Written;
use crate::{Error, Result, Space};

/// The longest value of an answer, as JSON, in bytes.
pub const VALUE_BYTES_MAX: usize = 256 << 10;

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
    let used = used(space, start, id)?;
    found.retain(|(commit, _)| trusted.contains(commit) && !used.contains(commit));
    found.reverse();
    Ok(found)
}

/// Lists the decisions of a request that have let its effect begin. A decision counts once: an
/// effect that a crash then caught is a new question.
fn used(space: &Space, start: &StartRecord, id: &RequestId) -> Result<BTreeSet<Oid>> {
    let journal = crate::session::folder::read_journal(space, &start.session)?;
    let mut session = start.session.to_string();
    let mut path = None;
    let mut used = BTreeSet::new();
    for record in journal.records() {
        match &record.body {
            agentic_replay::Body::Start(start) => session = start.session.to_string(),
            agentic_replay::Body::Ask(ask)
                if RequestId::derive(&session, &ask.path, &ask.hash) == *id =>
            {
                path = Some(ask.path.clone());
            }
            agentic_replay::Body::Permit(permit) if Some(&permit.path) == path.as_ref() => {
                used.extend(Oid::parse(&permit.decision).ok());
            }
            _ => {}
        }
    }
    Ok(used)
}

/// Lists the commits that are decisions by record: those of `decide` transactions, and votes that
/// the session has noted.
fn trusted(space: &Space, start: &StartRecord) -> Result<BTreeSet<Oid>> {
    let stream = Stream::Agent(start.agent.clone());
    let mut commits = BTreeSet::new();
    for record in journal::records(space.repository().layout(), &stream)? {
        commits.extend(record.decisions());
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
    let (mut writer, head) = space.writer(agent)?;
    if let Some(answer) = answered_before(space, start, decision, policy)? {
        return Ok(answer);
    }
    // The trees are equal; a worktree that does not follow shows no difference.
    let following = Following::files(space, &agent.branch_ref(), &[])?;
    let transaction = transaction(space, start, decision, head)?;
    // A decision is never less than fully durable.
    let moved = carry_out(space, &mut writer, transaction, (head, following), Durability::Full)?;
    Ok(Recorded::New { commit: moved.head, written: moved.written })
}

/// Tells why a decision may not be made any more. The engine's own decisions only look whether
/// there is one already.
fn answered_before(
    space: &Space,
    start: &StartRecord,
    decision: &Decision,
    policy: Option<&Policy>,
) -> Result<Option<Recorded>> {
    let found = find_text(space, start, &decision.request)?;
    let Some(policy) = policy else {
        let last = found.into_iter().next_back();
        return Ok(last.map(|(commit, decision)| Recorded::Before { commit, decision }));
    };
    let voted = found.iter().find(|(_, vote)| vote.principal == decision.principal);
    let voted = voted.map(|(commit, vote)| (*commit, vote));
    if let Some((commit, earlier)) = policy.settle(&found).or(voted) {
        return Ok(Some(Recorded::Before { commit, decision: earlier.clone() }));
    }
    let open = summary::read(space, &start.session)?.holds;
    if !open.iter().any(|hold| hold.id.to_string() == decision.request) {
        return Ok(Some(Recorded::Closed));
    }
    Ok(policy.is_overdue(space.now()).then_some(Recorded::Overdue))
}

/// Makes the commit of a decision, with its trace.
fn transaction(
    space: &Space,
    start: &StartRecord,
    decision: &Decision,
    head: Oid,
) -> Result<Transaction> {
    let agent = &start.agent;
    let person = match decision.principal.strip_prefix("user:") {
        Some(_) => space.repository().committer()?,
        None => Person::new(&decision.principal, "system@agents.invalid"),
    };
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
    let data = CommitData {
        tree: space.read_commit(head)?.tree,
        parents: vec![head],
        author: signatures.author.clone(),
        committer: signatures.committer.clone(),
        message: claims.write(&decision.message())?,
    };
    let object = GitObject { kind: GitKind::Commit, bytes: data.to_bytes() };
    let new = space.repository().name_object(&object);
    let (trace_objects, note) = trace_of(decision, agent, at)?;
    let mut kept: Vec<KeptObject> = fields_object.iter().map(KeptObject::from).collect();
    kept.extend(trace_objects);
    Ok(Transaction {
        verb: DECIDE.to_owned(),
        objects: vec![object],
        branch: Some(BranchMove { name: agent.branch_ref(), expect: Some(head), new }),
        notes: Some(NotesEdit { name: agent.notes_ref(), notes: vec![(new, note)], objects: kept }),
        taken: Taken::default(),
        follow: None,
        author: signatures.author,
        committer: signatures.committer,
    })
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
    if draft.principal.strip_prefix("user:").is_none_or(str::is_empty) {
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
    let given = draft.value.as_ref().map_or(0, |value| json::to_text(value).len());
    if given > VALUE_BYTES_MAX {
        let reason = format!("it is longer than {VALUE_BYTES_MAX} bytes");
        return Err(Error::ValueMisfit { pointer: String::new(), reason });
    }
    let value = policy.effective_value(draft.action, draft.value.as_ref());
    check_value(hold, policy, draft.action, value.as_ref())
}

fn check_value(
    hold: &OpenHold,
    policy: &Policy,
    action: Action,
    value: Option<&Value>,
) -> Result<()> {
    let misfit =
        |pointer: &str, reason: String| Error::ValueMisfit { pointer: pointer.to_owned(), reason };
    let Some(value) = value else {
        return match action {
            Action::Edit | Action::Respond => {
                Err(misfit("", "this action needs a value".to_owned()))
            }
            Action::Approve if policy.schema.is_some() => {
                Err(misfit("", "there is nothing to approve without a value".to_owned()))
            }
            _ => Ok(()),
        };
    };
    if agentic_model::canonical::encode(value).is_err() {
        return Err(misfit("", "it is no data".to_owned()));
    }
    if action == Action::Edit && hold.ask.kind == "exec" && !is_program(value) {
        return Err(misfit("", "an edited `exec` is a map with `argv` or `command`".to_owned()));
    }
    let Some(schema) = &policy.schema else { return Ok(()) };
    if action == Action::Reject {
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

/// Tells whether an `exec` could start this.
fn is_program(value: &Value) -> bool {
    let is_text = |item: &Value| item.as_text().is_some();
    let argv = value.get("argv").and_then(Value::as_list);
    let has_argv = argv.is_some_and(|argv| !argv.is_empty() && argv.iter().all(is_text));
    has_argv || value.get("command").is_some_and(is_text)
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
