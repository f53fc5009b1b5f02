//! Holds: what only a person may answer, now and before. What is open now is what `pending` lists; what
//! was open is read from what the records say of how it was closed.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use agentic_model::{Instant, Value};
use agentic_replay::record::{Outcome, PermitRecord, PermitScope, RETRY};
use agentic_replay::{
    AnswerSource, Body, EffectClass, HOLD, Handling, HoldReason, RecordChain, SessionId,
    StartRecord,
};

use super::reading::{ReadSessions, SessionValues};
use super::request::{OwnAsk, own_asks, request_id};
use super::row::{ColumnValue, SessionRows};
use crate::action::Action;
use crate::decide::Policy;
use crate::hold::HoldStanding;

/// The code of the failure of a request that is no hold of a script, and that nobody decided in time.
const EXPIRED: &str = "expired";

/// How a hold was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoldClosing {
    Decided,
    Expired,
    Withdrawn,
    Cancelled,
}

/// A question that was put before people, and is closed.
struct ClosedHold<'a, 'j> {
    asked: &'a OwnAsk<'j>,
    reason: HoldReason,
    /// Since when it was open.
    at: Instant,
    closing: HoldClosing,
}

impl HoldClosing {
    fn name(self) -> &'static str {
        match self {
            HoldClosing::Decided => "decided",
            HoldClosing::Expired => "expired",
            HoldClosing::Withdrawn => "withdrawn",
            HoldClosing::Cancelled => "cancelled",
        }
    }
}

/// Reads `hold` rows.
pub(super) fn holds(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    let agent = read.agent_of(id, &journal.start().agent);
    for standing in read.holds_or_note(id, journal, rows).iter() {
        let hold = &standing.hold;
        rows.row(|column| match column {
            "request" => ColumnValue::text(format!("{id}.{}", hold.id)),
            "agent" => ColumnValue::text(agent.as_ref()),
            "session" => ColumnValue::id(id),
            "reason" => ColumnValue::text(hold.reason.name()),
            "question" => question(&hold.payload),
            "at" => ColumnValue::at(hold.asked_at),
            "state" => ColumnValue::text(if standing.is_settled() { "decided" } else { "open" }),
            _ => ColumnValue::maybe(standing.policy.deadline, ColumnValue::at),
        });
    }
    if rows.wants_only("state", "open") {
        return;
    }
    let values = read.values(journal);
    for asked in own_asks(journal) {
        for closed in closed_holds(&asked, journal.start(), &values) {
            let payload = OnceCell::new();
            let payload = || payload.get_or_init(|| values.value(&asked.ask.payload)).as_ref();
            rows.row(|column| match column {
                "request" => request_id(id, &asked),
                "agent" => ColumnValue::text(agent.as_ref()),
                "session" => ColumnValue::id(id),
                "reason" => ColumnValue::text(closed.reason.name()),
                "question" => match payload() {
                    Ok(payload) => question(payload),
                    Err(why) => ColumnValue::Gone(why.clone()),
                },
                "at" => ColumnValue::at(closed.at),
                "state" => ColumnValue::text(closed.closing.name()),
                _ => match payload() {
                    Ok(payload) => {
                        ColumnValue::maybe(closed.policy(payload).deadline, ColumnValue::at)
                    }
                    Err(why) => ColumnValue::Gone(why.clone()),
                },
            });
        }
    }
}

/// Reads `assignee` rows.
pub(super) fn assignees(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    for standing in read.holds_or_note(id, journal, rows).iter() {
        let request = format!("{id}.{}", standing.hold.id);
        for who in standing.policy.assignees.iter().collect::<BTreeSet<_>>() {
            rows.row(|column| match column {
                "request" => ColumnValue::text(&request),
                _ => ColumnValue::text(who),
            });
        }
    }
    let values = read.values(journal);
    for asked in own_asks(journal) {
        // Nobody is assigned to an effect.
        if asked.ask.handling != Handling::Decision {
            continue;
        }
        for closed in closed_holds(&asked, journal.start(), &values) {
            let payload = match values.value(&asked.ask.payload) {
                Ok(payload) => payload,
                Err(why) => {
                    rows.note(why);
                    continue;
                }
            };
            for who in closed.policy(&payload).assignees.iter().collect::<BTreeSet<_>>() {
                rows.row(|column| match column {
                    "request" => request_id(id, &asked),
                    _ => ColumnValue::text(who),
                });
            }
        }
    }
}

/// Reads `vote` rows: those that were noted, and those of open holds that nobody has noted yet.
pub(super) fn votes(
    id: &SessionId,
    journal: &RecordChain,
    read: &ReadSessions<'_>,
    rows: &mut SessionRows<'_, '_>,
) {
    let mut noted: BTreeSet<&str> = BTreeSet::new();
    let asks = own_asks(journal);
    for asked in &asks {
        for vote in asked.later.iter().filter_map(|record| record.body.as_vote()) {
            noted.insert(&vote.decision);
            rows.row(|column| match column {
                "request" => request_id(id, asked),
                "who" => ColumnValue::text(&vote.principal),
                "action" => ColumnValue::text(&vote.action),
                _ => ColumnValue::text(&vote.decision),
            });
        }
    }
    for standing in read.holds_or_note(id, journal, rows).iter().filter(|it| !it.is_settled()) {
        for (commit, decision) in &standing.found.counted {
            let commit = commit.to_string();
            if noted.contains(commit.as_str()) {
                continue;
            }
            rows.row(|column| match column {
                "request" => ColumnValue::text(format!("{id}.{}", standing.hold.id)),
                "who" => ColumnValue::text(&decision.principal),
                "action" => ColumnValue::text(decision.action.name()),
                _ => ColumnValue::text(&commit),
            });
        }
    }
}

/// Reads the question that a payload asks, if there is one.
fn question<'c>(payload: &Value) -> ColumnValue<'c> {
    let question = payload.get("question").and_then(Value::as_text);
    ColumnValue::maybe(question, |question| ColumnValue::text(question.to_owned()))
}

/// Lists the questions about a request that were put before people and are closed, in order: an effect
/// that was allowed and then caught by a crash was two.
fn closed_holds<'a, 'j>(
    asked: &'a OwnAsk<'j>,
    start: &StartRecord,
    values: &SessionValues<'_, '_>,
) -> Vec<ClosedHold<'a, 'j>> {
    let mut question = first_reason(asked, start);
    let (mut at, mut stopped) = (asked.record.at, None);
    let mut closed = Vec::new();
    let hold = |reason, at, closing| ClosedHold { asked, reason, at, closing };
    for record in &asked.later {
        if let Body::Permit(permit) = &record.body {
            if let Some(reason) = question.take().or_else(|| doubt(permit))
                && was_asked(permit)
            {
                closed.push(hold(reason, at, HoldClosing::Decided));
            }
            at = record.at;
        } else if let Body::Withdraw(_) = record.body {
            stopped = stopped.or(Some(HoldClosing::Withdrawn));
        } else if let Body::Cancel(_) = record.body {
            stopped = Some(HoldClosing::Cancelled);
        } else if let Body::Answer(answer) = &record.body {
            // What nobody was asked about otherwise was in doubt, if a person has answered it.
            let doubted =
                matches!(answer.by, AnswerSource::Decision(_)).then_some(HoldReason::InDoubt);
            if let Some(reason) = question.take().or(doubted) {
                let closing = closing_of(asked, &answer.outcome, stopped, values);
                closed.push(hold(reason, at, closing));
            }
            stopped = None;
        }
    }
    if let (Some(reason), Some(closing)) = (question, stopped) {
        closed.push(hold(reason, at, closing));
    }
    closed
}

/// Tells why a person had to be asked before anything of a request could begin.
fn first_reason(asked: &OwnAsk<'_>, start: &StartRecord) -> Option<HoldReason> {
    match asked.ask.handling {
        Handling::Decision => Some(HoldReason::Asked),
        Handling::Timer | Handling::Effect(EffectClass::Pure) => None,
        Handling::Effect(EffectClass::Read | EffectClass::Idempotent | EffectClass::Once) => {
            (!start.allows(&asked.ask.kind)).then_some(HoldReason::NotAllowed)
        }
    }
}

/// Tells whether a permission was given by a person for this very request.
fn was_asked(permit: &PermitRecord) -> bool {
    match permit.scope {
        PermitScope::Once | PermitScope::RestOfSession => permit.decision != RETRY,
        PermitScope::Under(_) => false,
    }
}

/// A permission for what might begin anyway was given in a doubt.
fn doubt(permit: &PermitRecord) -> Option<HoldReason> {
    was_asked(permit).then_some(HoldReason::InDoubt)
}

/// Tells how an answer has closed a hold.
fn closing_of(
    asked: &OwnAsk<'_>,
    outcome: &Outcome,
    stopped: Option<HoldClosing>,
    values: &SessionValues<'_, '_>,
) -> HoldClosing {
    match outcome {
        Outcome::Cancelled(_) => stopped.unwrap_or(HoldClosing::Withdrawn),
        Outcome::TimedOut => HoldClosing::Expired,
        Outcome::Failed { code, .. } if code == EXPIRED => HoldClosing::Expired,
        Outcome::Ok(value) if asked.ask.kind == HOLD => {
            let value = values.value(value).ok();
            let action = value.as_ref().and_then(|value| value.get("action")?.as_text());
            match action == Some(Action::Expire.name()) {
                true => HoldClosing::Expired,
                false => HoldClosing::Decided,
            }
        }
        Outcome::Ok(_) | Outcome::Failed { .. } => HoldClosing::Decided,
    }
}

impl ClosedHold<'_, '_> {
    /// Reads what it asked of its decision, with the steps that were recorded.
    fn policy(&self, payload: &Value) -> Policy {
        let is_step = |record: &&&agentic_replay::Record| matches!(record.body, Body::Escalate(_));
        let n_escalations = self.asked.later.iter().filter(is_step).count();
        // No deadline has passed at the beginning of time: nothing counts but what was recorded.
        Policy::of_payload(self.reason, payload).at(n_escalations, Instant::from_millis(i64::MIN))
    }
}

impl ReadSessions<'_> {
    /// Finds how the open holds of a session stand; where they cannot be read, with a note.
    pub(super) fn holds_or_note(
        &self,
        id: &SessionId,
        journal: &RecordChain,
        rows: &mut SessionRows<'_, '_>,
    ) -> std::rc::Rc<Vec<HoldStanding>> {
        self.or_note(id, rows, self.holds(journal).map(Some)).unwrap_or_default()
    }
}
