//! Plans: closed, valid graphs of agent calls, and the registry of what they may call.
//!
//! A [`Plan`] is plain data with one canonical form; its address is the id of the `plan` object
//! that it makes. A plan that did not come from the compiler is read as a [`PlanDraft`] first and
//! becomes a [`Plan`] only by passing every check, so whoever holds a [`Plan`] can run it without
//! asking again. Compilers build plans from [`Fragment`]s, open pieces with a small algebra.
//!
//! A [`Registry`] says which builtins exist, what arguments they take and who performs them. It is
//! built explicitly, in Rust or from JSON; nothing registers itself.
//!
//! This crate is pure: it runs nothing, stores nothing and knows no clock.

mod agent;
mod credential;
mod disguise;
mod draft;
mod error;
mod fields;
mod fragment;
mod message;
mod node;
mod plan;
mod redactor;
mod registry;
mod render;
mod route;
mod source_map;
mod text;
mod validate;

pub use crate::agent::{AgentId, CallEffect, Implementation, InvalidAgentId};
pub use crate::credential::{CredentialError, CredentialSecret, MASKED_BYTES_MIN, placeholder};
pub use crate::draft::{NodeDraft, PLAN_VERSION, PlanDraft};
pub use crate::error::{PlanError, PlanErrorKind};
pub use crate::fields::ShapeError;
pub use crate::fragment::{ClosedFragment, Fragment, Numbering};
pub use crate::message::{ActionStyle, ChannelMessage, MessageChoice, MessageSeverity, SNOOZE};
pub use crate::node::{
    Backend, CallKind, GraphNode, InvalidNodeId, NODE_ID_BYTES_MAX, NodeId, NodeWork, PlanCall,
    ResolutionMode, RetryLimits,
};
pub use crate::plan::{PLAN_NODES_MAX, Plan};
pub use crate::redactor::Redactor;
pub use crate::registry::{
    AgentParameter, ArgSchema, AuthSource, BUILTINS_MAX, BindError, BuiltinKind, BuiltinSpec,
    Condition, ParameterType, Presence, RESERVED_WORDS, Registry, RegistryError, TYPE_NESTING_MAX,
    ValueShape, VerdictComparison, VerdictQuestion, is_identifier, standard_registry,
    store_builtins,
};
pub use crate::render::NotExportable;
pub use crate::route::{Destination, Identities, Route, Router, is_identity};
pub use crate::source_map::{PlanSourceMap, SOURCE_MAP_KIND};
pub use crate::text::text_of;
pub use agentic_model::Place;
