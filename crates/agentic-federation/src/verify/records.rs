//! Checking the records of a space: each is whole, names what there is, and believes what the gate let through.
//!
//! The gate is asked again for each record, from what the record before it believes: by the policy that it names,
//! at the time that it names, with the kinds, the frozen peers and what was given on that it keeps. What is
//! announced and what each commit is come from the objects. Nothing is taken from how things are today but who we
//! are, and that the policy is in the history of ours. A record from before these were kept is counted and not
//! judged.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::Repository;
use agentic_model::{AgentName, Oid};

use super::{DAMAGED, VerifyFinding, VerifyReport, damaged};
use crate::acceptance::{Acceptance, GateKnowledge, HeldBack};
use crate::accepted::CHAIN_MAX;
use crate::caps::{CAPS_REF, policy_at};
use crate::id::PeerId;
use crate::in_force::{PolicyInForce, RecalledMoment};
use crate::known::KnownPeer;
use crate::own::own_peer;
use crate::receive::{JudgedSnapshot, announced_heads, judge};
use crate::shard::{HeadEntry, Heads, apply, differences};
use crate::wrapping::{WrappedAnnouncement, body_of, read_bare_commit, read_wrapped};
use crate::{Error, Result};

/// How many agents are named of one record.
const AGENTS_NAMED_MAX: usize = 20;

/// What records are checked against.
pub(super) struct RecordCheck<'a> {
    /// Where they are.
    pub repository: &'a Repository,
    /// Whose agents they believe.
    pub peer: PeerId,
    /// What is known of that peer.
    pub known: &'a KnownPeer,
    /// Every state of our policy: how many there were before it.
    pub policies: &'a BTreeMap<Oid, usize>,
    /// What is called wrong there.
    pub place: &'a str,
}

/// What the records of a space came to.
pub(super) struct CheckedRecords {
    /// What the newest says.
    pub newest: Acceptance,
    /// How many there are.
    pub n_records: usize,
    /// How many of them are from before there was what the gate can be asked with again.
    pub n_unjudged: usize,
}

/// Lists every state of our policy, with how many there were before it.
///
/// # Errors
/// Fails when a commit of it cannot be read.
pub(super) fn policy_history(repository: &Repository) -> Result<BTreeMap<Oid, usize>> {
    let Some(tip) = repository.find_ref(CAPS_REF)? else { return Ok(BTreeMap::new()) };
    let mut commits = Vec::new();
    for commit in repository.first_parents(tip).take(CHAIN_MAX) {
        commits.push(commit?.oid);
    }
    Ok(commits.into_iter().rev().enumerate().map(|(at, commit)| (commit, at)).collect())
}

impl RecordCheck<'_> {
    /// Checks a record and those before it.
    ///
    /// # Errors
    /// Fails when one of them is damaged. What the gate would not have let through is a finding.
    pub fn check(&self, newest: Oid, report: &mut VerifyReport) -> Result<CheckedRecords> {
        let acceptance = Acceptance::read(self.repository, newest)?;
        let mut checked =
            CheckedRecords { newest: acceptance.clone(), n_records: 0, n_unjudged: 0 };
        let mut next = Some((newest, acceptance));
        while let Some((record, acceptance)) = next.take() {
            let wrapped = damaged(read_wrapped(self.repository, acceptance.announced), record)?;
            if wrapped.signed.cid() != acceptance.announcement {
                return Err(wrong(record, "names another announcement"));
            }
            let before = self.before(record, &acceptance)?;
            let before = before.filter(|_| checked.n_records < CHAIN_MAX);
            let before = before.map(|before| {
                Acceptance::read(self.repository, before).map(|acceptance| (before, acceptance))
            });
            let before = before.transpose()?;
            let was = before.as_ref().map(|(_, acceptance)| acceptance);
            self.check_names(record, &acceptance, was)?;
            checked.n_records += 1;
            match &acceptance.known {
                None => checked.n_unjudged += 1,
                Some(known) => {
                    let pair = RecordPair { record, acceptance: &acceptance, was, known };
                    let judged = damaged(self.judge_again(&pair, &wrapped), record)?;
                    report.findings.extend(self.differences(&pair, &judged));
                }
            }
            next = before;
        }
        Ok(checked)
    }

    /// Finds the record before one.
    fn before(&self, record: Oid, acceptance: &Acceptance) -> Result<Option<Oid>> {
        let bare = damaged(read_bare_commit(self.repository, record), record)?;
        match bare.parents.as_slice() {
            [announced] if *announced == acceptance.announced => Ok(None),
            [before, announced] if *announced == acceptance.announced => Ok(Some(*before)),
            _ => Err(wrong(record, "has other parents")),
        }
    }

    /// Checks that the policy and the document that a record names are ours and the peer's, and no older than those
    /// of the record before.
    fn check_names(
        &self,
        record: Oid,
        acceptance: &Acceptance,
        was: Option<&Acceptance>,
    ) -> Result<()> {
        let policy = |acceptance: &Acceptance| match acceptance.policy {
            None => Ok(None),
            Some(tip) => match self.policies.get(&tip) {
                Some(at) => Ok(Some(*at)),
                None => Err(wrong(record, "names a policy that is not in the history of ours")),
            },
        };
        let Some(identity) = self.known.chain_with(acceptance.identity) else {
            return Err(wrong(record, "names a document of an identity that is not known"));
        };
        // One of a side that was set aside has no number here.
        let document = |acceptance: &Acceptance| identity.number_of(acceptance.identity);
        let at = policy(acceptance)?;
        let Some(was) = was else { return Ok(()) };
        // What is wrong with the record before is said of that one.
        if policy(was).is_ok_and(|was| was > at) {
            return Err(wrong(record, "names an older policy than the one before it"));
        }
        if document(was) > document(acceptance) {
            return Err(wrong(record, "names an older identity than the one before it"));
        }
        if was.known.is_some() && acceptance.known.is_none() {
            return Err(wrong(record, "lacks what was known, which the one before it has"));
        }
        Ok(())
    }

    /// Asks the gate again.
    fn judge_again(
        &self,
        pair: &RecordPair<'_>,
        wrapped: &WrappedAnnouncement,
    ) -> Result<RecalledJudgement> {
        let RecordPair { acceptance, was, known, .. } = *pair;
        let body = body_of(self.repository, wrapped)?;
        let announced = announced_heads(self.repository, &body, was)?;
        let mut believed = was.map(|was| was.believed.clone()).unwrap_or_default();
        let changes = differences(&believed, &announced);
        let snapshot = JudgedSnapshot {
            repository: self.repository,
            peer: self.peer,
            body: &body,
            changes: &changes,
        };
        let state = policy_at(self.repository, acceptance.policy)?;
        let own = own_peer(self.repository)?;
        let moment = RecalledMoment { time: acceptance.time, known };
        let judged = judge(&PolicyInForce::recalled(state, own, moment), &snapshot)?;
        apply(&judged.changes, &mut believed);
        Ok(RecalledJudgement { believed, held: judged.held })
    }

    /// Says of which agents a record has something else than the gate.
    fn differences(&self, pair: &RecordPair<'_>, judged: &RecalledJudgement) -> Vec<VerifyFinding> {
        let RecordPair { acceptance, .. } = *pair;
        let maps = [&acceptance.believed, &judged.believed];
        let held = [&acceptance.held, &judged.held];
        let names = maps.iter().flat_map(|map| map.keys());
        let names: BTreeSet<&AgentName> =
            names.chain(held.iter().flat_map(|map| map.keys())).collect();
        let wrong = |agent: &AgentName| {
            let [there, gate] = maps.map(|map| map.get(agent));
            let [waits, waits_by_gate] = held.map(|map| map.get(agent));
            if there != gate {
                let (there, gate) = (shown(there), shown(gate));
                return Some(format!("believes {there} of `{agent}`, and its policy {gate}"));
            }
            (waits != waits_by_gate).then(|| match waits_by_gate {
                None => format!(
                    "says that something of `{agent}` waits, and by its policy nothing does"
                ),
                Some(held) => format!(
                    "does not say of `{agent}` what waits by its policy: `{}` of `{}`",
                    held.trigger, held.kind
                ),
            })
        };
        let mut found: Vec<String> = names.into_iter().filter_map(wrong).collect();
        let n_more = found.len().saturating_sub(AGENTS_NAMED_MAX);
        found.truncate(AGENTS_NAMED_MAX);
        if n_more > 0 {
            found.push(format!("differs from its policy in {n_more} more agents"));
        }
        let finding = |what: String| VerifyFinding {
            what: format!("the record {} {what}", pair.record),
            place: self.place.to_owned(),
            code: DAMAGED,
        };
        found.into_iter().map(finding).collect()
    }
}

/// A record, what it goes on from, and what was known.
struct RecordPair<'a> {
    record: Oid,
    acceptance: &'a Acceptance,
    was: Option<&'a Acceptance>,
    known: &'a GateKnowledge,
}

/// What the gate makes of a record when it is asked again.
struct RecalledJudgement {
    believed: Heads,
    held: HeldBack,
}

/// Says where an agent stands.
fn shown(entry: Option<&HeadEntry>) -> String {
    let Some(entry) = entry else { return "nothing".to_owned() };
    match entry.notes {
        None => format!("{}", entry.head),
        Some(notes) => format!("{} with the notes {notes}", entry.head),
    }
}

fn wrong(record: Oid, what: &str) -> Error {
    Error::damaged(format!("the record {record} {what}"))
}
