//! What sessions did: their states, and the requests in them that wait for people.

use std::collections::BTreeSet;

use agentic_api::view::{EventName, EventView};
use agentic_model::AgentName;
use agentic_replay::SessionId;
use agentic_session::SessionState;

use super::{Follower, SessionWait, blank};

/// How a session stood when it was told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SeenSession {
    agent: String,
    state: SessionState,
    n_records: u64,
    /// The requests that wait for a person.
    holds: BTreeSet<String>,
    /// How long its log was when it was read.
    n_bytes: Option<u64>,
    /// Whether it would stand otherwise if somebody began or ceased to be at work on it.
    depends_on_attendance: bool,
}

impl Follower {
    pub(super) fn sweep_sessions(&mut self) {
        let open = self.space.open_sessions().unwrap_or_default();
        let known: BTreeSet<SessionId> = self.sessions.keys().copied().chain(open).collect();
        for id in known {
            let n_bytes = self.space.open_log_bytes(&id);
            let seen = self.sessions.get(&id);
            // What has not grown since says what it said, where it is the same who is at work on it.
            let is_same =
                |seen: &SeenSession| seen.n_bytes == n_bytes && !seen.depends_on_attendance;
            if n_bytes.is_none() || !seen.is_some_and(is_same) {
                self.tell_of_session(&id);
            }
        }
    }

    pub(super) fn look_at_session(&mut self, prefix: &str) {
        self.index.follow_session(prefix);
        if let Ok(id) = self.space.find_session(prefix) {
            self.tell_of_session(&id);
        }
    }

    fn tell_of_session(&mut self, id: &SessionId) {
        let Some(now) = self.read_session(id) else {
            self.sessions.remove(id);
            self.gauge.set_wait(*id, SessionWait::default());
            return;
        };
        let before = self.sessions.insert(*id, now.clone());
        if now.state.is_over() {
            self.sessions.remove(id);
        }
        let same = |before: &SeenSession| {
            (before.state, before.n_records) == (now.state, now.n_records)
                && before.holds == now.holds
        };
        if before.as_ref().is_some_and(same) {
            return;
        }
        let none = BTreeSet::new();
        let earlier = before.as_ref().map_or(&none, |before| &before.holds);
        if earlier.difference(&now.holds).next().is_some() {
            self.tell_of_decisions(&now.agent);
        }
        let (agent, session) = (Some(now.agent.clone()), Some(id.to_string()));
        let about = EventView { agent, session, ..blank() };
        let state = Some(now.state.as_str().to_owned());
        self.tell(EventName::Session, EventView { state, ..about.clone() });
        for request in earlier.symmetric_difference(&now.holds) {
            let state = if now.holds.contains(request) { "open" } else { "closed" };
            let (request, state) = (Some(request.clone()), Some(state.to_owned()));
            self.tell(EventName::Hold, EventView { request, state, ..about.clone() });
        }
    }

    /// Tells what was decided before it is told that a hold is closed: the commit is there sooner, and what
    /// rings for it may be heard later.
    fn tell_of_decisions(&mut self, agent: &str) {
        if let Ok(agent) = AgentName::parse(agent) {
            self.look_at_agents(&[&agent]);
        }
    }

    pub(super) fn read_session(&self, id: &SessionId) -> Option<SeenSession> {
        let n_bytes = self.space.open_log_bytes(id);
        let summary = self.space.session(id).ok()?;
        let wait = SessionWait {
            until: summary.until.map(|until| until.millis()),
            n_holds: summary.holds.len(),
        };
        let is_over = summary.state.is_over();
        self.gauge.set_wait(*id, if is_over { SessionWait::default() } else { wait });
        Some(SeenSession {
            agent: summary.agent.to_string(),
            holds: summary.holds.iter().map(|hold| id.short_request(&hold.id)).collect(),
            state: summary.state,
            n_records: summary.n_records,
            n_bytes,
            depends_on_attendance: summary.depends_on_attendance,
        })
    }
}
