//! Remotes: what they serve of peers, what is pushed to them, and in which mode they are.

use agentic_git::Repository;
use agentic_model::Oid;
use agentic_session::SessionSpace;

use crate::announce::{MadeAnnouncement, announce_ref};
use crate::caps::read_policy;
use crate::id::{PeerId, Petname, SpaceId};
use crate::known::KnownPeer;
use crate::peer_log::{RefusedLine, note};
use crate::policy::{FollowedPeer, PeerTrust};
use crate::receive::{ServedSpace, SpaceOutcome, SpaceResult, receive};
use crate::tracking::{draw, label_of, tracked_spaces_of};
use crate::{Error, Result};

/// How many spaces of one peer are looked at on one remote.
const SPACES_MAX: usize = 256;
/// How many bytes are taken of one space at once, where nobody says otherwise: 2 GiB.
const FETCH_BYTES_MAX: u64 = 2 << 30;
/// The setting that says so.
const FETCH_MAX: &str = "agentic.fetchMax";

/// How a remote is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteMode {
    /// Plain branches and notes of all who may push.
    Shared,
    /// Plain ones, and signed ones beside.
    Both,
    /// Signed ones alone.
    Signed,
}

/// What became of a space of a peer that is followed.
#[derive(Debug, Clone)]
pub struct PeerOutcome {
    /// The name of the peer.
    pub petname: Petname,
    /// The name by which the agents of the space are read.
    pub label: String,
    /// What became of it.
    pub outcome: SpaceOutcome,
    /// Tracking refs that somebody had moved.
    pub put_back: Vec<String>,
}

/// Tells in which mode a remote is.
///
/// # Errors
/// Fails when the configuration says something else.
pub fn mode_of(repository: &Repository, remote: &str) -> Result<RemoteMode> {
    match repository.config(&format!("remote.{remote}.agentic")).as_deref() {
        None | Some("shared") => Ok(RemoteMode::Shared),
        Some("both") => Ok(RemoteMode::Both),
        Some("signed") => Ok(RemoteMode::Signed),
        Some(other) => Err(Error::usage(
            format!("`remote.{remote}.agentic` is `{other}`"),
            "it may be `shared`, `both` or `signed`",
        )),
    }
}

/// What a remote has in the place of our announcement.
#[derive(Debug, Clone)]
pub struct SeenRemote {
    /// The remote.
    pub remote: String,
    /// Where our ref is there, if it is.
    pub there: Option<Oid>,
}

/// Pushes an announcement to a remote, without force. What others put in its place is replaced, if it is
/// no announcement of ours; returns whether the remote had it already.
///
/// # Errors
/// Fails when the remote does not take it, such as when it has moved meanwhile.
pub fn push_announcement(
    space: &SessionSpace,
    seen: &SeenRemote,
    made: &MadeAnnouncement,
) -> Result<PushedAnnouncement> {
    let repository = space.repository();
    let said = &made.wrapped.signed.announcement;
    let name = announce_ref(said.peer, said.space);
    let commit = made.wrapped.commit;
    let SeenRemote { remote, there } = seen;
    if *there == Some(commit) {
        return Ok(PushedAnnouncement::Known);
    }
    let is_below = match there {
        None => true,
        Some(there) => repository.has_object(*there) && repository.is_ancestor(*there, commit)?,
    };
    let spec = format!("{commit}:{name}");
    let lease = there.map(|there| format!("--force-with-lease={name}:{there}"));
    let mut arguments = vec!["push", "--quiet", "--no-verify"];
    if !is_below {
        arguments.extend(lease.as_deref());
    }
    arguments.extend(["--", remote, &spec]);
    let end = repository.git_untranslated(&arguments)?;
    if end.success {
        return Ok(if is_below { PushedAnnouncement::New } else { PushedAnnouncement::Replaced });
    }
    Err(Error::refused(
        format!("`{remote}` did not take the announcement: {}", end.stderr.trim()),
        "the announcement is kept here: `agentic push` tries again",
    ))
}

/// What became of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushedAnnouncement {
    /// The remote has it from now on.
    New,
    /// The remote had it.
    Known,
    /// The remote has it in place of something that was none of ours.
    Replaced,
}

/// Lists refs that a remote or a bundle serves, below a name.
///
/// # Errors
/// Fails when it cannot be reached.
pub fn served_refs(
    repository: &Repository,
    source: &str,
    name: &str,
) -> Result<Vec<(String, Oid)>> {
    let arguments = ["ls-remote", "--quiet", "--", source, name];
    let end = repository.git_untranslated(&arguments)?;
    if !end.success {
        return Err(Error::refused(
            format!("`{source}` cannot be reached: {}", end.stderr.trim()),
            "what was accepted stays; try again, or another remote",
        ));
    }
    let line = |line: &str| {
        let (oid, name) = line.split_once('\t')?;
        Some((name.to_owned(), Oid::parse(oid).ok()?))
    };
    Ok(end.stdout.lines().filter_map(line).collect())
}

/// Receives what a remote, or a bundle, serves of the peers that are followed; of some of them, where
/// somebody names these.
///
/// # Errors
/// Fails when the source cannot be reached, and when the disk fails. That one peer is refused stops no
/// other.
pub fn fetch_peers(
    space: &SessionSpace,
    source: &str,
    only: &[Petname],
) -> Result<Vec<PeerOutcome>> {
    let policy = read_policy(space)?.policy;
    for name in only {
        crate::caps::followed(&policy, name)?;
    }
    let mut outcomes = Vec::new();
    for (petname, followed) in &policy.peers {
        let is_meant = only.is_empty() || only.contains(petname);
        let is_here = followed.remote.as_deref().is_none_or(|remote| remote == source);
        let is_named = only.contains(petname);
        if !is_meant || !(is_here || is_named) || followed.trust == PeerTrust::Blocked {
            continue;
        }
        outcomes.extend(fetch_peer(space, source, petname, followed)?);
    }
    Ok(outcomes)
}

fn fetch_peer(
    space: &SessionSpace,
    source: &str,
    petname: &Petname,
    followed: &FollowedPeer,
) -> Result<Vec<PeerOutcome>> {
    let repository = space.repository();
    if repository.remotes().iter().any(|remote| remote == petname.as_str()) {
        return Err(Error::refused(
            format!("`{petname}` is a peer and a remote of git's"),
            format!("rename the remote: `git remote rename {petname} NAME`"),
        ));
    }
    let prefix = announce_prefix(followed.peer);
    let served = served_refs(repository, source, &format!("{prefix}*"))?;
    let mut outcomes = Vec::new();
    for (name, tip) in served.into_iter().take(SPACES_MAX) {
        let of = name.strip_prefix(&prefix).and_then(SpaceId::parse);
        let Some(of) = of else { continue };
        // A space that the identity does not list is nobody's; before the first fetch none is known.
        let known = KnownPeer::read(repository, followed.peer)?;
        if known.chain.is_some_and(|chain| chain.newest().space(of).is_none()) {
            continue;
        }
        let served = ServedSpace {
            peer: followed.peer,
            space: of,
            source: source.to_owned(),
            name,
            tip,
            bytes_max: bytes_max(repository),
        };
        let outcome = receive(space, &served)?;
        log_refusal(space, petname, &served, &outcome)?;
        outcomes.push(shown(space, petname, followed, outcome)?);
    }
    Ok(outcomes)
}

/// Draws the tracking refs of a space that was received.
fn shown(
    space: &SessionSpace,
    petname: &Petname,
    followed: &FollowedPeer,
    outcome: SpaceOutcome,
) -> Result<PeerOutcome> {
    let repository = space.repository();
    let tracked = tracked_spaces_of(repository, petname, followed)?;
    let tracked = tracked.into_iter().find(|tracked| tracked.space == outcome.space);
    let (label, put_back) = match &tracked {
        Some(tracked) => {
            let found = draw(space, tracked)?;
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
    Ok(PeerOutcome { petname: petname.clone(), label, outcome, put_back })
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
        SpaceResult::Accepted
        | SpaceResult::Unchanged
        | SpaceResult::Stale
        | SpaceResult::Recovered => None,
    };
    for reason in reason.into_iter().chain(outcome.junk.iter().cloned()) {
        let line = RefusedLine {
            peer: petname.to_string(),
            remote: served.source.clone(),
            oid: served.tip,
            reason,
            first_at: space.now().millis(),
            at: space.now().millis(),
            count: 1,
        };
        note(space, line)?;
    }
    Ok(())
}

/// Names the folder of the refs of a peer, there and here.
pub fn announce_prefix(peer: PeerId) -> String {
    format!("refs/agentic/announce/{peer}/")
}

/// Returns how many bytes are taken of one space at once.
pub(crate) fn bytes_max(repository: &Repository) -> u64 {
    let configured = repository.config_number(FETCH_MAX);
    configured.and_then(|number| u64::try_from(number).ok()).unwrap_or(FETCH_BYTES_MAX)
}
