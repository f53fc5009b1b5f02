//! Looking at sessions: how they stand, what they asked, where two differ.

use std::collections::BTreeSet;

use agentic_flow::limits::LIMIT;
use agentic_model::AgentName;
use agentic_model::guidance::ErrorClass;
use agentic_replay::SessionId;
use agentic_replay::engine::RunId;
use agentic_session as session;
use agentic_session::hosted::{host_of, hosted_run};
use agentic_session::outlook::is_unattended;
use agentic_session::{SessionSpace, SessionState, Summary};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::verb::peer_reply::late_replies;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::{AttendanceView, DiffView, SessionView};
use crate::{Caller, Notice, Refusal};

/// A session with more records than this is named as a long one: each cold resume reads them all.
const RECORDS_MANY: u64 = 10_240;

/// What a person can do whose flow hit one of its bounds.
const LIMIT_HINT: &str = "do less between two requests, and give parts of the work to sessions of their own: `spawn` with a `flow`";

/// How much of a session is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionDetail {
    /// Everything that it asked.
    Whole,
    /// How it stands.
    Brief,
}

/// Tells how a session stands that was just driven, and what its driver should know.
///
/// # Errors
/// Fails when the session cannot be read.
pub fn session_reply(
    space: &SessionSpace,
    id: &SessionId,
    detail: SessionDetail,
) -> Result<Reply<SessionView>, Refusal> {
    let summary = space.session(id)?;
    let mut notices = Notice::mended(space);
    let answer = match detail {
        SessionDetail::Whole => SessionView::whole(&summary),
        SessionDetail::Brief => SessionView::brief(&summary),
    };
    let request = |hold: &session::OpenHold| summary.id.short_request(&hold.id);
    notices.extend(summary.holds.iter().map(|hold| Notice::Held { request: request(hold) }));
    if summary.n_records > RECORDS_MANY && !summary.state.is_over() {
        notices.push(Notice::LongSession { n_records: summary.n_records });
    }
    let unanswered = Notice::unanswered(space, &summary);
    let completion = match &summary.failure {
        Some(failure) if unanswered.is_empty() => {
            let hint = match failure.code.as_str() {
                LIMIT => LIMIT_HINT,
                _ => "`agentic session show` shows every request and answer",
            };
            let message = format!("{}: {}", failure.code, failure.message);
            VerbCompletion::Short(Refusal::new(class_of_end(&summary), &message, hint))
        }
        Some(_) | None => completion(space, &summary),
    };
    notices.extend(unanswered);
    Ok(Reply { answer, notices, completion })
}

fn class_of_end(summary: &Summary) -> ErrorClass {
    match summary.state {
        SessionState::Diverged => ErrorClass::Diverged,
        SessionState::Done
        | SessionState::Running
        | SessionState::Waiting
        | SessionState::Held
        | SessionState::Cancelled => ErrorClass::Refused,
        SessionState::Failed => {
            let code = summary.failure.as_ref().map(|failure| failure.code.as_str());
            match code == Some(ErrorClass::NotAllowed.word()) {
                true => ErrorClass::NotAllowed,
                false => ErrorClass::Refused,
            }
        }
    }
}

/// Says how far a session came. One that waits for a held child is held too.
fn completion(space: &SessionSpace, summary: &Summary) -> VerbCompletion {
    match summary.state {
        SessionState::Done | SessionState::Running => VerbCompletion::Whole,
        SessionState::Waiting if summary.until.is_none() && has_held_child(space, summary) => {
            VerbCompletion::Held
        }
        // Nobody could answer: a key is missing, or a server is gone.
        SessionState::Waiting if session::unanswered(space, summary).is_some() => {
            VerbCompletion::Held
        }
        SessionState::Waiting => VerbCompletion::Whole,
        SessionState::Held => VerbCompletion::Held,
        SessionState::Failed | SessionState::Cancelled | SessionState::Diverged => {
            VerbCompletion::Over(class_of_end(summary))
        }
    }
}

fn has_held_child(space: &SessionSpace, summary: &Summary) -> bool {
    let children = session::children(space, &summary.id).unwrap_or_default();
    let mut summaries = children.iter().filter_map(|id| space.session(id).ok());
    summaries.any(|child| matches!(completion(space, &child), VerbCompletion::Held))
}

/// Shows sessions in short, those too that cannot be read.
pub(super) fn summaries(
    space: &SessionSpace,
    ids: &[SessionId],
) -> Result<Vec<SessionView>, Refusal> {
    let mut views = Vec::new();
    for id in ids {
        match space.session(id) {
            Ok(summary) => {
                let view = SessionView::brief(&summary).seen_at(&summary, space.now());
                let view = view.driven_by(host_of(space, id));
                // Of one whose branch is damaged nobody can say what could be done for it.
                let wanted = attendance(space, &summary).unwrap_or(AttendanceView::NotWanted);
                views.push(view.attended_by(wanted));
            }
            Err(error) => views.push(SessionView::corrupt(id, &error.to_string())),
        }
    }
    Ok(views)
}

fn attendance(space: &SessionSpace, summary: &Summary) -> Result<AttendanceView, Refusal> {
    Ok(match is_unattended(space, summary)? {
        true => AttendanceView::Wanted,
        false => AttendanceView::NotWanted,
    })
}

/// Show a session with everything it asked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionShow {
    /// An id or a prefix of it, or an agent.
    pub session: String,
    /// As it stood after so many records.
    #[serde(default)]
    pub at: Option<u64>,
}

impl Verb for SessionShow {
    type Answer = SessionView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SessionView>, Refusal> {
        let space = caller.space;
        let id = found_or_claimed(space, &self.session)?;
        let unread = sealed_up_to_now(caller, &id);
        let whole = space.session(&id)?;
        let (summary, then) = match self.at {
            Some(at) => {
                refuse_beyond(&whole, at)?;
                (space.session_at(&id, at)?, space.instant_of_record(&id, at)?)
            }
            None => (whole, space.now()),
        };
        let mut late = session::overtaken(space, &id)?;
        late.extend(late_replies(caller, &id)?);
        let decisions = session::decisions(space, &summary);
        let view = SessionView::whole(&summary)
            .with_overtaken(&summary, &late)
            .with_decisions(&summary, &decisions)
            .driven_by(host_of(space, &id))
            .seen_at(&summary, then);
        // What was is not what somebody could do now.
        let view = match self.at {
            Some(_) => view,
            None => view
                .attended_by(attendance(space, &summary)?)
                .configured_by(session::configuration(space, &id)?),
        };
        let mut notices = Notice::unanswered(space, &summary);
        notices.extend(unread);
        let others = session::other_lines(space, &id)?;
        notices.extend(others.iter().map(|other| Notice::Remark { what: other.to_string() }));
        Ok(Reply { notices, ..Reply::plain(view) })
    }
}

/// Refuses a position at which a session never stood.
fn refuse_beyond(summary: &Summary, at: u64) -> Result<(), Refusal> {
    if (1..=summary.n_records).contains(&at) {
        return Ok(());
    }
    let message = format!("session `{}` has no record {at}", summary.id);
    let hint = format!("they are counted from 1, and the last one is {}", summary.n_records);
    Err(Refusal::refused(&message, &hint))
}

/// Finds a session, of which another engine may have sealed nothing yet.
pub(super) fn found_or_claimed(space: &SessionSpace, name: &str) -> Result<SessionId, Refusal> {
    let found = space.find_session(name);
    Ok(found.or_else(|error| hosted_run(space, name).map_err(|_| error))?)
}

/// Has another engine seal what it has recorded of a session; says why it cannot be asked.
pub(super) fn sealed_up_to_now(caller: &Caller<'_>, id: &SessionId) -> Option<Notice> {
    let (address, engines) = caller.driving(id)?;
    let read = || -> Result<(), Refusal> {
        let engine = engines.connect(&address, caller.space, caller.client)?;
        engine.status(&RunId::new(id.to_string()))?;
        Ok(())
    };
    let why = read().err()?.sentence();
    Some(Notice::Remark { what: format!("what is sealed is shown, and no more: {why}") })
}

/// List sessions, oldest first.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionList {
    /// Only of this agent.
    pub agent: Option<String>,
}

impl Verb for SessionList {
    type Answer = Vec<SessionView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<SessionView>>, Refusal> {
        let agent = self.agent.as_deref().map(agent_name).transpose()?;
        let space = caller.space;
        let mut notices = Vec::new();
        let ids = space.sessions_telling(&mut |told| notices.push(Notice::left_out(&told)))?;
        let mut views = summaries(space, &ids)?;
        views.retain(|view| agent.as_ref().is_none_or(|agent| view.agent == agent.as_str()));
        if views.is_empty() {
            notices.extend(on_remote(space, agent.as_ref())?);
        }
        Ok(Reply { notices, ..Reply::plain(views) })
    }
}

/// Names the agents with sessions that only a remote has here.
fn on_remote(space: &SessionSpace, agent: Option<&AgentName>) -> Result<Option<Notice>, Refusal> {
    let remote = space.remote_agents()?;
    let is_meant = |name: &AgentName| agent.is_none_or(|agent| agent == name);
    let names = remote.iter().map(|one| &one.name).filter(|name| is_meant(name));
    let agents: BTreeSet<String> = names.map(AgentName::to_string).collect();
    Ok((!agents.is_empty()).then_some(Notice::SessionsElsewhere { agents }))
}

/// Name the first record in which two sessions differ.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionDiff {
    /// The one.
    pub left: String,
    /// The other.
    pub right: String,
}

impl Verb for SessionDiff {
    type Answer = DiffView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<DiffView>, Refusal> {
        let find = |name: &str| caller.space.find_session(name);
        let (left, right) = (find(&self.left)?, find(&self.right)?);
        let found = session::diff(caller.space, &left, &right)?;
        Ok(Reply::plain(DiffView::new(found.as_ref())))
    }
}
