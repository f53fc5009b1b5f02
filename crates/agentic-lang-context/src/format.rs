//! Laying a text out anew.
//!
//! Line breaks are the author's and mean something in this language, so they stay; indentation,
//! blanks between tokens and runs of empty lines are made uniform. Comments stay where they are.
//! The tokens of the result are those of the text.

use agentic_diag::{Diagnostic, SourceText, Span};

use crate::dialect::Dialect;
use crate::lexer::{self, ContextToken, ContextTokenKind, Punctuation};
use crate::parser;
use crate::syntax::SyntaxFault;

/// The indentation of one level.
const INDENT: &str = "    ";

/// Lays out a program; without a dialect, the one that its text shows.
///
/// # Errors
/// Fails, with the text untouched, when it does not parse.
pub fn format(text: &str, dialect: Option<Dialect>) -> Result<String, Box<Diagnostic>> {
    let dialect = dialect.unwrap_or_else(|| Dialect::detect(text));
    parser::parse(SourceText::new("", text), dialect)
        .map_err(|(_, fault)| fault.into_diagnostic())?;
    let lexed = lexer::lex(text, dialect).map_err(SyntaxFault::into_diagnostic)?;
    let comments = lexed.comments.iter().map(|span| FormatPiece::Comment(*span));
    let tokens = lexed.tokens.iter().filter(|token| token.kind != ContextTokenKind::End);
    let mut pieces: Vec<FormatPiece> =
        tokens.map(|token| FormatPiece::Token(*token)).chain(comments).collect();
    pieces.sort_by_key(|piece| piece.span().start);
    let mut printer =
        ContextPrinter { text, out: String::new(), open: Vec::new(), line: 0, last: None };
    for at in 0..pieces.len() {
        printer.piece(&pieces[at..]);
    }
    if !printer.out.is_empty() {
        printer.out.push('\n');
    }
    Ok(printer.out)
}

#[derive(Debug, Clone, Copy)]
enum FormatPiece {
    Token(ContextToken),
    Comment(Span),
}

impl FormatPiece {
    fn span(self) -> Span {
        match self {
            FormatPiece::Token(token) => token.span,
            FormatPiece::Comment(span) => span,
        }
    }

    fn is_number(self) -> bool {
        matches!(self, FormatPiece::Token(ContextToken { kind: ContextTokenKind::Number, .. }))
    }

    fn symbol(self) -> Option<Punctuation> {
        match self {
            FormatPiece::Token(ContextToken { kind: ContextTokenKind::Symbol(symbol), .. }) => {
                Some(symbol)
            }
            FormatPiece::Token(_) | FormatPiece::Comment(_) => None,
        }
    }
}

struct ContextPrinter<'a> {
    text: &'a str,
    out: String,
    /// The lines in which the brackets around this place were opened.
    open: Vec<usize>,
    line: usize,
    last: Option<FormatPiece>,
}

impl ContextPrinter<'_> {
    /// Writes the first of the pieces that are left.
    fn piece(&mut self, left: &[FormatPiece]) {
        let piece = left[0];
        let symbol = piece.symbol();
        if let Some(last) = self.last {
            self.gap(last, left);
        }
        if closes(symbol) {
            self.open.pop();
        }
        let shown = &self.text[piece.span().start..piece.span().end];
        match piece {
            FormatPiece::Comment(_) => self.out.push_str(shown.trim_end()),
            FormatPiece::Token(_) => self.out.push_str(shown),
        }
        if opens(symbol) {
            self.open.push(self.line);
        }
        self.last = Some(piece);
    }

    /// Writes what stands between two pieces: line breaks and indentation, or one blank, or none.
    fn gap(&mut self, last: FormatPiece, left: &[FormatPiece]) {
        let next = left[0];
        let between = &self.text[last.span().end..next.span().start];
        let breaks = between.bytes().filter(|byte| *byte == b'\n').count();
        if breaks == 0 {
            if needs_blank(last, next, !between.is_empty()) {
                self.out.push(' ');
            }
            return;
        }
        let at_edge = opens(last.symbol()) || closes(next.symbol());
        if breaks > 1 && !at_edge {
            self.out.push('\n');
        }
        self.out.push('\n');
        self.line += 1;
        let mut lines = self.open.clone();
        lines.truncate(lines.len().saturating_sub(self.closers_on_line(left)));
        lines.dedup();
        let hangs = usize::from(continues(next));
        self.out.push_str(&INDENT.repeat(lines.len() + hangs));
    }
}

impl ContextPrinter<'_> {
    /// Counts the brackets that close at the very beginning of a line.
    fn closers_on_line(&self, line: &[FormatPiece]) -> usize {
        let mut end = line[0].span().start;
        let closers = line.iter().take_while(|piece| {
            let span = piece.span();
            let joined = !self.text[end..span.start].contains('\n');
            end = span.end;
            joined && closes(piece.symbol())
        });
        closers.count()
    }
}

fn opens(symbol: Option<Punctuation>) -> bool {
    matches!(
        symbol,
        Some(Punctuation::BraceOpen | Punctuation::BracketOpen | Punctuation::ParenOpen)
    )
}

fn closes(symbol: Option<Punctuation>) -> bool {
    matches!(
        symbol,
        Some(Punctuation::BraceClose | Punctuation::BracketClose | Punctuation::ParenClose)
    )
}

/// Tells whether a line that begins like this goes on with the one before.
fn continues(piece: FormatPiece) -> bool {
    match piece.symbol() {
        Some(symbol) => matches!(
            symbol,
            Punctuation::Dot
                | Punctuation::Plus
                | Punctuation::Minus
                | Punctuation::Star
                | Punctuation::Slash
                | Punctuation::Equal
                | Punctuation::NotEqual
                | Punctuation::Less
                | Punctuation::LessEqual
                | Punctuation::Greater
                | Punctuation::GreaterEqual
                | Punctuation::Arrow
        ),
        None => false,
    }
}

fn needs_blank(last: FormatPiece, next: FormatPiece, had_blank: bool) -> bool {
    if matches!(last, FormatPiece::Comment(_)) || matches!(next, FormatPiece::Comment(_)) {
        return true;
    }
    match (last.symbol(), next.symbol()) {
        // `1 .sum` is a call, `1.sum` a number that is none.
        (None, Some(Punctuation::Dot)) if last.is_number() => had_blank,
        (Some(Punctuation::BraceOpen), Some(Punctuation::BraceClose)) => false,
        (Some(Punctuation::ParenOpen | Punctuation::BracketOpen | Punctuation::Dot), _) => false,
        (_, Some(Punctuation::ParenClose | Punctuation::BracketClose | Punctuation::Dot)) => false,
        (_, Some(Punctuation::Comma | Punctuation::Colon)) => false,
        (
            None | Some(Punctuation::ParenClose | Punctuation::BracketClose),
            Some(Punctuation::ParenOpen),
        ) => false,
        // `a [0]` and `a[0]` differ where commas are optional.
        (
            None | Some(Punctuation::ParenClose | Punctuation::BracketClose),
            Some(Punctuation::BracketOpen),
        ) => had_blank,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
