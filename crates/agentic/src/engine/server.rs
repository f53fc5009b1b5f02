//! The engine whose runs are on a server of Temporal.

use agentic_api::{EngineFinder, HeldRequest, HostedAnswer, Refusal, RunEngine, SessionWord};
use agentic_model::guidance::ErrorClass;
use agentic_providers::host::CancelFlag;
use agentic_replay::SessionId;
use agentic_session::decide::{COMMAND_LINE, DecisionDraft};
use agentic_session::{Begin, SessionSpace};
use agentic_temporal::{Error, ServerAddress, TemporalEngine, WorkerWish};

use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

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
    TemporalEngine::connect(space, client, &address).map_err(refused)
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
