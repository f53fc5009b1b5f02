//! The engine whose runs are on a server.
//!
//! The server drives; what a run is and was is read from its sealed records, as of any session. Whoever
//! asks for more than is sealed has the run seal it first.

use agentic_lang_pipeline::PlannedRun;
use agentic_model::guidance::{ErrorClass, Guidance as _};
use agentic_replay::engine::{
    Cancellation, CountedDecision, DurableEngine, EngineError, EngineRefusal, OwnRefusal, Result,
    RunAttendance, RunDecision, RunEvent, RunId, RunStart, RunStatus,
};
use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_replay::{End, ProgramFailure, RequestId, SessionId, SessionState};
use agentic_session::decide::{ApprovalScope, DecisionDraft};
use agentic_session::engine::{EmbeddedEngine, RunHoldDraft};
use agentic_session::hosted::{
    HostClaim, HostedDecision, claim, claimed, decide_hosted, disclaim, end_hosted, hosted_run,
    space_id,
};
use agentic_session::{Begin, SessionSpace};
use temporalio_client::Client;
use tokio::runtime::Runtime;

use crate::client::{RunClient, RunFate};
use crate::connection::runtime;
use crate::decision::{CancelAsk, DecideAsk, DecideReply, WireRefusal};
use crate::obstacle::RunObstacle;
use crate::route::queue_of;
use crate::search::known;
use crate::wire::{RunInput, RunPace, ServedTerms};
use crate::{Error, HOST, ServerSettings};

/// After how many events a run goes on as a new execution.
const EVENTS_MAX: u32 = 8000;

/// The code of what a run waits for that is no human.
const OBSTACLE: &str = "unattended";

/// How the time of a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunClock {
    /// As that of the server.
    Runs,
    /// Only as far as the program waits, from when the run began.
    Waits,
}

/// The engine whose runs are on a server.
pub struct TemporalEngine<'a> {
    pub(crate) space: &'a SessionSpace,
    /// Reads what is sealed.
    local: EmbeddedEngine<'a>,
    settings: ServerSettings,
    pub(crate) runtime: Runtime,
    client: Client,
    pace: RunPace,
}

impl<'a> TemporalEngine<'a> {
    /// Connects to a server; people decide through `client`.
    ///
    /// # Errors
    /// Fails when nobody answers there.
    pub fn connect(
        space: &'a SessionSpace,
        client: &'static str,
        settings: &ServerSettings,
    ) -> crate::Result<TemporalEngine<'a>> {
        let runtime = runtime(1)?;
        let connected = runtime.block_on(settings.connect())?;
        let local = EmbeddedEngine::new(space, client);
        let settings = settings.clone();
        let pace = RunPace { events_max: EVENTS_MAX, seal_after_ms: None };
        Ok(TemporalEngine { space, local, settings, runtime, client: connected, pace })
    }

    /// Lets runs that begin go on as new executions after so many events.
    #[must_use]
    pub fn rolling_after(self, events_max: u32) -> TemporalEngine<'a> {
        TemporalEngine { pace: RunPace { events_max, ..self.pace }, ..self }
    }

    /// Has runs that begin seal what has happened after so many milliseconds.
    #[must_use]
    pub fn sealing_after(self, millis: u64) -> TemporalEngine<'a> {
        TemporalEngine { pace: RunPace { seal_after_ms: Some(millis), ..self.pace }, ..self }
    }

    pub(crate) fn run(&self, id: &RunId) -> RunClient<'_> {
        RunClient::new(&self.client, id.as_str())
    }

    /// Has everything of a run sealed that it has recorded, as far as a worker answers.
    pub(crate) fn read(&self, id: &RunId) -> Result<()> {
        let client = self.run(id);
        let view = self.runtime.block_on(client.seal()).map_err(refused)?;
        let is_whole = view.is_some_and(|view| view.over && view.is_sealed());
        if is_whole { Ok(()) } else { self.end_as_the_server(id) }
    }

    /// Seals a run as cancelled that the server has ended, if it has.
    fn end_as_the_server(&self, id: &RunId) -> Result<()> {
        if self.runtime.block_on(self.run(id).fate()).map_err(refused)? != RunFate::Ended {
            return Ok(());
        }
        let cancel = CancelRecord {
            who: HOST.to_owned(),
            why: "the server ended the run".to_owned(),
            mode: CancelMode::Kill,
        };
        end_hosted(self.space, &self.session(id)?, &cancel).map_err(refused)
    }

    fn session(&self, id: &RunId) -> Result<SessionId> {
        hosted_run(self.space, id.as_str()).map_err(refused)
    }

    /// Decides a hold of a session. When this returns the decision is a commit, and the run has it.
    ///
    /// # Errors
    /// Refuses as [`DurableEngine::decide`] does.
    pub fn decide_hold(
        &self,
        session: &SessionId,
        request: &RequestId,
        draft: &DecisionDraft,
    ) -> Result<CountedDecision> {
        let ask = DecideAsk::of(session.to_string(), request.to_string(), draft);
        let update = update_id(&ask);
        let run = RunId::new(session.to_string());
        let reply = self.runtime.block_on(self.run(&run).decide(ask, update)).map_err(refused)?;
        let counted = |(receipt, actor, action): (String, String, String)| CountedDecision {
            run: run.clone(),
            request: session.short_request(request),
            action,
            actor,
            receipt,
            remark: None,
        };
        match reply {
            Some(DecideReply::Decided { commit, principal, action, .. }) => {
                Ok(counted((commit, principal, action)))
            }
            Some(DecideReply::Refused(refusal)) => Err(decision_refused(refusal)),
            // The run has closed meanwhile: what it came to is sealed.
            None => {
                self.end_as_the_server(&run)?;
                let decided = decide_hosted(self.space, session, request, draft);
                let HostedDecision { commit, principal, action, .. } = decided.map_err(refused)?;
                Ok(counted((commit.to_string(), principal, action.to_owned())))
            }
        }
    }

    /// Tells how a run stands of which nothing is sealed: it waits for a worker.
    fn claimed(&self, run: &RunId) -> Result<RunStatus> {
        let found = claimed(self.space, &self.session(run)?);
        let (agent, key) = found.map_err(refused)?;
        Ok(RunStatus {
            id: run.clone(),
            key,
            agent,
            state: SessionState::Running,
            blocks: Vec::new(),
            holds: Vec::new(),
            until: None,
            unanswered: None,
            page: None,
        })
    }

    /// Claims the session that this begins and starts its run, unless both was done before.
    pub(crate) fn claim_and_start(&self, begin: Begin, clock: RunClock) -> Result<RunId> {
        let space_id = space_id(self.space).map_err(refused)?;
        let id = begin.session().map_err(refused)?;
        let run = RunId::new(id.to_string());
        let address = self.settings.address.to_string();
        let flow = begin.flow.clone();
        let claimed = claim(self.space, begin, HOST, &address);
        if let HostClaim::Open(opening) = claimed.map_err(refused)? {
            let terms = ServedTerms {
                space: space_id.clone(),
                queues: self.settings.queues.clone(),
                // Without them all but the search works.
                search: self.runtime.block_on(known(&self.client)).unwrap_or_default(),
                pace: self.pace,
            };
            let mut input = RunInput::of(&opening, terms).map_err(refused)?.bringing(&flow);
            input.clock = (clock == RunClock::Waits).then_some(input.at);
            let started = self.runtime.block_on(self.run(&run).start(&queue_of(&space_id), input));
            if started.as_ref().is_err_and(Error::began_nothing) {
                disclaim(self.space, &id).map_err(refused)?;
            }
            started.map_err(refused)?;
        }
        Ok(run)
    }
}

impl DurableEngine<PlannedRun> for TemporalEngine<'_> {
    fn start(&self, start: RunStart<PlannedRun>, attendance: RunAttendance) -> Result<RunId> {
        let run = self.claim_and_start(self.local.begin(start)?, RunClock::Runs)?;
        if attendance == RunAttendance::Attended {
            self.go_on(&run)?;
        }
        Ok(run)
    }

    fn find(&self, name: &str) -> Result<RunId> {
        let id = hosted_run(self.space, name).map_err(refused)?;
        Ok(RunId::new(id.to_string()))
    }

    fn go_on(&self, run: &RunId) -> Result<()> {
        self.runtime.block_on(self.run(run).rest()).map_err(refused)?;
        self.end_as_the_server(run)
    }

    fn due(&self) -> Result<Vec<RunId>> {
        Ok(Vec::new())
    }

    fn status(&self, run: &RunId) -> Result<RunStatus> {
        self.read(run)?;
        let status = match self.local.status(run) {
            Err(error) if error.refusal == EngineRefusal::UnknownRun => self.claimed(run),
            status => status,
        }?;
        let page = self.settings.page_of(run.as_str());
        let status = RunStatus { page, ..status };
        if status.state.is_over() {
            return Ok(status);
        }
        let failure = |why| Some(ProgramFailure::new(OBSTACLE, why));
        Ok(match self.runtime.block_on(self.run(run).obstacle()) {
            Some(RunObstacle::Diverged(why)) => {
                RunStatus { state: SessionState::Diverged, unanswered: failure(why), ..status }
            }
            // Who waits for a human waits for nobody else.
            Some(RunObstacle::Other(why)) if status.state != SessionState::Held => {
                RunStatus { unanswered: failure(why), ..status }
            }
            Some(RunObstacle::Other(_)) | None => status,
        })
    }

    fn result(&self, run: &RunId) -> Result<Option<End>> {
        self.read(run)?;
        match self.local.result(run) {
            Err(error) if error.refusal == EngineRefusal::UnknownRun => Ok(None),
            result => result,
        }
    }

    fn history(&self, run: &RunId) -> Result<Vec<RunEvent>> {
        self.read(run)?;
        match self.local.history(run) {
            Err(error) if error.refusal == EngineRefusal::UnknownRun => Ok(Vec::new()),
            history => history,
        }
    }

    fn cancel(&self, run: &RunId, cancellation: &Cancellation) -> Result<()> {
        let Cancellation { who, why, mode } = cancellation;
        let kill = *mode == CancelMode::Kill;
        let ask = CancelAsk { who: who.clone(), why: why.clone(), kill };
        let client = self.run(run);
        let told = self.runtime.block_on(client.cancel(ask)).map_err(refused)?;
        if told == RunFate::Closed {
            self.end_as_the_server(run)?;
            let id = self.session(run)?.short();
            let over = agentic_session::error::SessionError::Over { id };
            return Err(refused(agentic_session::Error::from(over)));
        }
        self.runtime.block_on(client.end()).map_err(refused)?;
        Ok(())
    }

    fn decide(&self, run: &RunId, decision: &RunDecision) -> Result<CountedDecision> {
        let RunHoldDraft { session, request, draft } = self.local.hold_draft(run, decision)?;
        self.decide_hold(&session, &request, &draft)
    }
}

/// Names a decision, so that the same one again is the same update: whoever decides the same only gives
/// another reason decides nothing new.
fn update_id(ask: &DecideAsk) -> String {
    let DecideAsk { request, principal, action, value, scope, .. } = ask;
    let text = match scope == ApprovalScope::Once.name() {
        true => serde_json::to_string(&(request, principal, action, value)),
        false => serde_json::to_string(&(request, principal, action, value, scope)),
    };
    let text = text.unwrap_or_default();
    agentic_model::Cid::of(text.as_bytes()).to_string()
}

fn decision_refused(refusal: WireRefusal) -> EngineError {
    let is = |class: ErrorClass| refusal.class == class.word();
    let sort = if is(ErrorClass::Decided) || is(ErrorClass::Expired) {
        EngineRefusal::HoldClosed
    } else if is(ErrorClass::NotAllowed) {
        EngineRefusal::NotAuthorised
    } else if is(ErrorClass::Schema) {
        EngineRefusal::ChoiceNotOffered
    } else {
        EngineRefusal::HoldNotOpen
    };
    EngineError::new(sort, refusal.told())
}

/// Says in the words of all engines what was refused, and keeps our own.
pub(crate) fn refused(error: impl Into<Error>) -> EngineError {
    let error = match error.into() {
        Error::Session(error) => return agentic_session::engine::refused(error),
        error => error,
    };
    let refusal = match error.class() {
        ErrorClass::Unreachable => EngineRefusal::Unreachable,
        ErrorClass::NotAllowed => EngineRefusal::NotAuthorised,
        ErrorClass::Decided => EngineRefusal::RunOver,
        ErrorClass::Refused
        | ErrorClass::Usage
        | ErrorClass::Conflict
        | ErrorClass::Diverged
        | ErrorClass::Corrupt
        | ErrorClass::Schema
        | ErrorClass::Expired => EngineRefusal::Own,
    };
    EngineError::new(refusal, OwnRefusal::of(&error))
}
