//! The policy in force: what was granted here, what peers gave on, and whom we trust, at one moment.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Cid, KindTree};
use agentic_session::SessionSpace;

use crate::Result;
use crate::acceptance::GateKnowledge;
use crate::capability::Capability;
use crate::caps::{PolicyState, read_policy};
use crate::given::read_given;
use crate::id::PeerId;
use crate::known::KnownPeer;
use crate::own::own_peer;
use crate::permission::Permissions;
use crate::policy::{PolicyAnswer, PolicyMoment, PolicyQuestion};

/// The policy and all that it depends on.
#[derive(Debug, Clone)]
pub struct PolicyInForce {
    /// The policy, and the commit that has it.
    pub state: PolicyState,
    /// The kinds here.
    pub kinds: KindTree,
    own: PeerId,
    now: i64,
    frozen: BTreeSet<PeerId>,
    given: BTreeMap<Cid, Capability>,
}

/// Of which peers it matters whether they said two things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicySubject {
    /// All of them.
    Everybody,
    /// This one, and those that gave something on.
    Peer(PeerId),
}

impl PolicyInForce {
    /// Reads it.
    ///
    /// # Errors
    /// Fails when the policy, or what is accepted of a peer, is damaged.
    pub fn read(space: &SessionSpace, of: PolicySubject) -> Result<PolicyInForce> {
        PolicyInForce::of(space, read_policy(space)?, of)
    }

    /// Reads what a policy depends on.
    ///
    /// # Errors
    /// Fails as [`PolicyInForce::read`] does.
    pub fn of(
        space: &SessionSpace,
        state: PolicyState,
        of: PolicySubject,
    ) -> Result<PolicyInForce> {
        let own = own_peer(space.repository())?.unwrap_or_else(nobody);
        let given = read_given(space, &state.policy)?;
        let issuers: BTreeSet<PeerId> = given.values().map(|given| given.issuer).collect();
        let mut frozen = BTreeSet::new();
        for peer in state.policy.peers.values().map(|followed| followed.peer).chain([own]) {
            let matters = match of {
                PolicySubject::Everybody => true,
                PolicySubject::Peer(of) => of == peer || issuers.contains(&peer),
            };
            if matters && KnownPeer::read(space.repository(), peer)?.is_frozen() {
                frozen.insert(peer);
            }
        }
        let (kinds, now) = (space.kinds()?, space.now().millis());
        Ok(PolicyInForce { state, kinds, own, now, frozen, given })
    }

    /// Makes it again as it was when something was judged: a policy, who we are, and the moment.
    pub(crate) fn recalled(
        state: PolicyState,
        own: Option<PeerId>,
        moment: RecalledMoment<'_>,
    ) -> PolicyInForce {
        let RecalledMoment { time, known } = moment;
        PolicyInForce {
            state,
            kinds: known.kind_tree(),
            own: own.unwrap_or_else(nobody),
            now: time,
            frozen: known.frozen.clone(),
            given: known.given.clone(),
        }
    }

    /// Returns what matters of it for one peer, beside the policy and the time.
    pub(crate) fn knowledge_of(&self, peer: PeerId) -> GateKnowledge {
        let mut given = BTreeMap::new();
        let mut next: Vec<Cid> =
            self.given.iter().filter(|(_, one)| one.peer == peer).map(|(cid, _)| *cid).collect();
        while let Some(cid) = next.pop() {
            let Some(capability) = self.given.get(&cid) else { continue };
            if given.insert(cid, capability.clone()).is_none() {
                next.extend(capability.parent);
            }
        }
        let issuers = given.values().map(|one: &Capability| one.issuer);
        let frozen = issuers.chain([peer]).filter(|peer| self.frozen.contains(peer)).collect();
        let kinds = self.kinds.entries().map(|entry| (entry.name.clone(), entry.parent.clone()));
        GateKnowledge { kinds: kinds.collect(), frozen, given }
    }

    /// Returns the time for which it counts, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Returns what the policy is asked with.
    pub fn moment(&self) -> PolicyMoment<'_> {
        let PolicyInForce { kinds, own, now, frozen, given, .. } = self;
        PolicyMoment { kinds, own: *own, now: *now, frozen, given }
    }

    /// Compiles it.
    ///
    /// # Errors
    /// Fails when the rule cannot be asked.
    pub fn permissions(&self) -> Result<Permissions> {
        Permissions::compile(&self.state.policy, self.moment())
    }

    /// Says whether a peer may do something.
    ///
    /// # Errors
    /// Fails when the rule cannot be asked.
    pub fn may(&self, question: PolicyQuestion<'_>) -> Result<PolicyAnswer> {
        self.state.policy.may(self.moment(), question)
    }

    /// Tells whether a peer said two things.
    pub fn is_frozen(&self, peer: PeerId) -> bool {
        self.frozen.contains(&peer)
    }

    /// Lists what peers gave on.
    pub fn given(&self) -> &BTreeMap<Cid, Capability> {
        &self.given
    }
}

/// When something was judged, and what was known then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecalledMoment<'k> {
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// What was known.
    pub known: &'k GateKnowledge,
}

/// Stands for us before there is an identity of ours: nobody could have been granted anything.
fn nobody() -> PeerId {
    PeerId(Cid::of(b"nobody"))
}
