//! The tree of a program.
//!
//! Names are spans into the source; expressions live in one arena per file, so that a tree of any
//! shape is freed without recursion. [`ContextExpr::height`] bounds every recursive walk.

use agentic_diag::{SourceText, Span};

use crate::dialect::Dialect;
use crate::lexer;

/// An expression of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ContextExprId(pub u32);

/// One file: its text and its tree.
#[derive(Debug)]
pub(crate) struct ContextFile {
    pub source: SourceText,
    pub dialect: Dialect,
    pub program: ContextTree,
}

#[derive(Debug, Default)]
pub(crate) struct ContextTree {
    pub imports: Vec<Import>,
    pub agents: Vec<AgentDeclaration>,
    pub exprs: Vec<ContextExpr>,
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
pub(crate) enum EntryStatement {
    Main,
    Plain,
}

#[derive(Debug)]
pub(crate) struct AgentDeclaration {
    pub span: Span,
    pub entry: EntryStatement,
    pub name: Option<Span>,
    pub config: Vec<ConfigBlock>,
    pub uses: Vec<ContextStatement>,
    pub functions: Vec<FunctionDeclaration>,
}

#[derive(Debug)]
pub(crate) struct FunctionDeclaration {
    pub span: Span,
    pub entry: EntryStatement,
    pub name: Option<Span>,
    pub params: Vec<ContextParameter>,
    pub body: StatementBlock,
}

#[derive(Debug)]
pub(crate) struct ContextParameter {
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
    pub kind: TypeExpr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TypeExpr {
    Text,
    Number,
    Boolean,
    Json,
    List(Option<Box<TypeExpr>>),
}

#[derive(Debug)]
pub(crate) struct StatementBlock {
    pub statements: Vec<ContextStatement>,
}

#[derive(Debug)]
pub(crate) enum ContextStatement {
    Config(ConfigBlock),
    Use(UseStatement),
    Choice(ChoiceBlock),
    Return { value: ContextExprId },
    Repeat { count: u64, body: StatementBlock },
    For(For),
    Loop { until: ContextExprId, max: u64, body: StatementBlock },
    If { condition: ContextExprId, then: StatementBlock, otherwise: Option<StatementBlock> },
    Expr(ContextExprId),
    Assign { target: ContextExprId, operator: AssignOperator, value: ContextExprId },
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
pub(crate) struct ConfigBlock {
    pub key: ConfigKey,
    pub value: ContextExprId,
}

#[derive(Debug)]
pub(crate) struct UseStatement {
    pub span: Span,
    pub value: ContextExprId,
    pub budget: Option<WrittenBudget>,
    pub label: Option<ItemLabel>,
}

/// What heads a context item; several bare words where the version allows them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemLabel {
    pub span: Span,
}

#[derive(Debug)]
pub(crate) struct ChoiceBlock {
    pub span: Span,
    pub candidates: Vec<Candidate>,
    pub label: ItemLabel,
}

#[derive(Debug)]
pub(crate) struct Candidate {
    pub span: Span,
    pub name: Span,
    /// Nothing for `empty`.
    pub value: Option<ContextExprId>,
    pub budget: Option<WrittenBudget>,
    pub mark: WrittenMark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrittenMark {
    Selected,
    Unmarked,
}

/// An amount with an optional unit, such as `2k`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WrittenBudget {
    pub span: Span,
    pub amount: f64,
    pub unit: Option<String>,
}

#[derive(Debug)]
pub(crate) struct For {
    pub span: Span,
    pub item: Span,
    pub list: ContextExprId,
    pub max: u64,
    pub body: StatementBlock,
}

#[derive(Debug)]
pub(crate) struct ContextExpr {
    pub span: Span,
    /// One more than the height of the highest part.
    pub height: u16,
    pub kind: ContextExprKind,
}

#[derive(Debug)]
pub(crate) enum ContextExprKind {
    Text,
    Number,
    True,
    False,
    None,
    Name,
    Object(Vec<(Span, ContextExprId)>),
    List(Vec<ContextExprId>),
    Generate(Box<Generate>),
    Parallel(Box<For>),
    Member { object: ContextExprId, name: Span },
    Index { list: ContextExprId, index: ContextExprId },
    Call { callee: ContextExprId, args: Vec<ContextExprId> },
    Not(ContextExprId),
    Binary { operator: Operator, left: ContextExprId, right: ContextExprId },
}

/// A name, or what is appended to another expression: the links of `a.b[0](c)`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ExprLink {
    Name,
    Member { object: ContextExprId, name: Span },
    Index { list: ContextExprId },
    Call { callee: ContextExprId },
}

impl ContextExprKind {
    /// Returns the link that this is; nothing for what stands for itself.
    pub(crate) fn link(&self) -> Option<ExprLink> {
        match *self {
            ContextExprKind::Name => Some(ExprLink::Name),
            ContextExprKind::Member { object, name } => Some(ExprLink::Member { object, name }),
            ContextExprKind::Index { list, .. } => Some(ExprLink::Index { list }),
            ContextExprKind::Call { callee, .. } => Some(ExprLink::Call { callee }),
            ContextExprKind::Text
            | ContextExprKind::Number
            | ContextExprKind::True
            | ContextExprKind::False
            | ContextExprKind::None
            | ContextExprKind::Object(_)
            | ContextExprKind::List(_)
            | ContextExprKind::Generate(_)
            | ContextExprKind::Parallel(_)
            | ContextExprKind::Not(_)
            | ContextExprKind::Binary { .. } => None,
        }
    }
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
    Expr(ContextExprId),
    Budget(WrittenBudget),
}

/// The name of a main agent that has none of its own.
pub(crate) const ANONYMOUS_AGENT: &str = "__main_agent";
/// The name of a main function that has none of its own.
pub(crate) const ANONYMOUS_FUNCTION: &str = "__main";

impl ContextFile {
    pub fn text(&self, span: Span) -> &str {
        &self.source.text()[span.start..span.end]
    }

    /// Returns a name, key or label, without quotation marks if it has them.
    pub fn name(&self, span: Span) -> std::borrow::Cow<'_, str> {
        let raw = self.text(span);
        if raw.starts_with(['"', '\'']) { lexer::unquote(raw).into() } else { raw.into() }
    }

    pub fn expr(&self, id: ContextExprId) -> &ContextExpr {
        &self.program.exprs[id.0 as usize]
    }

    pub fn agent_name(&self, agent: &AgentDeclaration) -> &str {
        agent.name.map_or(ANONYMOUS_AGENT, |span| self.text(span))
    }

    pub fn function_name(&self, function: &FunctionDeclaration) -> &str {
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

impl WrittenBudget {
    /// Returns the limit in characters; 0 means no limit.
    pub fn characters(&self) -> u64 {
        let factor = if self.unit.as_deref() == Some("k") { 1000.0 } else { 1.0 };
        (self.amount * factor).floor() as u64
    }
}
