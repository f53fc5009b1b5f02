//! What waits for people, as one of them sees it: first what they can answer.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Instant;
use agentic_session::decide::is_assigned;
use agentic_session::hold::Filter;
use agentic_session::hold::book::{BookedHold, HoldBook};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::hold::known_decider;
use crate::verb::peer_reply::ShownReplies;
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
    /// Behind this place, as `next` names it.
    pub after: Option<String>,
    /// At most so many; all without.
    pub limit: Option<usize>,
}

/// Where a hold stands in the list: whose turn it is, until when, since when, and its name.
type InboxRank = (bool, Option<Instant>, Instant, String);

impl Verb for Inbox {
    type Answer = InboxView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<InboxView>, Refusal> {
        self.among(caller, &HoldBook::default())
    }
}

impl Inbox {
    /// Lists what waits by what is known of it, and reads what is shown.
    ///
    /// # Errors
    /// Fails when sessions cannot be listed.
    pub fn among(self, caller: &Caller<'_>, book: &HoldBook) -> Result<Reply<InboxView>, Refusal> {
        let (space, now) = (caller.space, caller.space.now());
        let decider = known_decider(caller)?;
        let found = book.outlook(space, &Filter::default())?;
        let principal = decider.as_ref().map(|decider| decider.principal.as_str());
        let mut turns = PersonTurns { caller, principal, known: BTreeMap::new() };
        let mut ranked: Vec<(InboxRank, &BookedHold)> = Vec::new();
        for hold in &found.holds {
            ranked.push((rank(hold, turns.is_theirs(hold)?), hold));
        }
        let mine = ranked.iter().filter(|(rank, _)| !rank.0).count();
        let overdue = found.holds.iter().filter(|hold| hold.overdue).count();
        let words = |word: fn(&BookedHold) -> String| {
            found.holds.iter().map(word).collect::<BTreeSet<String>>().into_iter().collect()
        };
        let agents = words(|hold| hold.agent.to_string());
        let kinds = words(|hold| hold.kind.clone());
        let reasons = words(|hold| hold.reason.name().to_owned());
        ranked.retain(|(_, hold)| self.wants(hold));
        ranked.sort_by(|(left, _), (right, _)| in_order(left, right));
        let shown = self.place.cut(ranked);
        // One that was answered meanwhile is not shown.
        let replies = match shown.holds.is_empty() {
            true => ShownReplies::default(),
            false => ShownReplies::read(caller)?,
        };
        let holds = shown.holds.into_iter().filter_map(|(rank, hold)| {
            let mut view = PendingView::new(&hold.read(space)?, now);
            replies.add_to(&mut view);
            Some(InboxHoldView { hold: view, mine: !rank.0 })
        });
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
            left_out: found.left_out.iter().cloned().collect(),
        };
        Ok(Reply { notices: Notice::of_booked(&found), ..Reply::plain(answer) })
    }

    fn wants(&self, hold: &BookedHold) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == found)
        };
        is(&self.agent, hold.agent.as_str())
            && is(&self.kind, &hold.kind)
            && is(&self.reason, hold.reason.name())
    }
}

fn rank(hold: &BookedHold, is_theirs: bool) -> InboxRank {
    (!is_theirs, hold.policy.deadline, hold.asked_at, hold.request())
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

/// Names a place, so that the list goes on behind it also when the hold there was answered meanwhile.
fn place_of((is_others, deadline, asked_at, request): &InboxRank) -> String {
    let turn = if *is_others { "others" } else { "mine" };
    let deadline = deadline.map_or_else(String::new, |deadline| deadline.millis().to_string());
    format!("{turn}_{deadline}_{}_{request}", asked_at.millis())
}

fn rank_of(place: &str) -> Option<InboxRank> {
    let mut parts = place.splitn(4, '_');
    let mut part = || parts.next();
    let is_others = part()? == "others";
    let instant = |text: &str| text.parse().ok().map(Instant::from_millis);
    let deadline = Some(part()?).filter(|text| !text.is_empty());
    let deadline = deadline.map(|text| instant(text).ok_or(())).transpose().ok()?;
    Some((is_others, deadline, instant(part()?)?, part()?.to_owned()))
}

/// A part of a list.
struct InboxCut<'h> {
    holds: Vec<(InboxRank, &'h BookedHold)>,
    next: Option<String>,
}

impl InboxPlace {
    /// Takes a part of a list. Behind what is no place the list begins anew.
    fn cut(self, mut holds: Vec<(InboxRank, &BookedHold)>) -> InboxCut<'_> {
        if let Some(after) = self.after.as_deref().and_then(rank_of) {
            holds.retain(|(rank, _)| in_order(rank, &after).is_gt());
        }
        let limit = self.limit.unwrap_or(usize::MAX);
        let has_more = holds.len() > limit;
        holds.truncate(limit);
        let next = holds.last().filter(|_| has_more).map(|(rank, _)| place_of(rank));
        InboxCut { holds, next }
    }
}

/// Whose turn it is. Many holds have the same assignees, and roles stand in git's configuration.
struct PersonTurns<'c> {
    caller: &'c Caller<'c>,
    /// Nobody where git does not know who looks.
    principal: Option<&'c str>,
    known: BTreeMap<(Vec<String>, Option<String>), bool>,
}

impl PersonTurns<'_> {
    fn is_theirs(&mut self, hold: &BookedHold) -> Result<bool, Refusal> {
        let (policy, Some(principal)) = (&hold.policy, self.principal) else { return Ok(false) };
        if hold.voters.contains(principal) {
            return Ok(false);
        }
        let wanted = (policy.assignees.clone(), policy.role.clone());
        if let Some(known) = self.known.get(&wanted) {
            return Ok(*known);
        }
        let is_theirs = is_assigned(self.caller.space, policy, principal)?;
        self.known.insert(wanted, is_theirs);
        Ok(is_theirs)
    }
}
