//! How a session stands by what was read of it: what each open request waits for, which of them are
//! holds, and the summary.

use super::{SessionOrigin, SummaryReader, UnansweredAsk};
use crate::request::sleep_until;
use crate::summary::wait::{NextAttempt, WaitsFor};
use crate::summary::{AskedRequest, OpenHold, Summary, UNANSWERED, parent_of};
use crate::{EffectClass, Handling, HoldReason, ProgramFailure, RequestAnswer, SessionState};

/// The kind of a request that can begin a child.
const SPAWN: &str = "spawn";

/// Whether somebody drives a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attendance {
    /// Somebody is at work on it: what has begun is under way.
    Attended,
    /// Nobody is: of an effect that may happen once at most and has begun, nobody knows whether it
    /// happened.
    AtRest,
}

impl SummaryReader {
    /// Says whether it matters to what was read that somebody is at work on the session.
    pub fn depends_on_attendance(&self) -> bool {
        let waits = |open| self.waits_for(open, Attendance::AtRest);
        let in_doubt = |open| matches!(waits(open), WaitsFor::Human(HoldReason::InDoubt));
        self.open.values().any(in_doubt)
    }

    /// Lists what waits for a human, oldest first.
    pub fn holds(&self, attendance: Attendance) -> Vec<OpenHold> {
        let Some(SessionOrigin { start, .. }) = &self.beginning else { return Vec::new() };
        let held = self.open.values().filter_map(|open| match self.waits_for(open, attendance) {
            WaitsFor::Human(reason) => Some((open, reason)),
            WaitsFor::Instant(_)
            | WaitsFor::Child
            | WaitsFor::Somebody(..)
            | WaitsFor::Performer => None,
        });
        let mut held: Vec<(&UnansweredAsk, HoldReason)> = held.collect();
        held.sort_by_key(|(open, _)| open.index);
        let hold = |(open, reason): (&UnansweredAsk, HoldReason)| OpenHold {
            session: start.session,
            agent: start.agent.clone(),
            id: self.asked[open.index].id,
            ask: open.ask.clone(),
            payload: self.asked[open.index].payload.clone(),
            reason,
            asked_at: open.at,
            votes: open.votes.clone(),
            n_escalations: open.n_escalations,
            published: open.published.clone(),
        };
        held.into_iter().map(hold).collect()
    }

    /// Tells what an ask without an answer waits for.
    fn waits_for(&self, open: &UnansweredAsk, attendance: Attendance) -> WaitsFor {
        let asked = &self.asked[open.index];
        let performed = if asked.kind == SPAWN { WaitsFor::Child } else { WaitsFor::Performer };
        if open.withdrawn {
            // A child may be left to end by itself.
            return performed;
        }
        match open.ask.handling {
            Handling::Decision => WaitsFor::Human(HoldReason::Asked),
            Handling::Timer => match sleep_until(&asked.kind, &asked.payload) {
                Some(at) => WaitsFor::Instant(at),
                None => WaitsFor::Performer,
            },
            Handling::Effect(class) if !self.may_begin(asked, class) => {
                // Whoever drives the session next records that an earlier permission covers it.
                match self.grants.covering(asked.seq, &asked.kind, &asked.payload) {
                    Some(_) => WaitsFor::Performer,
                    None => WaitsFor::Human(HoldReason::NotAllowed),
                }
            }
            Handling::Effect(class) => match open.again {
                Some(NextAttempt::At(at)) => WaitsFor::Instant(at),
                Some(NextAttempt::Left(at)) => WaitsFor::somebody(asked, at),
                None if class == EffectClass::Once
                    && (open.doubted || attendance == Attendance::AtRest) =>
                {
                    WaitsFor::Human(HoldReason::InDoubt)
                }
                None => performed,
            },
        }
    }

    /// Says whether an effect may begin without a human.
    pub(super) fn may_begin(&self, asked: &AskedRequest, class: EffectClass) -> bool {
        let beginning = self.beginning.as_ref();
        class == EffectClass::Pure
            || !asked.permissions.is_empty()
            || beginning.is_some_and(|beginning| beginning.start.allows(&asked.kind))
    }

    /// Summarises what was read; nothing if not even a start was.
    pub fn into_summary(mut self, attendance: Attendance) -> Option<Summary> {
        let holds = self.holds(attendance);
        let depends_on_attendance = self.end.is_none() && self.depends_on_attendance();
        let (mut until, mut again, mut n_children) = (None, None, 0);
        for open in self.open.values() {
            match self.waits_for(open, attendance) {
                WaitsFor::Instant(at) => until = until.into_iter().chain([at]).min(),
                WaitsFor::Somebody(at, why) => again = again.into_iter().chain([(at, why)]).min(),
                WaitsFor::Child => n_children += 1,
                WaitsFor::Human(_) | WaitsFor::Performer => {}
            }
        }
        let again = again.filter(|_| self.end.is_none());
        let waits_for_children = n_children > 0 && n_children == self.open.len();
        let (mut result, mut failure) = (None, None);
        let state = match self.end.take() {
            Some(RequestAnswer::Ok(value)) => {
                result = Some(value);
                SessionState::Done
            }
            Some(RequestAnswer::Failed(why)) => {
                failure = Some(why);
                SessionState::Failed
            }
            Some(RequestAnswer::TimedOut | RequestAnswer::Cancelled(_)) => SessionState::Cancelled,
            None if !holds.is_empty() => SessionState::Held,
            None if until.is_some() || again.is_some() || waits_for_children => {
                SessionState::Waiting
            }
            None => SessionState::Running,
        };
        if let Some((_, why)) = &again {
            failure = Some(ProgramFailure::new(UNANSWERED, why.as_str()));
        }
        let SessionOrigin { start, at, flow } = self.beginning?;
        let own = self.asked.into_iter().enumerate();
        let own = own.filter(|(index, _)| !self.left_out.contains(index));
        Some(Summary {
            id: start.session,
            agent: start.agent,
            flow,
            engine: start.engine,
            child_of: parent_of(&start.key),
            key: start.key,
            started_at: at,
            state,
            n_records: self.n_records,
            chain: self.chain?,
            result,
            failure,
            until,
            again_at: again.map(|(at, _)| at),
            forked_from: start.parent.map(|point| (point.session, point.seq)),
            asked: own.map(|(_, asked)| asked).collect(),
            holds,
            depends_on_attendance,
        })
    }
}
