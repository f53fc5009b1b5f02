//! Facts about peers, as queries ask for them: who is followed, what each may do, what is believed.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use agentic_model::{Kind, guidance};
use agentic_query::QueryType::{Bool, Cid, Commit, Instant, Text};
use agentic_query::{
    FactColumn, FactFailure, FactPredicate, FactRequest, FactSink, FactSource, IdMatch, QueryType,
    QueryValue, column,
};
use agentic_session::SessionSpace;

use crate::Result;
use crate::acceptance::Acceptance;
use crate::capability::{Capability, TriggerName};
use crate::fact_row::hand_over;
use crate::id::Petname;
use crate::in_force::{PolicyInForce, PolicySubject};
use crate::permission::Permissions;
use crate::policy::{FollowedPeer, PolicyQuestion};
use crate::tracking::tracked_spaces;

/// The facts about the peers of a space. What was read stays for all that one program asks.
pub struct PeerFacts<'a> {
    space: &'a SessionSpace,
    predicates: Vec<FactPredicate>,
    in_force: OnceCell<(PolicyInForce, Permissions)>,
}

/// A predicate about peers.
#[derive(Debug, Clone, Copy)]
enum PeerPredicate {
    Peer,
    Trust,
    Allowed,
    Capability,
    RemoteHead,
}

/// A predicate as people read about it.
struct DescribedPredicate {
    predicate: PeerPredicate,
    name: &'static str,
    meaning: &'static str,
    origin: &'static str,
    columns: &'static [FactColumn],
}

static PREDICATES: [DescribedPredicate; 5] = [
    DescribedPredicate {
        predicate: PeerPredicate::Peer,
        name: "peer",
        meaning: "A peer is followed.",
        origin: "the policy, and what is known of peers",
        columns: &[
            column("name", Text, "its name here"),
            column("id", Cid, "its id"),
            column("level", Text, "track, none or blocked"),
            column("frozen", Bool, "whether it said two things of one number"),
        ],
    },
    DescribedPredicate {
        predicate: PeerPredicate::Trust,
        name: "trust",
        meaning: "A peer is believed as far as its rights go.",
        origin: "peers of the level track that are not frozen, and `self`",
        columns: &[column("peer", Text, "its name here")],
    },
    DescribedPredicate {
        predicate: PeerPredicate::Allowed,
        name: "allowed",
        meaning: "A peer has a right, for some agents or for all.",
        origin: "grants that count now, and what peers gave on",
        columns: &[
            column("peer", Text, "its name here"),
            column("kind", Text, "of which kind"),
            column("trigger", Text, "what"),
        ],
    },
    DescribedPredicate {
        predicate: PeerPredicate::Capability,
        name: "capability",
        meaning: "A capability was given and not revoked.",
        origin: "grants, and what peers gave on",
        columns: &[
            column("cid", Cid, "the capability"),
            column("issuer", Text, "who gave it"),
            column("peer", Text, "who has it"),
            column("until", Instant, "until when; null for good"),
        ],
    },
    DescribedPredicate {
        predicate: PeerPredicate::RemoteHead,
        name: "remote_head",
        meaning: "A peer announced an agent.",
        origin: "records of what was accepted",
        columns: &[
            column("peer", Text, "the name of the peer here"),
            column("agent", Text, "the agent as it is read here"),
            column("head", Commit, "the head that was announced"),
            column("believed", Commit, "the head that is believed; null if none is"),
        ],
    },
];

impl<'a> PeerFacts<'a> {
    /// Begins with nothing read.
    pub fn new(space: &'a SessionSpace) -> PeerFacts<'a> {
        let described = |one: &DescribedPredicate| {
            FactPredicate::described(one.name, [one.meaning, one.origin], one.columns)
        };
        let predicates = PREDICATES.iter().map(described).collect();
        PeerFacts { space, predicates, in_force: OnceCell::new() }
    }

    fn in_force(&self) -> Result<&(PolicyInForce, Permissions)> {
        if let Some(known) = self.in_force.get() {
            return Ok(known);
        }
        let in_force = PolicyInForce::read(self.space, PolicySubject::Everybody)?;
        let permissions = in_force.permissions()?;
        Ok(self.in_force.get_or_init(|| (in_force, permissions)))
    }

    fn rows(&self, predicate: PeerPredicate) -> Result<Vec<Vec<QueryValue>>> {
        let (in_force, permissions) = self.in_force()?;
        match predicate {
            PeerPredicate::Peer => Ok(peer_rows(in_force)),
            PeerPredicate::Trust => Ok(permissions.trust_rows()),
            PeerPredicate::Allowed => Ok(permissions.allowed_rows()),
            PeerPredicate::Capability => Ok(capability_rows(in_force, permissions)),
            PeerPredicate::RemoteHead => self.head_rows(),
        }
    }

    fn head_rows(&self) -> Result<Vec<Vec<QueryValue>>> {
        let mut rows = Vec::new();
        for tracked in tracked_spaces(self.space)? {
            let record = Acceptance::read(self.space.repository(), tracked.record)?;
            let names = record.believed.keys().chain(record.held.keys());
            let names: BTreeSet<_> = names.collect();
            for agent in names {
                let believed = record.believed.get(agent).map(|entry| entry.head);
                let waits = record.held.get(agent).and_then(|held| held.head);
                let Some(head) = waits.or(believed) else { continue };
                rows.push(vec![
                    QueryValue::text(tracked.petname.as_str()),
                    QueryValue::text(&format!("{}/{agent}", tracked.label)),
                    QueryValue::text(&head.to_string()),
                    believed.map_or(QueryValue::Null, |oid| QueryValue::text(&oid.to_string())),
                ]);
            }
        }
        Ok(rows)
    }
}

fn peer_rows(in_force: &PolicyInForce) -> Vec<Vec<QueryValue>> {
    let row = |(name, followed): (&Petname, &FollowedPeer)| {
        vec![
            QueryValue::text(name.as_str()),
            QueryValue::text(&followed.peer.to_string()),
            QueryValue::text(followed.trust.as_str()),
            QueryValue::Bool(in_force.is_frozen(followed.peer)),
        ]
    };
    in_force.state.policy.peers.iter().map(row).collect()
}

fn capability_rows(in_force: &PolicyInForce, permissions: &Permissions) -> Vec<Vec<QueryValue>> {
    let policy = &in_force.state.policy;
    let all = policy.grants.iter().chain(in_force.given());
    let standing = all.filter(|(cid, _)| !policy.revoked.contains_key(cid));
    let row = |(cid, capability): (&agentic_model::Cid, &Capability)| {
        vec![
            QueryValue::text(&cid.to_string()),
            QueryValue::text(&permissions.name_of(capability.issuer)),
            QueryValue::text(&permissions.name_of(capability.peer)),
            capability.until.map_or(QueryValue::Null, QueryValue::Int),
        ]
    };
    standing.map(row).collect()
}

impl FactSource for PeerFacts<'_> {
    fn predicates(&self) -> &[FactPredicate] {
        &self.predicates
    }

    fn read(
        &self,
        request: &FactRequest,
        sink: &mut FactSink<'_>,
    ) -> std::result::Result<(), FactFailure> {
        let rows = match PREDICATES.get(request.predicate) {
            Some(found) => {
                let rows = self.rows(found.predicate);
                Some(rows.map_err(|error| FactFailure(guidance::chain(&error)))?)
            }
            None => None,
        };
        hand_over(request, rows.as_deref(), sink)
    }

    fn resolve(&self, _: QueryType, _: &str) -> IdMatch {
        IdMatch::Unknown
    }
}

/// Lists the agents of peers, as they are read here, whose edges count.
///
/// # Errors
/// Fails when the policy or a record is damaged.
pub fn relating_agents(space: &SessionSpace) -> Result<BTreeSet<String>> {
    let mut relating = BTreeSet::new();
    let tracked = tracked_spaces(space)?;
    if tracked.is_empty() {
        return Ok(relating);
    }
    let permissions = PolicyInForce::read(space, PolicySubject::Everybody)?.permissions()?;
    let kind = Kind::parse("edge").expect("a valid name");
    let trigger = TriggerName::Relate.shown();
    for tracked in tracked {
        let allowed = permissions.allowed();
        if !allowed.contains(&(tracked.peer, kind.clone(), trigger)) {
            continue;
        }
        let record = Acceptance::read(space.repository(), tracked.record)?;
        for agent in record.believed.keys() {
            let (peer, kind) = (tracked.peer, &kind);
            let question = PolicyQuestion { peer, kind, trigger, agent: Some(agent) };
            if permissions.allows(question).is_some() {
                relating.insert(format!("{}/{agent}", tracked.label));
            }
        }
    }
    Ok(relating)
}
