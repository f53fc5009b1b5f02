//! One finding, and how it is shown.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::source::{Source, Span};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program is refused.
    Error,
    /// The program runs, but is probably not what was meant.
    Warning,
}

/// A place that explains a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What to say there.
    pub text: String,
}

/// One finding about a source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// A code that never changes its meaning, such as `A0301`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong: lower case, no final period.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Why, said at the place itself; may be empty.
    pub reason: String,
    /// Other places that explain it.
    pub labels: Vec<Label>,
    /// What to do next; may be empty.
    pub hint: String,
}

/// Whether a rendering may use terminal colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// ANSI colours.
    Coloured,
}

impl Diagnostic {
    /// Makes an error without reason, labels or hint.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            span,
            reason: String::new(),
            labels: Vec::new(),
            hint: String::new(),
        }
    }

    /// Makes a warning without reason, labels or hint.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// Adds why it is wrong.
    pub fn because(mut self, reason: impl Into<String>) -> Diagnostic {
        self.reason = reason.into();
        self
    }

    /// Adds a place that explains it.
    pub fn see(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = hint.into();
        self
    }

    /// Shows the finding with an excerpt of the source and a caret under the place.
    pub fn render(&self, source: &Source, style: Style) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let clip = |span: Span| clip_to_text(span, source.text());
        let primary = AnnotationKind::Primary.span(clip(self.span));
        let primary =
            if self.reason.is_empty() { primary } else { primary.label(self.reason.as_str()) };
        let others = self
            .labels
            .iter()
            .map(|label| AnnotationKind::Context.span(clip(label.span)).label(label.text.as_str()));
        let snippet = Snippet::source(source.text())
            .path(source.name())
            .annotation(primary)
            .annotations(others);
        let title = level.primary_title(self.message.as_str()).id(self.code);
        let mut group = Group::with_title(title).element(snippet);
        if !self.hint.is_empty() {
            group = group.element(Level::HELP.with_name("hint").message(self.hint.as_str()));
        }
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Coloured => Renderer::styled(),
        };
        renderer.render(&[group])
    }
}

/// Moves a span onto character boundaries inside the text, so that rendering never fails.
fn clip_to_text(span: Span, text: &str) -> std::ops::Range<usize> {
    let clip = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    clip(span.start)..clip(span.end).max(clip(span.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_shows_place_reason_and_hint() {
        let source = Source::new("x.agent", "let a = 1\nlet a = 2\n");
        let text = Diagnostic::error("A0001", Span::new(14, 15), "the name `a` is taken")
            .because("defined again here")
            .see(Span::new(4, 5), "first defined here")
            .hint("choose another name")
            .render(&source, Style::Plain);
        for part in [
            "error[A0001]: the name `a` is taken",
            "x.agent:2:5",
            "^ defined again here",
            "hint: choose",
        ] {
            assert!(text.contains(part), "{part:?} in\n{text}");
        }
    }

    #[test]
    fn no_span_makes_rendering_fail() {
        let source = Source::new("x", "é");
        for span in [Span::new(1, 1), Span::new(9, 99), Span::new(0, 2)] {
            assert!(!Diagnostic::error("A1", span, "m").render(&source, Style::Plain).is_empty());
        }
    }
}
