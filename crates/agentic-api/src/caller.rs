//! Who runs verbs, and where.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentic_lang_pipeline::PlannedRun;
use agentic_model::{AgentName, InvalidName, Value};
use agentic_replay::engine::{DurableEngine, RunId};
use agentic_replay::record::CancelRecord;
use agentic_replay::{RequestId, SessionId};
use agentic_session::decide::{COMMAND_LINE, DecisionDraft};
use agentic_session::engine::EmbeddedEngine;
use agentic_session::error::SessionError;
use agentic_session::hosted::{host_of, hosted_run};
use agentic_session::{Begin, Error, SessionOptions, SessionSpace};
use agentic_space::AgentBranch;
use serde::{Deserialize, Serialize};

use crate::person::{principal, require_person};
use crate::verb::settle_named;
use crate::view::ServedHoldView;
use crate::{Refusal, VerbWatcher};

/// Where somebody stands who asks for something: what there is to know of a caller without a space.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The folder that relative paths start from.
    pub folder: PathBuf,
    /// The agent that was chosen for all verbs, as `AGENTIC_AGENT` does.
    pub agent: Option<String>,
    /// The request of a session that the caller performs, as `AGENTIC_REQUEST` says.
    pub request: Option<String>,
    /// Who the caller is, where a login says so and not git's configuration.
    pub person: Option<ProvenPerson>,
    /// Finds where people can answer in a browser.
    pub page: Option<Arc<dyn PageFinder>>,
    /// Where durable runs are kept, where that is not this repository alone.
    pub engine: Option<String>,
    /// Finds the engines that are not the embedded one.
    pub engines: Option<Arc<dyn EngineFinder>>,
    /// Who waits for what is asked for, and hears of it.
    pub watcher: VerbWatcher,
}

/// Knows where people decide in a browser, while a process serves a page of the repository where they may.
pub trait PageFinder: fmt::Debug + Send + Sync {
    /// Returns the address of that page. It is looked for anew each time: that process comes and goes.
    fn address(&self, space: &SessionSpace) -> Option<String>;
}

/// What verbs speak to about durable runs.
pub type RunEngine<'s> = Box<dyn DurableEngine<PlannedRun> + 's>;

/// Knows the engines of durable runs that are not the embedded one, by their addresses.
pub trait EngineFinder: fmt::Debug + Send + Sync {
    /// Connects to one, for the runs of a space.
    ///
    /// # Errors
    /// Fails when it cannot be reached.
    fn connect<'s>(
        &self,
        address: &str,
        space: &'s SessionSpace,
        client: &'static str,
    ) -> Result<RunEngine<'s>, Refusal>;

    /// Lists what waits for a human at one of them, of whatever repositories. No worker need be there.
    ///
    /// # Errors
    /// Fails when it cannot be reached.
    fn waiting(&self, address: &str) -> Result<Vec<ServedHoldView>, Refusal>;

    /// Decides a hold of a session that one of them drives. When this returns the decision is durable.
    ///
    /// # Errors
    /// Fails when it cannot be reached, and as [`agentic_session::decide::decide`] does.
    fn decide(
        &self,
        address: &str,
        space: &SessionSpace,
        hold: HeldRequest,
        draft: &DecisionDraft,
    ) -> Result<HostedAnswer, Refusal>;

    /// Starts a session on one of them, or finds the one that there is, and waits until it goes no
    /// further without a human, a signal or a long pause.
    ///
    /// # Errors
    /// Fails when it cannot be reached, and as [`agentic_session::start`] does.
    fn start(
        &self,
        address: &str,
        space: &SessionSpace,
        begin: Begin,
    ) -> Result<SessionId, Refusal>;

    /// Starts a session of the repository in a folder as [`EngineFinder::start`] does, with a clock that
    /// begins when the session does and moves only as far as its program waits. Whoever starts it also
    /// works for it.
    ///
    /// # Errors
    /// Fails as [`EngineFinder::start`] does.
    fn start_pinned(
        &self,
        address: &str,
        folder: &Path,
        options: &SessionOptions,
        begin: Begin,
    ) -> Result<SessionId, Refusal>;

    /// Tells a session something that one of them drives, and waits until it has taken it in.
    ///
    /// # Errors
    /// Fails when it cannot be reached, and when the session is over.
    fn tell(
        &self,
        address: &str,
        space: &SessionSpace,
        session: &SessionId,
        word: SessionWord,
    ) -> Result<(), Refusal>;
}

/// What is told a session that another engine drives.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionWord {
    /// What it waits for.
    Signal {
        /// The name.
        name: String,
        /// The value.
        value: Value,
    },
    /// It is to stop.
    Cancel(CancelRecord),
}

/// The address of an engine, and who can speak to it.
pub type AddressedEngine = (String, Arc<dyn EngineFinder>);

/// A hold, by what its session and its request are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldRequest {
    /// The session.
    pub session: SessionId,
    /// The request.
    pub request: RequestId,
}

/// A decision that another engine has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedAnswer {
    /// Its commit.
    pub commit: String,
    /// What was decided.
    pub action: String,
    /// Who decided.
    pub principal: String,
}

/// A person who has shown that they hold a key of theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenPerson {
    /// As decisions name them.
    pub principal: String,
    /// How it is known, as decisions name it.
    pub authn: String,
    /// The key, as git's configuration names it.
    pub key: String,
}

/// What every verb of a space is given besides its own data.
pub struct Caller<'s> {
    /// The space.
    pub space: &'s SessionSpace,
    /// Where the caller stands.
    pub surroundings: Surroundings,
    /// Through what the caller speaks, as decisions name it.
    pub client: &'static str,
    /// How it is known who the caller is, as decisions name it, where another program says so.
    pub authn: Option<String>,
}

impl<'s> Caller<'s> {
    /// Makes a caller at the command line who has chosen no agent.
    pub fn new(space: &'s SessionSpace, folder: &Path) -> Caller<'s> {
        let surroundings = Surroundings { folder: folder.to_owned(), ..Surroundings::default() };
        Caller { space, surroundings, client: COMMAND_LINE, authn: None }
    }

    /// Chooses the agent: the one that was named, else the caller's, else that of the current branch.
    ///
    /// # Errors
    /// Fails when there is none, and when the name is none.
    pub fn agent(&self, named: Option<&str>) -> Result<AgentName, Refusal> {
        self.known_agent(named)?.ok_or_else(|| {
            Refusal::usage(
                "no agent was named",
                "use `--agent NAME`, set AGENTIC_AGENT, or run this in the worktree of an agent",
            )
        })
    }

    /// Chooses the agent as [`Caller::agent`] does, where there need not be one.
    ///
    /// # Errors
    /// Fails when the name is none.
    pub fn known_agent(&self, named: Option<&str>) -> Result<Option<AgentName>, Refusal> {
        let chosen = chosen_agent(named, self.surroundings.agent.as_deref())?;
        Ok(chosen.or_else(|| self.space.current_agent()))
    }

    /// Chooses the branch of an agent that is only read: `NAME`, `REMOTE/NAME`, or without a name
    /// what [`Caller::agent`] chooses.
    ///
    /// # Errors
    /// Fails when nothing was chosen, and when the name is none.
    pub fn branch(&self, named: Option<&str>) -> Result<AgentBranch, Refusal> {
        let Some(text) = named else { return Ok(AgentBranch::here(self.agent(None)?)) };
        settle_named(self.space, text)?;
        if let Some(branch) = self.space.remote_branch(text)? {
            return Ok(branch);
        }
        match AgentName::parse(text) {
            Ok(agent) => Ok(AgentBranch::here(agent)),
            Err(error) => Err(Refusal::usage(
                &error.to_string(),
                "name an agent, or REMOTE/NAME; `agentic agents` lists both",
            )),
        }
    }

    /// Returns a path from the caller's folder.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.surroundings.folder.join(path)
    }

    /// Returns the engine of durable runs.
    ///
    /// # Errors
    /// Fails when it cannot be reached.
    pub fn engine(&self) -> Result<RunEngine<'s>, Refusal> {
        let Surroundings { engine, engines, .. } = &self.surroundings;
        match engine.as_deref().zip(engines.as_ref()) {
            Some((address, engines)) => engines.connect(address, self.space, self.client),
            None => Ok(Box::new(EmbeddedEngine::new(self.space, self.client))),
        }
    }

    /// Starts a session where durable runs are kept, or finds the one that there is, and runs it as far
    /// as it goes.
    ///
    /// # Errors
    /// Fails as [`agentic_session::start`] does, and when the engine cannot be reached.
    pub fn start(&self, begin: Begin) -> Result<SessionId, Refusal> {
        let Surroundings { engine, engines, .. } = &self.surroundings;
        match engine.as_deref().zip(engines.as_ref()) {
            Some((address, engines)) => engines.start(address, self.space, begin),
            None => Ok(agentic_session::start(self.space, begin)?),
        }
    }

    /// Returns the engine that has a run, and the run: the one that was named, or else the one that drives
    /// it. What is over stands in this repository, whoever drove it.
    ///
    /// # Errors
    /// Fails when there is no such run, and when its engine cannot be reached.
    pub fn engine_of(&self, name: &str) -> Result<(RunEngine<'s>, RunId), Refusal> {
        if self.surroundings.engine.is_none()
            && let Ok(session) = hosted_run(self.space, name)
            && let Some((address, engines)) = self.driving(&session)
        {
            let engine = engines.connect(&address, self.space, self.client)?;
            return Ok((engine, RunId::new(session.to_string())));
        }
        let engine = self.engine()?;
        let run = engine.find(name)?;
        Ok((engine, run))
    }

    /// Returns the engine that drives a session now, where that is another one that can be spoken to.
    pub(crate) fn driving(&self, session: &SessionId) -> Option<AddressedEngine> {
        let engines = self.surroundings.engines.as_ref()?;
        // Of a session that was fetched only the kind of its host is known.
        let host = host_of(self.space, session).filter(|host| host.contains(':'))?;
        let is_over = self.space.session(session).is_ok_and(|summary| summary.state.is_over());
        (!is_over).then(|| (host, Arc::clone(engines)))
    }

    /// Returns the address of the engine that drives a session, where that is not the embedded one, and
    /// who can speak to it.
    ///
    /// # Errors
    /// Fails when nobody here can.
    pub fn host_of(&self, session: &SessionId) -> Result<Option<AddressedEngine>, Refusal> {
        let Some(host) = host_of(self.space, session) else { return Ok(None) };
        match &self.surroundings.engines {
            Some(engines) if host.contains(':') => Ok(Some((host, Arc::clone(engines)))),
            Some(_) | None => {
                let id = session.short();
                Err(Error::from(SessionError::Hosted { id, host }).into())
            }
        }
    }

    /// Says whether a session came by fetch that another engine drives: what is decided of it in this clone
    /// reaches that engine with the branch of its agent.
    pub(crate) fn is_driven_elsewhere(&self, session: &SessionId) -> bool {
        host_of(self.space, session).is_some_and(|host| !host.contains(':'))
    }

    /// Returns who waits for the verb.
    pub fn watcher(&self) -> &VerbWatcher {
        &self.surroundings.watcher
    }

    /// Returns who decides here: who logged in, else whom git knows.
    ///
    /// # Errors
    /// Fails when git knows nobody.
    pub fn principal(&self) -> Result<String, Refusal> {
        match &self.surroundings.person {
            Some(person) => Ok(person.principal.clone()),
            None => principal(self.space),
        }
    }

    /// Returns the address at which a hold is answered in a browser, while its page is served.
    pub fn hold_address(&self, request: &str) -> Option<String> {
        let page = self.surroundings.page.as_ref()?.address(self.space)?;
        Some(format!("{page}/holds/{request}"))
    }

    /// Refuses agents what only a person may do.
    ///
    /// # Errors
    /// Fails when an agent is at work here.
    pub fn require_person(&self, doing: &str) -> Result<(), Refusal> {
        require_person(doing, &self.surroundings, Some(self.space))
    }
}

/// Chooses the agent that was named, or else the one that was chosen for all verbs.
///
/// # Errors
/// Fails when the name is none.
pub fn chosen_agent(
    named: Option<&str>,
    for_all: Option<&str>,
) -> Result<Option<AgentName>, Refusal> {
    if let Some(name) = named {
        return agent_name(name).map(Some);
    }
    let parse = |name: &str| {
        let hint = "set AGENTIC_AGENT to the name of an agent";
        AgentName::parse(name).map_err(|error| Refusal::usage(&error.to_string(), hint))
    };
    for_all.map(parse).transpose()
}

/// Reads the name of an agent.
///
/// # Errors
/// Fails when it is none.
pub fn agent_name(text: &str) -> Result<AgentName, Refusal> {
    AgentName::parse(text).map_err(|error| match is_of_others(text) {
        true => Refusal::refused(
            &format!("`{text}` is an agent of others, which is only read"),
            "spawn an agent here, and merge that one into it",
        ),
        false => no_name(&error),
    })
}

/// Reads the name that an agent is to have.
///
/// # Errors
/// Fails when it is none.
pub fn new_agent_name(text: &str) -> Result<AgentName, Refusal> {
    AgentName::parse(text).map_err(|error| no_name(&error))
}

fn no_name(error: &InvalidName) -> Refusal {
    let hint = "a name has lower-case letters, digits, `.`, `_` and `-`";
    Refusal::usage(&error.to_string(), hint)
}

/// Tells whether a text names an agent of a remote or a peer: `REMOTE/NAME`.
pub fn is_of_others(text: &str) -> bool {
    let parts = text.split_once('/');
    let is_name = |name: &str| AgentName::parse(name).is_ok();
    parts.is_some_and(|(of, name)| is_name(&of.replace('+', "-")) && is_name(name))
}
