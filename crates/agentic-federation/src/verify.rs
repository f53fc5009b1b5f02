//! Checking a whole clone without a network: identities, chains, records, policy and tracking refs.

mod replies;

use std::collections::BTreeSet;

use agentic_git::Repository;
use agentic_model::Oid;
use agentic_model::guidance::Guidance as _;
use agentic_session::SessionSpace;

use self::replies::{verify_arrived, verify_own_replies};
use crate::acceptance::Acceptance;
use crate::accepted::{CHAIN_MAX, accepted_spaces};
use crate::announce::own_announcement;
use crate::caps::read_policy;
use crate::id::{PeerId, Petname, SELF, SpaceId};
use crate::identity::IdentityChain;
use crate::known::KnownPeer;
use crate::own::{own_chain, read_own};
use crate::reply::{REPLIES_REF, arrived_replies};
use crate::steps::check_step;
use crate::tracking::{TrackedSpace, misplaced, tracked_spaces_of};
use crate::walk::{WalkSubject, why_invalid};
use crate::whole::require_whole;
use crate::wrapping::{WrappedAnnouncement, read_bare_commit, read_wrapped};
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
    for (petname, followed) in &peers {
        if only.is_some_and(|only| only != petname) {
            continue;
        }
        let checked = verify_peer(space, petname, followed.peer, &mut report);
        note(&mut report, petname.as_str(), checked);
        if let Ok(KnownPeer { chain: Some(identity), .. }) =
            KnownPeer::read(space.repository(), followed.peer)
        {
            let checked = verify_arrived(space, &identity, &arrived);
            note(&mut report, petname.as_str(), checked);
        }
        let tracked = tracked_spaces_of(space.repository(), petname, followed);
        for tracked in tracked.unwrap_or_default() {
            let checked = verify_refs(space, &tracked, &mut report);
            note(&mut report, &tracked.label, checked);
        }
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
    let chain = verify_chain(repository, &own.chain, subject, tip.commit)?;
    report.chains.push(CheckedChain { peer: SELF.to_owned(), ..chain });
    Ok(())
}

fn verify_peer(
    space: &SessionSpace,
    petname: &Petname,
    peer: PeerId,
    report: &mut VerifyReport,
) -> Result<()> {
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
        let acceptance = match verify_record(repository, record) {
            Ok(acceptance) => acceptance,
            Err(error) => {
                note(report, &place, Err(error));
                continue;
            }
        };
        let project = crate::project::pinned_project(repository)?;
        let subject = WalkSubject { project, peer, space: of };
        match verify_chain(repository, identity, subject, acceptance.announced) {
            Ok(chain) => {
                report.chains.push(CheckedChain { peer: petname.to_string(), ..chain });
            }
            Err(error) => note(report, &place, Err(error)),
        }
    }
    Ok(())
}

/// Checks a record and those before it: each is whole, and has the announcement that it names.
fn verify_record(repository: &Repository, newest: Oid) -> Result<Acceptance> {
    let acceptance = Acceptance::read(repository, newest)?;
    let mut next = Some((newest, acceptance.clone()));
    let mut n_read = 0;
    while let Some((record, acceptance)) = next.take() {
        let wrapped = damaged(read_wrapped(repository, acceptance.announced), record)?;
        if wrapped.signed.cid() != acceptance.announcement {
            return Err(Error::damaged(format!("the record {record} names another announcement")));
        }
        let bare = damaged(read_bare_commit(repository, record), record)?;
        let before = match bare.parents.as_slice() {
            [announced] if *announced == acceptance.announced => None,
            [before, announced] if *announced == acceptance.announced => Some(*before),
            _ => {
                return Err(Error::damaged(format!("the record {record} has other parents")));
            }
        };
        n_read += 1;
        if let Some(before) = before.filter(|_| n_read < CHAIN_MAX) {
            next = Some((before, Acceptance::read(repository, before)?));
        }
    }
    Ok(acceptance)
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
        let is_root = said.previous.is_none() || said.cut.is_some();
        next = said.parents.first().copied().filter(|_| !is_root);
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

/// Says of what was once accepted that it is damaged, whatever is wrong with it.
fn damaged<T>(read: Result<T>, commit: Oid) -> Result<T> {
    read.map_err(|error| Error::damaged(format!("{commit} is damaged: {error}")))
}
