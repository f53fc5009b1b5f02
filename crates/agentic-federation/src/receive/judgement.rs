//! What of a snapshot is believed by the policy, at once and after it changed.

use agentic_git::{RefMove, Repository};
use agentic_model::{AgentName, Kind};
use agentic_session::SessionSpace;

use super::{MadeRecord, names_of, peer_lock};
use crate::acceptance::{Acceptance, AcceptanceOutline, GateKnowledge, HeldBack};
use crate::accepted::{accepted_ref, accepted_spaces, read_accepted_outline};
use crate::capability::PeerTrigger;
use crate::caps::{CAPS_LOCK, PolicyState, followed, read_policy};
use crate::durable::{RACES_MAX, lock, mover};
use crate::folder::{TreeFolder, read_subfolder};
use crate::gate::PeerGate;
use crate::id::{PeerId, Petname, SpaceId};
use crate::in_force::{PolicyInForce, PolicySubject};
use crate::known::KnownPeer;
use crate::own::require_own;
use crate::peer_kind::KindTranslation;
use crate::policy::{FollowedPeer, PolicyAnswer, PolicyQuestion};
use crate::shard::{HeadChange, changed_heads};
use crate::tracking::{draw, tracked_spaces_of};
use crate::whole::require_whole;
use crate::wrapping::{body_of, read_wrapped};
use crate::{Error, Result};

/// What the gate made of a snapshot.
pub(crate) struct JudgedSpace {
    /// Of which agents something else is believed than before, and what.
    pub changes: Vec<HeadChange>,
    /// What waits for a grant.
    pub held: HeldBack,
}

/// What is judged: where a snapshot differs from what was believed before.
pub(crate) struct JudgedSnapshot<'a> {
    /// Where its commits are read.
    pub repository: &'a Repository,
    /// Whose it is.
    pub peer: PeerId,
    /// The snapshot.
    pub body: &'a TreeFolder,
    /// The agents that are not believed as they are announced.
    pub changes: &'a [HeadChange],
}

/// What the gate made of a snapshot, and by what.
pub(super) struct JudgedNow {
    /// What it made of it.
    pub space: JudgedSpace,
    /// When it was asked.
    pub time: i64,
    /// What it knew.
    pub known: GateKnowledge,
}

/// Judges every agent that is not believed as it is announced, by a policy and what is known now.
pub(super) fn judge_now(
    space: &SessionSpace,
    policy: &PolicyState,
    snapshot: &JudgedSnapshot<'_>,
) -> Result<JudgedNow> {
    let of = PolicySubject::Peer(snapshot.peer);
    let in_force = PolicyInForce::of(space, policy.clone(), of)?;
    Ok(JudgedNow {
        space: judge(&in_force, snapshot)?,
        time: in_force.now(),
        known: in_force.knowledge_of(snapshot.peer),
    })
}

/// Judges every agent that is not believed as it is announced.
pub(crate) fn judge(
    in_force: &PolicyInForce,
    snapshot: &JudgedSnapshot<'_>,
) -> Result<JudgedSpace> {
    let JudgedSnapshot { repository, peer, body, changes } = *snapshot;
    if changes.iter().all(|change| change.new.is_none()) {
        return Ok(JudgedSpace { changes: changes.to_vec(), held: HeldBack::new() });
    }
    let permissions = in_force.permissions()?;
    let kinds = KindTranslation::new(repository, &in_force.kinds, body);
    let gate = PeerGate { repository, permissions: &permissions, kinds: &kinds, peer };
    let mut judged = JudgedSpace { changes: Vec::new(), held: HeldBack::new() };
    for HeadChange { agent, old, new } in changes {
        // What is announced no more is believed no more.
        let Some(announced) = new else {
            judged.changes.push(HeadChange { agent: agent.clone(), old: old.clone(), new: None });
            continue;
        };
        let verdict = gate.judge(agent, old.as_ref(), announced)?;
        if verdict.believed != *old {
            let (agent, old) = (agent.clone(), old.clone());
            judged.changes.push(HeadChange { agent, old, new: verdict.believed });
        }
        if let Some(held) = verdict.held {
            judged.held.insert(agent.clone(), held);
        }
    }
    Ok(judged)
}

/// Says whether a peer may do something now.
///
/// # Errors
/// Fails when there is no such peer, and when the policy is damaged.
pub fn may(
    space: &SessionSpace,
    name: &Petname,
    kind: &Kind,
    trigger: PeerTrigger,
) -> Result<PolicyAnswer> {
    require_own(space)?;
    let state = read_policy(space)?;
    let peer = followed(&state.policy, name)?.peer;
    let in_force = PolicyInForce::of(space, state, PolicySubject::Peer(peer))?;
    in_force.may(PolicyQuestion { peer, kind, trigger, agent: None })
}

/// Judges again what waits of a space, after the policy changed. What is believed stays.
///
/// # Errors
/// Fails when the disk does, and when the record is damaged.
fn judge_again(space: &SessionSpace, peer: PeerId, of: SpaceId) -> Result<Vec<AgentName>> {
    let own = space.repository();
    for _ in 0..RACES_MAX {
        let policy = read_policy(space)?;
        let Some(before) = read_accepted_outline(own, peer, of)? else { return Ok(Vec::new()) };
        if before.acceptance.held.is_empty() || KnownPeer::read(own, peer)?.is_frozen() {
            return Ok(Vec::new());
        }
        require_whole(own)?;
        let wrapped = read_wrapped(own, before.acceptance.announced)?;
        let body = body_of(own, &wrapped)?;
        let announced = read_subfolder(own, &body, "heads")?;
        let changes = changed_heads(own, &before.acceptance.believed, &announced)?;
        let snapshot = JudgedSnapshot { repository: own, peer, body: &body, changes: &changes };
        let now = judge_now(space, &policy, &snapshot)?;
        let judged = now.space;
        if judged.changes.is_empty() && judged.held == before.acceptance.held {
            return Ok(Vec::new());
        }
        let acceptance = Acceptance {
            policy: policy.tip,
            time: now.time,
            known: Some(now.known),
            held: judged.held,
            ..before.acceptance.clone()
        };
        let _caps = lock(own, CAPS_LOCK)?;
        let _peer = lock(own, &peer_lock(peer))?;
        if read_policy(space)?.tip != policy.tip {
            continue;
        }
        let name = accepted_ref(peer, of);
        let made =
            MadeRecord { name: &name, before: Some(before.record), changes: &judged.changes };
        let next = made.next(own, &acceptance)?;
        if next.publish(own, &mover(own, space.now())?)? == RefMove::Moved {
            return Ok(names_of(&judged.changes));
        }
    }
    Err(Error::conflict("others accept all the time", "try again"))
}

/// What is believed of a space by now that waited before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasedSpace {
    /// The peer.
    pub peer: PeerId,
    /// The space.
    pub space: SpaceId,
    /// The agents of which something else is believed.
    pub moved: Vec<AgentName>,
    /// What still waits.
    pub held: HeldBack,
}

/// Judges again what waits of peers, since the policy, the clock, or what others gave on may let it through by now,
/// and draws what is believed then.
///
/// # Errors
/// Fails when a record is damaged.
pub fn judge_held(
    space: &SessionSpace,
    peers: &[(&Petname, &FollowedPeer)],
) -> Result<Vec<ReleasedSpace>> {
    let repository = space.repository();
    let mut released = Vec::new();
    for (petname, followed) in peers {
        let peer = followed.peer;
        for (of, record) in accepted_spaces(repository, peer)? {
            if AcceptanceOutline::read_outline(repository, record)?.held.is_empty() {
                continue;
            }
            let tracked = tracked_spaces_of(repository, petname, followed)?.into_iter();
            let Some(tracked) = tracked.filter(|it| it.is_listed).find(|it| it.space == of) else {
                continue;
            };
            let moved = judge_again(space, peer, of)?;
            draw(space, &tracked)?;
            let now = read_accepted_outline(repository, peer, of)?;
            let held = now.map(|now| now.acceptance.held).unwrap_or_default();
            released.push(ReleasedSpace { peer, space: of, moved, held });
        }
    }
    Ok(released)
}
