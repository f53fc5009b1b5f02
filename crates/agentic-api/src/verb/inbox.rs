//! What waits for people, as one of them sees it: first what they can answer.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Instant;
use agentic_session::decide::is_assigned;
use agentic_session::hold::{Filter, PendingHold};
use agentic_session::outlook::outlook;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::hold::decider;
use crate::verb::{Reply, Verb};
use crate::view::{InboxHoldView, InboxView, PendingView};
use crate::{Caller, Notice, Refusal};

/// List what waits for people: what this person can answer first, then by deadline, then the oldest.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Inbox {
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only requests of this kind.
    pub kind: Option<String>,
    /// Only what waits for this reason: `asked`, `not-allowed` or `in-doubt`.
    pub reason: Option<String>,
    /// Which part of the list.
    pub place: InboxPlace,
}

/// A part of the inbox.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InboxPlace {
    /// Behind this request.
    pub after: Option<String>,
    /// At most so many; all without.
    pub limit: Option<usize>,
}

/// Where a hold stands in the list: whose turn it is, until when, since when, and its name.
type InboxRank = (bool, Option<Instant>, Instant, String);

impl Verb for Inbox {
    type Answer = InboxView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<InboxView>, Refusal> {
        let (space, now) = (caller.space, caller.space.now());
        let decider = decider(caller)?;
        let found = outlook(space, &Filter::default())?;
        let mut turns =
            PersonTurns { caller, principal: &decider.principal, known: BTreeMap::new() };
        let mut ranked: Vec<(InboxRank, &PendingHold)> = Vec::new();
        for hold in &found.holds {
            ranked.push((rank(hold, turns.is_theirs(hold)?), hold));
        }
        let mine = ranked.iter().filter(|(rank, _)| !rank.0).count();
        let overdue = found.holds.iter().filter(|hold| hold.overdue).count();
        let words = |word: fn(&PendingHold) -> String| {
            found.holds.iter().map(word).collect::<BTreeSet<String>>().into_iter().collect()
        };
        let agents = words(|hold| hold.hold.agent.to_string());
        let kinds = words(|hold| hold.hold.ask.kind.clone());
        let reasons = words(|hold| hold.hold.reason.name().to_owned());
        ranked.retain(|(_, hold)| self.wants(hold));
        ranked.sort_by(|(left, _), (right, _)| in_order(left, right));
        let shown = self.place.cut(ranked);
        let holds = shown
            .holds
            .into_iter()
            .map(|(rank, hold)| InboxHoldView { hold: PendingView::new(hold, now), mine: !rank.0 });
        let answer = InboxView {
            holds: holds.collect(),
            next: shown.next,
            waiting: found.holds.len(),
            decider,
            mine,
            overdue,
            agents,
            kinds,
            reasons,
        };
        Ok(Reply { notices: Notice::of_outlook(&found), ..Reply::plain(answer) })
    }
}

impl Inbox {
    fn wants(&self, hold: &PendingHold) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        is(&self.agent, hold.hold.agent.as_str())
            && is(&self.kind, &hold.hold.ask.kind)
            && is(&self.reason, hold.hold.reason.name())
    }
}

fn rank(hold: &PendingHold, is_theirs: bool) -> InboxRank {
    let request = hold.hold.session.short_request(&hold.hold.id);
    (!is_theirs, hold.policy.deadline, hold.hold.asked_at, request)
}

/// Compares two places: what has no deadline comes after what has one.
fn in_order(left: &InboxRank, right: &InboxRank) -> std::cmp::Ordering {
    let deadline = |rank: &InboxRank| (rank.1.is_none(), rank.1);
    let rest = |rank: &InboxRank| (rank.2, rank.3.clone());
    left.0
        .cmp(&right.0)
        .then_with(|| deadline(left).cmp(&deadline(right)))
        .then_with(|| rest(left).cmp(&rest(right)))
}

/// A part of a list.
struct InboxCut<'h> {
    holds: Vec<(InboxRank, &'h PendingHold)>,
    next: Option<String>,
}

impl InboxPlace {
    /// Takes a part of a list. Behind a request that is answered meanwhile the list begins anew.
    fn cut(self, mut holds: Vec<(InboxRank, &PendingHold)>) -> InboxCut<'_> {
        let found = self.after.and_then(|after| holds.iter().position(|(rank, _)| rank.3 == after));
        holds.drain(..found.map_or(0, |found| found + 1));
        let limit = self.limit.unwrap_or(usize::MAX);
        let has_more = holds.len() > limit;
        holds.truncate(limit);
        let next = holds.last().filter(|_| has_more).map(|(rank, _)| rank.3.clone());
        InboxCut { holds, next }
    }
}

/// Whose turn it is. Many holds have the same assignees, and roles stand in git's configuration.
struct PersonTurns<'c> {
    caller: &'c Caller<'c>,
    principal: &'c str,
    known: BTreeMap<(Vec<String>, Option<String>), bool>,
}

impl PersonTurns<'_> {
    fn is_theirs(&mut self, hold: &PendingHold) -> Result<bool, Refusal> {
        let policy = &hold.policy;
        if hold.votes.iter().any(|(_, vote)| vote.principal == self.principal) {
            return Ok(false);
        }
        let wanted = (policy.assignees.clone(), policy.role.clone());
        if let Some(known) = self.known.get(&wanted) {
            return Ok(*known);
        }
        let is_theirs = is_assigned(self.caller.space, policy, self.principal)?;
        self.known.insert(wanted, is_theirs);
        Ok(is_theirs)
    }
}
