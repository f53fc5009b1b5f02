//! The thread that notices writes: it reads what changed, and tells.
//!
//! A change is read before it is told: whoever fetches after an event sees at least that state. What
//! the watch says is a hint; what is told comes from refs and journals.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentic_api::Caller;
use agentic_api::verb::{ListCommits, LogTraces};
use agentic_api::view::{EventName, EventView};
use agentic_model::{AgentName, Oid};
use agentic_replay::SessionId;
use agentic_session::{SessionSpace, SessionState};
use agentic_store::Stream;
use agentic_store::bell::GroundChange;
use agentic_store::watch::WriteWatch;

use crate::event::EventHub;

/// How often everything is compared though nothing was noticed.
const SWEEP: Duration = Duration::from_secs(60);
/// How long is waited for a change before is looked whether to go on.
const WAIT: Duration = Duration::from_millis(250);
/// How many new commits of one agent are told one by one.
const COMMITS_TOLD_MAX: usize = 64;
/// The kind of the commit that a decision is.
const DECISION: &str = "decision";

/// Who compares what is there with what was told.
pub(crate) struct Follower {
    space: Arc<SessionSpace>,
    events: Arc<EventHub>,
    heads: BTreeMap<AgentName, Oid>,
    sessions: BTreeMap<SessionId, SeenSession>,
    swept_at: Instant,
}

/// How a session stood when it was told of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SeenSession {
    state: SessionState,
    n_records: u64,
    /// The requests that wait for a person.
    holds: BTreeSet<String>,
}

impl Follower {
    /// Begins with what is there: nothing of it is told.
    pub fn begin(space: Arc<SessionSpace>, events: Arc<EventHub>) -> Follower {
        let (heads, sessions) = (BTreeMap::new(), BTreeMap::new());
        let mut follower = Follower { space, events, heads, sessions, swept_at: Instant::now() };
        follower.heads = follower.read_heads().unwrap_or_default();
        for id in follower.space.open_sessions().unwrap_or_default() {
            if let Some(seen) = follower.read_session(&id) {
                follower.sessions.insert(id, seen);
            }
        }
        follower
    }

    /// Follows writes until `go_on` says no.
    pub fn follow(mut self, mut watch: WriteWatch, go_on: impl Fn() -> bool) {
        while go_on() {
            let changed = watch.wait(WAIT);
            let is_due = self.swept_at.elapsed() >= SWEEP;
            let is_unknown = |change: &GroundChange| {
                matches!(change, GroundChange::Refs | GroundChange::Anything)
            };
            for change in &changed {
                match change {
                    GroundChange::Stream(Stream::Agent(agent)) => self.look_at_agent(agent),
                    GroundChange::Stream(Stream::Branch(_) | Stream::Space) => {}
                    GroundChange::Session(prefix) => self.look_at_session(prefix),
                    GroundChange::Refs | GroundChange::Anything => {}
                }
            }
            if is_due || changed.iter().any(is_unknown) {
                self.sweep();
            }
        }
    }

    /// Compares everything with what was told.
    fn sweep(&mut self) {
        self.swept_at = Instant::now();
        let Some(heads) = self.read_heads() else { return };
        let known: BTreeSet<AgentName> = self.heads.keys().chain(heads.keys()).cloned().collect();
        for agent in known {
            if self.heads.get(&agent) != heads.get(&agent) {
                self.tell_of_head(&agent, heads.get(&agent).copied());
            }
        }
        let open = self.space.open_sessions().unwrap_or_default();
        let known: BTreeSet<SessionId> = self.sessions.keys().copied().chain(open).collect();
        for id in known {
            self.tell_of_session(&id);
        }
    }

    fn look_at_agent(&mut self, agent: &AgentName) {
        let head = self.space.head(agent).ok();
        if self.heads.get(agent) == head.as_ref() {
            // It wrote, and its branch is where it was.
            self.tell(EventName::Trace, EventView { agent: Some(agent.to_string()), ..blank() });
        } else {
            self.tell_of_head(agent, head);
        }
    }

    fn tell_of_head(&mut self, agent: &AgentName, head: Option<Oid>) {
        let before = match head {
            Some(head) => self.heads.insert(agent.clone(), head),
            None => self.heads.remove(agent),
        };
        let name = Some(agent.to_string());
        match (before, head) {
            (None, None) => {}
            (Some(_), None) => {
                let state = Some("gone".to_owned());
                self.tell(EventName::Agent, EventView { agent: name, state, ..blank() });
            }
            (None, Some(head)) => {
                let (commit, state) = (Some(head.to_string()), Some("new".to_owned()));
                self.tell(EventName::Agent, EventView { agent: name, commit, state, ..blank() });
            }
            (Some(before), Some(_)) => self.tell_of_commits(agent, before),
        }
    }

    /// Tells of the commits since one, oldest first.
    fn tell_of_commits(&self, agent: &AgentName, before: Oid) {
        let (caller, before) = (Caller::new(&self.space, &self.folder()), before.to_string());
        let verb = ListCommits { agent: Some(agent.to_string()), ..ListCommits::default() };
        let Ok(commits) = verb.commits(&caller, LogTraces::Left) else { return };
        let new = commits.map_while(Result::ok).map(|commit| commit.view);
        let new = new.take_while(|view| view.commit != before).take(COMMITS_TOLD_MAX);
        let new: Vec<_> = new.collect();
        for view in new.into_iter().rev() {
            let is_decision = view.kind == DECISION;
            let name = if is_decision { EventName::Decision } else { EventName::Commit };
            let (agent, commit) = (Some(agent.to_string()), Some(view.commit));
            let (kind, cid) = (Some(view.kind), view.trace);
            self.tell(name, EventView { agent, commit, kind, cid, ..blank() });
        }
    }

    fn look_at_session(&mut self, prefix: &str) {
        if let Ok(id) = self.space.find_session(prefix) {
            self.tell_of_session(&id);
        }
    }

    fn tell_of_session(&mut self, id: &SessionId) {
        let Some(now) = self.read_session(id) else { return };
        let before = self.sessions.insert(*id, now.clone());
        if before.as_ref() == Some(&now) {
            return;
        }
        if now.state.is_over() {
            self.sessions.remove(id);
        }
        let state = Some(now.state.as_str().to_owned());
        let session = Some(id.to_string());
        self.tell(EventName::Session, EventView { session, state, ..blank() });
        let none = BTreeSet::new();
        let earlier = before.as_ref().map_or(&none, |before| &before.holds);
        for request in earlier.symmetric_difference(&now.holds) {
            let state = if now.holds.contains(request) { "open" } else { "closed" };
            let (session, request) = (Some(id.to_string()), Some(request.clone()));
            let state = Some(state.to_owned());
            self.tell(EventName::Hold, EventView { session, request, state, ..blank() });
        }
    }

    fn read_session(&self, id: &SessionId) -> Option<SeenSession> {
        let summary = self.space.session(id).ok()?;
        let holds = summary.holds.iter().map(|hold| id.short_request(&hold.id)).collect();
        Some(SeenSession { state: summary.state, n_records: summary.n_records, holds })
    }

    fn read_heads(&self) -> Option<BTreeMap<AgentName, Oid>> {
        Some(self.space.agent_names().ok()?.into_iter().collect())
    }

    fn folder(&self) -> std::path::PathBuf {
        self.space.repository().common_dir().to_owned()
    }

    fn tell(&self, name: EventName, data: EventView) {
        let at = self.space.now().to_string();
        self.events.publish(name, EventView { at, ..data });
    }
}

fn blank() -> EventView {
    EventView::default()
}
