//! The engine whose runs are on a server of Temporal.

use std::path::Path;

use agentic_api::{EngineFinder, HeldRequest, HostedAnswer, Refusal, RunEngine, SessionWord};
use agentic_model::guidance::ErrorClass;
use agentic_providers::host::CancelFlag;
use agentic_replay::SessionId;
use agentic_session::decide::{COMMAND_LINE, DecisionDraft};
use agentic_session::{Begin, SessionOptions, SessionSpace};
use agentic_temporal::{Error, ServerAddress, TemporalEngine, WorkerWish};

use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

/// Says after how many events the runs that are started here go on as new executions; for tests.
const EVENTS_VARIABLE: &str = "AGENTIC_TEMPORAL_EVENTS_MAX";

/// All servers, by their addresses.
#[derive(Debug, Clone, Copy)]
pub struct Servers;

impl EngineFinder for Servers {
    fn connect<'s>(
        &self,
        address: &str,
        space: &'s SessionSpace,
        client: &'static str,
    ) -> Result<RunEngine<'s>, Refusal> {
        Ok(Box::new(engine(address, space, client)?))
    }

    fn decide(
        &self,
        address: &str,
        space: &SessionSpace,
        hold: HeldRequest,
        draft: &DecisionDraft,
    ) -> Result<HostedAnswer, Refusal> {
        let HeldRequest { session, request } = hold;
        let taken = engine(address, space, draft.client)?.decide_hold(&session, &request, draft)?;
        let (commit, action, principal) = (taken.receipt, taken.action, taken.actor);
        Ok(HostedAnswer { commit, action, principal })
    }

    fn start(
        &self,
        address: &str,
        space: &SessionSpace,
        begin: Begin,
    ) -> Result<SessionId, Refusal> {
        Ok(engine(address, space, COMMAND_LINE)?.start_session(begin)?)
    }

    fn start_pinned(
        &self,
        address: &str,
        folder: &Path,
        options: &SessionOptions,
        begin: Begin,
    ) -> Result<SessionId, Refusal> {
        let space = SessionSpace::open_as_is(folder, options.clone())?;
        let engine = engine(address, &space, COMMAND_LINE)?;
        let (stop, folder) = (CancelFlag::new(), folder.to_owned());
        let options = SessionOptions { stop: stop.clone(), ..options.clone() };
        let address = ServerAddress::parse(address).map_err(refused)?;
        let wish = WorkerWish { address, folder, options, stop: stop.clone() };
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
        let engine = engine(address, space, COMMAND_LINE)?;
        match word {
            SessionWord::Signal { name, value } => engine.signal(session, &name, &value)?,
            SessionWord::Cancel(cancel) => engine.stop(session, cancel)?,
        }
        Ok(())
    }
}

/// Refuses what is no address.
pub fn check(address: &str) -> Result<(), Refusal> {
    ServerAddress::parse(address).map(drop).map_err(refused)
}

/// Performs what runs on a server ask, until it is told to stop.
pub fn work(context: &Context, address: &str, stop: CancelFlag) -> Result<(), CommandFailure> {
    let address = ServerAddress::parse(address).map_err(refused)?;
    let (folder, options) = (context.directory.clone(), context.options().clone());
    let wish = WorkerWish { address, folder, options, stop };
    let serving = |queue: &str| talk(&format!("serves the queue {queue}"));
    Ok(agentic_temporal::work(wish, serving).map_err(refused)?)
}

fn engine<'s>(
    address: &str,
    space: &'s SessionSpace,
    client: &'static str,
) -> Result<TemporalEngine<'s>, Refusal> {
    let address = ServerAddress::parse(address).map_err(refused)?;
    let engine = TemporalEngine::connect(space, client, &address).map_err(refused)?;
    Ok(match std::env::var(EVENTS_VARIABLE).ok().and_then(|text| text.parse().ok()) {
        Some(events_max) => engine.rolling_after(events_max),
        None => engine,
    })
}

fn refused(error: Error) -> Refusal {
    match error {
        Error::Session(error) => error.into(),
        error @ (Error::BadAddress { .. } | Error::Unreachable { .. }) => Refusal::new(
            ErrorClass::Unreachable,
            &error.to_string(),
            "`--sibyl-addr HOST:PORT` names a server, `local:` this repository",
        ),
        error @ (Error::Server { .. } | Error::Runtime(_) | Error::Wire(_)) => Refusal::new(
            ErrorClass::Refused,
            &error.to_string(),
            "look at the server, and at what its workers say",
        ),
    }
}
