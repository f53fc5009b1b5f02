//! A decision that is durable, and what follows from it.

use agentic_model::Value;
use agentic_replay::SessionId;
use agentic_replay::engine::{DurableEngine, RunId};
use agentic_session::decide::DecisionOutcome;
use agentic_session::engine::EmbeddedEngine;
use agentic_session::{Error, SessionState, go_on};

use super::AfterDecision;
use crate::verb::VerbCompletion;
use crate::view::DecideView;
use crate::{Caller, Notice, Refusal};

/// A decision that is durable. The session has not gone on yet.
#[derive(Debug)]
#[must_use = "the session waits for it"]
pub struct RecordedDecision {
    /// What was decided.
    pub action: String,
    /// The commit.
    pub commit: String,
    /// What did not keep it from being recorded.
    pub notices: Vec<Notice>,
    pub(super) request: String,
    pub(super) principal: String,
    pub(super) session: SessionId,
    pub(super) following: DecisionFollowing,
    /// The agent of a peer that asks, if it is one of a peer.
    pub(super) elsewhere: Option<String>,
}

/// What became of the session after a decision.
#[derive(Debug)]
pub struct FollowedDecision {
    /// What is to be told of it.
    pub notices: Vec<Notice>,
    /// Whether it went on, as far as it could.
    pub completion: VerbCompletion,
}

/// How a hold was spoken of: the state of its session is told in the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HoldLanguage {
    Session,
    Run,
}

/// What follows from a decision, and how that is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecisionFollowing {
    pub then: AfterDecision,
    pub spoken_as: HoldLanguage,
}

impl RecordedDecision {
    pub(super) fn of(
        done: DecisionOutcome,
        following: DecisionFollowing,
        notices: Vec<Notice>,
    ) -> RecordedDecision {
        RecordedDecision {
            action: done.decision.action.name().to_owned(),
            commit: done.commit.to_string(),
            notices,
            request: done.session.short_request(&done.decision.request),
            principal: done.decision.principal,
            session: done.session,
            following,
            elsewhere: None,
        }
    }

    /// Returns the session that asked.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Lets the session go on, unless it was to be left.
    pub fn follow(&self, caller: &Caller<'_>) -> FollowedDecision {
        if let Ok(Some((host, engines))) = caller.host_of(&self.session) {
            let run = RunId::new(self.session.to_string());
            // The engine drives it by itself: here it is only waited for.
            let followed = match self.following.then {
                AfterDecision::GoOn => engines
                    .connect(&host, caller.space, caller.client)
                    .and_then(|engine| Ok(engine.go_on(&run).and_then(|()| engine.status(&run))?))
                    .map(drop),
                AfterDecision::Leave => Ok(()),
            };
            let failed = followed.err().map(|why| Notice::NotFollowed { why: why.sentence() });
            let notices = failed.into_iter().collect();
            return FollowedDecision { notices, completion: VerbCompletion::Whole };
        }
        let outcome = match self.following.then {
            AfterDecision::GoOn => go_on(caller.space, &self.session),
            AfterDecision::Leave => Ok(()),
        };
        let mut notices = Notice::mended(caller.space);
        let completion = match outcome {
            Ok(()) => VerbCompletion::Whole,
            // The answer could not be recorded, or what comes after: whoever opens the session next
            // does.
            Err(Error::Space(agentic_space::Error::Store(fault))) if fault.is_fault() => {
                VerbCompletion::Short(Refusal::refused(
                    &format!("the decision is committed; the session cannot go on: {fault}"),
                    "when that is mended, `agentic session resume` or any other command goes on with it",
                ))
            }
            Err(error) => {
                notices.push(Notice::NotFollowed { why: error.to_string() });
                VerbCompletion::Whole
            }
        };
        FollowedDecision { notices, completion }
    }

    /// Returns it as data, with how the session stands now.
    ///
    /// # Errors
    /// Fails when the session cannot be read.
    pub fn view(self, caller: &Caller<'_>) -> Result<DecideView, Refusal> {
        let (agent, state) = match (&self.elsewhere, self.following.spoken_as) {
            // How it stands there is known once its owner has announced that.
            (Some(agent), _) => (agent.clone(), SessionState::Held),
            (None, HoldLanguage::Session) => {
                let summary = caller.space.session(&self.session)?;
                (summary.agent.to_string(), summary.state)
            }
            (None, HoldLanguage::Run) => {
                let run = RunId::new(self.session.to_string());
                let status = EmbeddedEngine::new(caller.space, caller.client).status(&run)?;
                (status.agent.to_string(), status.state)
            }
        };
        let next = self.next(caller);
        Ok(DecideView {
            request: self.request,
            action: self.action,
            commit: self.commit,
            agent,
            principal: self.principal,
            state: state.as_str().to_owned(),
            session: self.session.to_string(),
            next,
        })
    }

    /// Returns the lines that go on with whoever asked, where that was put down meanwhile: a
    /// conversation of a coding agent, say. Nothing is started here.
    pub fn next(&self, caller: &Caller<'_>) -> Vec<String> {
        let Ok(summary) = caller.space.session(&self.session) else { return Vec::new() };
        let asked = summary.asked.iter().filter_map(|asked| asked.payload.get("payload"));
        let lines = asked.filter_map(|payload| payload.get("resume").and_then(Value::as_text));
        lines.filter(|line| line.starts_with(RESUMES)).map(str::to_owned).collect()
    }
}

/// What a line begins with that goes on with a conversation.
const RESUMES: &str = "AGENTIC_HOLD=defer ";
