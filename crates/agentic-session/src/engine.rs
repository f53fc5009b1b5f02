//! The embedded engine: runs of plans as sessions of this repository.
//!
//! What is its own about it stands here and nowhere above: a run is found by its session, its agent
//! or its key; without an agent it runs as one that is made for it; a process drives it and sits out
//! its short pauses; a decision is a commit on the agent's branch.

mod agent;
mod decide;
mod due;
mod history;
mod message;
mod pause;
mod performer;
mod stored;

use std::cell::RefCell;
use std::collections::BTreeMap;

use agentic_lang_pipeline::PlannedRun;
use agentic_model::Value;
use agentic_replay::engine::{
    Cancellation, CountedDecision, DurableEngine, EngineError, EngineRefusal, Result,
    RunAttendance, RunDecision, RunEvent, RunHold, RunId, RunStart, RunStatus,
};
use agentic_replay::{End, SessionId};

use self::due::SessionLook;
use self::pause::next_pause;
use crate::error::{DecisionError, ProgramError, RequestError, SessionError};
use crate::{Begin, OpenHold, PinnedSource, SessionState, Summary, blocks, find_run, pin};
use crate::{Error, SessionSpace};

pub use self::agent::{AgentFailure, ensure_agent, fresh_key, key_or_fresh, own_agent};
pub use self::decide::RunHoldDraft;
pub use self::message::message_of;
pub use self::pause::{sit_out, start_pinned};
pub use self::performer::unperformed;
pub use self::stored::stored_plan;

/// The engine that keeps runs as sessions of a repository.
pub struct EmbeddedEngine<'a> {
    space: &'a SessionSpace,
    /// Through what people decide.
    client: &'static str,
    /// How the sessions were that a worker was told of.
    looked: RefCell<BTreeMap<SessionId, SessionLook>>,
}

impl<'a> EmbeddedEngine<'a> {
    /// Makes the engine of a space; people decide through `client`.
    pub fn new(space: &'a SessionSpace, client: &'static str) -> EmbeddedEngine<'a> {
        EmbeddedEngine { space, client, looked: RefCell::default() }
    }

    fn session(&self, run: &RunId) -> Result<SessionId> {
        self.space.find_session(run.as_str()).map_err(refused)
    }

    /// Says what the session of a run begins with; makes its agent, if it has to.
    ///
    /// # Errors
    /// Refuses agents whom nobody performs here, and what cannot be recorded.
    pub fn begin(&self, start: RunStart<PlannedRun>) -> Result<Begin> {
        let RunStart { run, input, key, agent } = start;
        let run = performer::with_flows(self.space, run).map_err(refused)?;
        if let Some(reason) = unperformed(&run, agentic_plan::Backend::Temporal) {
            return Err(refused(Error::Program(ProgramError::Unperformed { reason })));
        }
        let PinnedSource { flow, parts } = pin(&run).map_err(Error::from).map_err(refused)?;
        let (key, key_source) = key_or_fresh(self.space, key);
        let agent = match agent.or_else(|| self.space.current_agent()) {
            Some(agent) => agent,
            None => own_agent(self.space, &key, &run.source)
                .map_err(|failure| EngineError::new(EngineRefusal::Own, failure))?,
        };
        // What a program can do is what its builtins are, and those were named.
        let allow = vec!["*".to_owned()];
        Ok(Begin { agent, flow, parts, input, key, key_source, allow })
    }
}

impl EmbeddedEngine<'_> {
    /// Finds the hold that a decision is about, and says how it is decided; decides nothing.
    ///
    /// # Errors
    /// Fails when there is no such hold, or several.
    pub fn hold_draft(&self, run: &RunId, decision: &RunDecision) -> Result<RunHoldDraft> {
        let id = self.session(run)?;
        decide::draft_of(self.space, self.client, &id, decision).map_err(refused)
    }
}

impl DurableEngine<PlannedRun> for EmbeddedEngine<'_> {
    fn start(&self, start: RunStart<PlannedRun>, attendance: RunAttendance) -> Result<RunId> {
        let begin = self.begin(start)?;
        let id = match attendance {
            RunAttendance::Detached => crate::record(self.space, begin).map_err(refused)?,
            RunAttendance::Attended => {
                let id = crate::start(self.space, begin).map_err(refused)?;
                sit_out(self.space, &id).map_err(refused)?;
                id
            }
        };
        Ok(RunId::new(id.to_string()))
    }

    fn find(&self, name: &str) -> Result<RunId> {
        Ok(RunId::new(find_run(self.space, name).map_err(refused)?.to_string()))
    }

    fn go_on(&self, run: &RunId) -> Result<()> {
        let id = self.session(run)?;
        crate::resume(self.space, &id).map_err(refused)
    }

    fn due(&self) -> Result<Vec<RunId>> {
        let due = due::list(self.space, &mut self.looked.borrow_mut()).map_err(refused)?;
        Ok(due.iter().map(|id| RunId::new(id.to_string())).collect())
    }

    fn status(&self, run: &RunId) -> Result<RunStatus> {
        let id = self.session(run)?;
        let summary = self.space.session(&id).map_err(refused)?;
        let blocks = blocks(self.space, &id).map_err(refused)?;
        let unanswered = crate::unanswered(self.space, &summary);
        Ok(RunStatus {
            id: RunId::new(id.to_string()),
            state: standing(self.space, &summary),
            holds: summary.holds.iter().map(|hold| open_hold(&id, hold)).collect(),
            key: summary.key,
            agent: summary.agent,
            blocks,
            until: next_pause(self.space, &id).map_err(refused)?.map(|(until, _)| until),
            unanswered: unanswered.map(|(_, failure)| failure),
            page: None,
        })
    }

    fn result(&self, run: &RunId) -> Result<Option<End>> {
        let summary = self.space.session(&self.session(run)?).map_err(refused)?;
        Ok(match summary.state {
            SessionState::Done => summary.result.map(End::Done),
            SessionState::Failed => summary.failure.map(End::Failed),
            SessionState::Cancelled => Some(End::Cancelled),
            SessionState::Running
            | SessionState::Held
            | SessionState::Waiting
            | SessionState::Diverged => None,
        })
    }

    fn history(&self, run: &RunId) -> Result<Vec<RunEvent>> {
        history::of(self.space, &self.session(run)?).map_err(refused)
    }

    fn cancel(&self, run: &RunId, cancellation: &Cancellation) -> Result<()> {
        let id = self.session(run)?;
        let Cancellation { who, why, mode } = cancellation;
        crate::cancel(self.space, &id, *mode, who, why).map_err(refused)
    }

    fn decide(&self, run: &RunId, decision: &RunDecision) -> Result<CountedDecision> {
        let id = self.session(run)?;
        decide::decide(self.space, self.client, &id, decision).map_err(refused)
    }
}

/// Says how a run stands; one that waits for a held child is held too.
fn standing(space: &SessionSpace, summary: &Summary) -> SessionState {
    let waits_for_child = summary.state == SessionState::Waiting && summary.until.is_none();
    match waits_for_child && has_held_child(space, &summary.id) {
        true => SessionState::Held,
        false => summary.state,
    }
}

fn has_held_child(space: &SessionSpace, id: &SessionId) -> bool {
    let children = crate::children(space, id).unwrap_or_default();
    let mut summaries = children.iter().filter_map(|id| space.session(id).ok());
    summaries.any(|child| standing(space, &child) == SessionState::Held)
}

fn open_hold(id: &SessionId, hold: &OpenHold) -> RunHold {
    RunHold {
        request: id.short_request(&hold.id),
        path: hold.ask.path.clone(),
        question: hold.payload.get("question").and_then(Value::as_text).map(str::to_owned),
        choices: hold.payload.get("choices").cloned(),
    }
}

/// Says in the words of all engines what was refused, and keeps our own.
pub fn refused(error: Error) -> EngineError {
    let refusal = match &error {
        Error::Session(SessionError::Unknown { .. }) => EngineRefusal::UnknownRun,
        Error::Session(SessionError::KeyTaken { .. }) => EngineRefusal::KeyTaken,
        Error::Session(SessionError::Over { .. }) => EngineRefusal::RunOver,
        Error::Request(RequestError::Unknown { .. })
        | Error::Request(RequestError::NoHold { .. }) => EngineRefusal::HoldNotOpen,
        Error::Decision(DecisionError::AlreadyDecided { .. })
        | Error::Decision(DecisionError::HoldExpired { .. }) => EngineRefusal::HoldClosed,
        Error::Request(RequestError::ValueMisfit { .. }) => EngineRefusal::ChoiceNotOffered,
        Error::Decision(DecisionError::NotAllowed { .. }) => EngineRefusal::NotAuthorised,
        Error::Space(_)
        | Error::Session(_)
        | Error::Program(_)
        | Error::Request(_)
        | Error::Decision(_) => EngineRefusal::Own,
    };
    EngineError::new(refusal, error)
}

#[cfg(test)]
mod tests;
