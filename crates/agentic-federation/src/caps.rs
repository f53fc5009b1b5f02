//! The policy as a ref: one commit for each change, signed where people sign what they commit.

use agentic_git::{RefMove, Repository};
use agentic_model::commit::CommitData;
use agentic_model::{Cid, Kind, Oid};
use agentic_session::SessionSpace;
use agentic_space::signing::SigningChoice;

use crate::capability::{Capability, PeerTrigger, TriggerName};
use crate::durable::{NextState, RACES_MAX, lock, read_state};
use crate::folder::{Drafts, read_folder};
use crate::id::{PeerId, Petname};
use crate::own::{OwnIdentity, random};
use crate::policy::{FollowedPeer, PeerPolicy, PeerTrust};
use crate::wrapping::read_bare_commit;
use crate::{Error, Result};

/// The ref that holds the policy. It is never pushed.
pub const CAPS_REF: &str = "refs/agentic/caps";
/// The lock under which the policy is read by whoever accepts, and changed.
pub const CAPS_LOCK: &str = "caps";
/// The kinds of the preset `track`.
const TRACKED_KINDS: [&str; 2] = ["agent-commit", "console-trace"];
/// The triggers of the preset `track`.
const TRACKED_TRIGGERS: [TriggerName; 3] =
    [TriggerName::Spawn, TriggerName::HeadMove, TriggerName::Trace];
/// How many random bytes make a capability another one.
const NONCE_BYTES: usize = 16;

/// What a peer is granted when it is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantPreset {
    /// Its agents and their traces are followed.
    Track,
    /// Nothing.
    None,
}

/// What is granted.
#[derive(Debug, Clone)]
pub struct GrantRequest {
    /// For which kinds.
    pub kinds: Vec<Kind>,
    /// For what.
    pub triggers: Vec<PeerTrigger>,
    /// For which agents.
    pub agents: Option<Vec<String>>,
    /// Until when, in milliseconds since 1970.
    pub until: Option<i64>,
    /// How often it may be given on.
    pub delegate: u64,
    /// What it is given on from: a capability that somebody else gave us. It counts there then, not here.
    pub parent: Option<Cid>,
}

/// The policy, and the commit that has it.
#[derive(Debug, Clone, Default)]
pub struct PolicyState {
    /// The commit; nothing before the first change.
    pub tip: Option<Oid>,
    /// What it says.
    pub policy: PeerPolicy,
}

/// Reads the policy.
///
/// # Errors
/// Fails when it is damaged.
pub fn read_policy(space: &SessionSpace) -> Result<PolicyState> {
    let repository = space.repository();
    let Some((tip, folder)) = read_state(repository, CAPS_REF)? else {
        return Ok(PolicyState::default());
    };
    Ok(PolicyState { tip: Some(tip), policy: PeerPolicy::read(repository, &folder)? })
}

/// Reads the policy as a commit has it; the one before the first change without.
///
/// # Errors
/// Fails when it is damaged.
pub fn policy_at(repository: &Repository, tip: Option<Oid>) -> Result<PolicyState> {
    let Some(commit) = tip else { return Ok(PolicyState::default()) };
    let folder = read_folder(repository, read_bare_commit(repository, commit)?.tree)?;
    Ok(PolicyState { tip, policy: PeerPolicy::read(repository, &folder)? })
}

/// Changes the policy. `change` says what it did, and may be asked again where somebody was faster.
///
/// # Errors
/// Fails as `change` does, and when the ref cannot be written.
pub fn change_policy(
    space: &SessionSpace,
    mut change: impl FnMut(&mut PeerPolicy) -> Result<String>,
) -> Result<PolicyState> {
    let repository = space.repository();
    for _ in 0..RACES_MAX {
        let state = read_policy(space)?;
        let mut policy = state.policy.clone();
        let message = change(&mut policy)?;
        if policy == state.policy {
            return Ok(state);
        }
        let mut drafts = Drafts::default();
        let tree = policy.to_folder().finish(repository, &mut drafts);
        let signatures = space.signatures_of(repository.committer()?)?;
        let data = CommitData {
            tree,
            parents: state.tip.into_iter().collect(),
            author: signatures.author,
            committer: signatures.committer.clone(),
            message: format!("{message}\n"),
        };
        // Whoever signs may wait for a person: no lock is held.
        let (commit, object) = SigningChoice::of_people(space)?.make(repository, &data)?;
        drafts.objects.push(object);
        let _held = lock(repository, CAPS_LOCK)?;
        let next = NextState {
            name: CAPS_REF.to_owned(),
            expect: state.tip,
            commit,
            drafts,
            why: message,
        };
        if next.publish(repository, &signatures.committer)? == RefMove::Moved {
            return Ok(PolicyState { tip: Some(commit), policy });
        }
    }
    Err(Error::conflict("others change the policy all the time", "try again"))
}

/// Follows a peer under a name, and grants it a preset.
///
/// # Errors
/// Fails when the name or the peer is taken.
pub fn add_peer(
    space: &SessionSpace,
    own: &OwnIdentity,
    name: &Petname,
    followed: &FollowedPeer,
    preset: GrantPreset,
) -> Result<(PolicyState, Vec<Cid>)> {
    if space.repository().remotes().iter().any(|remote| remote == name.as_str()) {
        return Err(Error::conflict(
            format!("`{name}` is the name of a remote of git's"),
            "choose another name for the peer",
        ));
    }
    if followed.peer == own.peer() {
        return Err(Error::refused(
            "that peer is this one itself",
            "other spaces of yours are followed without being added",
        ));
    }
    let grant = match preset {
        GrantPreset::Track => Some(make_grant(own, followed.peer, &tracking())?),
        GrantPreset::None => None,
    };
    let state = change_policy(space, |policy| {
        check_name(policy, name, followed.peer)?;
        // A version before did not end them when a peer was removed.
        policy.end_grants(followed.peer, "the peer was not followed any more");
        policy.peers.insert(name.clone(), followed.clone());
        if let Some(grant) = &grant {
            policy.grants.insert(grant.cid(), grant.clone());
        }
        Ok(format!("agentic peer add {name}"))
    })?;
    Ok((state, grant.iter().map(Capability::cid).collect()))
}

fn check_name(policy: &PeerPolicy, name: &Petname, peer: PeerId) -> Result<()> {
    match (policy.peers.get(name), policy.name_of(peer)) {
        (Some(_), _) => Err(Error::conflict(
            format!("`{name}` is a peer already"),
            "choose another name, or remove that peer first",
        )),
        (None, Some(other)) => Err(Error::conflict(
            format!("that peer is followed as `{other}`"),
            "`agentic peer remove` ends that",
        )),
        (None, None) => Ok(()),
    }
}

/// Returns what the preset `track` grants.
pub fn tracking() -> GrantRequest {
    let kind = |name: &&str| Kind::parse(name).expect("kinds of presets have valid names");
    GrantRequest {
        kinds: TRACKED_KINDS.iter().map(kind).collect(),
        triggers: TRACKED_TRIGGERS.iter().map(|trigger| trigger.shown()).collect(),
        agents: None,
        until: None,
        delegate: 0,
        parent: None,
    }
}

/// Makes a capability of ours for a peer.
///
/// # Errors
/// Fails when the system has no random bytes.
pub fn make_grant(own: &OwnIdentity, peer: PeerId, request: &GrantRequest) -> Result<Capability> {
    Ok(Capability {
        project: own.project,
        issuer: own.peer(),
        peer,
        kinds: request.kinds.clone(),
        triggers: request.triggers.clone(),
        agents: request.agents.clone(),
        since: None,
        until: request.until,
        delegate: request.delegate,
        parent: request.parent,
        nonce: random(NONCE_BYTES)?,
    })
}

/// Grants a peer something.
///
/// # Errors
/// Fails when there is no such peer.
pub fn grant(
    space: &SessionSpace,
    own: &OwnIdentity,
    name: &Petname,
    request: &GrantRequest,
) -> Result<(PolicyState, Cid)> {
    let peer = followed(&read_policy(space)?.policy, name)?.peer;
    let grant = make_grant(own, peer, request)?;
    let cid = grant.cid();
    let state = change_policy(space, |policy| {
        followed(policy, name)?;
        policy.grants.insert(cid, grant.clone());
        Ok(format!("agentic grant {name}"))
    })?;
    Ok((state, cid))
}

/// Revokes one capability, or all that a peer has from us.
///
/// # Errors
/// Fails when there is no such capability or peer.
pub fn revoke(space: &SessionSpace, what: &str, why: &str) -> Result<(PolicyState, Vec<Cid>)> {
    let mut revoked = Vec::new();
    let state = change_policy(space, |policy| {
        revoked = match Cid::parse(what) {
            Ok(cid) => vec![cid],
            Err(_) => {
                let name = Petname::parse(what).map_err(|_| unknown(what))?;
                let peer = followed(policy, &name)?.peer;
                let live = policy.grants.iter().filter(|(_, grant)| grant.peer == peer);
                live.map(|(cid, _)| *cid).filter(|cid| !policy.revoked.contains_key(cid)).collect()
            }
        };
        for cid in &revoked {
            // What we never gave may have come from others: its tombstone counts all the same.
            policy.revoked.entry(*cid).or_insert_with(|| why.to_owned());
        }
        Ok(format!("agentic revoke {what}"))
    })?;
    Ok((state, revoked))
}

/// Changes whether a peer is believed.
///
/// # Errors
/// Fails when there is no such peer.
pub fn trust(space: &SessionSpace, name: &Petname, trust: PeerTrust) -> Result<PolicyState> {
    change_policy(space, |policy| {
        followed(policy, name)?;
        if let Some(followed) = policy.peers.get_mut(name) {
            followed.trust = trust;
        }
        Ok(format!("agentic peer trust {name} {}", trust.as_str()))
    })
}

/// Stops following a peer. What was granted to it ends: whoever follows it again grants it anew.
///
/// # Errors
/// Fails when there is no such peer.
pub fn forget_peer(space: &SessionSpace, name: &Petname) -> Result<FollowedPeer> {
    let gone = followed(&read_policy(space)?.policy, name)?.clone();
    change_policy(space, |policy| {
        policy.peers.remove(name);
        policy.end_grants(gone.peer, "the peer was removed");
        Ok(format!("agentic peer remove {name}"))
    })?;
    Ok(gone)
}

/// Finds a peer by its name.
///
/// # Errors
/// Fails when there is none.
pub fn followed<'p>(policy: &'p PeerPolicy, name: &Petname) -> Result<&'p FollowedPeer> {
    policy.peers.get(name).ok_or_else(|| unknown(name.as_str()))
}

fn unknown(name: &str) -> Error {
    Error::refused(
        format!("there is no peer `{name}`"),
        "`agentic peer list` lists those that there are",
    )
}
