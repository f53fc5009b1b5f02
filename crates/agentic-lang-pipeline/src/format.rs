//! The formatter: one layout for every source, with its comments, strings and numbers as they were
//! written. What it makes depends on tokens and on the lines of comments alone, so that formatting
//! twice changes nothing.

use agentic_diag::Span;

use crate::finding::PipelineFindings;
use crate::lexer::PipelineLexer;
use crate::parser::parse;
use crate::token::PipelineTokenKind;

/// The width that lines are kept to where they can be broken.
const WIDTH: usize = 80;
/// What each level of nesting is moved in by.
const INDENT: usize = 2;

/// Formats a source.
///
/// # Errors
/// Returns what is wrong with a source that does not parse.
pub fn format(text: &str) -> Result<String, PipelineFindings> {
    parse(text)?;
    let pieces = pieces_of(text).map_err(|finding| vec![finding])?;
    let mut layout = TokenLayout { out: String::new(), column: 0, after_comment: false };
    layout.script(&pieces);
    Ok(layout.out)
}

/// A token, a comment or something in brackets.
enum LayoutPiece<'a> {
    Token { text: &'a str, role: TokenRole },
    Comment { text: &'a str, stands: CommentPlace },
    Group { open: &'a str, inner: Vec<LayoutPiece<'a>>, close: &'a str },
}

/// What a token is for, as far as layout cares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenRole {
    /// `>=>` or `<*>`: begins a line.
    Operator,
    /// `:` or `,`: clings to what is before it.
    Mark,
    /// The name of an argument: begins a line.
    ArgumentName,
    /// Anything else.
    Word,
}

/// Where a comment stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommentPlace {
    /// On a line of its own.
    Alone,
    /// Behind something.
    Behind,
}

/// Groups tokens by their brackets. The source is known to parse.
fn pieces_of(text: &str) -> Result<Vec<LayoutPiece<'_>>, crate::finding::PipelineFinding> {
    let mut lexer = PipelineLexer::new(text);
    let mut open: Vec<(&str, Vec<LayoutPiece<'_>>)> = vec![("", Vec::new())];
    let mut end_before: Option<usize> = None;
    loop {
        let token = lexer.next()?;
        let level = |open: &mut Vec<(&str, Vec<LayoutPiece<'_>>)>| open.len() - 1;
        for comment in lexer.take_comments() {
            let Span { start, end } = comment.span;
            let follows = end_before.is_some_and(|before| !text[before..start].contains('\n'));
            let stands = if follows { CommentPlace::Behind } else { CommentPlace::Alone };
            let at = level(&mut open);
            open[at].1.push(LayoutPiece::Comment { text: text[start..end].trim_end(), stands });
            end_before = Some(end);
        }
        let written = &text[token.span.start..token.span.end];
        end_before = Some(token.span.end);
        let at = level(&mut open);
        match token.kind {
            PipelineTokenKind::End => return Ok(open.swap_remove(0).1),
            PipelineTokenKind::Open | PipelineTokenKind::ListOpen => {
                open.push((written, Vec::new()))
            }
            PipelineTokenKind::Close | PipelineTokenKind::ListClose => {
                let (mark, inner) = open.pop().expect("the source parses, so brackets match");
                let at = level(&mut open);
                open[at].1.push(LayoutPiece::Group { open: mark, inner, close: written });
            }
            PipelineTokenKind::Colon => {
                let name = open[at].1.iter_mut().rev().find_map(|piece| match piece {
                    LayoutPiece::Token { role, .. } => Some(role),
                    LayoutPiece::Comment { .. } | LayoutPiece::Group { .. } => None,
                });
                *name.expect("a name stands before its colon") = TokenRole::ArgumentName;
                open[at].1.push(LayoutPiece::Token { text: written, role: TokenRole::Mark });
            }
            PipelineTokenKind::Then | PipelineTokenKind::Beside => {
                open[at].1.push(LayoutPiece::Token { text: written, role: TokenRole::Operator });
            }
            PipelineTokenKind::Comma => {
                open[at].1.push(LayoutPiece::Token { text: written, role: TokenRole::Mark })
            }
            PipelineTokenKind::Name(_)
            | PipelineTokenKind::Text(_)
            | PipelineTokenKind::Int(_)
            | PipelineTokenKind::Float(_) => {
                open[at].1.push(LayoutPiece::Token { text: written, role: TokenRole::Word });
            }
        }
    }
}

/// What stands before a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Blank,
    Line,
}

/// Text under layout.
struct TokenLayout {
    out: String,
    column: usize,
    /// A comment was the last thing, so a line must begin.
    after_comment: bool,
}

impl TokenLayout {
    fn script(&mut self, pieces: &[LayoutPiece<'_>]) {
        let mut before = Before::Line;
        let mut block_ended = false;
        for piece in pieces {
            let is_behind =
                matches!(piece, LayoutPiece::Comment { stands: CommentPlace::Behind, .. });
            if block_ended && !is_behind {
                self.out.push_str(if self.out.ends_with('\n') { "\n" } else { "\n\n" });
                block_ended = false;
                before = Before::Line;
            }
            self.piece(piece, before, 0);
            before = Before::Blank;
            block_ended |= matches!(piece, LayoutPiece::Group { .. });
        }
        self.out.push('\n');
    }

    fn piece(&mut self, piece: &LayoutPiece<'_>, before: Before, indent: usize) {
        match piece {
            LayoutPiece::Token { text, .. } => self.put(text, before, indent),
            LayoutPiece::Comment { text, stands } => {
                let before = match stands {
                    CommentPlace::Alone => Before::Line,
                    CommentPlace::Behind => Before::Blank,
                };
                self.put(text, before, indent);
                self.after_comment = true;
            }
            LayoutPiece::Group { open, inner, close } => {
                let left = WIDTH.saturating_sub(self.column + 1);
                match flat(piece, left) {
                    Some(line) => self.put(&line, before, indent),
                    None => {
                        self.put(open, before, indent);
                        self.broken(open, inner, indent + INDENT);
                        self.put(close, Before::Line, indent);
                    }
                }
            }
        }
    }

    /// Lays out the inside of brackets, a line for each branch, stage, argument or item.
    fn broken(&mut self, open: &str, inner: &[LayoutPiece<'_>], indent: usize) {
        let mut before = Before::Line;
        for piece in inner {
            let role = match piece {
                LayoutPiece::Token { role, .. } => *role,
                LayoutPiece::Comment { .. } | LayoutPiece::Group { .. } => TokenRole::Word,
            };
            match role {
                TokenRole::Operator | TokenRole::ArgumentName => {
                    self.piece(piece, Before::Line, indent)
                }
                TokenRole::Mark => self.piece(piece, Before::Nothing, indent),
                TokenRole::Word => self.piece(piece, before, indent),
            }
            let is_item_end = open == "[" && role == TokenRole::Mark;
            before = if is_item_end { Before::Line } else { Before::Blank };
        }
    }

    fn put(&mut self, text: &str, before: Before, indent: usize) {
        let before = if std::mem::take(&mut self.after_comment) { Before::Line } else { before };
        match before {
            Before::Nothing => {}
            Before::Blank => self.push(" "),
            Before::Line => {
                if !self.out.is_empty() && !self.out.ends_with('\n') {
                    self.push("\n");
                }
                self.push(&" ".repeat(indent));
            }
        }
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column = match text.rfind('\n') {
            Some(at) => text[at + 1..].chars().count(),
            None => self.column + text.chars().count(),
        };
    }
}

/// Puts a piece on one line; nothing if it does not fit, or holds a comment or a line break.
fn flat(piece: &LayoutPiece<'_>, width: usize) -> Option<String> {
    let mut line = String::new();
    flatten(piece, width, &mut line)?;
    Some(line)
}

fn flatten(piece: &LayoutPiece<'_>, width: usize, line: &mut String) -> Option<()> {
    match piece {
        LayoutPiece::Comment { .. } => return None,
        LayoutPiece::Token { text, .. } if text.contains('\n') => return None,
        LayoutPiece::Token { text, .. } => line.push_str(text),
        LayoutPiece::Group { open, inner, close } => {
            line.push_str(open);
            let pad = if *open == "(" && !inner.is_empty() { " " } else { "" };
            line.push_str(pad);
            for (index, part) in inner.iter().enumerate() {
                let clings = matches!(part, LayoutPiece::Token { role: TokenRole::Mark, .. });
                if index > 0 && !clings {
                    line.push(' ');
                }
                flatten(part, width, line)?;
            }
            line.push_str(pad);
            line.push_str(close);
        }
    }
    (line.chars().count() <= width).then_some(())
}
