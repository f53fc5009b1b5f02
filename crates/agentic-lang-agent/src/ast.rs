//! The syntax tree.
//!
//! Expressions live in one list in post-order, so that a subtree is a range that ends with its
//! root. Every walk over them is a loop: a sum of a hundred thousand terms needs no stack.

use agentic_diag::Span;

use crate::symbol::{Symbol, SymbolIndex, Symbols};
use crate::types::{TypeId, Types};

/// An expression: the place of its root in [`Ast::exprs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgentExprId(pub u32);

/// One node of an expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentExpr {
    pub kind: AgentExprKind,
    /// The first node of the subtree that ends here.
    pub first: u32,
    /// The first token of the node; of an operation, its operator.
    pub start: u32,
    pub end: u32,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentExprKind {
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
pub(crate) struct WrittenName {
    pub symbol: Symbol,
    pub start: u32,
    pub end: u32,
}

/// A whole file.
#[derive(Debug, Clone)]
pub(crate) struct Ast {
    pub symbols: Symbols,
    pub types: Types,
    pub exprs: Vec<AgentExpr>,
    pub names: Vec<Symbol>,
    pub agents: Vec<AgentItem>,
    pub tools: Vec<ToolItem>,
    pub tasks: Vec<TaskItem>,
    /// Written pipelines, then those that workflows become.
    pub pipelines: Vec<Pipeline>,
    pub workflows: Vec<Workflow>,
    pub aliases: Vec<Alias>,
    pub enums: Vec<Enum>,
    pub tests: Vec<TestItem>,
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
    pub agents: SymbolIndex,
    pub tools: SymbolIndex,
    pub tasks: SymbolIndex,
    pub pipelines: SymbolIndex,
    pub workflows: SymbolIndex,
    pub aliases: SymbolIndex,
    pub enums: SymbolIndex,
}

#[derive(Debug, Clone)]
pub(crate) struct AgentItem {
    pub name: WrittenName,
    pub model: Option<Symbol>,
    pub tools: Vec<WrittenName>,
}

#[derive(Debug, Clone)]
pub(crate) struct TaskSignature {
    pub name: WrittenName,
    pub params: Vec<TaskParameter>,
    pub result: TypeId,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskParameter {
    pub name: WrittenName,
    pub declared: TypeId,
}

#[derive(Debug, Clone)]
pub(crate) struct ToolItem {
    pub signature: TaskSignature,
}

#[derive(Debug, Clone)]
pub(crate) struct TaskItem {
    pub signature: TaskSignature,
    pub mode: TaskMode,
}

/// Who performs a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskMode {
    Handler,
    Agent,
}

#[derive(Debug, Clone)]
pub(crate) struct Pipeline {
    pub signature: TaskSignature,
    pub body: BlockExpr,
}

#[derive(Debug, Clone)]
pub(crate) struct Workflow {
    pub signature: TaskSignature,
    pub steps: Vec<PipelineStep>,
    pub end: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub name: WrittenName,
    pub declared: TypeId,
}

#[derive(Debug, Clone)]
pub(crate) struct Enum {
    pub name: WrittenName,
    pub variants: Vec<WrittenName>,
}

#[derive(Debug, Clone)]
pub(crate) struct TestItem {
    pub name: Symbol,
    pub span: Span,
    pub body: BlockExpr,
}

/// Statements between braces; `end` is the closing one.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockExpr {
    pub statements: Vec<AgentStatement>,
    pub end: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct AgentStatement {
    pub start: u32,
    pub end: u32,
    pub kind: StatementKind,
}

#[derive(Debug, Clone)]
pub(crate) enum StatementKind {
    Run(Box<RunStatement>),
    Parallel(Box<ParallelStatement>),
    If(Box<If>),
    IfLet(Box<IfLet>),
    While(Box<While>),
    Try(Box<Try>),
    Assert {
        condition: AgentExprId,
        message: Option<Symbol>,
    },
    /// A question to a human; only in files that ask for extensions.
    Approve(Box<Approve>),
    Return(AgentExprId),
    Break,
    Continue,
}

#[derive(Debug, Clone)]
pub(crate) struct RunStatement {
    pub start: u32,
    pub end: u32,
    pub target: WrittenName,
    pub callee: WrittenName,
    pub form: CallForm,
    pub args: Vec<Arg>,
    pub by: Option<WrittenName>,
    /// The digits after `retries`.
    pub retries: Option<Symbol>,
    /// The digits after `timeout`.
    pub timeout: Option<Symbol>,
    pub on_fail: Option<OnFail>,
}

/// How a call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallForm {
    /// `run f with { a: 1 }`
    Named,
    /// `f(1)`
    Positional,
}

/// An argument; a positional one has no name until calls are resolved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arg {
    pub name: Option<Symbol>,
    pub value: AgentExprId,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum OnFail {
    Abort,
    Use(AgentExprId),
}

#[derive(Debug, Clone)]
pub(crate) struct ParallelStatement {
    /// The digits after `max_concurrency`.
    pub limit: Option<Symbol>,
    pub branches: Vec<RunStatement>,
}

#[derive(Debug, Clone)]
pub(crate) struct Approve {
    pub target: WrittenName,
    pub question: AgentExprId,
}

#[derive(Debug, Clone)]
pub(crate) struct If {
    pub condition: AgentExprId,
    pub then: BlockExpr,
    pub otherwise: Option<BlockExpr>,
}

#[derive(Debug, Clone)]
pub(crate) struct IfLet {
    pub name: WrittenName,
    pub value: AgentExprId,
    pub then: BlockExpr,
    pub otherwise: Option<BlockExpr>,
}

#[derive(Debug, Clone)]
pub(crate) struct While {
    pub condition: AgentExprId,
    pub body: BlockExpr,
}

#[derive(Debug, Clone)]
pub(crate) struct Try {
    pub body: BlockExpr,
    pub name: WrittenName,
    pub handler: BlockExpr,
}

#[derive(Debug, Clone)]
pub(crate) struct PipelineStep {
    pub start: u32,
    pub end: u32,
    pub kind: StepKind,
}

#[derive(Debug, Clone)]
pub(crate) enum StepKind {
    Stage {
        target: WrittenName,
        agent: WrittenName,
        task: WrittenName,
        args: Vec<AgentExprId>,
    },
    Review {
        target: WrittenName,
        reviewer: WrittenName,
        source: WrittenName,
        reviser: WrittenName,
        task: WrittenName,
        rounds: Symbol,
    },
    Return(AgentExprId),
}

impl WrittenName {
    pub fn span(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl AgentExpr {
    pub fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl AgentStatement {
    pub fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl RunStatement {
    pub fn span(&self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

impl Ast {
    pub fn text(&self, symbol: Symbol) -> &str {
        self.symbols.text(symbol)
    }

    pub fn expr(&self, id: AgentExprId) -> &AgentExpr {
        &self.exprs[id.0 as usize]
    }

    pub fn names(&self, names: Names) -> &[Symbol] {
        &self.names[names.start as usize..(names.start + names.count) as usize]
    }

    pub fn shown(&self, id: TypeId) -> String {
        self.types.shown(id, &self.symbols)
    }

    /// Returns the roots of the `count` subtrees that stand right before a node, in order.
    pub fn children(&self, id: AgentExprId, count: u32) -> Vec<AgentExprId> {
        let mut children = Vec::with_capacity(count as usize);
        let mut end = id.0;
        for _ in 0..count {
            children.push(AgentExprId(end - 1));
            end = self.exprs[end as usize - 1].first;
        }
        children.reverse();
        children
    }

    /// Finds the signature that a call means: a task, else a pipeline, else a workflow.
    pub fn callee(&self, name: Symbol) -> Option<&TaskSignature> {
        let task = self.by_name.tasks.get(name).map(|at| &self.tasks[at].signature);
        let pipeline = || self.by_name.pipelines.get(name).map(|at| &self.pipelines[at].signature);
        let workflow = || self.by_name.workflows.get(name).map(|at| &self.workflows[at].signature);
        task.or_else(pipeline).or_else(workflow)
    }
}
