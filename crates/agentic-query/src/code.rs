//! Findings: stable codes, and the list that all phases add to.

use agentic_diag::{Diagnostic, Severity, Span};

/// How many findings are kept; a hostile text has more than anyone reads.
pub const FINDINGS_MAX: usize = 100;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $code;)*
    };
}

codes! {
    /// A character that starts no token.
    BAD_CHARACTER = "Q01";
    /// A text literal without an end, or with an escape that does not exist.
    BAD_TEXT = "Q02";
    /// A number, a duration or an instant that does not exist or has no room.
    BAD_NUMBER = "Q03";
    /// Something else is expected here.
    EXPECTED = "Q04";
    /// Terms or braces nest too deep.
    NESTED_TOO_DEEP = "Q05";
    /// The text, its rules, or the goals of one rule are too many.
    TOO_LARGE = "Q06";
    /// A word that is reserved.
    RESERVED = "Q07";
    /// No predicate has this name.
    UNKNOWN_PREDICATE = "Q10";
    /// The predicate has no such column.
    UNKNOWN_COLUMN = "Q11";
    /// Too few or too many arguments.
    WRONG_ARITY = "Q12";
    /// Arguments by place and by name in one atom, or one given twice.
    MIXED_ARGUMENTS = "Q13";
    /// A rule defines what is a fact, a test or a function, or what another file defines.
    DEFINES_FACT = "Q14";
    /// No function has this name.
    UNKNOWN_FUNCTION = "Q15";
    /// An expression, pointer or parameter that is not what it has to be.
    BAD_LITERAL = "Q16";
    /// Two types meet in one place.
    TYPES_DISAGREE = "Q20";
    /// An operation that these types do not have.
    BAD_OPERATION = "Q21";
    /// A variable that nothing binds.
    UNSAFE = "Q30";
    /// Recursion through a negation or an aggregate.
    UNSTRATIFIED = "Q31";
    /// A variable or a rule that nothing uses.
    UNUSED = "Q32";
    /// A parameter that is not declared, or declared twice.
    UNKNOWN_PARAMETER = "Q40";
    /// A parameter without a value, or with one of another type.
    PARAMETER_VALUE = "Q41";
    /// An id that nothing has, or that several have.
    UNKNOWN_ID = "Q42";
    /// A rule file that does not exist.
    UNKNOWN_RULES = "Q43";
    /// A text without a query.
    NO_QUERY = "Q44";
}

/// A finding, and the file that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryFinding {
    /// The file's number: 0 is the text itself, others follow in the order in which they are used.
    pub file: usize,
    /// What was found.
    pub diagnostic: Diagnostic,
}

/// Where something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct QueryPlace {
    pub file: usize,
    pub span: Span,
}

/// All findings of one compilation.
#[derive(Debug, Default)]
pub(crate) struct QueryFindings {
    list: Vec<QueryFinding>,
}

impl QueryFindings {
    /// Adds a finding, unless there are more than anyone reads; an error takes the place of a warning.
    pub fn add(&mut self, file: usize, diagnostic: Diagnostic) {
        let finding = QueryFinding { file, diagnostic };
        if self.list.contains(&finding) {
            return;
        }
        let is_warning = |known: &QueryFinding| known.diagnostic.severity != Severity::Error;
        if self.list.len() < FINDINGS_MAX {
            self.list.push(finding);
        } else if let Some(at) = self.list.iter().rposition(is_warning)
            && !is_warning(&finding)
        {
            self.list[at] = finding;
        }
    }

    /// Adds an error at a place.
    pub fn error(
        &mut self,
        code: &'static str,
        place: QueryPlace,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.add(place.file, Diagnostic::error(code, place.span, message).hint(hint));
    }

    /// Says whether the program is refused.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|finding| finding.diagnostic.severity == Severity::Error)
    }

    /// Returns the findings by file and place.
    pub fn sorted(mut self) -> Vec<QueryFinding> {
        self.list.sort_by_key(|finding| {
            let span = finding.diagnostic.span;
            (finding.file, span.start, span.end, finding.diagnostic.code)
        });
        self.list
    }
}
