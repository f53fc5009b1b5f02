//! Faults of form: what ends the reading of a text.

use agentic_diag::{Diagnostic, Span};

/// The code of every finding about the form of a text.
const SYNTAX: &str = "SYNTAX";

/// The first place at which a text is not of the language. Small, because every step of a parser
/// returns one or none.
#[derive(Debug)]
pub(crate) struct SyntaxFault(Box<Diagnostic>);

impl SyntaxFault {
    pub fn new(span: Span, message: impl Into<String>) -> SyntaxFault {
        SyntaxFault(Box::new(Diagnostic::error(SYNTAX, span, message)))
    }

    /// Adds why it is wrong.
    pub fn because(self, reason: impl Into<String>) -> SyntaxFault {
        SyntaxFault(Box::new(self.0.because(reason)))
    }

    /// Adds a place that explains it.
    pub fn see(self, span: Span, text: impl Into<String>) -> SyntaxFault {
        SyntaxFault(Box::new(self.0.see(span, text)))
    }

    /// Adds what to do next.
    pub fn hint(self, hint: impl Into<String>) -> SyntaxFault {
        SyntaxFault(Box::new(self.0.hint(hint)))
    }

    pub fn into_diagnostic(self) -> Box<Diagnostic> {
        self.0
    }
}
