//! How runs begin.

use agentic_model::{AgentName, Cid, Instant, Object};
use agentic_replay::{Engine, SessionId, SessionOpening};
use agentic_session::hosted::{HostedOpening, HostedStart};
use serde::{Deserialize, Serialize};

use super::{BadWire, WireValue, packed, unpacked};
use crate::settings::QueueMap;

/// The longest program that stands in the input of its run, in bytes.
const SOURCE_BYTES_MAX: usize = 64 << 10;

/// How a run began, as far as activities have to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WireStart {
    /// The id of the space that owns it.
    #[serde(default)]
    pub space: String,
    /// The session.
    pub session: String,
    /// The agent.
    pub agent: String,
    /// The program.
    pub flow: String,
    /// Its language.
    pub language: String,
    /// The version of its meaning.
    pub semantics: u32,
    /// The start key.
    pub key: String,
    /// The kinds of effects it may perform unasked.
    pub allow: Vec<String>,
    /// Whether its commits name the program that makes them. Those of earlier releases do not.
    #[serde(default)]
    pub stamp: bool,
}

impl WireStart {
    /// Gives it back.
    ///
    /// # Errors
    /// Fails when an id or a name in it is none.
    pub fn start(&self) -> Result<HostedStart, BadWire> {
        let bad = |what| BadWire { what };
        Ok(HostedStart {
            session: SessionId::parse(&self.session).ok_or(bad("session"))?,
            agent: AgentName::parse(&self.agent).map_err(|_| bad("agent"))?,
            flow: Cid::parse(&self.flow).map_err(|_| bad("program"))?,
            engine: Engine { language: self.language.clone(), semantics: self.semantics },
            key: self.key.clone(),
            allow: self.allow.clone(),
            stamp: self.stamp,
        })
    }
}

/// Up to where the records of a run are sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedPoint {
    /// How many.
    pub records: usize,
    /// The hash of the last.
    pub head: String,
}

/// The input of the workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInput {
    /// How it began.
    pub start: WireStart,
    /// The object of the program, in Base64, where it is short: else it is read by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The input of the program.
    pub input: WireValue,
    /// The time of its first record, in milliseconds.
    pub at: i64,
    /// The head of the agent's branch.
    pub head: Option<String>,
    /// The digest of what was configured.
    pub configuration: Option<String>,
    /// The host, as the first record names it.
    pub host: String,
    /// What is sealed, if an execution came before.
    #[serde(default)]
    pub journal: Option<SealedPoint>,
    /// After how many events it goes on as a new execution.
    pub events_max: u32,
    /// After how long something is sealed that has happened, in milliseconds; the usual time without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal_after_ms: Option<u64>,
    /// The time, where that moves only as far as the program waits, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<i64>,
    /// Where requests go that need no repository.
    #[serde(default)]
    pub queues: QueueMap,
    /// Which of our search attributes the server knows.
    #[serde(default)]
    pub search: Vec<String>,
}

/// What a run is started with beside its opening.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServedTerms {
    /// The id of the space that owns it.
    pub space: String,
    /// Where requests go that need no repository.
    pub queues: QueueMap,
    /// Which of our search attributes the server knows.
    pub search: Vec<String>,
    /// When it goes on as a new execution, and when it seals.
    pub pace: RunPace,
}

/// When a run goes on as a new execution, and when it seals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunPace {
    /// After how many events it goes on as a new execution.
    pub events_max: u32,
    /// After how long something is sealed that has happened, in milliseconds; the usual time without.
    pub seal_after_ms: Option<u64>,
}

impl RunInput {
    /// Makes the input of a session that begins.
    ///
    /// # Errors
    /// Fails when its input is no data.
    pub fn of(opening: &HostedOpening, terms: ServedTerms) -> Result<RunInput, BadWire> {
        let ServedTerms { space, queues, search, pace } = terms;
        let RunPace { events_max, seal_after_ms } = pace;
        let HostedOpening { opening, at } = opening;
        let session = opening.session().map_err(|_| BadWire { what: "input" })?;
        Ok(RunInput {
            start: WireStart {
                space,
                session: session.to_string(),
                agent: opening.agent.to_string(),
                flow: opening.flow.to_string(),
                language: opening.engine.language.clone(),
                semantics: opening.engine.semantics,
                key: opening.key.clone(),
                allow: opening.allow.clone(),
                stamp: opening.stamp,
            },
            source: None,
            input: WireValue::of(&opening.input),
            at: at.millis(),
            head: opening.head.clone(),
            configuration: opening.configuration.map(|cid| cid.to_string()),
            host: opening.host.clone().unwrap_or_default(),
            journal: None,
            events_max,
            seal_after_ms,
            clock: None,
            queues,
            search,
        })
    }

    /// Brings the object of its program along, where that is short.
    pub fn bringing(self, flow: &Object) -> RunInput {
        let is_short = flow.bytes().len() <= SOURCE_BYTES_MAX;
        RunInput { source: is_short.then(|| packed(flow.bytes())), ..self }
    }

    /// Returns the object of the program that it brings along.
    pub fn source(&self) -> Option<Object> {
        Object::decode(&unpacked(self.source.as_deref()?).ok()?).ok()
    }

    /// Begins it on the terms of another run.
    pub fn under(self, other: &RunInput) -> RunInput {
        let (queues, search) = (other.queues.clone(), other.search.clone());
        let start = WireStart { space: other.start.space.clone(), ..self.start };
        let (events_max, seal_after_ms) = (other.events_max, other.seal_after_ms);
        RunInput { start, events_max, seal_after_ms, queues, search, ..self }
    }

    /// Gives back how the session begins.
    ///
    /// # Errors
    /// Fails when something in it is not what it should be.
    pub fn opening(&self) -> Result<HostedOpening, BadWire> {
        let HostedStart { agent, flow, engine, key, allow, stamp, .. } = self.start.start()?;
        let configuration = self.configuration.as_deref().map(Cid::parse).transpose();
        let opening = SessionOpening {
            stamp,
            agent,
            flow,
            engine,
            input: self.input.clone().value()?,
            key,
            allow,
            head: self.head.clone(),
            configuration: configuration.map_err(|_| BadWire { what: "configuration" })?,
            host: Some(self.host.clone()),
        };
        Ok(HostedOpening { opening, at: Instant::from_millis(self.at) })
    }
}

/// A session that a run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildAsk {
    /// The session.
    pub session: String,
    /// What it begins with, unless it has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<RunInput>,
}

impl ChildAsk {
    /// Takes one up.
    ///
    /// # Errors
    /// Fails when its input is no data.
    pub fn of(session: SessionId, opening: Option<&HostedOpening>) -> Result<ChildAsk, BadWire> {
        let input =
            opening.map(|opening| RunInput::of(opening, ServedTerms::default())).transpose()?;
        Ok(ChildAsk { session: session.to_string(), input })
    }
}
