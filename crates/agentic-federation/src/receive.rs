//! Receiving one space: from what a remote serves to the record of what is believed.
//!
//! Before the record is written only the quarantine and what is known of the peer are. A refusal leaves
//! no object, no ref and no fact.

use std::collections::BTreeSet;

use agentic_git::{Quarantine, RefMove, Repository};
use agentic_model::{AgentName, Cid, Kind, Oid};
use agentic_session::SessionSpace;
use agentic_store::fault;

use crate::acceptance::{Acceptance, HeldBack};
use crate::accepted::{AcceptedChain, AcceptedState, accepted_ref, read_accepted};
use crate::announcement::SignedAnnouncement;
use crate::capability::PeerTrigger;
use crate::caps::{CAPS_LOCK, PolicyState, read_policy};
use crate::durable::{ChainContent, NextState, RACES_MAX, lock, mover, next_state};
use crate::folder::{TreeNode, read_subfolder};
use crate::gate::PeerGate;
use crate::id::{PeerId, Petname, SpaceId};
use crate::identity::IdentityChain;
use crate::known::KnownPeer;
use crate::own::{pin, pinned_project, read_documents};
use crate::policy::{PolicyAnswer, PolicyMoment, PolicyQuestion};
use crate::shard::{HeadEntry, Heads, read_heads};
use crate::steps::check_step;
use crate::walk::{Walk, WalkEnd, WalkNode, WalkSubject, is_backed, walk_down, why_invalid};
use crate::wrapping::{WrappedAnnouncement, body_of};
use crate::{Error, MalformedInput, Result};

/// What is served of a space, and where.
#[derive(Debug, Clone)]
pub struct ServedSpace {
    /// The peer.
    pub peer: PeerId,
    /// The space.
    pub space: SpaceId,
    /// A remote, its address, or a bundle.
    pub source: String,
    /// The ref.
    pub name: String,
    /// Where it is.
    pub tip: Oid,
    /// How many bytes are taken at most.
    pub bytes_max: u64,
}

/// What became of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpaceResult {
    /// It is believed from now on, as far as it is granted.
    Accepted,
    /// It is what was accepted.
    Unchanged,
    /// It is older than what was accepted.
    Stale,
    /// It goes on from before what was accepted, as its newest keys say.
    Recovered,
    /// It is not believed.
    Refused(String),
    /// The peer said two things of one number.
    Frozen,
}

/// What became of a space, and what moved.
#[derive(Debug, Clone)]
pub struct SpaceOutcome {
    /// The space.
    pub space: SpaceId,
    /// What became of it.
    pub result: SpaceResult,
    /// What was accepted before.
    pub from: Option<Cid>,
    /// What is accepted now.
    pub to: Option<Cid>,
    /// The agents of which something else is believed now.
    pub moved: Vec<AgentName>,
    /// What waits for a grant.
    pub held: HeldBack,
    /// What was served and is nothing.
    pub junk: Vec<String>,
}

/// What a look at a space came to.
enum SpaceDecision {
    Nothing(SpaceResult),
    Accept(Box<CandidateSpace>),
}

/// An announcement that may be believed.
struct CandidateSpace {
    wrapped: WrappedAnnouncement,
    result: SpaceResult,
    has_junk: bool,
}

/// Receives what is served of one space.
///
/// # Errors
/// Fails when the disk does. That something is not believed is an outcome.
pub fn receive(space: &SessionSpace, served: &ServedSpace) -> Result<SpaceOutcome> {
    let own = space.repository();
    let before = read_accepted(own, served.peer, served.space)?;
    let mut outcome = SpaceOutcome {
        space: served.space,
        result: SpaceResult::Unchanged,
        from: before.as_ref().map(|before| before.acceptance.announcement),
        to: before.as_ref().map(|before| before.acceptance.announcement),
        moved: Vec::new(),
        held: before.as_ref().map(|before| before.acceptance.held.clone()).unwrap_or_default(),
        junk: Vec::new(),
    };
    if before.as_ref().is_some_and(|before| before.acceptance.announced == served.tip) {
        let known = KnownPeer::read(own, served.peer)?;
        if known.is_frozen() {
            outcome.result = SpaceResult::Frozen;
        }
        return Ok(outcome);
    }
    let quarantine = Quarantine::make(own)?;
    let end = quarantine.download(own, (&served.source, &served.name), served.bytes_max)?;
    if !end.success || !quarantine.repository().has_object(served.tip) {
        let said = end.stderr.lines().last().unwrap_or("it has moved meanwhile").to_owned();
        outcome.result = SpaceResult::Refused(format!("cannot be downloaded: {said}"));
        return Ok(outcome);
    }
    fault::point("quarantine-filled")?;
    for _ in 0..RACES_MAX {
        let mut known = hear(space, served, &quarantine, &mut outcome)?;
        let chain = match known.chain.take() {
            Some(chain) if !known.is_frozen() => chain,
            Some(_) => {
                outcome.result = SpaceResult::Frozen;
                return Ok(outcome);
            }
            None => {
                let why = "it brings no identity of that peer".to_owned();
                outcome.result = SpaceResult::Refused(why);
                return Ok(outcome);
            }
        };
        let decision = decide(own, served, &quarantine, (&chain, &known.chosen()));
        let candidate = match decision {
            Ok(SpaceDecision::Accept(candidate)) => candidate,
            Ok(SpaceDecision::Nothing(result)) => {
                outcome.result = result;
                return Ok(outcome);
            }
            Err(Error::Malformed(wrong)) => {
                outcome.result = SpaceResult::Refused(wrong.0);
                return Ok(outcome);
            }
            Err(error) => return Err(error),
        };
        let arrival = Arrival { served, quarantine: &quarantine, chain: &chain, known: known.tip };
        if accept(space, &arrival, &candidate, &mut outcome)? == RefMove::Moved {
            return Ok(outcome);
        }
    }
    Err(Error::conflict("others accept all the time", "fetch again"))
}

/// Takes identity documents and statements in, and keeps what is new durably.
fn hear(
    space: &SessionSpace,
    served: &ServedSpace,
    quarantine: &Quarantine,
    outcome: &mut SpaceOutcome,
) -> Result<KnownPeer> {
    let own = space.repository();
    loop {
        let before = KnownPeer::read(own, served.peer)?;
        let mut known = before.clone();
        let accepted = read_accepted(own, served.peer, served.space)?;
        let tip = accepted.map(|accepted| accepted.acceptance.announced);
        let mut chain = AcceptedChain::new(own, tip);
        let walk = match walk_down(quarantine.repository(), served.tip, &mut chain) {
            Ok(walk) => walk,
            // What is wrong with it is said when it is judged.
            Err(Error::Malformed(_)) => return Ok(known),
            Err(error) => return Err(error),
        };
        hear_documents(quarantine.repository(), served.peer, &walk, &mut known);
        let subject = subject(own, served)?;
        let mut heard: Vec<SignedAnnouncement> = Vec::new();
        outcome.junk.clear();
        for node in &walk.nodes {
            match (node, &known.chain) {
                (WalkNode::Announced(wrapped), Some(identity)) => {
                    match why_invalid(identity, subject, wrapped) {
                        None => heard.push(wrapped.signed.clone()),
                        Some(why) => outcome.junk.push(format!("{}: {why}", wrapped.commit)),
                    }
                }
                (WalkNode::Junk { commit, why }, _) => {
                    outcome.junk.push(format!("{commit}: {why}"));
                }
                (WalkNode::Announced(_), None) => {}
            }
        }
        known.hear(&heard, &mut |stated| {
            if stated.space != served.space {
                return Ok(None);
            }
            Ok(chain.at(stated.number)?.map(|found| found.signed.clone()))
        })?;
        // What will be accepted needs not be kept beside; what is not is heard of next time, too, but
        // only as long as somebody serves it.
        if !is_about_to_be_accepted(&known, &walk, subject) {
            known.keep(heard);
        }
        if known.is_same(&before) || known.save(space, served.peer)? == RefMove::Moved {
            fault::point("statements-kept")?;
            return Ok(known);
        }
    }
}

fn is_about_to_be_accepted(known: &KnownPeer, walk: &Walk, subject: WalkSubject) -> bool {
    let (Some(identity), Some(WalkNode::Announced(first))) = (&known.chain, walk.nodes.first())
    else {
        return false;
    };
    !known.is_frozen()
        && why_invalid(identity, subject, first).is_none()
        && is_backed(identity, first)
}

fn hear_documents(repository: &Repository, peer: PeerId, walk: &Walk, known: &mut KnownPeer) {
    let mut seen: BTreeSet<Option<TreeNode>> = BTreeSet::new();
    for node in walk.nodes.iter().rev() {
        let WalkNode::Announced(wrapped) = node else { continue };
        if wrapped.signed.announcement.peer != peer {
            continue;
        }
        let Ok(body) = body_of(repository, wrapped) else { continue };
        if seen.insert(body.get("identity").copied())
            && let Ok(documents) = read_documents(repository, &body)
        {
            known.hear_documents(peer, documents);
        }
    }
}

fn subject(own: &Repository, served: &ServedSpace) -> Result<WalkSubject> {
    let project = pinned_project(own)?;
    Ok(WalkSubject { project, peer: served.peer, space: served.space })
}

/// Finds the candidate, its position and whether every step to it counts.
fn decide(
    own: &Repository,
    served: &ServedSpace,
    quarantine: &Quarantine,
    (identity, chosen): (&IdentityChain, &BTreeSet<Cid>),
) -> Result<SpaceDecision> {
    if identity.newest().space(served.space).is_none() {
        let why = "its newest identity does not list that space".to_owned();
        return Ok(SpaceDecision::Nothing(SpaceResult::Refused(why)));
    }
    let repository = quarantine.repository();
    let accepted = read_accepted(own, served.peer, served.space)?;
    let tip = accepted.as_ref().map(|accepted| accepted.acceptance.announced);
    let walk = walk_down(repository, served.tip, &mut AcceptedChain::new(own, tip))?;
    let subject = subject(own, served)?;
    let is_candidate = |node: &WalkNode| match node {
        WalkNode::Announced(wrapped) => {
            why_invalid(identity, subject, wrapped).is_none() && is_backed(identity, wrapped)
        }
        WalkNode::Junk { .. } => false,
    };
    let Some(at) = walk.nodes.iter().position(is_candidate) else {
        return Ok(SpaceDecision::Nothing(without_candidate(&walk, accepted.as_ref())));
    };
    let (path, has_junk) = (&walk.nodes[at..], at > 0);
    let WalkNode::Announced(candidate) = &path[0] else {
        return Err(MalformedInput::new("a candidate is an announcement").into());
    };
    let result = position((identity, chosen), &walk.end, accepted.as_ref(), path)?;
    let mut before = match &walk.end {
        WalkEnd::Meets(met) => Some(met.as_ref().clone()),
        WalkEnd::Root | WalkEnd::Gap => None,
    };
    for node in path.iter().rev() {
        let WalkNode::Announced(this) = node else {
            return Err(MalformedInput::new("there is something else in the chain").into());
        };
        let number = this.signed.announcement.seq;
        let wrong = |why: String| MalformedInput(format!("announcement {number}: {why}"));
        if let Some(why) = why_invalid(identity, subject, this) {
            return Err(wrong(why.to_owned()).into());
        }
        let checked = check_step(repository, identity, before.as_ref(), this);
        checked.map_err(|error| match error {
            Error::Malformed(why) => wrong(why.0).into(),
            other @ (Error::Store(_) | Error::Space(_) | Error::Session(_) | Error::Refused(_)) => {
                other
            }
        })?;
        before = Some(this.as_ref().clone());
    }
    let wrapped = candidate.as_ref().clone();
    Ok(SpaceDecision::Accept(Box::new(CandidateSpace { wrapped, result, has_junk })))
}

/// Says what it is that a remote serves nothing which counts.
fn without_candidate(walk: &Walk, accepted: Option<&AcceptedState>) -> SpaceResult {
    match (&walk.end, accepted) {
        (WalkEnd::Meets(met), Some(accepted))
            if met.signed.cid() == accepted.acceptance.announcement =>
        {
            match walk.nodes.is_empty() {
                true => SpaceResult::Unchanged,
                false => {
                    let why = "nothing above what was accepted is an announcement that counts";
                    SpaceResult::Refused(why.to_owned())
                }
            }
        }
        (WalkEnd::Meets(_), _) => SpaceResult::Stale,
        (WalkEnd::Root | WalkEnd::Gap, _) => {
            let why = "nothing there is an announcement that counts".to_owned();
            SpaceResult::Refused(why)
        }
    }
}

/// Says how a candidate stands to what was accepted.
fn position(
    (identity, chosen): (&IdentityChain, &BTreeSet<Cid>),
    end: &WalkEnd,
    accepted: Option<&AcceptedState>,
    path: &[WalkNode],
) -> Result<SpaceResult> {
    let Some(accepted) = accepted else {
        return match end {
            WalkEnd::Root => Ok(SpaceResult::Accepted),
            WalkEnd::Gap | WalkEnd::Meets(_) => {
                Err(MalformedInput::new("its chain has no beginning").into())
            }
        };
    };
    let met = match end {
        WalkEnd::Meets(met) => met.signed.cid(),
        WalkEnd::Root | WalkEnd::Gap => {
            return Err(MalformedInput::new("it is no descendant of what was accepted").into());
        }
    };
    if met == accepted.acceptance.announcement {
        return Ok(SpaceResult::Accepted);
    }
    let WalkNode::Announced(candidate) = &path[0] else {
        return Err(MalformedInput::new("a candidate is an announcement").into());
    };
    let space = candidate.signed.announcement.space;
    let epoch = identity.epoch(space);
    let resume = identity.newest().space(space).and_then(|listed| listed.resume);
    let is_newest = |node: &WalkNode| match node {
        WalkNode::Announced(wrapped) => Some(wrapped.signed.announcement.epoch) == epoch,
        WalkNode::Junk { .. } => false,
    };
    let is_chosen = |node: &WalkNode| match node {
        WalkNode::Announced(wrapped) => chosen.contains(&wrapped.signed.cid()),
        WalkNode::Junk { .. } => false,
    };
    let is_resumed = resume == Some(met) && path.iter().all(is_newest);
    match is_resumed || path.iter().any(is_chosen) {
        true => Ok(SpaceResult::Recovered),
        false => Err(MalformedInput::new("it is no descendant of what was accepted").into()),
    }
}

/// How something came here.
struct Arrival<'a> {
    served: &'a ServedSpace,
    quarantine: &'a Quarantine,
    chain: &'a IdentityChain,
    known: Option<Oid>,
}

/// Judges a candidate and makes it the accepted one, if nothing moved meanwhile.
fn accept(
    space: &SessionSpace,
    arrival: &Arrival<'_>,
    candidate: &CandidateSpace,
    outcome: &mut SpaceOutcome,
) -> Result<RefMove> {
    let own = space.repository();
    let Arrival { served, quarantine, chain, known } = *arrival;
    let policy = read_policy(space)?;
    let before = read_accepted(own, served.peer, served.space)?;
    let body = body_of(quarantine.repository(), &candidate.wrapped)?;
    let announced = read_subfolder(quarantine.repository(), &body, "heads")?;
    let announced = read_heads(quarantine.repository(), &announced)?;
    let believed = before.as_ref().map(|before| before.acceptance.believed.clone());
    let believed = believed.unwrap_or_default();
    let judged =
        judge(space, quarantine.repository(), served.peer, &policy, [&believed, &announced])?;
    let acceptance = Acceptance {
        announcement: candidate.wrapped.signed.cid(),
        announced: candidate.wrapped.commit,
        identity: chain.last().cid(),
        policy: policy.tip,
        time: space.now().millis(),
        way: served.source.clone(),
        believed: judged.believed,
        held: judged.held,
    };
    let _caps = lock(own, CAPS_LOCK)?;
    let _peer = lock(own, &peer_lock(served.peer))?;
    let is_as_before = read_policy(space)?.tip == policy.tip
        && own.find_ref(&accepted_ref(served.peer, served.space))?
            == before.as_ref().map(|before| before.record)
        && KnownPeer::read(own, served.peer)?.tip == known;
    if !is_as_before {
        return Ok(RefMove::Lost { found: None });
    }
    pin(space, candidate.wrapped.signed.announcement.project, None)?;
    match candidate.has_junk {
        true => {
            let known = before.as_ref().map(|before| before.acceptance.announced);
            quarantine.keep_reached(own, candidate.wrapped.commit, known)?;
        }
        false => quarantine.keep_all(own)?,
    }
    fault::point("packs-moved")?;
    let next = next_record(own, served, before.as_ref(), &acceptance);
    let moved = next.publish(own, &mover(own, space.now())?)?;
    if moved == RefMove::Moved {
        outcome.result = candidate.result.clone();
        outcome.to = Some(acceptance.announcement);
        outcome.moved = moved_agents(&believed, &acceptance.believed);
        outcome.held = acceptance.held;
    }
    Ok(moved)
}

fn next_record(
    own: &Repository,
    served: &ServedSpace,
    before: Option<&AcceptedState>,
    acceptance: &Acceptance,
) -> NextState {
    let content = ChainContent {
        folder: acceptance.to_folder(),
        also: vec![acceptance.announced],
        at: agentic_model::Instant::from_millis(acceptance.time),
        message: format!("agentic accepted {} by {}", acceptance.announcement, acceptance.way),
    };
    let name = accepted_ref(served.peer, served.space);
    next_state(own, &name, before.map(|before| before.record), content)
}

/// What the gate made of a snapshot.
struct JudgedSpace {
    believed: Heads,
    held: HeldBack,
}

/// Judges every agent that is not believed as it is announced.
fn judge(
    space: &SessionSpace,
    repository: &Repository,
    peer: PeerId,
    policy: &PolicyState,
    [believed, announced]: [&Heads; 2],
) -> Result<JudgedSpace> {
    let kinds = space.kinds()?;
    let own = crate::own::own_chain(space.repository())?;
    // Without an identity of ours nobody could have been granted anything.
    let own = own.map_or(peer, |chain| chain.peer());
    let frozen = BTreeSet::new();
    let moment = PolicyMoment { kinds: &kinds, own, now: space.now().millis(), frozen: &frozen };
    let gate = PeerGate { repository, policy: &policy.policy, moment, peer };
    let mut judged = JudgedSpace { believed: Heads::new(), held: HeldBack::new() };
    for (agent, entry) in announced {
        let old: Option<&HeadEntry> = believed.get(agent);
        if old == Some(entry) {
            judged.believed.insert(agent.clone(), entry.clone());
            continue;
        }
        let verdict = gate.judge(agent, old, entry)?;
        if let Some(believed) = verdict.believed {
            judged.believed.insert(agent.clone(), believed);
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
    let policy = read_policy(space)?.policy;
    let peer = crate::caps::followed(&policy, name)?.peer;
    let own = crate::own::require_own(space)?.peer();
    let known = KnownPeer::read(space.repository(), peer)?;
    let frozen: BTreeSet<PeerId> = known.is_frozen().then_some(peer).into_iter().collect();
    let kinds = space.kinds()?;
    let moment = PolicyMoment { kinds: &kinds, own, now: space.now().millis(), frozen: &frozen };
    Ok(policy.may(moment, PolicyQuestion { peer, kind, trigger, agent: None }))
}

fn moved_agents(before: &Heads, after: &Heads) -> Vec<AgentName> {
    let names: BTreeSet<&AgentName> = before.keys().chain(after.keys()).collect();
    let moved = names.into_iter().filter(|agent| before.get(*agent) != after.get(*agent));
    moved.cloned().collect()
}

/// Names the lock under which records of a peer are written.
pub fn peer_lock(peer: PeerId) -> String {
    let hash = agentic_store::hash_hex(peer.to_string().as_bytes());
    format!("peer-{}", &hash[..16])
}

/// Ends that a peer is frozen: a person chose one side of what it said.
///
/// # Errors
/// Fails when nothing that it said has that side.
pub fn resolve(space: &SessionSpace, peer: PeerId, side: Cid, why: &str) -> Result<()> {
    for _ in 0..RACES_MAX {
        let mut known = KnownPeer::read(space.repository(), peer)?;
        if known.resolve(side, why) == 0 {
            return Err(Error::refused(
                format!("nothing that this peer said twice has the side `{side}`"),
                "`agentic verify` shows both sides",
            ));
        }
        if known.save(space, peer)? == RefMove::Moved {
            return Ok(());
        }
    }
    Err(Error::conflict("others hear of that peer all the time", "try again"))
}

/// Judges again what waits of a space, after the policy changed. What is believed stays.
///
/// # Errors
/// Fails when the disk does, and when the record is damaged.
pub fn judge_again(space: &SessionSpace, peer: PeerId, of: SpaceId) -> Result<Vec<AgentName>> {
    let own = space.repository();
    for _ in 0..RACES_MAX {
        let policy = read_policy(space)?;
        let Some(before) = read_accepted(own, peer, of)? else { return Ok(Vec::new()) };
        if before.acceptance.held.is_empty() || KnownPeer::read(own, peer)?.is_frozen() {
            return Ok(Vec::new());
        }
        let wrapped = crate::wrapping::read_wrapped(own, before.acceptance.announced)?;
        let announced = read_subfolder(own, &body_of(own, &wrapped)?, "heads")?;
        let announced = read_heads(own, &announced)?;
        let believed = before.acceptance.believed.clone();
        let judged = judge(space, own, peer, &policy, [&believed, &announced])?;
        if judged.believed == believed && judged.held == before.acceptance.held {
            return Ok(Vec::new());
        }
        let acceptance = Acceptance {
            policy: policy.tip,
            time: space.now().millis(),
            believed: judged.believed,
            held: judged.held,
            ..before.acceptance.clone()
        };
        let _caps = lock(own, CAPS_LOCK)?;
        let _peer = lock(own, &peer_lock(peer))?;
        if read_policy(space)?.tip != policy.tip {
            continue;
        }
        let served = ServedSpace {
            peer,
            space: of,
            source: acceptance.way.clone(),
            name: String::new(),
            tip: acceptance.announced,
            bytes_max: 0,
        };
        let next = next_record(own, &served, Some(&before), &acceptance);
        if next.publish(own, &mover(own, space.now())?)? == RefMove::Moved {
            return Ok(moved_agents(&believed, &acceptance.believed));
        }
    }
    Err(Error::conflict("others accept all the time", "try again"))
}
