//! Proof: the records of a session, compared with every other witness of what they say.
//!
//! Records that are chained and whole can still be forged: whoever writes the log can chain it anew.
//! What they say also stands elsewhere, where it was hashed by somebody else: in the sealed segments,
//! in the commits of decisions, in the commits that the session made. All of these are read here,
//! hashed, and held against the records.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::CommitInfo;
use agentic_model::{Cid, Oid, Value};
use agentic_replay::record::{
    AnswerRecord, AskRecord, Outcome, PermitRecord, PermitScope, RETRY, VoteRecord,
};
use agentic_replay::{
    AnswerSource, Body, Coverage, Handling, HoldReason, Path, ProgramFailure, Record, RecordChain,
    RequestAnswer, RequestId, SessionId, StoredValue, settle,
};

use super::consequence::{Consequence, consequence};
use super::folder::{Folder, Values, damaged};
use super::own::read_journal;
use super::segment::Segments;
use super::{own, purge, summary};
use crate::action::Action;
use crate::decide::Policy;
use crate::decision::Decision;
use crate::trust::{self, Look};
use crate::{Result, SessionSpace};

/// What the records of a session were compared with, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// How many records are sealed, and are the same there.
    pub n_sealed: usize,
    /// How many commits were read and hashed.
    pub n_commits: usize,
    /// How many decisions say what the records say of them.
    pub n_decisions: usize,
    /// How many long values and objects were read and hashed.
    pub n_objects: usize,
    /// What could not be compared, each as a sentence.
    pub uncompared: Vec<String>,
}

/// Compares the records of a session with the sealed segments, commits and objects that they name.
///
/// # Errors
/// Fails where one of them cannot be read, is not what its id names, or says something else.
pub fn prove(space: &SessionSpace, id: &SessionId) -> Result<Proof> {
    let journal = read_journal(space, id)?;
    let agent = &journal.start().agent;
    let segments = Segments::read_anew(space, agent);
    let segments =
        segments.map_err(|error| damaged(id, &format!("what is sealed of it: {error}")))?;
    let n_sealed = own::prove(&segments, id)?;
    let mut proof = Proof { n_sealed, ..Proof::default() };
    let n_shared = journal.start().parent.as_ref().map_or(0, |point| point.seq);
    let n_own = journal.chain().length() - n_shared;
    if n_own > n_sealed as u64 {
        let n_open = n_own - n_sealed as u64;
        proof.uncompared.push(format!("{n_open} records are not sealed yet"));
    }
    let others = own::other_lines(space, id)?;
    proof.uncompared.extend(others.iter().map(ToString::to_string));
    let has_branch = space.head(agent).is_ok();
    if !has_branch {
        proof.uncompared.push(format!("agent `{agent}` has no branch here"));
    }
    proof.uncompared.extend(purge::lacks(&journal));
    check_objects(&segments, &journal, &mut proof)?;
    let values = Values::of(space, &journal);
    let mut witness = Witness {
        space,
        id: *id,
        has_branch,
        values: &values,
        session: String::new(),
        asks: BTreeMap::new(),
        granted: BTreeMap::new(),
        commits: BTreeMap::new(),
        proof,
    };
    for record in journal.records() {
        witness.hear(record)?;
    }
    // What was decided and is not in the records yet is looked at like what is.
    for hold in summary::holds_at_rest(space, &journal)? {
        trust::find(space, &journal, &hold.id, Look::Locked)?;
    }
    Ok(witness.proof)
}

/// Reads every long value and object that the records name, each copy of it.
fn check_objects(segments: &Segments<'_>, journal: &RecordChain, proof: &mut Proof) -> Result<()> {
    let (space, start) = (segments.space(), journal.start());
    let id = start.session;
    Folder::of(space, &id).check_objects()?;
    let values = Values::of(space, journal);
    let mut named = BTreeSet::new();
    for record in journal.records() {
        for value in record.body.values() {
            if let StoredValue::Object(cid) = value {
                named.insert(*cid);
            }
        }
    }
    for cid in &named {
        let is_there = agentic_replay::StoredObjects::bytes(&values, cid).is_some();
        if !is_there && segments.value(&id, cid)?.is_none() {
            return Err(damaged(&id, &format!("the value `{cid}` that it names cannot be read")));
        }
    }
    let flows = flows_of(journal);
    let notes = space.repository().notes(&start.agent.notes_ref())?;
    for flow in &flows {
        // The copy that travels, and wherever else it is.
        if notes.object(*flow)?.is_none() {
            super::shelf::flow_of(space, &Folder::of(space, &id), flow)?;
        }
    }
    proof.n_objects = named.len() + flows.len();
    Ok(())
}

/// Lists the programs that a session has run.
fn flows_of(journal: &RecordChain) -> BTreeSet<Cid> {
    journal.records().iter().filter_map(|record| record.body.flow()).collect()
}

/// The records, heard one by one, and what was read of what they name.
struct Witness<'w> {
    space: &'w SessionSpace,
    id: SessionId,
    has_branch: bool,
    values: &'w Values<'w>,
    /// The session whose records are heard: a fork begins with those of others.
    session: String,
    asks: BTreeMap<&'w Path, &'w AskRecord>,
    /// The permissions for the rest of the session, by the positions of their records: the decision
    /// that gave it, and what it covers.
    granted: BTreeMap<u64, (String, Coverage)>,
    /// Commits that were read; nothing for one that is not here.
    commits: BTreeMap<Oid, Option<CommitInfo>>,
    proof: Proof,
}

impl<'w> Witness<'w> {
    fn hear(&mut self, record: &'w Record) -> Result<()> {
        let asked = record.body.path().and_then(|path| self.asks.get(path));
        let is_purged = asked.is_some_and(|ask| ask.payload.purged().is_some());
        if !matches!(record.body, Body::Ask(_) | Body::Start(_))
            && (is_purged || purge::is_purged(&record.body))
        {
            // That it cannot be compared is said already.
            return Ok(());
        }
        match &record.body {
            Body::Start(start) => {
                self.session = start.session.to_string();
                self.asks.clear();
                self.granted.clear();
                self.commit_named(start.head.as_deref())?;
            }
            Body::Ask(ask) => _ = self.asks.insert(&ask.path, ask),
            Body::Publish(publish) => _ = self.commit_named(Some(&publish.head))?,
            Body::Vote(vote) => self.hear_vote(record.seq, vote)?,
            Body::Permit(permit) if permit.decision != RETRY => {
                self.hear_permit(record.seq, permit)?;
            }
            Body::Answer(answer) => self.hear_answer(record.seq, answer)?,
            Body::Permit(_)
            | Body::Attempt(_)
            | Body::Found(_)
            | Body::Signal(_)
            | Body::Escalate(_)
            | Body::Upgrade(_)
            | Body::Withdraw(_)
            | Body::Cancel(_)
            | Body::ScopeEnd(_)
            | Body::Continue(_)
            | Body::End(_) => {}
        }
        Ok(())
    }

    fn hear_vote(&mut self, seq: u64, vote: &VoteRecord) -> Result<()> {
        let Some(decision) = self.decision(seq, &vote.path, &vote.decision)? else { return Ok(()) };
        let is_same = decision.principal == vote.principal && decision.action.name() == vote.action;
        self.must(is_same, seq, &vote.decision)
    }

    fn hear_permit(&mut self, seq: u64, permit: &PermitRecord) -> Result<()> {
        if let PermitScope::Under(earlier) = permit.scope {
            return self.hear_covered(seq, permit, earlier);
        }
        let decision = self.decision(seq, &permit.path, &permit.decision)?;
        let (Some(decision), Some(ask)) = (decision, self.asks.get(&permit.path).copied()) else {
            return Ok(());
        };
        let edited = permit.edited.as_ref().map(|edited| self.value(edited)).transpose()?;
        let derived = self.consequence(ask, &decision)?;
        if permit.scope == PermitScope::RestOfSession {
            let coverage = Coverage::of(&ask.kind, &self.value(&ask.payload)?);
            self.granted.insert(seq, (permit.decision.clone(), coverage));
        }
        self.must(derived == Consequence::Permit(edited, permit.scope), seq, &permit.decision)
    }

    /// Compares a permission that nobody was asked for with the one that covers it.
    fn hear_covered(&mut self, seq: u64, permit: &PermitRecord, earlier: u64) -> Result<()> {
        let Some(ask) = self.asks.get(&permit.path).copied() else { return Ok(()) };
        let coverage = Coverage::of(&ask.kind, &self.value(&ask.payload)?);
        let is_covered = self.granted.get(&earlier).is_some_and(|(decision, granted)| {
            *decision == permit.decision && *granted == coverage
        });
        self.must(is_covered && permit.edited.is_none(), seq, &permit.decision)
    }

    fn hear_answer(&mut self, seq: u64, answer: &'w AnswerRecord) -> Result<()> {
        let Some(ask) = self.asks.get(&answer.path).copied() else { return Ok(()) };
        if let (Outcome::Ok(value), "commit" | "spawn") = (&answer.outcome, ask.kind.as_str()) {
            let value = self.value(value)?;
            for key in ["commit", "parent", "genesis"] {
                self.commit_named(value.get(key).and_then(Value::as_text))?;
            }
        }
        let AnswerSource::Decision(commit) = &answer.by else {
            return self.hear_undecided(seq, answer, ask);
        };
        let Some(decision) = self.decision(seq, &answer.path, commit)? else { return Ok(()) };
        let recorded = match &answer.outcome {
            Outcome::Ok(value) => RequestAnswer::Ok(self.value(value)?),
            Outcome::Failed { code, message, details } => {
                let details = self.value(details)?;
                RequestAnswer::Failed(ProgramFailure {
                    details,
                    ..ProgramFailure::new(code, message)
                })
            }
            Outcome::TimedOut => return self.must(false, seq, commit),
            Outcome::Cancelled(_) if decision.action == Action::Withdrawn => {
                self.proof.n_decisions += 1;
                return Ok(());
            }
            Outcome::Cancelled(_) => {
                let what = format!("record {seq} is cancelled, whatever decision {commit} says");
                self.proof.uncompared.push(what);
                return Ok(());
            }
        };
        let derived = self.consequence(ask, &decision)?;
        self.must(derived == Consequence::Answer(recorded), seq, commit)
    }

    /// Looks whether a hold that was answered without a decision has one all the same.
    fn hear_undecided(&mut self, seq: u64, answer: &AnswerRecord, ask: &AskRecord) -> Result<()> {
        let is_own = self.session == self.id.to_string();
        if ask.handling != Handling::Decision || !is_own || !self.has_branch {
            return Ok(());
        }
        let journal = read_journal(self.space, &self.id)?;
        let id = RequestId::derive(&self.session, &ask.path, &ask.hash);
        let found = trust::find(self.space, &journal, &id, Look::Locked)?;
        let policy = Policy::of_payload(HoldReason::Asked, &self.value(&ask.payload)?);
        let Some((commit, _)) = policy.settle(&found.counted) else { return Ok(()) };
        if matches!(answer.outcome, Outcome::Cancelled(_)) {
            let what = format!("record {seq} is cancelled, whatever decision {commit} says");
            self.proof.uncompared.push(what);
            return Ok(());
        }
        let reason = format!("record {seq} names another answer than decision {commit}");
        Err(damaged(&self.id, &reason))
    }

    /// Derives what a decision made of a request.
    fn consequence(&self, ask: &AskRecord, decision: &Decision) -> Result<Consequence> {
        // What has not begun and what is in doubt are answered alike.
        let reason = match ask.handling {
            Handling::Decision => HoldReason::Asked,
            Handling::Effect(_) | Handling::Timer => HoldReason::NotAllowed,
        };
        let policy = Policy::of_payload(reason, &self.value(&ask.payload)?);
        Ok(match consequence(&ask.kind, reason, decision, &policy) {
            Consequence::Answer(answer) => Consequence::Answer(answer.settled()),
            Consequence::Permit(edited, scope) => {
                Consequence::Permit(edited.and_then(|value| settle(value).ok()), scope)
            }
            Consequence::Nothing => Consequence::Nothing,
        })
    }

    /// Counts a decision that says the same, and refuses one that does not.
    fn must(&mut self, is_same: bool, seq: u64, commit: &str) -> Result<()> {
        if !is_same {
            let reason = format!("record {seq} is not what decision {commit} says");
            return Err(damaged(&self.id, &reason));
        }
        self.proof.n_decisions += 1;
        Ok(())
    }

    /// Reads the decision that a record names, which must be one of this request.
    fn decision(&mut self, seq: u64, path: &Path, commit: &str) -> Result<Option<Decision>> {
        let Some(info) = self.commit_named(Some(commit))? else { return Ok(None) };
        let decision = Decision::read(self.space, &info.message);
        let request = self.asks.get(path);
        let request = request.map(|ask| RequestId::derive(&self.session, &ask.path, &ask.hash));
        let decision = decision.filter(|decision| Some(decision.request) == request);
        let foreign =
            || damaged(&self.id, &format!("record {seq} names {commit}, no decision of it"));
        decision.ok_or_else(foreign).map(Some)
    }

    fn value(&self, stored: &StoredValue) -> Result<Value> {
        stored.value(self.values).map_err(|error| damaged(&self.id, &error.to_string()))
    }

    /// Reads a commit that a record names, from the disk, and hashes it.
    fn commit_named(&mut self, text: Option<&str>) -> Result<Option<CommitInfo>> {
        let Some(text) = text else { return Ok(None) };
        let oid = Oid::parse(text);
        let oid = oid.map_err(|_| damaged(&self.id, &format!("`{text}` names no commit")))?;
        if let Some(known) = self.commits.get(&oid) {
            return Ok(known.clone());
        }
        let repository = self.space.repository();
        let read = match repository.verify_object(oid) {
            Ok(_) => Some(repository.read_sound_commit(oid)?),
            Err(_) if !self.has_branch && !repository.has_object(oid) => {
                self.proof.uncompared.push(format!("commit {oid} is not here"));
                None
            }
            Err(error) => return Err(damaged(&self.id, &format!("commit {oid}: {error}"))),
        };
        self.proof.n_commits += usize::from(read.is_some());
        self.commits.insert(oid, read.clone());
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
