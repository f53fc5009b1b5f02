//! Sessions as people look through them: some at a time, at any of their records, beside each other.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use agentic_query::QueryValue;
use agentic_replay::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::look::{SessionDiff, SessionShow, summaries};
use crate::caller::agent_name;
use crate::roster::KnownLedger;
use crate::verb::{AskQuery, QueryOutcome, Reply, Verb};
use crate::view::{ForkView, ReplayedSessionView, SessionComparisonView, SessionPageView};
use crate::{Caller, Refusal};

/// How many sessions one answer has.
pub const SESSIONS_MAX: usize = 50;
/// Asks which sessions were forked from one.
const FORKS: &str = "param $of: session. \
    ? (S, A, N) forked(session: S, from: $of, seq: N), session(id: S, agent: A) order by N.";

/// List sessions, newest first, some at a time.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecentSessions {
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only those in this state.
    pub state: Option<String>,
    /// How many to pass by.
    pub after: usize,
}

impl Verb for RecentSessions {
    type Answer = SessionPageView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SessionPageView>, Refusal> {
        self.among(caller, &KnownLedger::default()).map(Reply::plain)
    }
}

impl RecentSessions {
    /// Lists sessions. Of those that are over, what is known tells which are meant without reading them.
    ///
    /// # Errors
    /// Fails when the sessions cannot be listed.
    pub fn among(
        self,
        caller: &Caller<'_>,
        known: &KnownLedger,
    ) -> Result<SessionPageView, Refusal> {
        let agent = self.agent.as_deref().map(agent_name).transpose()?;
        let mut left_out = Vec::new();
        let mut ids = caller.space.sessions_telling(&mut |told| left_out.push(told))?;
        ids.reverse();
        let mut items = Vec::new();
        let mut n_passed = 0;
        if agent.is_none() && self.state.is_none() {
            n_passed = self.after.min(ids.len());
            ids.drain(..n_passed);
        }
        for id in ids {
            if self.is_known_as_another(&id, known) {
                continue;
            }
            let Some(view) = summaries(caller.space, &[id])?.pop() else { continue };
            let is_meant = agent.as_ref().is_none_or(|agent| view.agent == agent.as_str())
                && self.state.as_ref().is_none_or(|state| view.state == *state);
            if !is_meant {
                continue;
            }
            if n_passed < self.after {
                n_passed += 1;
                continue;
            }
            if items.len() == SESSIONS_MAX {
                let next = Some(self.after + SESSIONS_MAX);
                return Ok(SessionPageView { items, next, left_out });
            }
            items.push(view);
        }
        Ok(SessionPageView { items, next: None, left_out })
    }

    /// Says whether a session that is over is none of those that are meant.
    fn is_known_as_another(&self, id: &SessionId, known: &KnownLedger) -> bool {
        let row = known.rows.rows().sessions.get(&id.to_string()).cloned();
        row.filter(|row| row.is_over).is_some_and(|row| {
            self.agent.as_ref().is_some_and(|agent| row.agent != *agent)
                || self.state.as_ref().is_some_and(|state| row.state != *state)
        })
    }
}

/// Show a session as it stood after so many records, with what was forked from it. Nothing is
/// performed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayedSession {
    /// An id or a prefix of it, or an agent.
    pub session: String,
    /// After how many records; else as it stands.
    #[serde(default)]
    pub at: Option<u64>,
}

impl Verb for ReplayedSession {
    type Answer = ReplayedSessionView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<ReplayedSessionView>, Refusal> {
        let id = caller.space.find_session(&self.session)?;
        let shown = SessionShow { session: id.to_string(), at: self.at }.run(caller)?;
        let records = caller.space.session(&id)?.n_records;
        let forks = forks(caller, &id.to_string())?;
        let at = match self.at {
            Some(at) => caller.space.instant_of_record(&id, at)?,
            None => caller.space.now(),
        };
        let at = at.to_string();
        let answer = ReplayedSessionView { session: shown.answer, at, records, forks };
        Ok(Reply { answer, notices: shown.notices, completion: shown.completion })
    }
}

fn forks(caller: &Caller<'_>, of: &str) -> Result<Vec<ForkView>, Refusal> {
    let params = BTreeMap::from([("of".to_owned(), of.to_owned())]);
    let query = AskQuery { text: FORKS.to_owned(), params, ..AskQuery::default() };
    let answered = match query.ask(caller, &AtomicBool::new(false))? {
        QueryOutcome::Answered(answered) => answered,
        QueryOutcome::Refused(findings) => return Err(findings.refusal()),
    };
    let rows = answered.report.answers.into_iter().flat_map(|answer| answer.rows);
    let fork = |row: Vec<QueryValue>| match row.as_slice() {
        [QueryValue::Text(session), QueryValue::Text(agent), QueryValue::Int(at)] => {
            Some(ForkView {
                session: session.to_string(),
                agent: agent.to_string(),
                forked_at: u64::try_from(*at).unwrap_or_default(),
            })
        }
        _ => None,
    };
    Ok(rows.filter_map(fork).collect())
}

/// Put two sessions beside each other, request by request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareSessions {
    /// The one.
    pub left: String,
    /// The other.
    pub right: String,
}

impl Verb for CompareSessions {
    type Answer = SessionComparisonView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SessionComparisonView>, Refusal> {
        let show =
            |session: &str| SessionShow { session: session.to_owned(), at: None }.run(caller);
        let (left, right) = (show(&self.left)?.answer, show(&self.right)?.answer);
        let (one, other) = (left.session.clone(), right.session.clone());
        let difference = SessionDiff { left: one, right: other }.run(caller)?.answer;
        Ok(Reply::plain(SessionComparisonView::new(difference, left, right)))
    }
}
