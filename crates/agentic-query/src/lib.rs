//! Datalog with stratified negation and aggregates, over facts that others hand in.
//!
//! A text is compiled with [`compile`] against the predicates of a [`FactSource`]; all that is wrong
//! with it is found at once. [`CompiledQuery::answer`] gives an [`AnswerSet`] for each query: a set of
//! rows in an order that depends on values alone. Facts are read when a goal asks for them, restricted
//! to the values that the goals before it found; a [`QueryExplanation`] tells what was read and done.
//!
//! Facts are columns of interned values with sorted permutations as indices. What recursive rules
//! derive stands in variables of datafrog; every join is counted before it is made, so that a limit
//! ends a query before memory does.
//!
//! This crate is pure: no clock, no threads, no files. Time is told by a [`QueryWatch`].
//!
//! [`QueryReasons`] say why a row is an answer, down to the facts.

mod answer;
mod ast;
mod code;
mod compile;
mod evaluate;
mod explain;
mod fact;
mod function;
mod lexer;
mod limit;
mod lower;
mod outline;
mod parser;
mod plan;
mod pool;
mod progress;
mod range;
mod reason;
mod rule;
mod safety;
mod specialise;
mod strata;
mod table;
mod token;
mod types;
mod value;

pub use crate::answer::AnswerSet;
pub use crate::code::{FINDINGS_MAX, QueryFinding};
pub use crate::compile::{
    CompiledQuery, DeclaredParam, FactBase, QueryReport, QueryRun, compile, declared_params,
    defined_predicates, used_rules,
};
pub use crate::explain::{
    ExplainedRead, ExplainedRule, ExplainedStep, ExplainedStratum, QueryExplanation,
};
pub use crate::fact::{
    FactBinding, FactColumn, FactFailure, FactPredicate, FactRange, FactRequest, FactSink,
    FactSource, IdMatch, JoinedFacts, column,
};
pub use crate::limit::{QueryError, QueryLimitKind, QueryLimits, QueryWatch};
pub use crate::lower::QueryInput;
pub use crate::outline::{QueryOutline, query_outline, query_words, without_queries};
pub use crate::parser::{CLAUSES_MAX, GOALS_MAX, QUERY_BYTES_MAX, QUERY_NESTING_MAX};
pub use crate::pool::FactCell;
pub use crate::progress::{ExplainedCache, ReadProgress, ReadTeller};
pub use crate::reason::{
    QueryReasons, REASON_MATCHES_MAX, REASON_NODES_MAX, ReasonCell, ReasonGoal, ReasonGround,
    ReasonNode, ReasonRule, WhyRow,
};
pub use crate::specialise::ConstantPushing;
pub use crate::value::{QueryType, QueryValue};
