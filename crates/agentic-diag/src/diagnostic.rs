//! One finding, and how it is shown.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use crate::excerpt::{Excerpt, is_long};
use crate::source::{SourceText, Span};
use crate::words::clipped;

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
pub struct DiagnosticLabel {
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
    pub labels: Vec<DiagnosticLabel>,
    /// What to do next; may be empty.
    pub hint: String,
}

/// Whether a rendering may use terminal colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticStyle {
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
            message: clipped(message.into()),
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
        self.reason = clipped(reason.into());
        self
    }

    /// Adds a place that explains it.
    pub fn see(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(DiagnosticLabel { span, text: clipped(text.into()) });
        self
    }

    /// Adds what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = clipped(hint.into());
        self
    }

    /// Shows the finding with an excerpt of the source and a caret under the place.
    pub fn render(&self, source: &SourceText, style: DiagnosticStyle) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(self.message.as_str()).id(self.code);
        let excerpts = self.excerpts(source);
        let mut group = match &excerpts {
            None => Group::with_title(title).element(self.snippet(source)),
            Some(excerpts) => excerpts.iter().enumerate().fold(
                Group::with_title(title),
                |group, (index, (excerpt, said))| {
                    let kind = match index {
                        0 => AnnotationKind::Primary,
                        _ => AnnotationKind::Context,
                    };
                    group.element(excerpt.origin(source)).element(excerpt.snippet(kind, said))
                },
            ),
        };
        if !self.hint.is_empty() {
            group = group.element(Level::HELP.with_name("hint").message(self.hint.as_str()));
        }
        let renderer = match style {
            DiagnosticStyle::Plain => Renderer::plain(),
            DiagnosticStyle::Coloured => Renderer::styled(),
        };
        renderer.render(&[group])
    }

    /// Marks all places in the source as it is.
    fn snippet<'a>(&'a self, source: &'a SourceText) -> Snippet<'a, Annotation<'a>> {
        let clip = |span: Span| clip_to_text(span, source.text());
        let primary = AnnotationKind::Primary.span(clip(self.span));
        let primary =
            if self.reason.is_empty() { primary } else { primary.label(self.reason.as_str()) };
        let others = self
            .labels
            .iter()
            .map(|label| AnnotationKind::Context.span(clip(label.span)).label(label.text.as_str()));
        let text = match is_behind_last_line(self.span, source.text()) {
            // There is nothing that a caret could stand under.
            true => Cow::Owned(format!("{} ", source.text())),
            false => Cow::Borrowed(source.text()),
        };
        Snippet::source(text).path(source.name()).annotation(primary).annotations(others)
    }

    /// Cuts out a piece for every place, the first being that of the finding, with what is said
    /// there. Nothing if all lines are short enough to be shown as they are.
    fn excerpts<'a>(&'a self, source: &SourceText) -> Option<Vec<(Excerpt, &'a str)>> {
        let labels = self.labels.iter().map(|label| (label.span, label.text.as_str()));
        let places = std::iter::once((self.span, self.reason.as_str())).chain(labels);
        let places: Vec<(Range<usize>, &str)> =
            places.map(|(span, said)| (clip_to_text(span, source.text()), said)).collect();
        if !places.iter().any(|(place, _)| is_long(source, place)) {
            return None;
        }
        let cut = places.iter().map(|(place, said)| (Excerpt::of(source, place), *said));
        Some(cut.collect())
    }
}

/// Says whether a span stands at the end of a text, in a line that has nothing in it.
fn is_behind_last_line(span: Span, text: &str) -> bool {
    span.start >= text.len() && text.ends_with('\n')
}

/// Moves a span onto character boundaries inside the text, so that rendering never fails.
fn clip_to_text(span: Span, text: &str) -> Range<usize> {
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
        let source = SourceText::new("x.agent", "let a = 1\nlet a = 2\n");
        let text = Diagnostic::error("A0001", Span::new(14, 15), "the name `a` is taken")
            .because("defined again here")
            .see(Span::new(4, 5), "first defined here")
            .hint("choose another name")
            .render(&source, DiagnosticStyle::Plain);
        for part in [
            "error[A0001]: the name `a` is taken",
            "x.agent:2:5",
            "^ defined again here",
            "hint: choose",
        ] {
            assert!(text.contains(part), "{part:?} in\n{text}");
        }
    }

    /// How many bytes and characters a line of output may have, roughly.
    const SHOWN_BYTES_MAX: usize = 600;

    /// Renders an error from one place of a text to another, and checks that no line of it is long.
    fn check_bounded(text: &str, span: Span, see: Option<Span>, parts: &[&str]) {
        let source = SourceText::new("x", text);
        let mut finding = Diagnostic::error("A1", span, "m").because("here").hint("cut it");
        if let Some(see) = see {
            finding = finding.see(see, "opened here");
        }
        let shown = finding.render(&source, DiagnosticStyle::Plain);
        for part in parts {
            assert!(shown.contains(part), "{part:?} in\n{}", shown.get(..4_096).unwrap_or(&shown));
        }
        let longest = shown.lines().map(str::len).max().unwrap_or(0);
        assert!(longest <= SHOWN_BYTES_MAX, "{longest} bytes in a line");
        assert!(shown.lines().count() <= 16, "{} lines", shown.lines().count());
    }

    #[test]
    fn long_lines_are_clipped_around_the_places() {
        let mib = 1 << 20;
        let all = |text: &str| Span::new(0, text.len());
        // One line of a mebibyte: its start, its middle, its end, all of it, two places far apart.
        let line = "x".repeat(mib);
        check_bounded(&line, Span::new(0, 1), None, &["x:1:1", "^ here", "hint: cut it"]);
        check_bounded(&line, Span::new(mib / 2, mib / 2 + 3), None, &["x:1:524289", "^^^ here"]);
        check_bounded(&line, Span::new(mib, mib), None, &["x:1:1048577", "^ here"]);
        check_bounded(&line, all(&line), None, &["x:1:1", "here"]);
        let far = Some(Span::new(0, 1));
        check_bounded(&line, Span::new(mib, mib), far, &["x:1:1048577", "x:1:1", "opened here"]);
        // Several long lines, and a short one between them.
        let lines = format!("{line}\nshort\n{line}\n{line}");
        check_bounded(&lines, all(&lines), None, &["x:1:1", "here"]);
        check_bounded(&lines, Span::new(mib - 1, mib + 20), None, &["x:1:1048576", "here"]);
        let short = Some(Span::new(mib + 1, mib + 6));
        check_bounded(&lines, Span::new(0, 2), short, &["x:1:1", "x:2:1", "short", "opened here"]);
        // Tabs, wide and combining characters, an end in the middle of a character.
        for piece in ["\t", "漢", "e\u{301}", "\u{301}", "👩‍👩‍👧", "\u{0}", "\u{202e}"]
        {
            let text = format!("{}\n{}", piece.repeat(mib / 8), piece.repeat(mib / 8));
            check_bounded(&text, all(&text), Some(Span::new(1, 2)), &["x:1:1", "here"]);
            check_bounded(&text, Span::new(1_001, text.len() - 1), None, &["here"]);
        }
    }

    #[test]
    fn no_span_makes_rendering_fail() {
        let source = SourceText::new("x", "é");
        for span in [Span::new(1, 1), Span::new(9, 99), Span::new(0, 2)] {
            assert!(
                !Diagnostic::error("A1", span, "m")
                    .render(&source, DiagnosticStyle::Plain)
                    .is_empty()
            );
        }
    }
}
