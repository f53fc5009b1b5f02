//! Agents behind builtins: their ids and who performs them.

use std::fmt;

use agentic_model::{AgentName, Cid, Map, StoreVerb, Value};

use crate::fields::{PlanFields, ShapeError};

/// The longest agent id, in bytes.
pub const AGENT_ID_BYTES_MAX: usize = 128;
/// The fields that only say more about another one.
const DETAILS: [(&str, &str); 3] = [("method", "http"), ("flow", "agent"), ("system", "model")];
/// The most words of a command line.
pub const ARGV_WORDS_MAX: usize = 256;

/// The id of an agent that a plan may call, such as `agentscript/weather`: segments of lower-case
/// letters, digits, `_`, `.` and `-`, joined by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(String);

/// A text that is not the id of an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the id of an agent, such as `team/weather`")]
pub struct InvalidAgentId {
    /// The text as it was given.
    pub text: String,
}

impl AgentId {
    /// Accepts segments of `a-z`, `0-9`, `_`, `.` and `-`, joined by `/`.
    ///
    /// # Errors
    /// Fails on any other text.
    pub fn parse(text: &str) -> Result<AgentId, InvalidAgentId> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
        let segment = |part: &str| !part.is_empty() && part.chars().all(allowed);
        if text.len() <= AGENT_ID_BYTES_MAX && text.split('/').all(segment) {
            return Ok(AgentId(text.to_owned()));
        }
        Err(InvalidAgentId { text: text.to_owned() })
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What repeating a call may do; an agent that declares nothing may be called once only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallEffect {
    /// Nothing: it only computes.
    Pure,
    /// Nothing: it only reads.
    Read,
    /// Nothing, as long as the key is the same.
    Idempotent,
    /// It may happen twice.
    Once,
}

impl CallEffect {
    /// Returns the word that registries and requests use.
    pub fn as_str(self) -> &'static str {
        match self {
            CallEffect::Pure => "pure",
            CallEffect::Read => "read",
            CallEffect::Idempotent => "idempotent",
            CallEffect::Once => "once",
        }
    }

    /// Reads the word back.
    pub fn parse(text: &str) -> Option<CallEffect> {
        [CallEffect::Pure, CallEffect::Read, CallEffect::Idempotent, CallEffect::Once]
            .into_iter()
            .find(|effect| effect.as_str() == text)
    }
}

/// Who performs the calls of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Implementation {
    /// A function of the host, by name.
    Native(String),
    /// A program: the call as JSON on standard input, the answer as JSON on standard output.
    Executable {
        /// The program and its arguments; never a shell line.
        argv: Vec<String>,
    },
    /// An HTTP endpoint: the call as the JSON body, the answer as the JSON of the response.
    Endpoint {
        /// Where it is.
        url: String,
        /// The method, `POST` unless said otherwise.
        method: String,
    },
    /// An agent of the store: a branch is spawned from it, runs a flow, and the flow's result is
    /// the answer.
    Agent {
        /// The agent that the new one is spawned from.
        name: AgentName,
        /// The flow that runs; the one that the agent ran last, unless it is named.
        flow: Option<Cid>,
    },
    /// The store that the session is in, asked as flows ask it: the parameters are the fields, and
    /// what flows in is the one that is missing.
    Store(StoreVerb),
    /// A model: what flows in as text is what it is asked, its reply is the answer.
    Model {
        /// The name or the address of the model.
        model: String,
        /// Who it is to be; the role that the agent's id stands for, unless said otherwise.
        system: Option<String>,
    },
}

impl Implementation {
    /// Reads the `run` of a registry entry: a text names a native function; otherwise a map with
    /// one of `native`, `exec`, `http`, `agent`, `model` and `store`.
    pub(crate) fn read(value: &Value, at: &str) -> Result<Implementation, ShapeError> {
        if let Value::Text(name) = value {
            return native(name, at);
        }
        let fields = PlanFields::of(value, at)?;
        fields.only(&[
            "native", "exec", "http", "agent", "model", "store", "method", "flow", "system",
        ])?;
        for (detail, target) in DETAILS {
            if fields.map().contains_key(detail) && !fields.map().contains_key(target) {
                return Err(fields.wrong(detail, format!("absent without `{target}`")));
            }
        }
        let is_target = |key: &&String| DETAILS.iter().all(|(detail, _)| key != detail);
        let n_targets = fields.map().keys().filter(is_target).count();
        if n_targets != 1 {
            return Err(ShapeError::new(
                at,
                "one of `native`, `exec`, `http`, `agent`, `model` and `store`",
            ));
        }
        if let Some(name) = fields.optional_text("native")? {
            return native(name, at);
        }
        if let Some(argv) = fields.optional_texts("exec")? {
            let has_nul = argv.iter().any(|word| word.contains('\0'));
            if argv.is_empty() || argv.len() > ARGV_WORDS_MAX || argv[0].is_empty() || has_nul {
                return Err(fields.wrong("exec", "a program and its arguments"));
            }
            return Ok(Implementation::Executable { argv });
        }
        if let Some(url) = fields.optional_text("http")? {
            return endpoint(&fields, url);
        }
        if let Some(model) = fields.optional_text("model")? {
            if model.is_empty() || model.chars().any(|c| c.is_whitespace() || c.is_control()) {
                return Err(fields.wrong("model", "the name or the address of a model"));
            }
            let system = fields.optional_text("system")?.map(str::to_owned);
            return Ok(Implementation::Model { model: model.to_owned(), system });
        }
        if let Some(verb) = fields.optional_text("store")? {
            let verb = StoreVerb::parse(verb);
            let known = || StoreVerb::names().collect::<Vec<_>>().join(", ");
            let verb = verb.ok_or_else(|| fields.wrong("store", format!("one of {}", known())))?;
            return Ok(Implementation::Store(verb));
        }
        let name = fields.text("agent")?;
        let name = AgentName::parse(name).map_err(|_| fields.wrong("agent", "an agent's name"))?;
        let flow = match fields.optional_text("flow")? {
            None => None,
            Some(text) => {
                Some(Cid::parse(text).map_err(|_| fields.wrong("flow", "the id of a flow"))?)
            }
        };
        Ok(Implementation::Agent { name, flow })
    }

    /// Returns the form that [`Registry::from_value`](crate::Registry::from_value) reads.
    pub(crate) fn to_value(&self) -> Value {
        let text = |text: &str| Value::text(text);
        let pairs: Vec<(&str, Value)> = match self {
            Implementation::Native(name) => vec![("native", text(name))],
            Implementation::Executable { argv } => {
                vec![("exec", Value::List(argv.iter().map(|word| text(word)).collect()))]
            }
            Implementation::Endpoint { url, method } => {
                vec![("http", text(url)), ("method", text(method))]
            }
            Implementation::Agent { name, flow } => {
                let flow = flow.map(|cid| ("flow", Value::text(cid.to_string())));
                [("agent", text(name.as_str()))].into_iter().chain(flow).collect()
            }
            Implementation::Store(verb) => vec![("store", text(verb.name()))],
            Implementation::Model { model, system } => {
                let system = system.as_deref().map(|system| ("system", text(system)));
                [("model", text(model))].into_iter().chain(system).collect()
            }
        };
        Value::Map(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map>())
    }
}

fn native(name: &str, at: &str) -> Result<Implementation, ShapeError> {
    if name.is_empty() {
        return Err(ShapeError::new(at, "the name of a native function"));
    }
    Ok(Implementation::Native(name.to_owned()))
}

fn endpoint(fields: &PlanFields<'_>, url: &str) -> Result<Implementation, ShapeError> {
    let has_host = ["http://", "https://"]
        .iter()
        .any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    if !has_host || url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(fields.wrong("http", "an `http://` or `https://` address"));
    }
    let method = fields.optional_text("method")?.unwrap_or("POST");
    if !["GET", "POST", "PUT"].contains(&method) {
        return Err(fields.wrong("method", "`GET`, `POST` or `PUT`"));
    }
    Ok(Implementation::Endpoint { url: url.to_owned(), method: method.to_owned() })
}
