//! The nodes of a plan.

use std::fmt;

use agentic_model::{Map, Value};

use crate::agent::AgentId;

/// The longest node id, in bytes.
pub const NODE_ID_BYTES_MAX: usize = 64;

/// Where a block runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    /// In the process, without a record.
    Memory,
    /// Durably.
    Temporal,
}

/// When a block is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResolutionMode {
    /// Once, when it is compiled.
    Static,
    /// When it is reached.
    Dynamic,
}

impl Backend {
    /// Returns the keyword.
    pub fn as_str(self) -> &'static str {
        match self {
            Backend::Memory => "memory",
            Backend::Temporal => "temporal",
        }
    }

    /// Reads the keyword back.
    pub fn parse(text: &str) -> Option<Backend> {
        [Backend::Memory, Backend::Temporal].into_iter().find(|backend| backend.as_str() == text)
    }
}

impl ResolutionMode {
    /// Returns the keyword.
    pub fn as_str(self) -> &'static str {
        match self {
            ResolutionMode::Static => "static",
            ResolutionMode::Dynamic => "dynamic",
        }
    }

    /// Reads the keyword back.
    pub fn parse(text: &str) -> Option<ResolutionMode> {
        [ResolutionMode::Static, ResolutionMode::Dynamic]
            .into_iter()
            .find(|mode| mode.as_str() == text)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for ResolutionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The id of a node, such as `n7` or `j0`; one component of the paths of its requests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(String);

/// A text that cannot name a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` cannot name a node: use up to {NODE_ID_BYTES_MAX} letters, digits, `_` and `-`, beginning with a letter"
)]
pub struct InvalidNodeId {
    /// The text as it was given.
    pub text: String,
}

impl NodeId {
    /// Accepts a letter, then letters, digits, `_` and `-`.
    ///
    /// # Errors
    /// Fails on any other text.
    pub fn parse(text: &str) -> Result<NodeId, InvalidNodeId> {
        let valid = text.len() <= NODE_ID_BYTES_MAX
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if valid {
            Ok(NodeId(text.to_owned()))
        } else {
            Err(InvalidNodeId { text: text.to_owned() })
        }
    }

    /// Takes the id that an edge mentions; a malformed one is the id of no node.
    pub(crate) fn mentioned(text: String) -> NodeId {
        NodeId(text)
    }

    /// Names the `n`-th call of a plan.
    pub(crate) fn call(n: usize) -> NodeId {
        NodeId(format!("n{n}"))
    }

    /// Names the `n`-th join of a plan.
    pub(crate) fn join(n: usize) -> NodeId {
        NodeId(format!("j{n}"))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One node of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphNode {
    /// Its id.
    pub id: NodeId,
    /// What it does.
    pub work: NodeWork,
    /// The nodes whose outputs it needs, in order.
    pub requires: Vec<NodeId>,
}

/// What a node does.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeWork {
    /// Makes a list of the outputs it requires.
    Join,
    /// Calls an agent.
    Call(Box<PlanCall>),
}

/// A call of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanCall {
    /// What sort of call.
    pub kind: CallKind,
    /// Whom it calls.
    pub agent: AgentId,
    /// The bound parameters, defaults included.
    pub params: Map,
    /// The values beyond the parameters.
    pub args: Vec<Value>,
    /// How often it is tried; nothing means the default.
    pub retry: Option<RetryLimits>,
    /// How long one attempt may take; nothing means the default.
    pub timeout_ms: Option<u64>,
    /// A copy of the registry's advice about credentials, for tools.
    pub auth: Option<Value>,
}

/// What sort of call a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallKind {
    /// One call of an agent.
    Activity,
    /// A loop of calls: `converge`, `tool_agent`, `supervisor`.
    Workflow,
    /// A decision of a human.
    Hold,
    /// A program that is resolved when the node is reached.
    Dynamic,
}

impl CallKind {
    /// Returns the word that plans use.
    pub fn as_str(self) -> &'static str {
        match self {
            CallKind::Activity => "activity",
            CallKind::Workflow => "workflow",
            CallKind::Hold => "hold",
            CallKind::Dynamic => "dynamic",
        }
    }

    /// Reads the word back.
    pub fn parse(text: &str) -> Option<CallKind> {
        [CallKind::Activity, CallKind::Workflow, CallKind::Hold, CallKind::Dynamic]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// How often a call is tried, and how long the pauses are.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryLimits {
    /// How many attempts there are, the first included.
    pub max_attempts: u64,
    /// The first pause.
    pub initial_ms: u64,
    /// What each pause is multiplied by for the next.
    pub backoff: f64,
    /// The longest pause; nothing means no bound.
    pub max_interval_ms: Option<u64>,
    /// Codes of failures that are final at once, beside those that always are.
    pub non_retryable: Vec<String>,
}

impl PlanCall {
    /// Makes a call without parameters and with the defaults for everything else.
    pub fn new(kind: CallKind, agent: AgentId) -> PlanCall {
        PlanCall {
            kind,
            agent,
            params: Map::new(),
            args: Vec::new(),
            retry: None,
            timeout_ms: None,
            auth: None,
        }
    }
}
