//! What can be wrong with a plan.

use agentic_model::object::OBJECT_BYTES_MAX;

use crate::fields::ShapeError;
use crate::plan::PLAN_NODES_MAX;

/// Why something is not a plan that can run. The names of [`PlanErrorKind`] never change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A field is missing, unknown or of the wrong shape.
    #[error("not a plan: {0}")]
    Shape(#[from] ShapeError),
    /// The format version is not the one that is understood.
    #[error("the plan has version `{found}`, only version 1 is understood")]
    Version {
        /// What stands there, or `absent`.
        found: String,
    },
    /// The plan has no nodes.
    #[error("the plan has no nodes")]
    Empty,
    /// A node id is malformed.
    #[error("`{id}` cannot name a node")]
    NodeId {
        /// The id as it was given.
        id: String,
    },
    /// Two nodes have the same id.
    #[error("two nodes are named `{id}`")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// A node is of no known kind.
    #[error("node `{id}` is of the unknown kind `{kind}`")]
    Kind {
        /// The node.
        id: String,
        /// Its kind as it was given.
        kind: String,
    },
    /// A node other than a join does not name a valid activity.
    #[error("node `{id}` names no activity")]
    NoActivity {
        /// The node.
        id: String,
    },
    /// A join has fewer than two inputs.
    #[error("join `{id}` has {found} inputs, it needs two or more")]
    JoinArity {
        /// The node.
        id: String,
        /// How many it has.
        found: usize,
    },
    /// A node requires the same node twice.
    #[error("node `{id}` requires `{required}` twice")]
    DuplicateEdge {
        /// The node.
        id: String,
        /// What it requires.
        required: String,
    },
    /// A node other than a join has more than one input.
    #[error("node `{id}` has {found} inputs, only a join may have more than one")]
    FanIn {
        /// The node.
        id: String,
        /// How many it has.
        found: usize,
    },
    /// A node requires a node that is not there.
    #[error("node `{id}` requires `{required}`, which is not in the plan")]
    UnknownNode {
        /// The node.
        id: String,
        /// What it requires.
        required: String,
    },
    /// Nodes require each other in a circle.
    #[error("the nodes {} require each other in a circle", quoted(.nodes))]
    Cycle {
        /// The circle, from its smallest id on, each followed by one that requires it.
        nodes: Vec<String>,
    },
    /// The exit is not a node of the plan.
    #[error("the exit `{id}` is not a node of the plan")]
    Exit {
        /// The exit as it was given.
        id: String,
    },
    /// The entries are not exactly the nodes without requirements.
    #[error("the entry must list exactly the nodes without requirements; `{id}` is wrong")]
    Entry {
        /// A node that is missing, listed twice, or wrongly listed.
        id: String,
    },
    /// Nothing leads from a node to the exit.
    #[error("nothing leads from node `{id}` to the exit")]
    Orphan {
        /// The node.
        id: String,
    },
    /// The plan has more than [`PLAN_NODES_MAX`] nodes, or does not fit an object.
    #[error(
        "the plan is too large: {found}; {PLAN_NODES_MAX} nodes and {OBJECT_BYTES_MAX} bytes are the limits"
    )]
    TooLarge {
        /// What is too much.
        found: String,
    },
}

/// The stable name of a [`PlanError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanErrorKind {
    /// See [`PlanError::Shape`].
    Shape,
    /// See [`PlanError::Version`].
    Version,
    /// See [`PlanError::Empty`].
    Empty,
    /// See [`PlanError::NodeId`].
    NodeId,
    /// See [`PlanError::DuplicateId`].
    DuplicateId,
    /// See [`PlanError::Kind`].
    Kind,
    /// See [`PlanError::NoActivity`].
    NoActivity,
    /// See [`PlanError::JoinArity`].
    JoinArity,
    /// See [`PlanError::DuplicateEdge`].
    DuplicateEdge,
    /// See [`PlanError::FanIn`].
    FanIn,
    /// See [`PlanError::UnknownNode`].
    UnknownNode,
    /// See [`PlanError::Cycle`].
    Cycle,
    /// See [`PlanError::Exit`].
    Exit,
    /// See [`PlanError::Entry`].
    Entry,
    /// See [`PlanError::Orphan`].
    Orphan,
    /// See [`PlanError::TooLarge`].
    TooLarge,
}

impl PlanError {
    /// Returns the stable name.
    pub fn kind(&self) -> PlanErrorKind {
        match self {
            PlanError::Shape(_) => PlanErrorKind::Shape,
            PlanError::Version { .. } => PlanErrorKind::Version,
            PlanError::Empty => PlanErrorKind::Empty,
            PlanError::NodeId { .. } => PlanErrorKind::NodeId,
            PlanError::DuplicateId { .. } => PlanErrorKind::DuplicateId,
            PlanError::Kind { .. } => PlanErrorKind::Kind,
            PlanError::NoActivity { .. } => PlanErrorKind::NoActivity,
            PlanError::JoinArity { .. } => PlanErrorKind::JoinArity,
            PlanError::DuplicateEdge { .. } => PlanErrorKind::DuplicateEdge,
            PlanError::FanIn { .. } => PlanErrorKind::FanIn,
            PlanError::UnknownNode { .. } => PlanErrorKind::UnknownNode,
            PlanError::Cycle { .. } => PlanErrorKind::Cycle,
            PlanError::Exit { .. } => PlanErrorKind::Exit,
            PlanError::Entry { .. } => PlanErrorKind::Entry,
            PlanError::Orphan { .. } => PlanErrorKind::Orphan,
            PlanError::TooLarge { .. } => PlanErrorKind::TooLarge,
        }
    }
}

impl PlanErrorKind {
    /// Returns the name as programs see it, such as `PlanCycle`.
    pub fn as_str(self) -> &'static str {
        match self {
            PlanErrorKind::Shape => "PlanShape",
            PlanErrorKind::Version => "PlanVersion",
            PlanErrorKind::Empty => "PlanEmpty",
            PlanErrorKind::NodeId => "PlanNodeId",
            PlanErrorKind::DuplicateId => "PlanDuplicateId",
            PlanErrorKind::Kind => "PlanKind",
            PlanErrorKind::NoActivity => "PlanNoActivity",
            PlanErrorKind::JoinArity => "PlanJoinArity",
            PlanErrorKind::DuplicateEdge => "PlanDuplicateEdge",
            PlanErrorKind::FanIn => "PlanFanIn",
            PlanErrorKind::UnknownNode => "PlanUnknownNode",
            PlanErrorKind::Cycle => "PlanCycle",
            PlanErrorKind::Exit => "PlanExit",
            PlanErrorKind::Entry => "PlanEntry",
            PlanErrorKind::Orphan => "PlanOrphan",
            PlanErrorKind::TooLarge => "PlanTooLarge",
        }
    }
}

fn quoted(ids: &[String]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}
