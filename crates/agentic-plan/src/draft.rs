//! Plans from elsewhere: plain data on its way to a [`Plan`].

use std::collections::BTreeSet;

use agentic_model::{Map, Value};

use crate::agent::AgentId;
use crate::error::PlanError;
use crate::fields::{PlanFields, ShapeError};
use crate::node::{
    Backend, CallKind, GraphNode, NodeId, NodeWork, PlanCall, ResolutionMode, RetryLimits,
};
use crate::plan::{PLAN_NODES_MAX, Plan};

/// The version of the plan format.
pub const PLAN_VERSION: i64 = 1;
/// The most attempts that a plan may ask for.
pub const RETRY_ATTEMPTS_MAX: u64 = 1_000;
/// The longest pause or time limit that a plan may ask for: a year.
pub const DURATION_MS_MAX: u64 = 366 * 24 * 3_600_000;
/// The largest factor between two pauses.
pub const BACKOFF_MAX: f64 = 100.0;

/// The word for the kind of a join.
const JOIN: &str = "join";

/// A plan as somebody wrote it, with nothing checked but the shapes of its fields.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanDraft {
    /// The format version, as it stands there.
    pub v: Option<Value>,
    /// Where it runs.
    pub backend: Backend,
    /// When it is resolved.
    pub mode: ResolutionMode,
    /// Its nodes.
    pub nodes: Vec<NodeDraft>,
    /// The nodes without requirements.
    pub entry: Vec<String>,
    /// The node whose output is the result.
    pub exit: String,
}

/// A node as somebody wrote it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeDraft {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// The agent it calls.
    pub activity: Option<String>,
    /// Bound parameters.
    pub params: Map,
    /// Values beyond the parameters.
    pub args: Vec<Value>,
    /// The ids it requires.
    pub requires: Vec<String>,
    /// How often it is tried.
    pub retry: Option<RetryLimits>,
    /// How long one attempt may take.
    pub timeout_ms: Option<u64>,
    /// Advice about credentials.
    pub auth: Option<Value>,
}

impl PlanDraft {
    /// Reads the shape of a plan, with or without the field `type` that its object has.
    ///
    /// # Errors
    /// Fails on missing, unknown and ill-shaped fields.
    pub fn from_value(value: &Value) -> Result<PlanDraft, ShapeError> {
        let fields = PlanFields::of(value, "")?;
        fields.only(&["type", "v", "backend", "mode", "nodes", "entry", "exit"])?;
        if fields.optional_text("type")?.is_some_and(|kind| kind != "plan") {
            return Err(fields.wrong("type", "`plan`"));
        }
        let backend = Backend::parse(fields.text("backend")?)
            .ok_or_else(|| fields.wrong("backend", "`memory` or `temporal`"))?;
        let mode = ResolutionMode::parse(fields.text("mode")?)
            .ok_or_else(|| fields.wrong("mode", "`static` or `dynamic`"))?;
        let nodes =
            fields.optional_list("nodes")?.ok_or_else(|| fields.wrong("nodes", "a list"))?;
        let nodes = nodes
            .iter()
            .enumerate()
            .map(|(index, node)| read_node(node, &format!("nodes[{index}]")))
            .collect::<Result<Vec<NodeDraft>, ShapeError>>()?;
        let entry = fields.optional_texts("entry")?;
        let entry = entry.ok_or_else(|| fields.wrong("entry", "a list of node ids"))?;
        let exit = fields.text("exit")?.to_owned();
        Ok(PlanDraft { v: fields.map().get("v").cloned(), backend, mode, nodes, entry, exit })
    }

    /// Checks everything and makes the plan. The first thing that is wrong is reported, in the
    /// order of the variants of [`PlanError`].
    ///
    /// # Errors
    /// Fails when the plan cannot run.
    pub fn validate(self) -> Result<Plan, PlanError> {
        self.check_heads()?;
        let nodes = self.nodes.into_iter().map(NodeDraft::into_node).collect::<Result<_, _>>()?;
        let plan = Plan::with_nodes(self.backend, self.mode, nodes)?;
        let plan = plan.with_exit(NodeId::mentioned(self.exit))?;
        plan.with_entry(self.entry.into_iter().map(NodeId::mentioned).collect())
    }

    /// Checks what has no place in a typed node: version, ids and kinds.
    fn check_heads(&self) -> Result<(), PlanError> {
        if self.v != Some(Value::Int(PLAN_VERSION)) {
            let found = self.v.as_ref().map_or("absent".to_owned(), |value| format!("{value:?}"));
            return Err(PlanError::Version { found });
        }
        if self.nodes.is_empty() {
            return Err(PlanError::Empty);
        }
        if self.nodes.len() > PLAN_NODES_MAX {
            return Err(PlanError::TooLarge { found: format!("{} nodes", self.nodes.len()) });
        }
        if let Some(node) = self.nodes.iter().find(|node| NodeId::parse(&node.id).is_err()) {
            return Err(PlanError::NodeId { id: node.id.clone() });
        }
        let mut seen = BTreeSet::new();
        if let Some(node) = self.nodes.iter().find(|node| !seen.insert(node.id.as_str())) {
            return Err(PlanError::DuplicateId { id: node.id.clone() });
        }
        match self.nodes.iter().find(|node| !node.has_known_kind()) {
            Some(node) => Err(PlanError::Kind { id: node.id.clone(), kind: node.kind.clone() }),
            None => Ok(()),
        }
    }
}

impl NodeDraft {
    fn has_known_kind(&self) -> bool {
        self.kind == JOIN || CallKind::parse(&self.kind).is_some()
    }

    /// Types a node whose id and kind are known to be valid.
    fn into_node(self) -> Result<GraphNode, PlanError> {
        let id = NodeId::parse(&self.id).expect("node ids were checked before");
        let work = match CallKind::parse(&self.kind) {
            None => NodeWork::Join,
            Some(kind) => {
                let agent = self.activity.as_deref().map(AgentId::parse);
                let Some(Ok(agent)) = agent else {
                    return Err(PlanError::NoActivity { id: self.id });
                };
                NodeWork::Call(Box::new(PlanCall {
                    kind,
                    agent,
                    params: self.params,
                    args: self.args,
                    retry: self.retry,
                    timeout_ms: self.timeout_ms,
                    auth: self.auth,
                }))
            }
        };
        let requires = self.requires.into_iter().map(NodeId::mentioned).collect();
        Ok(GraphNode { id, work, requires })
    }
}

fn read_node(value: &Value, at: &str) -> Result<NodeDraft, ShapeError> {
    let fields = PlanFields::of(value, at)?;
    let known =
        ["id", "kind", "activity", "params", "args", "requires", "retry", "timeout_ms", "auth"];
    fields.only(&known)?;
    let kind = fields.text("kind")?;
    if kind == JOIN {
        // A join with parameters would look like a call and silently be none.
        fields.only(&["id", "kind", "requires"])?;
    }
    Ok(NodeDraft {
        id: fields.text("id")?.to_owned(),
        kind: kind.to_owned(),
        activity: fields.optional_text("activity")?.map(str::to_owned),
        params: fields.optional_map("params")?.cloned().unwrap_or_default(),
        args: fields.optional_list("args")?.unwrap_or_default().to_vec(),
        requires: fields.optional_texts("requires")?.unwrap_or_default(),
        retry: match fields.map().get("retry") {
            None => None,
            Some(retry) => Some(RetryLimits::read(retry, &fields.place("retry"))?),
        },
        timeout_ms: fields.optional_count("timeout_ms", DURATION_MS_MAX)?,
        auth: fields.optional_map("auth")?.cloned().map(Value::Map),
    })
}

impl RetryLimits {
    /// Reads a retry policy; what is absent is the default of activities.
    pub(crate) fn read(value: &Value, at: &str) -> Result<RetryLimits, ShapeError> {
        let fields = PlanFields::of(value, at)?;
        fields.only(&[
            "max_attempts",
            "initial_ms",
            "backoff",
            "max_interval_ms",
            "non_retryable",
        ])?;
        let backoff = fields.optional_number("backoff")?.unwrap_or(2.0);
        if !(1.0..=BACKOFF_MAX).contains(&backoff) {
            return Err(fields.wrong("backoff", format!("a number from 1 to {BACKOFF_MAX}")));
        }
        Ok(RetryLimits {
            max_attempts: fields.optional_count("max_attempts", RETRY_ATTEMPTS_MAX)?.unwrap_or(3),
            initial_ms: fields.optional_count("initial_ms", DURATION_MS_MAX)?.unwrap_or(1_000),
            backoff,
            max_interval_ms: fields.optional_count("max_interval_ms", DURATION_MS_MAX)?,
            non_retryable: fields.optional_texts("non_retryable")?.unwrap_or_default(),
        })
    }

    /// Returns the form that is read back, with every default written out.
    pub(crate) fn to_value(&self) -> Value {
        let int = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
        let mut map = Map::from([
            ("max_attempts".to_owned(), int(self.max_attempts)),
            ("initial_ms".to_owned(), int(self.initial_ms)),
            ("backoff".to_owned(), Value::Float(self.backoff)),
        ]);
        if let Some(longest) = self.max_interval_ms {
            map.insert("max_interval_ms".to_owned(), int(longest));
        }
        if !self.non_retryable.is_empty() {
            let codes = self.non_retryable.iter().map(Value::text).collect();
            map.insert("non_retryable".to_owned(), Value::List(codes));
        }
        Value::Map(map)
    }
}
