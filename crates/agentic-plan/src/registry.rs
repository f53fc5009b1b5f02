//! What programs may call: an explicit table of builtins.
//!
//! A registry is a value. It is built entry by entry or read from JSON, and refuses entries that
//! could never work. Nothing registers itself at start-up.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentic_model::{Map, Value, json};

use crate::agent::{AgentId, CallEffect, Implementation, InvalidAgentId};
use crate::fields::ShapeError;
use crate::node::{Backend, RetryLimits};

mod read;
mod schema;
mod standard;
mod store;
mod verdict;
mod write;

pub use crate::registry::schema::{
    AgentParameter, ArgSchema, BindError, ParameterType, Presence, TYPE_NESTING_MAX,
};
pub use crate::registry::standard::standard_registry;
pub use crate::registry::store::store_builtins;
pub use crate::registry::verdict::{Condition, VerdictComparison, VerdictQuestion};

/// Words that cannot name builtins or parameters.
pub const RESERVED_WORDS: [&str; 8] =
    ["memory", "temporal", "static", "dynamic", "true", "false", "as", "with"];
/// The most builtins of one registry.
pub const BUILTINS_MAX: usize = 10_000;

/// What sort of node the calls of a builtin become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltinKind {
    /// One call of an agent.
    Activity,
    /// A loop of calls.
    Workflow,
    /// A decision of a human.
    Hold,
}

/// Where the credentials of an agent come from. Advice for tools; secrets never pass here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AuthSource {
    /// It needs none.
    #[default]
    None,
    /// A token of the person who started the run.
    OAuth {
        /// Who issues it.
        provider: String,
        /// What it must allow.
        scopes: Vec<String>,
    },
    /// An environment variable.
    Env {
        /// Its name.
        var: String,
    },
    /// A file.
    File {
        /// Where it is.
        path: String,
    },
    /// A secret that a command prints.
    Secret {
        /// Its name.
        name: String,
    },
    /// A fixed value, in tests.
    Static,
}

/// What shape of value an agent takes or gives, where it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueShape {
    /// Text.
    Text,
    /// Any value.
    Json,
    /// The outputs of so many branches.
    Tuple(usize),
}

/// One builtin: what a program writes, whom it calls, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltinSpec {
    /// The name in programs.
    pub name: String,
    /// Whom it calls.
    pub agent: AgentId,
    /// What sort of node its calls become.
    pub kind: BuiltinKind,
    /// One sentence about what it does.
    pub description: String,
    /// Whose services it uses; for people.
    pub vendors: Vec<String>,
    /// Its arguments.
    pub schema: ArgSchema,
    /// Where it may run; nothing means in memory only.
    pub backends: Vec<Backend>,
    /// Where its credentials come from.
    pub auth: AuthSource,
    /// What it takes, where it says so.
    pub accepts: Option<ValueShape>,
    /// What it gives, where it says so.
    pub returns: Option<ValueShape>,
    /// Who performs it; nothing means that the host knows the agent by its id.
    pub run: Option<Implementation>,
    /// What repeating it may do; nothing means that it may happen once only.
    pub effect: Option<CallEffect>,
    /// How often its calls are tried; nothing means the default.
    pub retry: Option<RetryLimits>,
    /// How long one attempt may take; nothing means the default.
    pub timeout_ms: Option<u64>,
    /// What a human is asked about its output; nothing means that it goes on by itself.
    pub verdict: Option<VerdictQuestion>,
}

/// The table of builtins.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Registry {
    builtins: BTreeMap<String, Arc<BuiltinSpec>>,
    by_agent: BTreeMap<AgentId, Arc<BuiltinSpec>>,
}

/// Why a registry, or one entry of it, is refused.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The text is not JSON.
    #[error("the registry is not JSON: {0}")]
    Json(#[from] json::JsonError),
    /// A field is missing, unknown or of the wrong shape.
    #[error("not a registry: {0}")]
    Shape(#[from] ShapeError),
    /// There are more than [`BUILTINS_MAX`] entries.
    #[error("the registry has more than {BUILTINS_MAX} builtins")]
    TooMany,
    /// The name is empty, malformed or reserved.
    #[error("`{name}` cannot name a builtin")]
    Name {
        /// The name.
        name: String,
    },
    /// The agent id is malformed.
    #[error("builtin `{name}`: {source}")]
    Agent {
        /// The builtin.
        name: String,
        /// Why.
        source: InvalidAgentId,
    },
    /// Two builtins have the same name.
    #[error("two builtins are named `{name}`")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// Two builtins call the same agent, but do not agree on who performs it.
    #[error("builtins `{name}` and `{other}` perform the same agent in different ways")]
    AgentConflict {
        /// The later builtin.
        name: String,
        /// The earlier one.
        other: String,
    },
    /// No call could ever fit the parameters.
    #[error("parameter `{param}` of builtin `{name}` {reason}")]
    Schema {
        /// The builtin.
        name: String,
        /// The parameter.
        param: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A human is asked about an output in memory, where nobody could wait for the verdict.
    #[error("builtin `{name}` asks a human about its output and cannot run in memory")]
    VerdictInMemory {
        /// The builtin.
        name: String,
    },
    /// A hold is offered in memory, where nobody could wait for its decision.
    #[error("builtin `{name}` is a hold and cannot run in memory")]
    HoldInMemory {
        /// The builtin.
        name: String,
    },
}

impl Registry {
    /// Adds one builtin.
    ///
    /// # Errors
    /// Fails when its name is taken or it could never work.
    pub fn register(&mut self, spec: BuiltinSpec) -> Result<(), RegistryError> {
        let mut spec = spec;
        if spec.backends.is_empty() {
            spec.backends.push(Backend::Memory);
        }
        spec.backends.sort();
        spec.backends.dedup();
        self.check(&spec)?;
        let spec = Arc::new(spec);
        self.by_agent.entry(spec.agent.clone()).or_insert_with(|| Arc::clone(&spec));
        self.builtins.insert(spec.name.clone(), spec);
        Ok(())
    }

    fn check(&self, spec: &BuiltinSpec) -> Result<(), RegistryError> {
        let name = spec.name.clone();
        if !is_identifier(&name) || RESERVED_WORDS.contains(&name.as_str()) {
            return Err(RegistryError::Name { name });
        }
        if self.builtins.contains_key(&name) {
            return Err(RegistryError::Duplicate { name });
        }
        if self.builtins.len() >= BUILTINS_MAX {
            return Err(RegistryError::TooMany);
        }
        if spec.kind == BuiltinKind::Hold && spec.backends.contains(&Backend::Memory) {
            return Err(RegistryError::HoldInMemory { name });
        }
        if spec.verdict.is_some() && spec.backends.contains(&Backend::Memory) {
            return Err(RegistryError::VerdictInMemory { name });
        }
        let performed = |spec: &BuiltinSpec| (spec.run.clone(), spec.effect, spec.verdict.clone());
        let other = self.by_agent(&spec.agent);
        if let Some(other) = other.filter(|other| performed(other) != performed(spec)) {
            return Err(RegistryError::AgentConflict { name, other: other.name.clone() });
        }
        spec.schema.check().map_err(|(param, reason)| RegistryError::Schema { name, param, reason })
    }

    /// Returns the builtin of a name.
    pub fn get(&self, name: &str) -> Option<&BuiltinSpec> {
        self.builtins.get(name).map(Arc::as_ref)
    }

    /// Returns the first registered builtin that calls an agent.
    pub fn by_agent(&self, agent: &AgentId) -> Option<&BuiltinSpec> {
        self.by_agent.get(agent).map(Arc::as_ref)
    }

    /// Returns all names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.builtins.keys().map(String::as_str)
    }

    /// Returns all builtins, sorted by name.
    pub fn builtins(&self) -> impl Iterator<Item = &BuiltinSpec> {
        self.builtins.values().map(Arc::as_ref)
    }

    /// Reads a registry from JSON text: `{"builtins":[…]}`.
    ///
    /// # Errors
    /// Fails on text that is not JSON and on entries that are refused.
    pub fn from_json(text: &str) -> Result<Registry, RegistryError> {
        Registry::from_value(&json::from_text(text)?)
    }

    /// Checks named arguments that did not come from a program, such as those that a model wrote
    /// for a tool, against the schema of a builtin. Defaults are filled in, references by name
    /// become agent ids.
    ///
    /// # Errors
    /// Says what is wrong with the first argument that does not fit.
    pub fn bind_named(&self, spec: &BuiltinSpec, given: &Map) -> Result<Map, BindError> {
        let known = |name: &str| spec.schema.params.iter().any(|param| param.name == name);
        if let Some(name) = given.keys().find(|name| !known(name)) {
            return Err(BindError::Unknown { name: name.clone() });
        }
        let mut bound = Map::new();
        for param in &spec.schema.params {
            let value = match given.get(&param.name) {
                Some(value) => Some(self.fit(&param.kind, value).ok_or_else(|| {
                    BindError::Type { param: param.name.clone(), expected: param.kind.to_string() }
                })?),
                None if param.is_required() => {
                    return Err(BindError::Missing { param: param.name.clone() });
                }
                None => param.default.clone(),
            };
            if let Some(value) = value {
                param.check_range(&value)?;
                bound.insert(param.name.clone(), value);
            }
        }
        Ok(bound)
    }

    /// Fits a value to a type; names of builtins become agent ids.
    fn fit(&self, kind: &ParameterType, value: &Value) -> Option<Value> {
        match (kind, value) {
            (ParameterType::Ref, Value::Text(name)) => {
                self.get(name).map(|spec| Value::text(spec.agent.as_str()))
            }
            (ParameterType::List(kind), Value::List(items)) => {
                let items: Option<Vec<Value>> =
                    items.iter().map(|item| self.fit(kind, item)).collect();
                items.map(Value::List)
            }
            _ => kind.admits(value).then(|| value.clone()),
        }
    }
}

impl BuiltinSpec {
    /// Makes an activity without arguments that runs in memory.
    pub fn new(name: impl Into<String>, agent: AgentId) -> BuiltinSpec {
        BuiltinSpec {
            name: name.into(),
            agent,
            kind: BuiltinKind::Activity,
            description: String::new(),
            vendors: Vec::new(),
            schema: ArgSchema::default(),
            backends: Vec::new(),
            auth: AuthSource::None,
            accepts: None,
            returns: None,
            run: None,
            effect: None,
            retry: None,
            timeout_ms: None,
            verdict: None,
        }
    }

    /// Says whether it may run on a backend.
    pub fn runs_on(&self, backend: Backend) -> bool {
        self.backends.contains(&backend)
    }
}

/// Says whether a text is an identifier of the language.
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
