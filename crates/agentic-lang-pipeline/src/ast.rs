//! The syntax tree. Spans stand on every node and value; equality ignores them.

use agentic_diag::Span;
use agentic_plan::{Backend, ResolutionMode};

/// Where a piece of syntax stands. All sites are equal, so that two trees are equal when they say
/// the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct Site(pub Span);

impl PartialEq for Site {
    fn eq(&self, _: &Site) -> bool {
        true
    }
}

/// A whole source: one block or more.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineSource {
    /// Its blocks, in order.
    pub blocks: Vec<PipelineBlock>,
}

/// A pipeline with its annotations.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineBlock {
    /// Where it runs.
    pub backend: Backend,
    /// When it is resolved.
    pub mode: ResolutionMode,
    /// What it does.
    pub body: PipelineNode,
    /// The whole of it.
    pub site: Site,
    /// Its two keywords.
    pub head: Site,
}

/// A piece of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub enum PipelineNode {
    /// Two stages or more, none of which is a pipeline itself.
    Pipeline(Vec<PipelineNode>, Site),
    /// Two branches or more.
    Parallel(Vec<PipelineNode>, Site),
    /// A call.
    Call(BuiltinCall),
    /// A block inside a block.
    Nested(Box<PipelineBlock>),
}

/// A call of a builtin.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltinCall {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub name_site: Site,
    /// Values by position.
    pub positional: Vec<WrittenValue>,
    /// Values by name; nothing if there are no parentheses, which is not the same as empty ones.
    pub named: Option<Vec<NamedArgument>>,
    /// The whole of it.
    pub site: Site,
}

/// A value with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedArgument {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub name_site: Site,
    /// The value.
    pub argument: WrittenValue,
}

/// A value as written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenValue {
    /// What it is.
    pub literal: Literal,
    /// Where it stands.
    pub site: Site,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// Text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// The name of a builtin.
    Ref(String),
    /// A list.
    List(Vec<WrittenValue>),
}

impl PipelineNode {
    /// Returns the whole of it.
    pub fn span(&self) -> Span {
        match self {
            PipelineNode::Pipeline(_, site) | PipelineNode::Parallel(_, site) => site.0,
            PipelineNode::Call(call) => call.site.0,
            PipelineNode::Nested(block) => block.site.0,
        }
    }
}
