//! Findings about source texts: a stable code, a place, a reason and a hint.
//!
//! Every language of the product reports through [`Diagnostic`], so that they all look alike: an
//! excerpt of the source, a caret under the place, why it is wrong, and what to do next.

mod diagnostic;
mod excerpt;
mod source;
mod suggest;
mod words;

pub use crate::diagnostic::{Diagnostic, DiagnosticLabel, DiagnosticStyle, Severity};
pub use crate::source::{LineColumn, SourceText, Span};
pub use crate::suggest::nearest;
