//! What a thread that keeps an index needs of it.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use agentic_index::{IndexError, SeenAgent, SweptRefs, Tables};
use agentic_model::Oid;
use agentic_replay::SessionId;
use agentic_session::SessionSpace;

/// Why something was not read: of ground the next look tries again, of the index nothing helps.
pub enum ReadFailure {
    Ground,
    Index(IndexError),
}

impl From<IndexError> for ReadFailure {
    fn from(error: IndexError) -> ReadFailure {
        ReadFailure::Index(error)
    }
}

impl From<agentic_session::Error> for ReadFailure {
    fn from(_: agentic_session::Error) -> ReadFailure {
        ReadFailure::Ground
    }
}

impl From<agentic_space::Error> for ReadFailure {
    fn from(_: agentic_space::Error) -> ReadFailure {
        ReadFailure::Ground
    }
}

impl From<agentic_store::Error> for ReadFailure {
    fn from(_: agentic_store::Error) -> ReadFailure {
        ReadFailure::Ground
    }
}

/// What becomes of reading something into an index.
pub type FoldOutcome<T> = std::result::Result<T, ReadFailure>;

/// Whether an index has what is written and belongs to no commit yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFlight {
    /// It has: the journal of an agent is looked at.
    Kept,
    /// It has not.
    Left,
}

/// An agent as it was listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedAgent {
    /// The name that the index has for it.
    pub name: String,
    /// Where its branch and its notes were.
    pub seen: SeenAgent,
    /// Whether it has a branch here.
    pub is_here: bool,
}

/// An agent that is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentToRead {
    /// Wherever it is now.
    Named(String),
    /// Where it was when it was listed: whatever moved it since is told of.
    Listed(ListedAgent),
}

impl AgentToRead {
    /// Returns its name.
    pub fn name(&self) -> &str {
        match self {
            AgentToRead::Named(name) => name,
            AgentToRead::Listed(listed) => &listed.name,
        }
    }
}

/// The agents of the archive as they were listed last: it grows, and seldom.
#[derive(Debug, Default)]
pub struct SeenArchive {
    /// Where the archive was, and which branches there were.
    pub of: Option<(Option<Oid>, blake3::Hash)>,
    /// What was listed.
    pub agents: Vec<ListedAgent>,
}

/// An index that a thread keeps.
pub trait KeptIndex: Sized + 'static {
    /// What of it others look at while it is written.
    type Shared: Clone + Default + Send + Sync + 'static;
    /// What has to be done besides agents and sessions when it was opened.
    type Opening: Debug;
    /// The name of its folder.
    const NAME: &'static str;
    /// How much of its database is kept in memory, in bytes.
    const CACHE_BYTES: u64;
    /// Whether it has what is in flight.
    const IN_FLIGHT: InFlight;
    /// How long agents that were told of wait for others, so that they are read together, unless somebody asks.
    const GATHERED: Duration;

    /// Opens it, or begins one.
    fn open(tables: Box<dyn Tables>, of: &str, shared: &Self::Shared) -> Result<Self, IndexError>;

    /// Hands over what others want to know of it as soon as it was opened.
    ///
    /// # Errors
    /// Fails when the database does.
    fn recall(&mut self, _shared: &Self::Shared) -> Result<(), IndexError> {
        Ok(())
    }

    /// Returns with which refs an earlier process compared all agents, where that is known.
    fn swept_before(&self) -> Option<SweptRefs> {
        None
    }

    /// Takes with which refs all agents were compared.
    ///
    /// # Errors
    /// Fails when the database does.
    fn note_swept(&mut self, _swept: SweptRefs) -> Result<(), IndexError> {
        Ok(())
    }

    /// Lists what has to be done now that it was opened.
    fn openings(&mut self) -> Result<Vec<Self::Opening>, IndexError>;

    /// Does some of that.
    fn finish_opening(&mut self, space: &SessionSpace, part: &Self::Opening) -> FoldOutcome<()>;

    /// Lists the agents that were read.
    fn agents(&self) -> Result<Vec<String>, IndexError>;

    /// Returns how far an agent was read.
    fn seen(&self, agent: &str) -> Result<Option<SeenAgent>, IndexError>;

    /// Lists the agents that there are, by the names that it has for them.
    fn agents_there(
        space: &SessionSpace,
        archive: &mut SeenArchive,
    ) -> FoldOutcome<Vec<ListedAgent>>;

    /// Reads what is new of some agents, and says of which that could be done.
    fn read_agents(
        &mut self,
        space: &SessionSpace,
        wanted: &[AgentToRead],
    ) -> FoldOutcome<Vec<String>>;

    /// Reads what is new of a session. Says whether there will never be more.
    fn read_session(
        &mut self,
        space: &SessionSpace,
        shared: &Self::Shared,
        id: &SessionId,
    ) -> FoldOutcome<bool>;

    /// Takes which sessions there are; returns those of which there will never be more.
    fn keep_sessions(
        &mut self,
        there: &BTreeSet<SessionId>,
    ) -> Result<BTreeSet<SessionId>, IndexError>;

    /// Puts on the disk what was changed.
    fn flush(&mut self, shared: &Self::Shared) -> Result<(), IndexError>;
}
