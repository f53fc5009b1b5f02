//! What a text says, before names are looked up.

use std::collections::BTreeSet;

use agentic_diag::Span;

use crate::value::{QueryType, QueryValue};

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TermComparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// An operation of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// What an aggregate makes of its matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AggregateKind {
    Count,
    CountDistinct,
    Sum,
    Min,
    Max,
    Average,
    List,
}

/// A whole text.
#[derive(Debug, Default)]
pub(crate) struct QueryProgram {
    pub uses: Vec<NameText>,
    pub params: Vec<ParamText>,
    pub rules: Vec<RuleText>,
    pub queries: Vec<QueryText>,
    pub unread: UnreadClauses,
}

/// What clauses that cannot be read would have said: that it is missing follows from their findings.
#[derive(Debug, Default)]
pub(crate) struct UnreadClauses {
    /// Names of the predicates that they would define.
    pub heads: BTreeSet<String>,
    /// Names of the parameters that they would declare.
    pub params: BTreeSet<String>,
    /// Whether one would use a rule file, or so much is unread that anything may stand there.
    pub has_use: bool,
    /// Whether one would ask something.
    pub has_query: bool,
}

/// A name and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct NameText {
    pub name: String,
    pub span: Span,
}

/// `param $name: type = literal.`
#[derive(Debug)]
pub(crate) struct ParamText {
    pub name: NameText,
    pub kind: QueryType,
    pub value: Option<(LiteralText, Span)>,
}

/// A rule, or a fact when its body is empty.
#[derive(Debug)]
pub(crate) struct RuleText {
    pub head: AtomText,
    pub body: Vec<GoalText>,
    pub span: Span,
}

/// A query.
#[derive(Debug)]
pub(crate) struct QueryText {
    pub is_why: bool,
    /// The columns, where they are listed.
    pub columns: Option<Vec<NameText>>,
    pub body: Vec<GoalText>,
    pub order: Vec<OrderText>,
    pub limit: Option<u64>,
    pub offset: Option<u64>,
    pub span: Span,
}

/// A key of `order by`.
#[derive(Debug)]
pub(crate) struct OrderText {
    pub name: NameText,
    pub direction: OrderDirection,
}

/// Which way rows are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderDirection {
    Ascending,
    Descending,
}

/// A goal of a body.
#[derive(Debug)]
pub(crate) struct GoalText {
    pub kind: GoalKind,
    pub span: Span,
}

/// What a goal asks.
#[derive(Debug)]
pub(crate) enum GoalKind {
    Positive(AtomText),
    Negative(AtomText),
    Compare(TermComparison, TermText, TermText),
    Aggregate(AggregateText),
}

/// `target = kind { term : body }`.
#[derive(Debug)]
pub(crate) struct AggregateText {
    pub target: NameText,
    pub kind: AggregateKind,
    pub term: Option<TermText>,
    pub body: Vec<GoalText>,
}

/// A predicate with arguments.
#[derive(Debug)]
pub(crate) struct AtomText {
    pub name: NameText,
    pub args: Vec<ArgText>,
    pub span: Span,
}

/// An argument, by place or by name.
#[derive(Debug)]
pub(crate) struct ArgText {
    pub name: Option<NameText>,
    pub term: TermText,
}

/// A term.
#[derive(Debug, Clone)]
pub(crate) struct TermText {
    pub kind: TermKind,
    pub span: Span,
}

/// What a term is.
#[derive(Debug, Clone)]
pub(crate) enum TermKind {
    Literal(LiteralText),
    Variable(String),
    Blank,
    Param(String),
    Negate(Box<TermText>),
    Binary(Arithmetic, Box<TermText>, Box<TermText>),
    Call(NameText, Vec<TermText>),
}

/// A literal.
#[derive(Debug, Clone)]
pub(crate) enum LiteralText {
    Value(QueryType, QueryValue),
    Null,
    Now,
    /// The text behind `#`.
    Id(String),
}

impl TermComparison {
    /// Returns the sign.
    pub fn sign(self) -> &'static str {
        match self {
            TermComparison::Equal => "=",
            TermComparison::NotEqual => "!=",
            TermComparison::Less => "<",
            TermComparison::AtMost => "<=",
            TermComparison::Greater => ">",
            TermComparison::AtLeast => ">=",
        }
    }
}

impl Arithmetic {
    /// Returns the sign.
    pub fn sign(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Modulo => "mod",
        }
    }
}

impl AggregateKind {
    /// Finds the aggregate of a word; `count distinct` is told by its second word.
    pub fn parse(word: &str) -> Option<AggregateKind> {
        match word {
            "count" => Some(AggregateKind::Count),
            "sum" => Some(AggregateKind::Sum),
            "min" => Some(AggregateKind::Min),
            "max" => Some(AggregateKind::Max),
            "avg" => Some(AggregateKind::Average),
            "list" => Some(AggregateKind::List),
            _ => None,
        }
    }

    /// Returns the words for it.
    pub fn name(self) -> &'static str {
        match self {
            AggregateKind::Count => "count",
            AggregateKind::CountDistinct => "count distinct",
            AggregateKind::Sum => "sum",
            AggregateKind::Min => "min",
            AggregateKind::Max => "max",
            AggregateKind::Average => "avg",
            AggregateKind::List => "list",
        }
    }
}
