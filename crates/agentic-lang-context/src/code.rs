//! What a program is compiled to.
//!
//! Flat instructions for a machine with an explicit stack, and tables of everything that is fixed
//! by the source. Scopes are gone: which sources are visible at a `generate`, and under which
//! identity it speaks, follows from the text alone and is decided here, once.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ast::{ImportKind, Operator, TypeExpr};
use crate::dialect::Version;
use crate::json::Json;

/// A place in one of the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CodePlace {
    pub file: u32,
    pub start: u32,
    pub end: u32,
}

/// One instruction. Operands are places in the tables of [`ContextCode`], slots of the frame, or
/// addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Constant(u32),
    Local(u32),
    Store(u32),
    /// A tool, model or memory itself, or the content of a file.
    Resource(u32),
    Agent(u32),
    Function(u32),
    Member(u32),
    /// Takes an object, then a value below it.
    SetMember(u32),
    Index,
    List(u32),
    Object(u32),
    Not,
    Truth,
    Binary(Operator),
    /// Swaps the two topmost values.
    Swap,
    /// Copies the topmost value.
    Copy,
    Pop,
    Jump(u32),
    JumpIfFalse(u32),
    JumpIfTrue(u32),
    Call(u32),
    CallAgent(u32),
    CallMethod {
        name: u32,
        args: u32,
    },
    Return,
    /// Leaves a loop when its counter is 0, else lowers the counter.
    CountDown {
        slot: u32,
        exit: u32,
    },
    ForStart(u32),
    ForNext {
        site: u32,
        exit: u32,
    },
    Parallel(u32),
    DeclareUse(u32),
    Generate(u32),
    /// Ends the code of a context source: its value is on the stack.
    SourceEnd,
}

/// A compiled program.
#[derive(Debug, Default)]
pub(crate) struct ContextCode {
    pub ops: Vec<Op>,
    pub places: Vec<CodePlace>,
    pub constants: Vec<Json>,
    pub names: Vec<Arc<str>>,
    /// The keys of every object expression.
    pub shapes: Vec<Vec<Arc<str>>>,
    pub resources: Vec<Resource>,
    pub agents: Vec<AgentCode>,
    pub functions: Vec<FunctionCode>,
    pub uses: Vec<UseSite>,
    pub generates: Vec<GenerateSite>,
    pub loops: Vec<ForSite>,
    /// The agent that a run begins with unless it is told another.
    pub main_agent: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Resource {
    pub kind: ImportKind,
    pub name: Arc<str>,
    pub uri: Arc<str>,
    pub data: Json,
}

#[derive(Debug)]
pub(crate) struct AgentCode {
    pub name: Arc<str>,
    pub main: Option<u32>,
    pub functions: BTreeMap<Arc<str>, u32>,
}

#[derive(Debug)]
pub(crate) struct FunctionCode {
    pub agent: u32,
    pub name: Arc<str>,
    pub place: CodePlace,
    pub params: u32,
    /// Slots for parameters, locals and loops.
    pub slots: u32,
    pub address: u32,
    /// What the input must look like, when a run begins here.
    pub input: Option<ContractCode>,
}

/// A `for` or `parallel for`.
#[derive(Debug)]
pub(crate) struct ForSite {
    pub item: Arc<str>,
    /// The source text of the list.
    pub source: Arc<str>,
    pub max: u64,
    /// The first of the loop's slots: `for` keeps list, index, count and item there, `parallel
    /// for` the item alone.
    pub slot: u32,
    /// Where the body of a `parallel for` begins.
    pub body: u32,
    pub function: u32,
}

/// A `use`, plain or `one of`.
#[derive(Debug)]
pub(crate) struct UseSite {
    pub label: Option<Arc<str>>,
    /// The source that becomes visible just before this one, in the same or an outer scope.
    pub previous: Option<u32>,
    /// One for a plain `use`.
    pub candidates: Vec<CandidateCode>,
    pub choice: Option<ChoiceCode>,
}

#[derive(Debug)]
pub(crate) struct ChoiceCode {
    pub site_id: Arc<str>,
    pub selected: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct CandidateCode {
    /// Empty for a plain `use`.
    pub name: Arc<str>,
    /// Nothing for `empty`.
    pub source: Option<SourceCode>,
}

#[derive(Debug)]
pub(crate) struct SourceCode {
    pub text: Arc<str>,
    pub address: u32,
    pub budget: Option<BudgetCode>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BudgetCode {
    pub amount: f64,
    pub unit: Option<Arc<str>>,
    /// The limit in characters or tokens; 0 means none.
    pub limit: u64,
}

#[derive(Debug)]
pub(crate) struct GenerateSite {
    pub version: Version,
    pub agent: Arc<str>,
    pub model: u32,
    pub role: Arc<str>,
    pub description: Arc<str>,
    /// The last source that is visible here.
    pub last_use: Option<u32>,
    pub contract: Option<ContractCode>,
    pub options: GenerateOptions,
}

#[derive(Debug, Clone)]
pub(crate) struct GenerateOptions {
    pub max_output: Option<BudgetCode>,
    pub attempts: u64,
    pub temperature: Option<f64>,
    pub think: Json,
    pub validation: Validation,
    pub debug: Debug,
}

/// How a reply is held to its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validation {
    /// Clean texts become numbers and truth values; more fields than asked for are kept.
    Lenient,
    /// No conversion, no further fields.
    Strict,
    /// As before 0.1.4: conversion, but no further fields.
    First,
}

/// Whether prompts are shown while they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Debug {
    Shown,
    Silent,
}

#[derive(Debug)]
pub(crate) struct ContractCode {
    pub fields: Vec<FieldCode>,
    pub schema: Json,
    pub schema_text: Arc<str>,
}

#[derive(Debug)]
pub(crate) struct FieldCode {
    pub name: Arc<str>,
    pub kind: TypeExpr,
    pub place: CodePlace,
}

impl BudgetCode {
    /// Returns the budget as traces show it.
    pub fn to_json(&self) -> Json {
        let unit = self.unit.clone().map_or(Json::Null, Json::Text);
        Json::object([("amount", Json::Number(self.amount)), ("unit", unit)])
    }
}
