//! Decisions of peers for holds here, as what is accepted of them has it: whether they count, and why not.

use std::collections::BTreeMap;

use agentic_git::Repository;
use agentic_model::{Cid, Instant, Kind, Oid};
use agentic_session::SessionSpace;
use agentic_session::decide::{Decision, DecisionOutcome, ForeignDecision, ForeignStanding};
use agentic_session::hold::PendingHold;

use super::{REPLIES, Replies, read_replies};
use crate::acceptance::accepted_at;
use crate::accepted::CHAIN_MAX;
use crate::capability::{Capability, PeerTrigger, TriggerForce, TriggerName};
use crate::commit_signature::live_commit_signer;
use crate::folder::{TreeFolder, TreeNode};
use crate::id::{PeerId, Petname};
use crate::in_force::{PolicyInForce, PolicySubject};
use crate::key::PeerKey;
use crate::known::KnownPeer;
use crate::own::{own_peer, this_space};
use crate::permission::{Permissions, why_refused};
use crate::policy::PolicyQuestion;
use crate::shard::AdoptedFrom;
use crate::tracking::{TrackedSpace, tracked_spaces};
use crate::wrapping::{body_of, read_bare_commit, read_wrapped};
use crate::{Error, Result};

/// A decision of a peer for a hold here.
#[derive(Debug)]
pub struct ArrivedReply {
    /// The name by which agents of its space are read.
    pub label: String,
    /// The name of the peer.
    pub petname: Petname,
    /// The peer.
    pub peer: PeerId,
    /// Whether the peer lists the space that sent it.
    pub is_listed: bool,
    /// The agent here whose hold it is about.
    pub to: AdoptedFrom,
    /// Its commit.
    pub commit: Oid,
    /// When it came here first.
    pub arrived_at: Instant,
    /// What it says; nothing where the commit is no decision.
    pub decision: Option<ForeignDecision>,
}

/// What becomes of a decision of a peer.
#[derive(Debug)]
pub enum ReplyVerdict {
    /// It counts, if a person here says so or, where something may run of it, by itself.
    Counts(TriggerForce, Box<PendingHold>),
    /// It does not, for this reason. A person here can make it their own.
    Unverified(String, Option<Box<PendingHold>>),
    /// It decides already.
    Taken {
        /// By this commit.
        by: Oid,
        /// Whether its session has not gone on with it yet, and may without a person.
        is_waiting: bool,
    },
    /// Somebody else was first.
    Late,
}

/// Lists the decisions that peers sent for holds of this space.
///
/// # Errors
/// Fails when the policy or a record is damaged. What a peer says wrongly is left out.
pub fn arrived_replies(space: &SessionSpace) -> Result<Vec<ArrivedReply>> {
    let repository = space.repository();
    let Some(own) = own_peer(repository)? else { return Ok(Vec::new()) };
    let mut arrived = Vec::new();
    for tracked in tracked_spaces(space)? {
        let body = announced_body(repository, tracked.record)?;
        // Most peers have decided nothing here.
        let Some(node) = body.get(REPLIES).copied() else { continue };
        let here = this_space(space)?;
        let is_for_us = |to: &AdoptedFrom| to.peer == own.0 && to.space == here;
        let mut replies = read_replies(repository, &body).unwrap_or_default();
        replies.retain(|_, to| is_for_us(to));
        let times = arrivals(repository, (&tracked, node), &replies)?;
        for (commit, to) in replies {
            let arrived_at = times.get(&commit).copied().unwrap_or(space.now());
            let decision = ForeignDecision::read(space, commit, &to.agent, arrived_at);
            arrived.push(ArrivedReply {
                label: tracked.label.clone(),
                petname: tracked.petname.clone(),
                peer: tracked.peer,
                is_listed: tracked.is_listed,
                to,
                commit,
                arrived_at,
                decision: decision.ok().flatten(),
            });
        }
    }
    arrived.sort_by_key(|reply| (reply.arrived_at, reply.commit));
    Ok(arrived)
}

fn announced_body(repository: &Repository, record: Oid) -> Result<TreeFolder> {
    let (announced, _) = accepted_at(repository, record)?;
    body_of(repository, &read_wrapped(repository, announced)?)
}

/// Finds when replies came here first: by the oldest record in one line with the newest that has them.
fn arrivals(
    repository: &Repository,
    (tracked, node): (&TrackedSpace, TreeNode),
    replies: &Replies,
) -> Result<BTreeMap<Oid, Instant>> {
    let mut times: BTreeMap<Oid, Instant> = BTreeMap::new();
    let mut open: Vec<Oid> = replies.keys().copied().collect();
    let (mut next, mut seen) = (Some(tracked.record), Some(node));
    for _ in 0..CHAIN_MAX {
        let Some(record) = next.take().filter(|_| !open.is_empty()) else { break };
        let (announced, at) = accepted_at(repository, record)?;
        let body = body_of(repository, &read_wrapped(repository, announced)?)?;
        if body.get(REPLIES).copied() != seen {
            seen = body.get(REPLIES).copied();
            let there = read_replies(repository, &body).unwrap_or_default();
            open.retain(|commit| there.contains_key(commit));
        }
        times.extend(open.iter().map(|commit| (*commit, Instant::from_millis(at))));
        let parents = read_bare_commit(repository, record)?.parents;
        next = match parents.as_slice() {
            [before, _] => Some(*before),
            [] | [_] | [_, _, _, ..] => None,
        };
    }
    Ok(times)
}

/// What decisions of peers are judged by: the policy of one moment.
pub struct ReplyJudge<'a> {
    space: &'a SessionSpace,
    in_force: PolicyInForce,
    permissions: Permissions,
    own: PeerId,
    /// Who we are as a person.
    person: String,
}

impl<'a> ReplyJudge<'a> {
    /// Reads the policy. `person` is whom git knows here, who stands behind what we grant.
    ///
    /// # Errors
    /// Fails when the policy is damaged.
    pub fn new(space: &'a SessionSpace, person: String) -> Result<ReplyJudge<'a>> {
        let in_force = PolicyInForce::read(space, PolicySubject::Everybody)?;
        let permissions = in_force.permissions()?;
        let own = own_peer(space.repository())?;
        let own = own.ok_or_else(|| Error::damaged("our own identity vanished"))?;
        Ok(ReplyJudge { space, in_force, permissions, own, person })
    }

    /// Says what becomes of a decision.
    ///
    /// # Errors
    /// Fails when the records of its session cannot be read.
    pub fn judge(&self, reply: &ArrivedReply) -> Result<ReplyVerdict> {
        let Some(made) = &reply.decision else {
            return Ok(ReplyVerdict::Unverified("its commit is no decision".to_owned(), None));
        };
        let pending = match made.standing(self.space)? {
            ForeignStanding::Taken { by, is_waiting } => {
                let is_waiting = is_waiting && self.force(reply) == TriggerForce::Runs;
                return Ok(ReplyVerdict::Taken { by, is_waiting });
            }
            ForeignStanding::Late => return Ok(ReplyVerdict::Late),
            ForeignStanding::Unknown => {
                return Ok(ReplyVerdict::Unverified("there is no such hold here".to_owned(), None));
            }
            ForeignStanding::Open(pending) if pending.hold.agent != reply.to.agent => {
                let why = "the hold is one of another agent".to_owned();
                return Ok(ReplyVerdict::Unverified(why, None));
            }
            ForeignStanding::Open(pending) => pending,
        };
        let why = match self.why_unverified(reply, made)? {
            Some(why) => Some(why),
            None => made.misfit(self.space, &pending),
        };
        Ok(match why {
            Some(why) => ReplyVerdict::Unverified(why, Some(pending)),
            None => ReplyVerdict::Counts(self.force(reply), pending),
        })
    }

    /// Tells whether the peer said two things of one number.
    pub fn is_frozen(&self, reply: &ArrivedReply) -> bool {
        self.in_force.is_frozen(reply.peer)
    }

    /// Finds the key that signed a decision, if it is one by which its peer decides now.
    ///
    /// # Errors
    /// Fails when the identity of the peer is damaged.
    pub fn signer(&self, reply: &ArrivedReply) -> Result<Option<PeerKey>> {
        let Some(made) = &reply.decision else { return Ok(None) };
        let known = KnownPeer::read(self.space.repository(), reply.peer)?;
        let keys = known.chain.as_ref().map(|chain| chain.newest().decide.as_slice());
        let signer = live_commit_signer(reply.commit, made.bytes(), keys.unwrap_or_default());
        Ok(signer.cloned())
    }

    /// Lets a decision that counts decide.
    ///
    /// # Errors
    /// Fails when somebody was faster, and when another host drives the session.
    pub fn take(&self, reply: &ArrivedReply, pending: &PendingHold) -> Result<DecisionOutcome> {
        let made = reply.decision.as_ref().expect("BUG: what counts is a decision");
        Ok(made.take(self.space, pending)?)
    }

    /// Says why nobody here has to believe it: the peer may not decide, did not sign, or speaks for somebody
    /// else.
    fn why_unverified(
        &self,
        reply: &ArrivedReply,
        made: &ForeignDecision,
    ) -> Result<Option<String>> {
        if !reply.is_listed {
            return Ok(Some("its peer does not list the space that sent it any more".to_owned()));
        }
        let kind = decision_kind();
        let question = asked(reply, &kind, TriggerName::Decide.shown());
        let policy = &self.in_force.state.policy;
        let Some(by) = self.permissions.allows(question) else {
            return Ok(Some(why_refused(policy, self.in_force.moment(), question).why));
        };
        if self.signer(reply)?.is_none() {
            return Ok(Some("no key signed it by which that peer decides now".to_owned()));
        }
        if made.decision.voices().all(|voice| voice != reply.peer.to_string()) {
            return Ok(Some("it does not name the peer who signed it".to_owned()));
        }
        let written = policy.peers.values().find(|followed| followed.peer == reply.peer);
        let written = written.and_then(|followed| followed.principal.as_deref());
        // Whoever decides for somebody else does that under the name that they have here, if they have one.
        let is_unnamed = written.is_none() && made.decision.grant().is_some();
        let why = why_not_by(&made.decision, written).filter(|_| !is_unnamed);
        let for_whom = made.decision.grant();
        Ok(why.or_else(|| self.why_not_for(&made.decision, for_whom?, &by)))
    }

    /// Says why a decision is not one for the person that it names: the capability must be one that counts, for
    /// a term, and given by that person.
    fn why_not_for(&self, decision: &Decision, grant: &str, by: &[Cid]) -> Option<String> {
        let cid = Cid::parse(grant).ok().filter(|cid| by.contains(cid));
        let Some(capability) = cid.and_then(|cid| self.capability(cid)) else {
            return Some(format!("`{grant}` does not let that peer decide"));
        };
        if capability.until.is_none() {
            return Some(format!("`{grant}` has no term, and speaks for nobody"));
        }
        let policy = &self.in_force.state.policy;
        let issuer = policy.peers.values().find(|followed| followed.peer == capability.issuer);
        let person = match capability.issuer == self.own {
            true => Some(self.person.as_str()),
            false => issuer.and_then(|issuer| issuer.principal.as_deref()),
        };
        match person {
            Some(person) if person == decision.person() => None,
            Some(_) | None => Some(format!("`{}` did not give `{grant}`", decision.person())),
        }
    }

    fn capability(&self, cid: Cid) -> Option<&Capability> {
        self.in_force.state.policy.grants.get(&cid).or_else(|| self.in_force.given().get(&cid))
    }

    /// Says whether a session may go on by it without a person.
    fn force(&self, reply: &ArrivedReply) -> TriggerForce {
        let kind = decision_kind();
        let runs = PeerTrigger { name: TriggerName::Decide, force: TriggerForce::Runs };
        match reply.is_listed && self.permissions.allows(asked(reply, &kind, runs)).is_some() {
            true => TriggerForce::Runs,
            false => TriggerForce::Shown,
        }
    }
}

/// Says why a decision is not one of the person whom we take the peer for.
fn why_not_by(decision: &Decision, written: Option<&str>) -> Option<String> {
    match written {
        None => {
            Some("nobody said which person that peer is: `agentic peer add --principal`".to_owned())
        }
        Some(person) if person == decision.principal => None,
        Some(person) => Some(format!("that peer is `{person}`, not `{}`", decision.principal)),
    }
}

fn decision_kind() -> Kind {
    Kind::parse("decision").expect("a valid name")
}

fn asked<'q>(reply: &'q ArrivedReply, kind: &'q Kind, trigger: PeerTrigger) -> PolicyQuestion<'q> {
    PolicyQuestion { peer: reply.peer, kind, trigger, agent: Some(&reply.to.agent) }
}
