//! Fetching from one remote or bundle: what it serves of all who are followed.

mod listed;
mod unlisted;

use std::collections::BTreeMap;

use agentic_git::{Quarantine, RemoteStop};
use agentic_model::{Instant, Oid};
use agentic_session::SessionSpace;

use self::listed::{ListedSpaces, listed_of};
use crate::accepted::{AcceptedState, accepted_spaces, read_accepted_outline};
use crate::caps::{followed, read_policy};
use crate::contact::{NAMED_REFS_MAX, REFS_MAX};
use crate::exchange::{bytes_max, served_prefix, served_refs};
use crate::freshness::{PeerFreshness, announced_ahead, freshness};
use crate::id::{Petname, SpaceId};
use crate::known::KnownPeer;
use crate::own::{follow_identity, own_chain, this_space};
use crate::peer_log::{RefusedLine, note};
use crate::policy::{FollowedPeer, PeerTrust};
use crate::receive::{
    ArrivedSpace, ServedSpace, SpaceOutcome, SpaceResult, arrive_from, judge_held,
};
use crate::tracking::{
    draw_known, erase_unrecorded, followed_peers, label_of, refs_max, tracked_spaces_of,
};
use crate::unfollowed::KeptRefs;
use crate::whole::require_whole;
use crate::{Error, Result};

/// What became of a space of a peer that is followed.
#[derive(Debug, Clone)]
pub struct PeerOutcome {
    /// The name of the peer.
    pub petname: Petname,
    /// The name by which the agents of the space are read.
    pub label: String,
    /// The remote or the bundle.
    pub source: String,
    /// What became of it.
    pub outcome: SpaceOutcome,
    /// How new what is accepted is.
    pub freshness: PeerFreshness,
    /// When it was announced by the clock of its peer, where that is ahead of ours.
    pub ahead: Option<Instant>,
    /// Tracking refs that somebody had moved.
    pub put_back: Vec<String>,
}

/// Receives what a remote, or a bundle, serves of the peers that are followed and of our own other spaces; of
/// some of them, where somebody names these.
///
/// # Errors
/// Fails when the source cannot be reached, and when the disk fails. That one peer is refused stops no
/// other.
pub fn fetch_peers(
    space: &SessionSpace,
    source: &str,
    only: &[Petname],
) -> Result<Vec<PeerOutcome>> {
    let repository = space.repository();
    require_whole(repository)?;
    // Where nothing new is served, none is made that would do this.
    Quarantine::sweep(repository)?;
    let kept = KeptRefs::list(repository)?;
    let peers = followed_peers(space)?;
    // Who stopped following a peer may have died over it.
    kept.drop_unfollowed(repository, &peers)?;
    require_wanted(space, &peers, only)?;
    let named = |(petname, followed)| MeantPeer { petname, followed, source };
    let mut meant: Vec<MeantPeer<'_>> =
        peers.iter().map(named).filter(|meant| meant.is_wanted(only)).collect();
    if meant.iter().any(MeantPeer::is_own) && !has_other_spaces(space)? {
        meant.retain(|meant| !meant.is_own());
    }
    let prefix = |meant: &MeantPeer<'_>| served_prefix(repository, source, meant.followed.peer);
    let patterns: Result<Vec<String>> =
        meant.iter().map(|meant| Ok(prefix(meant)? + "*")).collect();
    let patterns = patterns?;
    let served = served_refs(repository, source, &patterns)?;
    let (mut arrivals, mut hindered) = (Vec::new(), Vec::new());
    let bytes_max = bytes_max(repository)?;
    let mut silent = None;
    // What cannot be drawn is not accepted before somebody says so.
    refs_max(repository)?;
    for meant in meant {
        let prefix = prefix(&meant)?;
        let of_it = served_spaces(&served, &prefix, meant, bytes_max);
        let refs_max = if only.contains(meant.petname) { NAMED_REFS_MAX } else { REFS_MAX };
        let listed = match listed_of(space, meant, &of_it, refs_max)? {
            ListedSpaces::Wanted(listed) => listed,
            ListedSpaces::Hindered { why, of } => {
                let hindrance = PeerHindrance { meant, why };
                hindered.extend(hindrance.outcomes(space, of)?);
                continue;
            }
        };
        let missing = unserved(space, meant, &of_it)?;
        let spaces = arrive_all(space, listed, &mut silent)?;
        arrivals.push(PeerArrivals { meant, spaces, missing });
    }
    let all: Vec<&ArrivedSpace> = arrivals.iter().flat_map(|peer| &peer.spaces).collect();
    if all.len() > 1 {
        // What one of them has seen of another one counts at once.
        for arrived in all {
            arrived.hear(space)?;
        }
    }
    let arrived = arrivals.iter().map(|arrivals| (arrivals.meant.petname, arrivals.meant.followed));
    let arrived: Vec<(&Petname, &FollowedPeer)> = arrived.collect();
    let received = arrivals.into_iter().map(|arrivals| receive_peer(space, arrivals));
    let received = received.collect::<Result<Vec<_>>>()?.into_iter();
    let mut received: Vec<PeerOutcome> = received.flatten().collect();
    release(space, &arrived, &mut received)?;
    // What was received may call a space otherwise.
    erase_unrecorded(space)?;
    received.extend(hindered);
    Ok(received)
}

/// Refuses names that somebody asks for and of which nothing is received.
fn require_wanted(
    space: &SessionSpace,
    peers: &BTreeMap<Petname, FollowedPeer>,
    only: &[Petname],
) -> Result<()> {
    for name in only {
        match peers.get(name) {
            None => drop(followed(&read_policy(space)?.policy, name)?),
            Some(peer) if peer.trust == PeerTrust::Blocked => {
                return Err(Error::not_allowed(
                    format!("`{name}` is blocked here"),
                    format!("`agentic peer trust {name} track` believes it again"),
                ));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Takes in what a remote has of our own other spaces, before a new document of our identity leaves: another machine may
/// have changed it at the same time, and two documents with one number freeze us wherever both are read.
///
/// # Errors
/// Fails when the remote cannot be reached, and when the disk fails.
pub(crate) fn hear_own_spaces(space: &SessionSpace, source: &str) -> Result<()> {
    let repository = space.repository();
    let own = Petname::own();
    let peers = followed_peers(space)?;
    let Some(followed) = peers.get(&own).filter(|_| has_other_spaces(space).unwrap_or(true)) else {
        return Ok(());
    };
    let meant = MeantPeer { petname: &own, followed, source };
    let prefix = served_prefix(repository, source, followed.peer)?;
    let served = served_refs(repository, source, &[format!("{prefix}*")])?;
    let of_it = served_spaces(&served, &prefix, meant, bytes_max(repository)?);
    let ListedSpaces::Wanted(listed) = listed_of(space, meant, &of_it, REFS_MAX)? else {
        return Ok(());
    };
    for arrived in arrive_all(space, listed, &mut None)? {
        arrived.hear(space)?;
    }
    Ok(())
}

/// Reads which spaces of a peer are served.
fn served_spaces(
    served: &[(String, Oid)],
    prefix: &str,
    meant: MeantPeer<'_>,
    bytes_max: u64,
) -> Vec<ServedSpace> {
    let of_it = served.iter().filter_map(|(name, tip)| {
        let of = SpaceId::parse(name.strip_prefix(prefix)?)?;
        Some(ServedSpace {
            peer: meant.followed.peer,
            space: of,
            source: meant.source.to_owned(),
            name: name.clone(),
            tip: *tip,
            bytes_max,
        })
    });
    of_it.collect()
}

/// Downloads what is served of some spaces. Whoever is silent is asked for nothing more; what takes too
/// long is one space's.
fn arrive_all(
    space: &SessionSpace,
    listed: Vec<ServedSpace>,
    silent: &mut Option<RemoteStop>,
) -> Result<Vec<ArrivedSpace>> {
    let mut spaces = Vec::new();
    for served in listed {
        let arrived = arrive_from(space, served, *silent)?;
        let stopped = arrived.stopped.filter(|why| matches!(why, RemoteStop::Silent { .. }));
        *silent = silent.or(stopped);
        spaces.push(arrived);
    }
    Ok(spaces)
}

/// A peer that is followed, and from where it is received.
#[derive(Debug, Clone, Copy)]
struct MeantPeer<'p> {
    petname: &'p Petname,
    followed: &'p FollowedPeer,
    /// The remote, or the bundle.
    source: &'p str,
}

impl MeantPeer<'_> {
    /// Tells whether it is received: it is named, or nobody is and it is followed there.
    fn is_wanted(&self, only: &[Petname]) -> bool {
        let is_named = only.contains(self.petname);
        let is_here = self.followed.remote.as_deref().is_none_or(|remote| remote == self.source);
        let is_wanted = is_named || (only.is_empty() && is_here);
        is_wanted && self.followed.trust != PeerTrust::Blocked
    }

    /// Tells whether these are our own other spaces.
    fn is_own(&self) -> bool {
        *self.petname == Petname::own()
    }
}

/// Judges again what waits, once everything has come: a grant may have begun, and what one peer gave on may have come
/// after what it is about.
fn release(
    space: &SessionSpace,
    peers: &[(&Petname, &FollowedPeer)],
    received: &mut [PeerOutcome],
) -> Result<()> {
    for released in judge_held(space, peers)? {
        let is_of_it = |found: &&mut PeerOutcome| {
            let is_same = peers.iter().any(|(petname, followed)| {
                **petname == found.petname && followed.peer == released.peer
            });
            is_same && found.outcome.space == released.space
        };
        let Some(found) = received.iter_mut().find(is_of_it) else { continue };
        found.outcome.moved.extend(released.moved);
        found.outcome.moved.sort();
        found.outcome.moved.dedup();
        found.outcome.held = released.held;
    }
    Ok(())
}

/// What came of one peer.
struct PeerArrivals<'p> {
    meant: MeantPeer<'p>,
    spaces: Vec<ArrivedSpace>,
    missing: Vec<PeerOutcome>,
}

/// Finds the spaces of a peer that were accepted from a source last, and that it does not serve any more.
fn unserved(
    space: &SessionSpace,
    meant: MeantPeer<'_>,
    served: &[ServedSpace],
) -> Result<Vec<PeerOutcome>> {
    let (repository, peer) = (space.repository(), meant.followed.peer);
    let mut missing = Vec::new();
    for (of, _) in accepted_spaces(repository, peer)? {
        if served.iter().any(|served| served.space == of) {
            continue;
        }
        let accepted = read_accepted_outline(repository, peer, of)?;
        let accepted = accepted.filter(|accepted| accepted.acceptance.way == meant.source);
        let Some(AcceptedState { acceptance, .. }) = accepted else { continue };
        let outcome = SpaceOutcome {
            space: of,
            result: SpaceResult::Unserved,
            from: Some(acceptance.announcement),
            to: Some(acceptance.announcement),
            moved: Vec::new(),
            rewound: Vec::new(),
            held: acceptance.held,
            junk: Vec::new(),
            accepted: None,
        };
        missing.push(shown(space, meant, outcome)?);
    }
    Ok(missing)
}

/// Why nothing of a peer is received here, whatever is served of it.
struct PeerHindrance<'p> {
    meant: MeantPeer<'p>,
    why: String,
}

impl PeerHindrance<'_> {
    /// Refuses what is served. No ref is drawn.
    fn outcomes(self, space: &SessionSpace, served: Vec<ServedSpace>) -> Result<Vec<PeerOutcome>> {
        let PeerHindrance { meant: MeantPeer { petname, followed, .. }, why } = self;
        let repository = space.repository();
        let chain = KnownPeer::read(repository, followed.peer)?.chain;
        let mut outcomes = Vec::new();
        for served in served {
            let before = read_accepted_outline(repository, followed.peer, served.space)?;
            let before = before.map(|before| before.acceptance);
            let accepted = before.as_ref().map(|before| before.announcement);
            let outcome = SpaceOutcome {
                space: served.space,
                result: SpaceResult::Refused(why.clone()),
                from: accepted,
                to: accepted,
                moved: Vec::new(),
                rewound: Vec::new(),
                held: before.map(|before| before.held).unwrap_or_default(),
                junk: Vec::new(),
                accepted: None,
            };
            log_refusal(space, petname, &served, &outcome)?;
            let label = chain.as_ref().map(|chain| label_of(petname, chain, served.space));
            outcomes.push(PeerOutcome {
                petname: petname.clone(),
                label: label.unwrap_or_else(|| petname.to_string()),
                freshness: freshness(space, followed, served.space)?,
                ahead: None,
                source: served.source,
                outcome,
                put_back: Vec::new(),
            });
        }
        Ok(outcomes)
    }
}

/// Tells whether our identity lists other spaces, or is not here yet.
fn has_other_spaces(space: &SessionSpace) -> Result<bool> {
    let here = this_space(space).ok();
    let chain = own_chain(space.repository())?;
    Ok(chain
        .is_none_or(|chain| chain.newest().spaces.iter().any(|listed| Some(listed.space) != here)))
}

/// Judges what came of a peer.
fn receive_peer(space: &SessionSpace, arrivals: PeerArrivals<'_>) -> Result<Vec<PeerOutcome>> {
    let PeerArrivals { meant, spaces, missing } = arrivals;
    let mut outcomes = Vec::new();
    for arrived in spaces {
        let served = arrived.served.clone();
        let outcome = arrived.receive(space)?;
        log_refusal(space, meant.petname, &served, &outcome)?;
        outcomes.push(shown(space, meant, outcome)?);
    }
    if meant.is_own() {
        follow_identity(space, &KnownPeer::read(space.repository(), meant.followed.peer)?)?;
    }
    outcomes.extend(missing);
    Ok(outcomes)
}

/// Draws the tracking refs of a space that was received.
fn shown(space: &SessionSpace, meant: MeantPeer<'_>, outcome: SpaceOutcome) -> Result<PeerOutcome> {
    let (repository, MeantPeer { petname, followed, source }) = (space.repository(), meant);
    let tracked = tracked_spaces_of(repository, petname, followed)?;
    let tracked = tracked.into_iter().find(|tracked| tracked.space == outcome.space);
    let (label, put_back) = match &tracked {
        Some(tracked) => {
            let found = draw_known(space, tracked, outcome.accepted.as_ref())?;
            let is_expected =
                matches!(outcome.result, SpaceResult::Accepted | SpaceResult::Recovered);
            (tracked.label.clone(), if is_expected { Vec::new() } else { found })
        }
        None => {
            let chain = KnownPeer::read(repository, followed.peer)?.chain;
            let label = chain.map(|chain| label_of(petname, &chain, outcome.space));
            (label.unwrap_or_else(|| petname.to_string()), Vec::new())
        }
    };
    let freshness = freshness(space, followed, outcome.space)?;
    let (petname, source) = (petname.clone(), source.to_owned());
    let ahead = announced_ahead(space, followed, outcome.space)?;
    Ok(PeerOutcome { petname, label, source, outcome, freshness, ahead, put_back })
}

fn log_refusal(
    space: &SessionSpace,
    petname: &Petname,
    served: &ServedSpace,
    outcome: &SpaceOutcome,
) -> Result<()> {
    let reason = match &outcome.result {
        SpaceResult::Refused(why) => Some(why.clone()),
        SpaceResult::Frozen => Some("it said two things of one number".to_owned()),
        SpaceResult::Incomplete => Some("it goes on from something that is not here".to_owned()),
        SpaceResult::Accepted
        | SpaceResult::Unchanged
        | SpaceResult::Stale
        | SpaceResult::Unserved
        | SpaceResult::Recovered => None,
    };
    let line = |reason: String| RefusedLine {
        peer: petname.to_string(),
        remote: served.source.clone(),
        oid: served.tip,
        reason,
        first_at: space.now().millis(),
        at: space.now().millis(),
        count: 1,
    };
    let reasons = reason.into_iter().chain(outcome.junk.iter().cloned());
    note(space, reasons.map(line).collect())
}
