//! Laying a text out anew.
//!
//! Line breaks are the author's and mean something in this language, so they stay; indentation,
//! blanks between tokens and runs of empty lines are made uniform. Comments stay where they are.
//! The tokens of the result are those of the text.

use agentic_diag::{Diagnostic, Source, Span};

use crate::dialect::Dialect;
use crate::lexer::{self, Symbol, Token, TokenKind};
use crate::parser;
use crate::syntax::Fault;

/// The indentation of one level.
const INDENT: &str = "    ";

/// Lays out a program; without a dialect, the one that its text shows.
///
/// # Errors
/// Fails, with the text untouched, when it does not parse.
pub fn format(text: &str, dialect: Option<Dialect>) -> Result<String, Box<Diagnostic>> {
    let dialect = dialect.unwrap_or_else(|| Dialect::detect(text));
    parser::parse(Source::new("", text), dialect).map_err(|(_, fault)| fault.into_diagnostic())?;
    let lexed = lexer::lex(text, dialect).map_err(Fault::into_diagnostic)?;
    let comments = lexed.comments.iter().map(|span| Piece::Comment(*span));
    let tokens = lexed.tokens.iter().filter(|token| token.kind != TokenKind::End);
    let mut pieces: Vec<Piece> = tokens.map(|token| Piece::Token(*token)).chain(comments).collect();
    pieces.sort_by_key(|piece| piece.span().start);
    let mut printer = Printer { text, out: String::new(), open: Vec::new(), line: 0, last: None };
    for at in 0..pieces.len() {
        printer.piece(&pieces[at..]);
    }
    if !printer.out.is_empty() {
        printer.out.push('\n');
    }
    Ok(printer.out)
}

#[derive(Debug, Clone, Copy)]
enum Piece {
    Token(Token),
    Comment(Span),
}

impl Piece {
    fn span(self) -> Span {
        match self {
            Piece::Token(token) => token.span,
            Piece::Comment(span) => span,
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Piece::Token(Token { kind: TokenKind::Number, .. }))
    }

    fn symbol(self) -> Option<Symbol> {
        match self {
            Piece::Token(Token { kind: TokenKind::Symbol(symbol), .. }) => Some(symbol),
            Piece::Token(_) | Piece::Comment(_) => None,
        }
    }
}

struct Printer<'a> {
    text: &'a str,
    out: String,
    /// The lines in which the brackets around this place were opened.
    open: Vec<usize>,
    line: usize,
    last: Option<Piece>,
}

impl Printer<'_> {
    /// Writes the first of the pieces that are left.
    fn piece(&mut self, left: &[Piece]) {
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
            Piece::Comment(_) => self.out.push_str(shown.trim_end()),
            Piece::Token(_) => self.out.push_str(shown),
        }
        if opens(symbol) {
            self.open.push(self.line);
        }
        self.last = Some(piece);
    }

    /// Writes what stands between two pieces: line breaks and indentation, or one blank, or none.
    fn gap(&mut self, last: Piece, left: &[Piece]) {
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

impl Printer<'_> {
    /// Counts the brackets that close at the very beginning of a line.
    fn closers_on_line(&self, line: &[Piece]) -> usize {
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

fn opens(symbol: Option<Symbol>) -> bool {
    matches!(symbol, Some(Symbol::BraceOpen | Symbol::BracketOpen | Symbol::ParenOpen))
}

fn closes(symbol: Option<Symbol>) -> bool {
    matches!(symbol, Some(Symbol::BraceClose | Symbol::BracketClose | Symbol::ParenClose))
}

/// Tells whether a line that begins like this goes on with the one before.
fn continues(piece: Piece) -> bool {
    match piece.symbol() {
        Some(symbol) => matches!(
            symbol,
            Symbol::Dot
                | Symbol::Plus
                | Symbol::Minus
                | Symbol::Star
                | Symbol::Slash
                | Symbol::Equal
                | Symbol::NotEqual
                | Symbol::Less
                | Symbol::LessEqual
                | Symbol::Greater
                | Symbol::GreaterEqual
                | Symbol::Arrow
        ),
        None => false,
    }
}

fn needs_blank(last: Piece, next: Piece, had_blank: bool) -> bool {
    if matches!(last, Piece::Comment(_)) || matches!(next, Piece::Comment(_)) {
        return true;
    }
    match (last.symbol(), next.symbol()) {
        // `1 .sum` is a call, `1.sum` a number that is none.
        (None, Some(Symbol::Dot)) if last.is_number() => had_blank,
        (Some(Symbol::BraceOpen), Some(Symbol::BraceClose)) => false,
        (Some(Symbol::ParenOpen | Symbol::BracketOpen | Symbol::Dot), _) => false,
        (_, Some(Symbol::ParenClose | Symbol::BracketClose | Symbol::Dot)) => false,
        (_, Some(Symbol::Comma | Symbol::Colon)) => false,
        (None | Some(Symbol::ParenClose | Symbol::BracketClose), Some(Symbol::ParenOpen)) => false,
        // `a [0]` and `a[0]` differ where commas are optional.
        (None | Some(Symbol::ParenClose | Symbol::BracketClose), Some(Symbol::BracketOpen)) => {
            had_blank
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests;
