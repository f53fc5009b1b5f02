//! Findings of all phases: one shape, stable kinds and codes.

use agentic_diag::{Diagnostic, DiagnosticStyle, SourceText, Span};
use agentic_model::{Map, Value};
use agentic_plan::{Backend, PlanErrorKind};

use crate::locator::Locator;

/// How many findings a rendering shows in full; further ones are counted.
pub const RENDERED_MAX: usize = 20;
/// How many characters of a name are shown in a message.
const SHOWN_CHARS_MAX: usize = 60;

/// What a phase reports instead of a result: one finding or more, in source order.
pub type PipelineFindings = Vec<PipelineFinding>;

/// A phase of the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PhaseName {
    /// Text to syntax.
    Parse,
    /// Names to agents.
    Resolve,
    /// Nodes to a plan.
    Validate,
}

/// What sort of finding. Names and codes never change their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// A character that begins no token.
    UnexpectedChar,
    /// A number that is malformed or does not fit.
    BadNumber,
    /// An escape that does not exist.
    BadEscape,
    /// A string without an end.
    UnterminatedString,
    /// A source without a block.
    EmptyScript,
    /// Parentheses without a stage.
    EmptyGroup,
    /// The source ends too early.
    UnexpectedEof,
    /// A reserved word where a name is expected.
    ReservedWord,
    /// A token that cannot stand here.
    UnexpectedToken,
    /// Groups or lists nest too deep.
    TooDeep,
    /// The source is too long.
    TooLarge,
    /// A call of a name that nobody registered.
    UnknownBuiltin,
    /// A builtin that does not run on the backend of its block.
    BackendUnsupported,
    /// Too few or too many positional arguments.
    Arity,
    /// A named argument that the builtin does not have.
    UnknownArg,
    /// An argument that is given twice.
    DuplicateArg,
    /// A required argument that is missing.
    MissingArg,
    /// A value of the wrong type.
    ArgType,
    /// A value outside its range or choices.
    ArgValue,
    /// A reference to a name that nobody registered.
    UnknownRef,
    /// A durable block inside one that is not.
    NestedBackend,
    /// A stage that takes something else than the stage before gives.
    TypeMismatch,
    /// The plan of a block is not valid.
    Plan(PlanErrorKind),
}

/// One finding.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineFinding {
    /// What sort.
    pub kind: FindingKind,
    /// Where, why and what to do.
    pub diagnostic: Diagnostic,
    /// What could have stood there.
    pub expected: Vec<String>,
    /// The name that it is about.
    pub name: Option<String>,
    /// The parameter that it is about.
    pub param: Option<String>,
    /// The backend that it is about.
    pub backend: Option<Backend>,
}

impl PhaseName {
    /// Returns the name as programs see it.
    pub fn as_str(self) -> &'static str {
        match self {
            PhaseName::Parse => "parse",
            PhaseName::Resolve => "resolve",
            PhaseName::Validate => "validate",
        }
    }
}

impl FindingKind {
    /// Returns phase, code and name.
    fn facts(self) -> (PhaseName, &'static str, &'static str) {
        use PhaseName::{Parse, Resolve, Validate};
        match self {
            FindingKind::UnexpectedChar => (Parse, "P0101", "UnexpectedChar"),
            FindingKind::BadNumber => (Parse, "P0102", "BadNumber"),
            FindingKind::BadEscape => (Parse, "P0103", "BadEscape"),
            FindingKind::UnterminatedString => (Parse, "P0104", "UnterminatedString"),
            FindingKind::EmptyScript => (Parse, "P0105", "EmptyScript"),
            FindingKind::EmptyGroup => (Parse, "P0106", "EmptyGroup"),
            FindingKind::UnexpectedEof => (Parse, "P0107", "UnexpectedEof"),
            FindingKind::ReservedWord => (Parse, "P0108", "ReservedWord"),
            FindingKind::UnexpectedToken => (Parse, "P0109", "UnexpectedToken"),
            FindingKind::TooDeep => (Parse, "P0110", "TooDeep"),
            FindingKind::TooLarge => (Parse, "P0111", "TooLarge"),
            FindingKind::UnknownBuiltin => (Resolve, "P0201", "UnknownBuiltin"),
            FindingKind::BackendUnsupported => (Resolve, "P0202", "BackendUnsupported"),
            FindingKind::Arity => (Resolve, "P0203", "Arity"),
            FindingKind::UnknownArg => (Resolve, "P0204", "UnknownArg"),
            FindingKind::DuplicateArg => (Resolve, "P0205", "DuplicateArg"),
            FindingKind::MissingArg => (Resolve, "P0206", "MissingArg"),
            FindingKind::ArgType => (Resolve, "P0207", "ArgType"),
            FindingKind::ArgValue => (Resolve, "P0208", "ArgValue"),
            FindingKind::UnknownRef => (Resolve, "P0209", "UnknownRef"),
            FindingKind::NestedBackend => (Resolve, "P0210", "NestedBackend"),
            FindingKind::TypeMismatch => (Resolve, "P0211", "TypeMismatch"),
            FindingKind::Plan(kind) => (Validate, plan_code(kind), kind.as_str()),
        }
    }

    /// Returns the phase that reports it.
    pub fn phase(self) -> PhaseName {
        self.facts().0
    }

    /// Returns the code, such as `P0101`.
    pub fn code(self) -> &'static str {
        self.facts().1
    }

    /// Returns the name as programs see it, such as `UnexpectedChar`.
    pub fn as_str(self) -> &'static str {
        self.facts().2
    }
}

fn plan_code(kind: PlanErrorKind) -> &'static str {
    match kind {
        PlanErrorKind::Shape => "P0301",
        PlanErrorKind::Version => "P0302",
        PlanErrorKind::Empty => "P0303",
        PlanErrorKind::NodeId => "P0304",
        PlanErrorKind::DuplicateId => "P0305",
        PlanErrorKind::Kind => "P0306",
        PlanErrorKind::NoActivity => "P0307",
        PlanErrorKind::JoinArity => "P0308",
        PlanErrorKind::DuplicateEdge => "P0309",
        PlanErrorKind::FanIn => "P0310",
        PlanErrorKind::UnknownNode => "P0311",
        PlanErrorKind::Cycle => "P0312",
        PlanErrorKind::Exit => "P0313",
        PlanErrorKind::Entry => "P0314",
        PlanErrorKind::Orphan => "P0315",
        PlanErrorKind::TooLarge => "P0316",
    }
}

impl PipelineFinding {
    /// Makes a finding without further facts.
    pub(crate) fn new(
        kind: FindingKind,
        span: Span,
        message: impl Into<String>,
    ) -> PipelineFinding {
        PipelineFinding {
            kind,
            diagnostic: Diagnostic::error(kind.code(), span, message),
            expected: Vec::new(),
            name: None,
            param: None,
            backend: None,
        }
    }

    pub(crate) fn because(mut self, reason: impl Into<String>) -> PipelineFinding {
        self.diagnostic = self.diagnostic.because(reason);
        self
    }

    pub(crate) fn see(mut self, span: Span, text: impl Into<String>) -> PipelineFinding {
        self.diagnostic = self.diagnostic.see(span, text);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> PipelineFinding {
        self.diagnostic = self.diagnostic.hint(hint);
        self
    }

    pub(crate) fn expecting(mut self, expected: &[&str]) -> PipelineFinding {
        self.expected = expected.iter().map(|text| (*text).to_owned()).collect();
        self
    }

    pub(crate) fn about(mut self, name: &str) -> PipelineFinding {
        self.name = Some(shown(name));
        self
    }

    pub(crate) fn of_param(mut self, param: &str) -> PipelineFinding {
        self.param = Some(param.to_owned());
        self
    }

    pub(crate) fn on(mut self, backend: Backend) -> PipelineFinding {
        self.backend = Some(backend);
        self
    }

    /// Returns where it is.
    pub fn span(&self) -> Span {
        self.diagnostic.span
    }
}

/// Returns findings as data, one map each: the lines of `--diagnostics json`.
pub fn findings_to_values(source: &SourceText, findings: &[PipelineFinding]) -> Vec<Value> {
    let locator = Locator::new(source.text());
    findings.iter().map(|finding| to_value(source.name(), &locator, finding)).collect()
}

fn to_value(file: &str, locator: &Locator<'_>, finding: &PipelineFinding) -> Value {
    let place = locator.place(finding.span());
    let number = |number: u32| Value::Int(i64::from(number));
    let mut map = Map::from([
        ("phase".to_owned(), Value::text(finding.kind.phase().as_str())),
        ("kind".to_owned(), Value::text(finding.kind.as_str())),
        ("code".to_owned(), Value::text(finding.kind.code())),
        ("file".to_owned(), Value::text(file)),
        ("line".to_owned(), number(place.line)),
        ("col".to_owned(), number(place.column)),
        ("end_line".to_owned(), number(place.end_line)),
        ("end_col".to_owned(), number(place.end_column)),
        ("message".to_owned(), Value::text(&finding.diagnostic.message)),
    ]);
    if !finding.expected.is_empty() {
        let expected = finding.expected.iter().map(Value::text).collect();
        map.insert("expected".to_owned(), Value::List(expected));
    }
    let backend = finding.backend.map(Backend::as_str);
    let hint = Some(finding.diagnostic.hint.as_str()).filter(|hint| !hint.is_empty());
    let texts = [
        ("name", finding.name.as_deref()),
        ("param", finding.param.as_deref()),
        ("backend", backend),
        ("hint", hint),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            map.insert(key.to_owned(), Value::text(text));
        }
    }
    Value::Map(map)
}

/// Renders findings with excerpt, caret, reason and hint. Beyond [`RENDERED_MAX`] they are only
/// counted.
pub fn render_findings(
    source: &SourceText,
    findings: &[PipelineFinding],
    style: DiagnosticStyle,
) -> String {
    let shown = findings.iter().take(RENDERED_MAX);
    let mut parts: Vec<String> =
        shown.map(|finding| finding.diagnostic.render(source, style)).collect();
    if findings.len() > RENDERED_MAX {
        parts.push(format!("and {} more errors", findings.len() - RENDERED_MAX));
    }
    parts.join("\n\n")
}

/// Clips a name to what fits a message.
pub(crate) fn shown(name: &str) -> String {
    if name.chars().count() <= SHOWN_CHARS_MAX {
        return name.to_owned();
    }
    let clipped: String = name.chars().take(SHOWN_CHARS_MAX).collect();
    format!("{clipped}…")
}
