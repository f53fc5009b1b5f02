//! What the parts of a server share: the space, the threads, and what its client may do.

use std::sync::Arc;

use agentic_api::verb::ForeignQueries;
use agentic_api::{Caller, Refusal, Surroundings};
use agentic_providers::host::CancelFlag;
use agentic_resident::{RepositoryPlace, ResidentError, ThreadRefusal, VerbThreads};
use agentic_session::SessionSpace;
use rmcp::model::Tool;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::access::McpAccess;
use crate::decide::HoldForms;
use crate::schema::AnswerSchemas;
use crate::session::SessionDrivers;
use crate::tool::{ToolCaller, ToolOffer, tools};

/// How many calls may be under way at once.
const CALLS_MAX: usize = 16;
/// What decisions name as what they came through.
const CLIENT: &str = "mcp";

/// What the parts of a server share.
pub struct ServerDesk {
    space: Arc<SessionSpace>,
    here: Surroundings,
    /// The agent that verbs are run as where none is named.
    agent: Option<String>,
    place: RepositoryPlace,
    displaced: Notify,
    threads: VerbThreads,
    calls: Arc<Semaphore>,
    queries: ForeignQueries,
    /// What the client may do.
    pub access: McpAccess,
    /// The forms that were shown.
    pub forms: HoldForms,
    /// Who drives the sessions that calls begin.
    pub drivers: SessionDrivers,
    tools: Vec<&'static ToolOffer>,
    /// What clients are told of the tools, in the same order.
    listed: Vec<Tool>,
}

impl ServerDesk {
    /// Makes that of a server of a space, for a client that stands there.
    pub fn new(
        space: Arc<SessionSpace>,
        here: Surroundings,
        access: McpAccess,
        threads: VerbThreads,
    ) -> ServerDesk {
        let agent = access.agent.as_ref().map(ToString::to_string).or(here.agent.clone());
        let tools = tools(&access);
        let schemas = AnswerSchemas::new();
        let listed = tools.iter().map(|tool| tool.listed(&schemas)).collect();
        let place = RepositoryPlace::of(space.repository().common_dir());
        ServerDesk {
            space,
            here,
            agent,
            place,
            displaced: Notify::new(),
            threads,
            calls: Arc::new(Semaphore::new(CALLS_MAX)),
            queries: ForeignQueries::default(),
            access,
            forms: HoldForms::default(),
            drivers: SessionDrivers::new(),
            tools,
            listed,
        }
    }

    /// Finds a tool that is offered to the client.
    pub fn tool(&self, name: &str) -> Option<&'static ToolOffer> {
        self.tools.iter().find(|tool| tool.name == name).copied()
    }

    /// Returns what clients are told of the tools.
    pub fn listed(&self) -> Vec<Tool> {
        self.listed.clone()
    }

    /// Takes one of the calls that may be under way, until what it returns is dropped; nothing if all are
    /// taken.
    pub fn take_call(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.calls).try_acquire_owned().ok()
    }

    /// Returns what puts the sessions down that the client has begun.
    pub fn stop(&self) -> CancelFlag {
        self.here.watcher.stop.clone()
    }

    /// Returns who runs the verbs of this server.
    pub fn caller(&self) -> Caller<'_> {
        let surroundings = Surroundings { agent: self.agent.clone(), ..self.here.clone() };
        Caller { surroundings, ..self.person() }
    }

    /// Returns the person at the client, as whom nothing is done but what they filled in. That the server
    /// writes as an agent does not make them one.
    pub fn person(&self) -> Caller<'_> {
        let surroundings = self.here.clone();
        let caller = Caller::new(&self.space, &self.here.folder);
        Caller { surroundings, client: CLIENT, ..caller }
    }

    /// Returns who calls the tools of this server.
    pub fn tool_caller(&self) -> ToolCaller<'_> {
        ToolCaller { caller: self.caller(), access: &self.access, queries: &self.queries }
    }

    /// Waits until a call finds that the repository has gone, or another is in its place.
    pub async fn displaced(&self) {
        self.displaced.notified().await;
    }

    /// Checks that the repository is the one that the server began with.
    fn check_place(&self) -> Result<(), Refusal> {
        if self.place.is_same() {
            return Ok(());
        }
        self.displaced.notify_one();
        Err(Refusal::of(&ResidentError::Replaced))
    }

    /// Does something that may block, unless the repository is not there any more.
    ///
    /// # Errors
    /// Fails as it does, and when it could not be done.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        act: impl FnOnce(&ServerDesk) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let desk = Arc::clone(self);
        match self.threads.run(move || desk.check_place().and_then(|()| act(&desk))).await {
            Ok(outcome) => outcome,
            Err(ThreadRefusal::Full) => Err(Refusal::refused(
                "too many calls wait already",
                "wait until one of them is answered, then ask again",
            )),
            Err(ThreadRefusal::Lost) => Err(Refusal::refused(
                "the call broke in the middle",
                "look whether it was done; `agentic doctor` looks for damage",
            )),
        }
    }
}
