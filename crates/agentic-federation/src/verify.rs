//! Checking a whole clone without a network: identities, chains, records and what the gate let through, policy and
//! tracking refs.

mod records;
mod replies;

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::Repository;
use agentic_model::Oid;
use agentic_model::guidance::Guidance as _;
use agentic_session::SessionSpace;

use self::records::{RecordCheck, policy_history};
use self::replies::{verify_arrived, verify_own_replies};
use crate::accepted::{CHAIN_MAX, accepted_spaces};
use crate::announce::own_announcement;
use crate::caps::read_policy;
use crate::id::{PeerId, Petname, SELF, SpaceId};
use crate::identity::IdentityChain;
use crate::known::KnownPeer;
use crate::own::{own_chain, read_own};
use crate::reply::{REPLIES_REF, arrived_replies};
use crate::steps::check_step;
use crate::tracking::{TrackedSpace, drawn_labels, misplaced, tracked_spaces_of};
use crate::walk::{WalkSubject, why_invalid};
use crate::whole::require_whole;
use crate::wrapping::{WrappedAnnouncement, read_wrapped};
use crate::{Error, Result};

/// A chain that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedChain {
    /// The name of the peer.
    pub peer: String,
    /// The space.
    pub space: SpaceId,
    /// How many announcements it has.
    pub n_announcements: usize,
    /// How many records of what was accepted of it there are, each of which was judged again.
    pub n_records: usize,
    /// How many of these were not: they are from before there was what it takes.
    pub n_unjudged: usize,
    /// The epoch of the newest.
    pub epoch: u64,
    /// The number of the newest.
    pub seq: u64,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyFinding {
    /// What is wrong.
    pub what: String,
    /// Where.
    pub place: String,
    /// How grave it is: the exit code.
    pub code: u8,
}

/// What a check came to.
#[derive(Debug, Clone, Default)]
pub struct VerifyReport {
    /// The chains.
    pub chains: Vec<CheckedChain>,
    /// What is wrong.
    pub findings: Vec<VerifyFinding>,
}

/// The code of what is damaged.
const DAMAGED: u8 = 6;
/// The code of a peer that said two things.
const FROZEN: u8 = 9;

/// Checks everything that is kept of peers, or of one of them.
///
/// # Errors
/// Fails when the disk does, and where something hides parts of the history. What is wrong is a finding.
pub fn verify(space: &SessionSpace, only: Option<&Petname>) -> Result<VerifyReport> {
    require_whole(space.repository())?;
    let mut report = VerifyReport::default();
    if only.is_none() {
        let checked = verify_own(space, &mut report);
        note(&mut report, SELF, checked);
        let checked = match own_chain(space.repository()) {
            Ok(Some(chain)) => verify_own_replies(space, &chain),
            // What is wrong with it is noted already.
            Ok(None) | Err(_) => Ok(()),
        };
        note(&mut report, REPLIES_REF, checked);
    }
    // A chain that cannot be read is noted where it is checked.
    let arrived = arrived_replies(space).unwrap_or_default();
    let policy = match read_policy(space) {
        Ok(state) => state.policy,
        Err(error) => {
            note(&mut report, crate::caps::CAPS_REF, Err(error));
            return Ok(report);
        }
    };
    if let Some(name) = only {
        crate::caps::followed(&policy, name)?;
    }
    let peers = match crate::tracking::followed_peers(space) {
        Ok(peers) => peers,
        // What is wrong with our own identity is noted already.
        Err(_) => policy.peers,
    };
    let policies = policy_history(space.repository()).unwrap_or_else(|error| {
        note(&mut report, crate::caps::CAPS_REF, Err(error));
        BTreeMap::new()
    });
    for (petname, followed) in &peers {
        if only.is_some_and(|only| only != petname) {
            continue;
        }
        let subject = VerifiedPeer { petname, peer: followed.peer, policies: &policies };
        let checked = verify_peer(space, &subject, &mut report);
        note(&mut report, petname.as_str(), checked);
        if let Ok(KnownPeer { chain: Some(identity), .. }) =
            KnownPeer::read(space.repository(), followed.peer)
        {
            let checked = verify_arrived(space, &identity, &arrived);
            note(&mut report, petname.as_str(), checked);
        }
        let Ok(tracked) = tracked_spaces_of(space.repository(), petname, followed) else {
            continue;
        };
        for tracked in &tracked {
            let checked = verify_refs(space, tracked, &mut report);
            note(&mut report, &tracked.label, checked);
        }
        let checked = verify_recorded(space, petname, &tracked, &mut report);
        note(&mut report, petname.as_str(), checked);
    }
    Ok(report)
}

fn note(report: &mut VerifyReport, place: &str, checked: Result<()>) {
    if let Err(error) = checked {
        let code = error.class().exit_code().max(DAMAGED);
        report.findings.push(VerifyFinding {
            what: error.to_string(),
            place: place.to_owned(),
            code,
        });
    }
}

fn verify_own(space: &SessionSpace, report: &mut VerifyReport) -> Result<()> {
    let repository = space.repository();
    let Some(own) = read_own(space)? else { return Ok(()) };
    let Some(tip) = own_announcement(repository, &own)? else { return Ok(()) };
    let subject = WalkSubject { project: Some(own.project), peer: own.peer(), space: own.space };
    let said = &tip.signed.announcement;
    let known = KnownPeer::read(repository, own.peer())?;
    // One of a side that was set aside is verified by its own documents.
    let left = known.chain_with(said.identity).filter(|_| !own.chain.covers(said));
    let chain = verify_chain(repository, left.unwrap_or(&own.chain), subject, tip.commit)?;
    report.chains.push(CheckedChain { peer: SELF.to_owned(), ..chain });
    Ok(())
}

/// Whose records are checked, and against which policies.
struct VerifiedPeer<'a> {
    petname: &'a Petname,
    peer: PeerId,
    policies: &'a BTreeMap<Oid, usize>,
}

fn verify_peer(
    space: &SessionSpace,
    subject: &VerifiedPeer<'_>,
    report: &mut VerifyReport,
) -> Result<()> {
    let VerifiedPeer { petname, peer, policies } = *subject;
    let repository = space.repository();
    let known = KnownPeer::read(repository, peer)?;
    for (name, sides) in known.open_proofs() {
        report.findings.push(VerifyFinding {
            what: format!("it said two things: {}", sides.join(" and ")),
            place: format!("{petname} {name}"),
            code: FROZEN,
        });
    }
    let spaces = accepted_spaces(repository, peer)?;
    let Some(identity) = &known.chain else {
        return match spaces.is_empty() {
            true => Ok(()),
            false => Err(Error::damaged("something was accepted, and its identity is gone")),
        };
    };
    if identity.peer() != peer {
        return Err(Error::damaged("the identity that is kept is that of another peer"));
    }
    for (of, record) in spaces {
        let place = format!("{petname} {of}");
        let check = RecordCheck { repository, peer, known: &known, policies, place: &place };
        let checked = match check.check(record, report) {
            Ok(checked) => checked,
            Err(error) => {
                note(report, &place, Err(error));
                continue;
            }
        };
        let project = crate::project::pinned_project(repository)?;
        let subject = WalkSubject { project, peer, space: of };
        let identity = known.chain_with(checked.newest.identity).unwrap_or(identity);
        match verify_chain(repository, identity, subject, checked.newest.announced) {
            Ok(chain) => report.chains.push(CheckedChain {
                peer: petname.to_string(),
                n_records: checked.n_records,
                n_unjudged: checked.n_unjudged,
                ..chain
            }),
            Err(error) => note(report, &place, Err(error)),
        }
    }
    Ok(())
}

/// Checks a chain from its newest announcement to its first: commits, signatures, every step.
fn verify_chain(
    repository: &Repository,
    identity: &IdentityChain,
    subject: WalkSubject,
    tip: Oid,
) -> Result<CheckedChain> {
    let mut chain: Vec<WrappedAnnouncement> = Vec::new();
    let mut next = Some(tip);
    while let Some(commit) = next.take().filter(|_| chain.len() < CHAIN_MAX) {
        let wrapped = damaged(read_wrapped(repository, commit), commit)?;
        let said = &wrapped.signed.announcement;
        next = said.parents.first().copied().filter(|_| !said.is_first());
        chain.push(wrapped);
    }
    let mut before: Option<&WrappedAnnouncement> = None;
    for wrapped in chain.iter().rev() {
        let number = wrapped.signed.announcement.seq;
        if let Some(why) = why_invalid(identity, subject, wrapped) {
            return Err(Error::damaged(format!("announcement {number}: {why}")));
        }
        let step = check_step(repository, identity, before, wrapped);
        damaged(step, wrapped.commit)?;
        before = Some(wrapped);
    }
    let newest = &chain.first().ok_or_else(|| Error::damaged("a chain is empty"))?.signed;
    Ok(CheckedChain {
        peer: String::new(),
        space: subject.space,
        n_announcements: chain.len(),
        n_records: 0,
        n_unjudged: 0,
        epoch: newest.announcement.epoch,
        seq: newest.announcement.seq,
    })
}

fn verify_refs(
    space: &SessionSpace,
    tracked: &TrackedSpace,
    report: &mut VerifyReport,
) -> Result<()> {
    let wrong: BTreeSet<String> = misplaced(space, tracked)?.into_iter().collect();
    for name in wrong {
        let what = "the ref is not what the record says; any fetch puts it back".to_owned();
        report.findings.push(VerifyFinding { what, place: name, code: DAMAGED });
    }
    Ok(())
}

/// Reports refs of spaces of a peer that no record has.
fn verify_recorded(
    space: &SessionSpace,
    petname: &Petname,
    tracked: &[TrackedSpace],
    report: &mut VerifyReport,
) -> Result<()> {
    let labels = drawn_labels(space.repository(), petname)?.into_iter();
    for label in labels.filter(|label| tracked.iter().all(|tracked| tracked.label != *label)) {
        let what = "there are refs of it, and the record of what was accepted is gone; a fetch accepts it anew";
        report.findings.push(VerifyFinding { what: what.to_owned(), place: label, code: DAMAGED });
    }
    Ok(())
}

/// Says of what was once accepted that it is damaged, whatever is wrong with it.
fn damaged<T>(read: Result<T>, commit: Oid) -> Result<T> {
    read.map_err(|error| Error::damaged(format!("{commit} is damaged: {error}")))
}
