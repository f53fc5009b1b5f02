//! The tree of a program.
//!
//! Names are spans into the source; expressions live in one arena per file, so that a tree of any
//! shape is freed without recursion. [`Expr::height`] bounds every recursive walk.

use agentic_diag::{Source, Span};

use crate::dialect::Dialect;
use crate::lexer;

/// An expression of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExprId(pub u32);

/// One file: its text and its tree.
#[derive(Debug)]
pub(crate) struct File {
    pub source: Source,
    pub dialect: Dialect,
    pub program: Program,
}

#[derive(Debug, Default)]
pub(crate) struct Program {
    pub imports: Vec<Import>,
    pub agents: Vec<Agent>,
    pub exprs: Vec<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImportKind {
    Tool,
    Llm,
    File,
    Agent,
    Memory,
}

#[derive(Debug)]
pub(crate) struct Import {
    pub span: Span,
    pub kind: ImportKind,
    pub name: Span,
    pub uri: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Main,
    Plain,
}

#[derive(Debug)]
pub(crate) struct Agent {
    pub span: Span,
    pub entry: Entry,
    pub name: Option<Span>,
    pub config: Vec<Config>,
    pub uses: Vec<Statement>,
    pub functions: Vec<Function>,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub span: Span,
    pub entry: Entry,
    pub name: Option<Span>,
    pub params: Vec<Param>,
    pub body: Block,
}

#[derive(Debug)]
pub(crate) struct Param {
    pub name: Span,
    pub contract: Option<Contract>,
}

#[derive(Debug)]
pub(crate) struct Contract {
    pub fields: Vec<Field>,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub name: Span,
    pub kind: Type,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Text,
    Number,
    Boolean,
    Json,
    List(Option<Box<Type>>),
}

#[derive(Debug)]
pub(crate) struct Block {
    pub statements: Vec<Statement>,
}

#[derive(Debug)]
pub(crate) enum Statement {
    Config(Config),
    Use(Use),
    Choice(Choice),
    Return { value: ExprId },
    Repeat { count: u64, body: Block },
    For(For),
    Loop { until: ExprId, max: u64, body: Block },
    If { condition: ExprId, then: Block, otherwise: Option<Block> },
    Expr(ExprId),
    Assign { target: ExprId, operator: AssignOperator, value: ExprId },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssignOperator {
    Set,
    Add,
    Subtract,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigKey {
    Model,
    Role,
    Description,
}

#[derive(Debug)]
pub(crate) struct Config {
    pub key: ConfigKey,
    pub value: ExprId,
}

#[derive(Debug)]
pub(crate) struct Use {
    pub span: Span,
    pub value: ExprId,
    pub budget: Option<Budget>,
    pub label: Option<Label>,
}

/// What heads a context item; several bare words where the version allows them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label {
    pub span: Span,
}

#[derive(Debug)]
pub(crate) struct Choice {
    pub span: Span,
    pub candidates: Vec<Candidate>,
    pub label: Label,
}

#[derive(Debug)]
pub(crate) struct Candidate {
    pub span: Span,
    pub name: Span,
    /// Nothing for `empty`.
    pub value: Option<ExprId>,
    pub budget: Option<Budget>,
    pub mark: Mark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Selected,
    Unmarked,
}

/// An amount with an optional unit, such as `2k`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Budget {
    pub span: Span,
    pub amount: f64,
    pub unit: Option<String>,
}

#[derive(Debug)]
pub(crate) struct For {
    pub span: Span,
    pub item: Span,
    pub list: ExprId,
    pub max: u64,
    pub body: Block,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub span: Span,
    /// One more than the height of the highest part.
    pub height: u16,
    pub kind: ExprKind,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    Text,
    Number,
    True,
    False,
    None,
    Name,
    Object(Vec<(Span, ExprId)>),
    List(Vec<ExprId>),
    Generate(Box<Generate>),
    Parallel(Box<For>),
    Member { object: ExprId, name: Span },
    Index { list: ExprId, index: ExprId },
    Call { callee: ExprId, args: Vec<ExprId> },
    Not(ExprId),
    Binary { operator: Operator, left: ExprId, right: ExprId },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Debug)]
pub(crate) struct Generate {
    /// The braces of the options.
    pub options_span: Span,
    pub options: Vec<GenerateOption>,
    pub contract: Option<Contract>,
}

#[derive(Debug)]
pub(crate) struct GenerateOption {
    pub key: Span,
    pub value: OptionValue,
}

#[derive(Debug)]
pub(crate) enum OptionValue {
    Expr(ExprId),
    Budget(Budget),
}

/// The name of a main agent that has none of its own.
pub(crate) const ANONYMOUS_AGENT: &str = "__main_agent";
/// The name of a main function that has none of its own.
pub(crate) const ANONYMOUS_FUNCTION: &str = "__main";

impl File {
    pub fn text(&self, span: Span) -> &str {
        &self.source.text()[span.start..span.end]
    }

    /// Returns a name, key or label, without quotation marks if it has them.
    pub fn name(&self, span: Span) -> std::borrow::Cow<'_, str> {
        let raw = self.text(span);
        if raw.starts_with(['"', '\'']) { lexer::unquote(raw).into() } else { raw.into() }
    }

    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.program.exprs[id.0 as usize]
    }

    pub fn agent_name(&self, agent: &Agent) -> &str {
        agent.name.map_or(ANONYMOUS_AGENT, |span| self.text(span))
    }

    pub fn function_name(&self, function: &Function) -> &str {
        function.name.map_or(ANONYMOUS_FUNCTION, |span| self.text(span))
    }
}

impl ImportKind {
    pub fn word(self) -> &'static str {
        match self {
            ImportKind::Tool => "tool",
            ImportKind::Llm => "llm",
            ImportKind::File => "file",
            ImportKind::Agent => "agent",
            ImportKind::Memory => "memory",
        }
    }
}

impl ConfigKey {
    pub fn word(self) -> &'static str {
        match self {
            ConfigKey::Model => "model",
            ConfigKey::Role => "role",
            ConfigKey::Description => "description",
        }
    }
}

impl Operator {
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Or => "or",
            Operator::And => "and",
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterEqual => ">=",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
        }
    }
}

impl Budget {
    /// Returns the limit in characters; 0 means no limit.
    pub fn characters(&self) -> u64 {
        let factor = if self.unit.as_deref() == Some("k") { 1000.0 } else { 1.0 };
        (self.amount * factor).floor() as u64
    }
}
