//! The engine whose runs are on a server of Temporal.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use agentic_api::view::ServedHoldView;
use agentic_api::{EngineFinder, HeldRequest, HostedAnswer, Refusal, RunEngine, SessionWord};
use agentic_providers::host::CancelFlag;
use agentic_replay::{RequestId, SessionId};
use agentic_session::decide::{COMMAND_LINE, DecisionDraft};
use agentic_session::{Begin, SessionOptions, SessionSpace};
use agentic_temporal::{
    Error, HoldNote, ServedHold, ServerAddress, ServerSettings, TemporalEngine, WorkerWish,
};

use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

/// Says after how many events the runs that are started here go on as new executions; for tests.
const EVENTS_VARIABLE: &str = "AGENTIC_TEMPORAL_EVENTS_MAX";

/// Says after how many milliseconds the runs that are started here seal what has happened; for tests.
const SEAL_VARIABLE: &str = "AGENTIC_TEMPORAL_SEAL_MS";

/// All servers, by their addresses.
#[derive(Debug, Clone)]
pub struct Servers {
    /// The folder whose configuration counts.
    pub folder: PathBuf,
}

impl EngineFinder for Servers {
    fn connect<'s>(
        &self,
        address: &str,
        space: &'s SessionSpace,
        client: &'static str,
    ) -> Result<RunEngine<'s>, Refusal> {
        Ok(Box::new(self.engine(address, space, client)?))
    }

    fn waiting(&self, address: &str) -> Result<Vec<ServedHoldView>, Refusal> {
        let settings = settings(address, &self.folder)?;
        let holds = agentic_temporal::waiting(&settings).map_err(refused)?;
        Ok(holds.into_iter().map(served).collect())
    }

    fn decide(
        &self,
        address: &str,
        space: &SessionSpace,
        hold: HeldRequest,
        draft: &DecisionDraft,
    ) -> Result<HostedAnswer, Refusal> {
        let HeldRequest { session, request } = hold;
        let taken =
            self.engine(address, space, draft.client)?.decide_hold(&session, &request, draft)?;
        let (commit, action, principal) = (taken.receipt, taken.action, taken.actor);
        Ok(HostedAnswer { commit, action, principal })
    }

    fn start(
        &self,
        address: &str,
        space: &SessionSpace,
        begin: Begin,
    ) -> Result<SessionId, Refusal> {
        Ok(self.engine(address, space, COMMAND_LINE)?.start_session(begin)?)
    }

    fn start_pinned(
        &self,
        address: &str,
        folder: &Path,
        options: &SessionOptions,
        begin: Begin,
    ) -> Result<SessionId, Refusal> {
        let space = SessionSpace::open_as_is(folder, options.clone())?;
        let engine = self.engine(address, &space, COMMAND_LINE)?;
        let (stop, folder) = (CancelFlag::new(), folder.to_owned());
        let options = SessionOptions { stop: stop.clone(), ..options.clone() };
        let settings = settings(address, &self.folder)?;
        let (queues, concurrency, stop_too) = (Vec::new(), None, stop.clone());
        let wish = WorkerWish { settings, folder, options, queues, concurrency, stop: stop_too };
        let worker = std::thread::spawn(move || agentic_temporal::work(wish, |_| {}));
        let started = engine.start_pinned(begin);
        stop.set();
        let worked = worker.join().unwrap_or(Ok(()));
        let id = started?;
        worked.map_err(refused)?;
        Ok(id)
    }

    fn tell(
        &self,
        address: &str,
        space: &SessionSpace,
        session: &SessionId,
        word: SessionWord,
    ) -> Result<(), Refusal> {
        let engine = self.engine(address, space, COMMAND_LINE)?;
        match word {
            SessionWord::Signal { name, value } => engine.signal(session, &name, &value)?,
            SessionWord::Cancel(cancel) => engine.stop(session, cancel)?,
        }
        Ok(())
    }
}

impl Servers {
    fn engine<'s>(
        &self,
        address: &str,
        space: &'s SessionSpace,
        client: &'static str,
    ) -> Result<TemporalEngine<'s>, Refusal> {
        let settings = settings(address, &self.folder)?;
        let engine = TemporalEngine::connect(space, client, &settings).map_err(refused)?;
        let engine = match number(EVENTS_VARIABLE) {
            Some(events_max) => engine.rolling_after(events_max),
            None => engine,
        };
        Ok(match number(SEAL_VARIABLE) {
            Some(millis) => engine.sealing_after(millis),
            None => engine,
        })
    }
}

/// Reads a number of the environment.
fn number<N: std::str::FromStr>(variable: &str) -> Option<N> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// Returns the address of the server that is configured in a folder, if one is.
pub fn configured(folder: &Path) -> Result<Option<String>, Refusal> {
    let found = ServerSettings::find(None, folder).map_err(refused)?;
    Ok(found.map(|found| found.address.to_string()))
}

/// Refuses what is no address.
pub fn check(address: &str) -> Result<(), Refusal> {
    ServerAddress::parse(address).map(drop).map_err(refused)
}

/// What a worker of a server is told.
#[derive(Debug, Clone, Default)]
pub struct ServerWork {
    /// The queues that it serves; the usual ones without any.
    pub queues: Vec<String>,
    /// How much it performs at once on each.
    pub concurrency: Option<NonZeroUsize>,
}

/// Performs what runs on a server ask, until it is told to stop.
pub fn work(
    context: &Context,
    address: &str,
    work: ServerWork,
    stop: CancelFlag,
) -> Result<(), CommandFailure> {
    let (folder, options) = (context.directory.clone(), context.options().clone());
    let settings = settings(address, &folder)?;
    let ServerWork { queues, concurrency } = work;
    let wish = WorkerWish { settings, folder, options, queues, concurrency, stop };
    let serving = |queue: &str| talk(&format!("serves the queue {queue}"));
    Ok(agentic_temporal::work(wish, serving).map_err(refused)?)
}

fn served(served: ServedHold) -> ServedHoldView {
    let ServedHold { session, agent, key, space, hold } = served;
    let HoldNote { id, path, question } = hold;
    let ids = SessionId::parse(&session).zip(RequestId::parse(&id));
    let request = ids.map_or(id, |(session, request)| session.short_request(&request));
    ServedHoldView { request, session, agent, key, space, path, question }
}

/// Makes a server know our search attributes; says which are new to it.
pub fn set_up(context: &Context, address: &str) -> Result<(), CommandFailure> {
    let settings = settings(address, &context.directory)?;
    let new = agentic_temporal::set_up(&settings).map_err(refused)?;
    match new.is_empty() {
        true => talk("the server knows all search attributes"),
        false => talk(&format!("the server now knows {}", new.join(", "))),
    }
    Ok(())
}

fn settings(address: &str, folder: &Path) -> Result<ServerSettings, Refusal> {
    let found = ServerSettings::find(Some(address), folder).map_err(refused)?;
    Ok(found.expect("one was named"))
}

fn refused(error: Error) -> Refusal {
    Refusal::of(&error)
}
