//! The syntax tree.
//!
//! Expressions live in one list in post-order, so that a subtree is a range that ends with its
//! root. Every walk over them is a loop: a sum of a hundred thousand terms needs no stack.

use agentic_diag::Span;

use crate::symbol::{Index, Symbol, Symbols};
use crate::types::{TypeId, Types};

/// An expression: the place of its root in [`Ast::exprs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExprId(pub u32);

/// One node of an expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    /// The first node of the subtree that ends here.
    pub first: u32,
    /// The first token of the node; of an operation, its operator.
    pub start: u32,
    pub end: u32,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExprKind {
    Text(Symbol),
    /// A number by its digits.
    Number(Symbol),
    Bool(bool),
    Null,
    /// A name and the fields behind it.
    Ref {
        head: Symbol,
        fields: Names,
    },
    /// An object; its values are the subtrees before it.
    Object(Names),
    /// A list of that many subtrees before it.
    List(u32),
    Add,
    Equal,
    NotEqual,
}

/// A range of [`Ast::names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Names {
    pub start: u32,
    pub count: u32,
}

/// A name where it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    pub symbol: Symbol,
    pub start: u32,
    pub end: u32,
}

/// A whole file.
#[derive(Debug, Clone)]
pub(crate) struct Ast {
    pub symbols: Symbols,
    pub types: Types,
    pub exprs: Vec<Expr>,
    pub names: Vec<Symbol>,
    pub agents: Vec<Agent>,
    pub tools: Vec<Tool>,
    pub tasks: Vec<Task>,
    /// Written pipelines, then those that workflows become.
    pub pipelines: Vec<Pipeline>,
    pub workflows: Vec<Workflow>,
    pub aliases: Vec<Alias>,
    pub enums: Vec<Enum>,
    pub tests: Vec<Test>,
    pub by_name: ByName,
    pub extensions: Extensions,
}

/// Whether a file may use what the original language did not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extensions {
    Off,
    On,
}

/// Where declarations are found.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByName {
    pub agents: Index,
    pub tools: Index,
    pub tasks: Index,
    pub pipelines: Index,
    pub workflows: Index,
    pub aliases: Index,
    pub enums: Index,
}

#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub name: Name,
    pub model: Option<Symbol>,
    pub tools: Vec<Name>,
}

#[derive(Debug, Clone)]
pub(crate) struct Signature {
    pub name: Name,
    pub params: Vec<Param>,
    pub result: TypeId,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Param {
    pub name: Name,
    pub declared: TypeId,
}

#[derive(Debug, Clone)]
pub(crate) struct Tool {
    pub signature: Signature,
}

#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub signature: Signature,
    pub mode: Mode,
}

/// Who performs a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Handler,
    Agent,
}

#[derive(Debug, Clone)]
pub(crate) struct Pipeline {
    pub signature: Signature,
    pub body: Block,
}

#[derive(Debug, Clone)]
pub(crate) struct Workflow {
    pub signature: Signature,
    pub steps: Vec<Step>,
    pub end: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub name: Name,
    pub declared: TypeId,
}

#[derive(Debug, Clone)]
pub(crate) struct Enum {
    pub name: Name,
    pub variants: Vec<Name>,
}

#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub name: Symbol,
    pub span: Span,
    pub body: Block,
}

/// Statements between braces; `end` is the closing one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    pub statements: Vec<Statement>,
    pub end: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub start: u32,
    pub end: u32,
    pub kind: StatementKind,
}

#[derive(Debug, Clone)]
pub(crate) enum StatementKind {
    Run(Box<Run>),
    Parallel(Box<Parallel>),
    If(Box<If>),
    IfLet(Box<IfLet>),
    While(Box<While>),
    Try(Box<Try>),
    Assert {
        condition: ExprId,
        message: Option<Symbol>,
    },
    /// A question to a human; only in files that ask for extensions.
    Approve(Box<Approve>),
    Return(ExprId),
    Break,
    Continue,
}

#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub start: u32,
    pub end: u32,
    pub target: Name,
    pub callee: Name,
    pub form: Form,
    pub args: Vec<Arg>,
    pub by: Option<Name>,
    /// The digits after `retries`.
    pub retries: Option<Symbol>,
    /// The digits after `timeout`.
    pub timeout: Option<Symbol>,
    pub on_fail: Option<OnFail>,
}

/// How a call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `run f with { a: 1 }`
    Named,
    /// `f(1)`
    Positional,
}

/// An argument; a positional one has no name until calls are resolved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arg {
    pub name: Option<Symbol>,
    pub value: ExprId,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum OnFail {
    Abort,
    Use(ExprId),
}

#[derive(Debug, Clone)]
pub(crate) struct Parallel {
    /// The digits after `max_concurrency`.
    pub limit: Option<Symbol>,
    pub branches: Vec<Run>,
}

#[derive(Debug, Clone)]
pub(crate) struct Approve {
    pub target: Name,
    pub question: ExprId,
}

#[derive(Debug, Clone)]
pub(crate) struct If {
    pub condition: ExprId,
    pub then: Block,
    pub otherwise: Option<Block>,
}

#[derive(Debug, Clone)]
pub(crate) struct IfLet {
    pub name: Name,
    pub value: ExprId,
    pub then: Block,
    pub otherwise: Option<Block>,
}

#[derive(Debug, Clone)]
pub(crate) struct While {
    pub condition: ExprId,
    pub body: Block,
}

#[derive(Debug, Clone)]
pub(crate) struct Try {
    pub body: Block,
    pub name: Name,
    pub handler: Block,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub start: u32,
    pub end: u32,
    pub kind: StepKind,
}

#[derive(Debug, Clone)]
pub(crate) enum StepKind {
    Stage { target: Name, agent: Name, task: Name, args: Vec<ExprId> },
    Review { target: Name, reviewer: Name, source: Name, reviser: Name, task: Name, rounds: Symbol },
    Return(ExprId),
}

impl Name {
    pub fn span(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl Expr {
    pub fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl Statement {
    pub fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl Run {
    pub fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl Ast {
    pub fn text(&self, symbol: Symbol) -> &str {
        self.symbols.text(symbol)
    }

    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    pub fn names(&self, names: Names) -> &[Symbol] {
        &self.names[names.start as usize..(names.start + names.count) as usize]
    }

    pub fn shown(&self, id: TypeId) -> String {
        self.types.shown(id, &self.symbols)
    }

    /// Returns the roots of the `count` subtrees that stand right before a node, in order.
    pub fn children(&self, id: ExprId, count: u32) -> Vec<ExprId> {
        let mut children = Vec::with_capacity(count as usize);
        let mut end = id.0;
        for _ in 0..count {
            children.push(ExprId(end - 1));
            end = self.exprs[end as usize - 1].first;
        }
        children.reverse();
        children
    }

    /// Finds the signature that a call means: a task, else a pipeline, else a workflow.
    pub fn callee(&self, name: Symbol) -> Option<&Signature> {
        let task = self.by_name.tasks.get(name).map(|at| &self.tasks[at].signature);
        let pipeline = || self.by_name.pipelines.get(name).map(|at| &self.pipelines[at].signature);
        let workflow = || self.by_name.workflows.get(name).map(|at| &self.workflows[at].signature);
        task.or_else(pipeline).or_else(workflow)
    }
}
