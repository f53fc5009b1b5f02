//! Sessions as JSON.

mod compared;
mod found;
mod proof;
mod record;
mod request;

pub use self::compared::{
    ComparedRequestView, ForkView, ReplayedSessionView, SessionComparisonView, SessionPageView,
};
pub use self::found::{DiffView, VerdictView};
pub use self::proof::{ComparedView, VerifyView};
pub use self::record::RecordView;
use self::request::is_wide;
pub use self::request::{AttemptView, GivenView, OvertakenView, RequestView};

use std::collections::BTreeMap;

use agentic_model::{Instant, Oid, Value, json};
use agentic_replay::{ProgramFailure, SessionId};
use agentic_session::decide::{ApprovalScope, Decision, Policy};
use agentic_session::{OvertakenDecision, PinnedConfiguration, Summary};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionView {
    /// Its id.
    pub session: String,
    /// The agent it runs as.
    pub agent: String,
    /// The flow it runs now.
    pub flow: String,
    /// Its start key.
    pub key: String,
    /// The address of the engine that drives it, where that is not the embedded one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// `running`, `held`, `waiting`, `done`, `failed`, `cancelled`, `diverged` or `corrupt`.
    pub state: String,
    /// When it was started.
    pub started_at: String,
    /// How many records there are, shared ones included.
    pub records: u64,
    /// The hash of the last record.
    pub chain: String,
    /// What it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Json>,
    /// Why it failed; while it waits, why nobody could answer what it asks (`unanswered`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SessionErrorView>,
    /// The earliest instant it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The requests that wait for a human.
    pub pending: Vec<String>,
    /// What the first of them asks; where sessions are listed or shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Whether the deadline of one has passed: the next command that goes on with it records so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub overdue: bool,
    /// Whether it could go on without a human, and nobody drives it; where sessions are listed or shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    /// How long ago it was started, in milliseconds; where sessions are listed or shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<i64>,
    /// The session it was forked from, or whose child it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// After how many records it was forked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_at: Option<u64>,
    /// The digest of the configuration that it was started with, where what it asks needs one; where
    /// a session is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// Whether another configuration counts by now; where a session that is not over is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub configuration_changed: bool,
    /// Everything it asked, in order; only where one session is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Vec<RequestView>>,
}

/// Whether a session wants somebody to drive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttendanceView {
    /// It does, and nobody is there.
    Wanted,
    /// Somebody does, or there is nothing to do.
    NotWanted,
}

/// Why a session failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionErrorView {
    /// What sort of failure.
    pub code: String,
    /// What happened.
    pub message: String,
}

impl SessionView {
    /// Shows a session without its requests.
    pub fn brief(summary: &Summary) -> SessionView {
        let error = |failure: &ProgramFailure| SessionErrorView {
            code: failure.code.clone(),
            message: failure.message.clone(),
        };
        SessionView {
            session: summary.id.to_string(),
            agent: summary.agent.to_string(),
            flow: summary.flow.to_string(),
            key: summary.key.clone(),
            engine: None,
            state: summary.state.as_str().to_owned(),
            started_at: summary.started_at.to_string(),
            records: summary.n_records,
            chain: summary.chain.to_string(),
            result: summary.result.as_ref().map(json::to_json),
            error: summary.failure.as_ref().map(error),
            until: summary.until.map(|until| until.to_string()),
            pending: summary.holds.iter().map(|hold| summary.id.short_request(&hold.id)).collect(),
            parent: summary
                .forked_from
                .map(|(parent, _)| parent)
                .or(summary.child_of)
                .map(|parent| parent.to_string()),
            forked_at: summary.forked_from.map(|(_, at)| at),
            question: None,
            overdue: false,
            unattended: false,
            age_ms: None,
            configuration: None,
            configuration_changed: false,
            requests: None,
        }
    }

    /// Shows a session whose records are damaged.
    pub fn corrupt(id: &SessionId, reason: &str) -> SessionView {
        let error = SessionErrorView { code: "corrupt".to_owned(), message: reason.to_owned() };
        SessionView {
            session: id.to_string(),
            agent: String::new(),
            flow: String::new(),
            key: String::new(),
            engine: None,
            state: "corrupt".to_owned(),
            started_at: String::new(),
            records: 0,
            chain: String::new(),
            result: None,
            error: Some(error),
            until: None,
            pending: Vec::new(),
            parent: None,
            forked_at: None,
            question: None,
            overdue: false,
            unattended: false,
            age_ms: None,
            configuration: None,
            configuration_changed: false,
            requests: None,
        }
    }

    /// Shows a session with everything it asked.
    pub fn whole(summary: &Summary) -> SessionView {
        let request = |asked| RequestView::of(&summary.id, asked);
        let requests = Some(summary.asked.iter().map(request).collect());
        SessionView { requests, ..SessionView::brief(summary) }
    }

    /// Shows which engine drives the session, where that is not the embedded one.
    #[must_use]
    pub fn driven_by(self, engine: Option<String>) -> SessionView {
        SessionView { engine, ..self }
    }

    /// Shows the configuration that the session was started with.
    #[must_use]
    pub fn configured_by(self, pinned: Option<PinnedConfiguration>) -> SessionView {
        let configuration = pinned.map(|pinned| pinned.digest.to_string());
        let configuration_changed = pinned.is_some_and(|pinned| pinned.is_changed);
        SessionView { configuration, configuration_changed, ..self }
    }

    /// Shows who decided what, when and why.
    #[must_use]
    pub fn with_decisions(
        mut self,
        summary: &Summary,
        decisions: &BTreeMap<Oid, Decision>,
    ) -> SessionView {
        for (view, asked) in self.requests.iter_mut().flatten().zip(&summary.asked) {
            let decided = asked.decision().and_then(|commit| decisions.get_key_value(&commit));
            let given_for = decided.map(|(_, decision)| decision.request);
            let given_for = given_for.filter(|request| *request != asked.id);
            view.decision = decided.map(|(commit, decision)| GivenView {
                scope: is_wide(asked).then(|| ApprovalScope::RestOfSession.name().to_owned()),
                given_for: given_for.map(|request| summary.id.short_request(&request)),
                commit: commit.to_string(),
                action: decision.action.name().to_owned(),
                principal: decision.principal.clone(),
                why: decision.rationale.clone(),
                decided_at: decision.decided_at().map(str::to_owned),
            });
        }
        self
    }

    /// Says how long ago the session began, what it asks a person, and whether that is overdue.
    #[must_use]
    pub fn seen_at(mut self, summary: &Summary, now: Instant) -> SessionView {
        self.age_ms = Some((now.millis() - summary.started_at.millis()).max(0));
        self.question = summary.holds.first().map(|hold| {
            let question = hold.payload.get("question").and_then(Value::as_text);
            question.unwrap_or(&hold.ask.kind).to_owned()
        });
        self.overdue = summary.holds.iter().any(|hold| {
            let policy = Policy::of_payload(hold.reason, &hold.payload);
            policy.at(hold.n_escalations, now).is_overdue(now)
        });
        self
    }

    /// Says whether it could go on without a human while nobody drives it.
    #[must_use]
    pub fn attended_by(mut self, attendance: AttendanceView) -> SessionView {
        self.unattended = attendance == AttendanceView::Wanted;
        self
    }

    /// Shows the decisions that came too late with what they answer.
    #[must_use]
    pub fn with_overtaken(mut self, summary: &Summary, late: &[OvertakenDecision]) -> SessionView {
        for (view, asked) in self.requests.iter_mut().flatten().zip(&summary.asked) {
            let is_late =
                |late: &&OvertakenDecision| late.request == asked.id && asked.answer.is_some();
            let late = late.iter().filter(is_late);
            view.overtaken.extend(late.map(|late| OvertakenView {
                commit: late.commit.to_string(),
                action: late.decision.action.name().to_owned(),
                principal: late.decision.principal.clone(),
            }));
        }
        self
    }
}
