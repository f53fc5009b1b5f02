//! What crosses the server: the input of a run, what activities are asked and answer, decisions.
//!
//! Everything is JSON, so that people can read a history. A value that JSON would not give back as it is
//! crosses as its canonical bytes.

use std::sync::Arc;

use agentic_model::{AgentName, Cid, Instant, Value, canonical, json};
use agentic_replay::{
    AnswerSource, CancelExtent, EffectClass, Engine, Path, Performance, ProgramFailure, Request,
    RequestAnswer, RequestId, SessionId, SessionOpening,
};
use agentic_session::hosted::{HostedOpening, HostedStart};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use crate::settings::QueueMap;

/// Something that crossed the server is not what was sent.
#[derive(Debug, thiserror::Error)]
#[error("the server holds no {what} that can be read")]
pub struct BadWire {
    /// What was expected.
    pub what: &'static str,
}

/// How long a value is that crosses in its shorter form, in bytes.
const LONG_BYTES: usize = 64 << 10;

/// A value on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireValue {
    /// As JSON.
    Json(serde_json::Value),
    /// As its canonical bytes, in Base64.
    Canonical(String),
}

impl WireValue {
    /// Takes a value up.
    pub fn of(value: &Value) -> WireValue {
        let bytes = canonical::encode(value).unwrap_or_default();
        let text = json::to_json(value);
        if bytes.len() > LONG_BYTES && text.to_string().len() > bytes.len() / 3 * 4 {
            return WireValue::Canonical(BASE64.encode(bytes));
        }
        if json::from_json(text.clone()).is_ok_and(|back| back == *value) {
            return WireValue::Json(text);
        }
        WireValue::Canonical(BASE64.encode(bytes))
    }

    /// Gives it back.
    ///
    /// # Errors
    /// Fails when it is none.
    pub fn value(self) -> Result<Value, BadWire> {
        let bad = BadWire { what: "value" };
        match self {
            WireValue::Json(text) => json::from_json(text).map_err(|_| bad),
            WireValue::Canonical(text) => {
                let bytes = BASE64.decode(text).map_err(|_| BadWire { what: "value" })?;
                canonical::decode(&bytes).map_err(|_| bad)
            }
        }
    }
}

/// Bytes as they cross the server.
pub fn packed(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Gives bytes back.
///
/// # Errors
/// Fails when they are none.
pub fn unpacked(text: &str) -> Result<Vec<u8>, BadWire> {
    BASE64.decode(text).map_err(|_| BadWire { what: "bytes" })
}

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
    /// After how many events it goes on as a new execution.
    pub events_max: u32,
}

impl RunInput {
    /// Makes the input of a session that begins.
    ///
    /// # Errors
    /// Fails when its input is no data.
    pub fn of(opening: &HostedOpening, terms: ServedTerms) -> Result<RunInput, BadWire> {
        let ServedTerms { space, queues, search, events_max } = terms;
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
            },
            input: WireValue::of(&opening.input),
            at: at.millis(),
            head: opening.head.clone(),
            configuration: opening.configuration.map(|cid| cid.to_string()),
            host: opening.host.clone().unwrap_or_default(),
            journal: None,
            events_max,
            clock: None,
            queues,
            search,
        })
    }

    /// Begins it on the terms of another run.
    pub fn under(self, other: &RunInput) -> RunInput {
        let (queues, search) = (other.queues.clone(), other.search.clone());
        let start = WireStart { space: other.start.space.clone(), ..self.start };
        RunInput { start, events_max: other.events_max, queues, search, ..self }
    }

    /// Gives back how the session begins.
    ///
    /// # Errors
    /// Fails when something in it is not what it should be.
    pub fn opening(&self) -> Result<HostedOpening, BadWire> {
        let HostedStart { agent, flow, engine, key, allow, .. } = self.start.start()?;
        let configuration = self.configuration.as_deref().map(Cid::parse).transpose();
        let opening = SessionOpening {
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

/// An effect that an activity performs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectAsk {
    /// Who asks.
    pub run: WireStart,
    /// Where in the program.
    pub path: String,
    /// The id of the request.
    pub id: String,
    /// What sort of effect.
    pub kind: String,
    /// Its data.
    pub payload: WireValue,
    /// The schema of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// How long it may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The object that it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What a crash may do to it.
    pub class: String,
    /// Which attempt it is.
    pub attempt: u32,
    /// What was found before it began for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<WireValue>,
    /// When it was asked, in milliseconds: what it makes has this time.
    pub at: i64,
}

/// The names of classes, as they cross the server.
const CLASSES: [(&str, EffectClass); 4] = [
    ("pure", EffectClass::Pure),
    ("read", EffectClass::Read),
    ("idempotent", EffectClass::Idempotent),
    ("once", EffectClass::Once),
];

impl EffectAsk {
    /// Makes what is asked of an activity.
    pub fn of(run: &WireStart, performance: &Performance, at: Instant) -> EffectAsk {
        let request = &performance.request;
        let class = CLASSES.iter().find(|(_, class)| *class == performance.class);
        EffectAsk {
            run: run.clone(),
            path: request.path.to_string(),
            id: performance.id.to_string(),
            kind: request.kind.clone(),
            payload: WireValue::of(&request.payload),
            schema: request.schema.map(|cid| cid.to_string()),
            timeout_ms: request.timeout_ms,
            origin: request.origin.as_ref().map(|cid| cid.to_string()),
            class: class.map_or("once", |(name, _)| name).to_owned(),
            attempt: performance.attempt,
            found: performance.found.as_ref().map(WireValue::of),
            at: at.millis(),
        }
    }

    /// Gives back what is to be performed.
    ///
    /// # Errors
    /// Fails when something in it is not what it should be.
    pub fn performance(&self) -> Result<Performance, BadWire> {
        let bad = |what| BadWire { what };
        let cid = |text: &Option<String>, what| {
            text.as_deref().map(Cid::parse).transpose().map_err(|_| bad(what))
        };
        let request = Request {
            path: Path::parse(&self.path).map_err(|_| bad("path"))?,
            kind: self.kind.clone(),
            payload: self.payload.clone().value()?,
            schema: cid(&self.schema, "schema")?,
            timeout_ms: self.timeout_ms,
            position: None,
            origin: cid(&self.origin, "origin")?.map(Arc::new),
        };
        let class = CLASSES.iter().find(|(name, _)| *name == self.class);
        Ok(Performance {
            request: Arc::new(request),
            id: RequestId::parse(&self.id).ok_or(bad("request"))?,
            class: class.ok_or(bad("class"))?.1,
            attempt: self.attempt,
            not_before: None,
            found: self.found.clone().map(WireValue::value).transpose()?,
        })
    }
}

/// An answer on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireAnswer {
    /// A value.
    Ok(WireValue),
    /// A failure.
    Failed {
        /// What sort.
        code: String,
        /// What happened.
        message: String,
        /// More data.
        details: WireValue,
    },
    /// The time limit came first.
    Timeout,
    /// It was cancelled before it began.
    NotStarted,
    /// It was stopped.
    Stopped,
    /// It was cancelled, and nobody knows whether it happened.
    Unknown,
}

impl WireAnswer {
    /// Takes an answer up.
    pub fn of(answer: &RequestAnswer) -> WireAnswer {
        match answer {
            RequestAnswer::Ok(value) => WireAnswer::Ok(WireValue::of(value)),
            RequestAnswer::Failed(failure) => WireAnswer::Failed {
                code: failure.code.clone(),
                message: failure.message.clone(),
                details: WireValue::of(&failure.details),
            },
            RequestAnswer::TimedOut => WireAnswer::Timeout,
            RequestAnswer::Cancelled(CancelExtent::NotStarted) => WireAnswer::NotStarted,
            RequestAnswer::Cancelled(CancelExtent::Stopped) => WireAnswer::Stopped,
            RequestAnswer::Cancelled(CancelExtent::Unknown) => WireAnswer::Unknown,
        }
    }

    /// Gives it back.
    ///
    /// # Errors
    /// Fails when its value is none.
    pub fn answer(self) -> Result<RequestAnswer, BadWire> {
        Ok(match self {
            WireAnswer::Ok(value) => RequestAnswer::Ok(value.value()?),
            WireAnswer::Failed { code, message, details } => {
                let details = details.value()?;
                RequestAnswer::Failed(ProgramFailure { code, message, details })
            }
            WireAnswer::Timeout => RequestAnswer::TimedOut,
            WireAnswer::NotStarted => RequestAnswer::Cancelled(CancelExtent::NotStarted),
            WireAnswer::Stopped => RequestAnswer::Cancelled(CancelExtent::Stopped),
            WireAnswer::Unknown => RequestAnswer::Cancelled(CancelExtent::Unknown),
        })
    }
}

/// What became of an effect, as its activity tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectReply {
    /// It has an answer.
    Answered {
        /// The answer.
        answer: WireAnswer,
        /// The child session that gave it, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        child: Option<String>,
    },
    /// Nobody could answer, for this reason; a run that is to stop takes the answer.
    Unanswered {
        /// The answer.
        answer: WireAnswer,
        /// The reason.
        why: String,
    },
    /// It may be tried again, for this reason; else it has this answer.
    Faulted {
        /// The answer.
        answer: WireAnswer,
        /// The reason.
        why: String,
    },
    /// This session is its child.
    Child(Box<ChildAsk>),
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

/// Says who gave an answer.
pub fn source_of(child: Option<&str>) -> AnswerSource {
    let child = child.and_then(SessionId::parse);
    child.map_or(AnswerSource::Executor, AnswerSource::Child)
}

#[cfg(test)]
mod tests;
