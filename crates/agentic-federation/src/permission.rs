//! What peers may do at a moment: chains of capabilities are walked in code and become flat facts, and one
//! rule decides over them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use agentic_diag::SourceText;
use agentic_model::{AgentName, Cid, Kind};
use agentic_query::{
    ConstantPushing, FactBase, FactFailure, FactPredicate, FactRequest, FactSink, FactSource,
    IdMatch, QueryInput, QueryLimits, QueryRun, QueryType, QueryValue, QueryWatch, compile,
};

use crate::capability::{Capability, DELEGATE_MAX, PeerTrigger, TriggerForce, TriggerName};
use crate::caps::tracking;
use crate::fact_row::hand_over;
use crate::id::{PeerId, SELF};
use crate::policy::{
    PeerPolicy, PeerTrust, PolicyAnswer, PolicyMoment, PolicyQuestion, RefusedRight,
    matches_pattern,
};
use crate::{Error, Result};

/// The rule, with the query that lists what it gives. Queries know it by the name `may`.
pub const MAY_RULE: &str = include_str!("may.dl");
/// The longest time that the rule may take, in milliseconds: it joins two tables.
const RULE_MS_MAX: u64 = 60_000;

/// A right that counts: what a capability gives after what it was given on from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedRight {
    /// Who has it.
    pub peer: PeerId,
    /// The capability; nothing for our own spaces, which have it by identity.
    pub by: Option<Cid>,
    /// For which kinds, each by itself.
    pub kinds: BTreeSet<Kind>,
    /// For what; one that runs stands beside the same one that does not.
    pub triggers: BTreeSet<PeerTrigger>,
    /// For which agents: each of these lists has a pattern that fits.
    agents: Vec<Vec<String>>,
    /// How often it may be given on.
    delegate: u64,
}

/// A row of `allowed`, and of `may`: who, of what kind, what.
pub type AllowedRow = (PeerId, Kind, PeerTrigger);

/// The policy as it counts at a moment.
#[derive(Debug, Clone)]
pub struct Permissions {
    rights: Vec<AllowedRight>,
    names: BTreeMap<PeerId, String>,
    trusted: BTreeSet<PeerId>,
    /// What the rule gives.
    may: BTreeSet<AllowedRow>,
}

impl Permissions {
    /// Compiles a policy, and asks the rule.
    ///
    /// # Errors
    /// Fails when the rule cannot be asked.
    pub fn compile(policy: &PeerPolicy, moment: PolicyMoment<'_>) -> Result<Permissions> {
        let mut names: BTreeMap<PeerId, String> =
            policy.peers.iter().map(|(name, peer)| (peer.peer, name.to_string())).collect();
        names.insert(moment.own, SELF.to_owned());
        let trusted = trusted(policy, moment);
        let rights = RightChains { policy, moment, trusted: &trusted }.all();
        let mut permissions = Permissions { rights, names, trusted, may: BTreeSet::new() };
        permissions.may = permissions.ask_rule(moment.now)?;
        Ok(permissions)
    }

    /// Says whether a peer may do something: what the rule gives, and then the patterns of agents.
    pub fn allows(&self, question: PolicyQuestion<'_>) -> Option<Vec<Cid>> {
        let PolicyQuestion { peer, kind, trigger, agent } = question;
        if !self.may.contains(&(peer, kind.clone(), trigger)) {
            return None;
        }
        let is_about = |right: &&AllowedRight| {
            right.peer == peer
                && right.kinds.contains(kind)
                && right.triggers.contains(&trigger)
                && right.is_for(agent)
        };
        let mut rights = self.rights.iter().filter(is_about).peekable();
        rights.peek()?;
        Some(rights.filter_map(|right| right.by).collect())
    }

    /// Lists the rows of `allowed`.
    pub fn allowed(&self) -> BTreeSet<AllowedRow> {
        let rows = self.rights.iter().flat_map(|right| {
            let kinds = right.kinds.iter();
            kinds.flat_map(|kind| {
                right.triggers.iter().map(|trigger| (right.peer, kind.clone(), *trigger))
            })
        });
        rows.collect()
    }

    /// Lists the peers that are trusted.
    pub fn trusted(&self) -> &BTreeSet<PeerId> {
        &self.trusted
    }

    /// Returns what a peer is called here; its id, if it is not followed.
    pub fn name_of(&self, peer: PeerId) -> String {
        self.names.get(&peer).cloned().unwrap_or_else(|| peer.to_string())
    }

    fn ask_rule(&self, now: i64) -> Result<BTreeSet<AllowedRow>> {
        let by_name: BTreeMap<&str, PeerId> =
            self.names.iter().map(|(peer, name)| (name.as_str(), *peer)).collect();
        let facts = RuleFacts::of(self);
        let source = SourceText::new("may", MAY_RULE);
        let (files, params) = (BTreeMap::new(), BTreeMap::new());
        let input = QueryInput { source: &source, files: &files, params: &params, now };
        let compiled = compile(&input, &facts).expect("the rule is one of ours");
        let (cancel, elapsed_ms) = (AtomicBool::new(false), || 0);
        let watch =
            QueryWatch { cancel: &cancel, elapsed_ms: &elapsed_ms, time_ms_max: RULE_MS_MAX };
        let limits = QueryLimits::default();
        let run = QueryRun { facts: &facts, limits, watch, pushing: ConstantPushing::On };
        let report = compiled.answer(&mut FactBase::default(), &run).map_err(|error| {
            let hint = "revoke what nobody needs: `agentic grants` lists all of it";
            Error::refused(format!("the rule on peers cannot be asked: {error}"), hint)
        })?;
        let rows = report.answers.last().map(|answer| answer.rows.as_slice()).unwrap_or_default();
        let read = |row: &Vec<QueryValue>| match row.as_slice() {
            [QueryValue::Text(peer), QueryValue::Text(kind), QueryValue::Text(trigger)] => Some((
                *by_name.get(peer.as_ref())?,
                Kind::parse(kind).ok()?,
                PeerTrigger::parse(trigger).ok()?,
            )),
            _ => None,
        };
        Ok(rows.iter().filter_map(read).collect())
    }
}

impl AllowedRight {
    fn is_for(&self, agent: Option<&AgentName>) -> bool {
        self.agents.iter().all(|patterns| {
            agent.is_some_and(|agent| {
                patterns.iter().any(|pattern| matches_pattern(pattern, agent.as_str()))
            })
        })
    }
}

/// Says why a peer may not do something, and what would let it.
pub fn why_refused(
    policy: &PeerPolicy,
    moment: PolicyMoment<'_>,
    question: PolicyQuestion<'_>,
) -> RefusedRight {
    let refused = |why: &str, hint: String| RefusedRight { why: why.to_owned(), hint };
    let followed = policy.peers.iter().find(|(_, followed)| followed.peer == question.peer);
    let Some((name, followed)) = followed else {
        let hint = "`agentic peer add NAME PEER` follows it".to_owned();
        return refused("nobody follows that peer here", hint);
    };
    let trusting = || format!("`agentic peer trust {name} track` believes it again");
    match followed.trust {
        PeerTrust::None => return refused("that peer has no trust here", trusting()),
        PeerTrust::Blocked => return refused("that peer is blocked here", trusting()),
        PeerTrust::Track if moment.frozen.contains(&question.peer) => {
            let hint = format!(
                "`agentic verify` shows both; `agentic peer resolve {name} --at CID -m WHY` picks one"
            );
            return refused("that peer is frozen: it said two things of one number", hint);
        }
        PeerTrust::Track => {}
    }
    RefusedRight {
        why: why_no_grant(policy, moment, question),
        hint: format!(
            "`agentic grant {name} --kind {} --on '{}'` would allow it",
            question.kind, question.trigger
        ),
    }
}

/// Says why no grant lets a peer that is believed do something.
fn why_no_grant(
    policy: &PeerPolicy,
    moment: PolicyMoment<'_>,
    question: PolicyQuestion<'_>,
) -> String {
    let is_about = |grant: &&Capability| {
        grant.peer == question.peer
            && grant.kinds.iter().any(|kind| moment.kinds.is_a(question.kind, kind))
            && grant.triggers.iter().any(|trigger| trigger.includes(question.trigger))
    };
    let roots = policy.grants.values().filter(|grant| grant.is_root_of(moment.own));
    let mut about = roots.chain(moment.given.values()).filter(is_about);
    let Some(grant) = about.next() else {
        return format!("nobody granted it `{}` on `{}`", question.kind, question.trigger);
    };
    let cid = grant.cid();
    if policy.revoked.contains_key(&cid) {
        format!("`{cid}` was revoked")
    } else if !grant.is_live_at(moment.now) {
        format!("`{cid}` does not count at this time")
    } else if grant.agents.is_some() {
        format!("`{cid}` is for some agents only")
    } else {
        format!("`{cid}` was given on from something that does not count")
    }
}

impl PeerPolicy {
    /// Says whether a peer may do something, once. Whoever asks often compiles once.
    ///
    /// # Errors
    /// Fails as [`Permissions::compile`] does.
    pub fn may(
        &self,
        moment: PolicyMoment<'_>,
        question: PolicyQuestion<'_>,
    ) -> Result<PolicyAnswer> {
        Ok(match Permissions::compile(self, moment)?.allows(question) {
            Some(by) => PolicyAnswer::Allowed(by),
            None => PolicyAnswer::Refused(why_refused(self, moment, question)),
        })
    }
}

/// `trust(P)`: the level is `track`, and it did not say two things. Ourselves we trust likewise.
fn trusted(policy: &PeerPolicy, moment: PolicyMoment<'_>) -> BTreeSet<PeerId> {
    let followed = policy.peers.values().filter(|followed| followed.trust == PeerTrust::Track);
    let all = followed.map(|followed| followed.peer).chain([moment.own]);
    all.filter(|peer| !moment.frozen.contains(peer)).collect()
}

/// Walks capabilities up to the grants that they come from.
struct RightChains<'a> {
    policy: &'a PeerPolicy,
    moment: PolicyMoment<'a>,
    trusted: &'a BTreeSet<PeerId>,
}

impl RightChains<'_> {
    fn all(&self) -> Vec<AllowedRight> {
        let roots = self.policy.grants.iter();
        let roots = roots.filter(|(_, grant)| grant.is_root_of(self.moment.own));
        let mut rights: Vec<AllowedRight> = roots
            .chain(self.moment.given)
            .filter_map(|(cid, capability)| self.right(*cid, capability, DELEGATE_MAX))
            .collect();
        rights.extend(self.of_own_spaces());
        rights
    }

    /// Returns what a capability gives; nothing if it, or one above it, does not count.
    fn right(&self, cid: Cid, capability: &Capability, steps_left: u64) -> Option<AllowedRight> {
        let is_live = capability.is_live_at(self.moment.now);
        if !is_live || self.policy.revoked.contains_key(&cid) {
            return None;
        }
        let kinds =
            self.moment.kinds.entries().map(|entry| &entry.name).filter(|name| {
                capability.kinds.iter().any(|kind| self.moment.kinds.is_a(name, kind))
            });
        let own = AllowedRight {
            peer: capability.peer,
            by: Some(cid),
            kinds: kinds.cloned().collect(),
            triggers: spread(&capability.triggers),
            agents: capability.agents.iter().cloned().collect(),
            delegate: capability.delegate,
        };
        if capability.is_root_of(self.moment.own) {
            return Some(own);
        }
        let parent_cid = capability.parent?;
        let parent = self.capability(parent_cid)?;
        let parent = self.right(parent_cid, parent, steps_left.checked_sub(1)?)?;
        let may_give = parent.peer == capability.issuer
            && self.trusted.contains(&capability.issuer)
            && capability.delegate < parent.delegate;
        may_give.then(|| AllowedRight {
            kinds: own.kinds.intersection(&parent.kinds).cloned().collect(),
            triggers: own.triggers.intersection(&parent.triggers).copied().collect(),
            agents: [parent.agents, own.agents].concat(),
            ..own
        })
    }

    fn capability(&self, cid: Cid) -> Option<&Capability> {
        let own = self.policy.grants.get(&cid);
        own.filter(|grant| grant.is_root_of(self.moment.own)).or(self.moment.given.get(&cid))
    }

    /// Our own spaces follow each other by identity; nothing runs of it.
    fn of_own_spaces(&self) -> [AllowedRight; 2] {
        let kinds = self.moment.kinds;
        let tracked = tracking();
        let spread_kinds = |of: &[Kind]| {
            let names = kinds.entries().map(|entry| &entry.name);
            names.filter(|name| of.iter().any(|kind| kinds.is_a(name, kind))).cloned().collect()
        };
        let right = |kinds: BTreeSet<Kind>, triggers: &[PeerTrigger]| AllowedRight {
            peer: self.moment.own,
            by: None,
            kinds,
            triggers: spread(triggers),
            agents: Vec::new(),
            delegate: 0,
        };
        let all = kinds.entries().map(|entry| entry.name.clone()).collect();
        let both = [TriggerName::Relate.shown(), TriggerName::Merge.shown()];
        [right(spread_kinds(&tracked.kinds), &tracked.triggers), right(all, &both)]
    }
}

/// Puts beside each trigger that runs the same one that does not.
fn spread(triggers: &[PeerTrigger]) -> BTreeSet<PeerTrigger> {
    let with_shown = triggers.iter().flat_map(|trigger| match trigger.force {
        TriggerForce::Runs => vec![*trigger, trigger.name.shown()],
        TriggerForce::Shown => vec![*trigger],
    });
    with_shown.collect()
}

/// The two predicates that the rule is about.
struct RuleFacts {
    predicates: [FactPredicate; 2],
    rows: [Vec<Vec<QueryValue>>; 2],
}

impl RuleFacts {
    fn of(permissions: &Permissions) -> RuleFacts {
        use QueryType::Text;
        let predicates = [
            FactPredicate::new("allowed", &[("peer", Text), ("kind", Text), ("trigger", Text)]),
            FactPredicate::new("trust", &[("peer", Text)]),
        ];
        let rows = [permissions.allowed_rows(), permissions.trust_rows()];
        RuleFacts { predicates, rows }
    }
}

impl Permissions {
    /// Returns the rows of `allowed` as queries see them: peers by the names that they have here.
    pub(crate) fn allowed_rows(&self) -> Vec<Vec<QueryValue>> {
        let row = |(peer, kind, trigger): AllowedRow| {
            [self.name_of(peer), kind.to_string(), trigger.to_string()]
                .map(|text| QueryValue::text(&text))
                .to_vec()
        };
        self.allowed().into_iter().map(row).collect()
    }

    /// Returns the rows of `trust`.
    pub(crate) fn trust_rows(&self) -> Vec<Vec<QueryValue>> {
        self.trusted.iter().map(|peer| vec![QueryValue::text(&self.name_of(*peer))]).collect()
    }
}

impl FactSource for RuleFacts {
    fn predicates(&self) -> &[FactPredicate] {
        &self.predicates
    }

    fn read(
        &self,
        request: &FactRequest,
        sink: &mut FactSink<'_>,
    ) -> std::result::Result<(), FactFailure> {
        hand_over(request, self.rows.get(request.predicate).map(Vec::as_slice), sink)
    }

    fn resolve(&self, _: QueryType, _: &str) -> IdMatch {
        IdMatch::Unknown
    }
}
