//! The formatter: the same tokens and comments, with one layout.
//!
//! It moves only white space, so what a file means cannot change. Lines are broken after
//! statements and around blocks, never inside expressions; one empty line is kept where there
//! was at least one.

use agentic_diag::Span;

use crate::lexer::FileTokens;
use crate::printer::INDENT;
use crate::token::{AgentToken, AgentTokenKind};

/// Lays out a file anew. The tokens must be those of `text`, and the text must parse.
pub(crate) fn format(text: &str, tokens: &FileTokens) -> String {
    let mut layout = FileLayout {
        text,
        tokens: &tokens.list,
        comments: &tokens.comments,
        out: String::with_capacity(text.len()),
        open: Vec::new(),
        blocks: 0,
        last_end: 0,
        pending: Break::None,
    };
    for at in 0..tokens.list.len() {
        layout.token(at);
    }
    layout.out
}

/// What a bracket encloses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EnclosedTokens {
    /// Statements, one to a line.
    Block,
    /// A value or list, on one line.
    Inline,
    /// The fields of an object type, without blanks at the braces.
    Fields,
}

/// The line break that is due before the next token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Break {
    None,
    Line,
}

struct FileLayout<'a> {
    text: &'a str,
    tokens: &'a [AgentToken],
    comments: &'a [Span],
    out: String,
    open: Vec<EnclosedTokens>,
    blocks: usize,
    last_end: usize,
    pending: Break,
}

impl FileLayout<'_> {
    fn token(&mut self, at: usize) {
        let token = self.tokens[at];
        let start = token.start as usize;
        while let Some((comment, rest)) = self.comments.split_first() {
            if comment.start >= start {
                break;
            }
            self.comments = rest;
            self.comment(*comment);
        }
        if token.kind == AgentTokenKind::End {
            if !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push('\n');
            }
            return;
        }
        let closed = self.close(at);
        self.separate(at, start, closed);
        self.out.push_str(&self.text[start..token.end as usize]);
        self.last_end = token.end as usize;
        self.open(at);
        self.break_after(at, closed);
    }

    /// Leaves the bracket that a closing token ends.
    fn close(&mut self, at: usize) -> Option<EnclosedTokens> {
        let closes = matches!(
            self.tokens[at].kind,
            AgentTokenKind::BraceClose | AgentTokenKind::BracketClose | AgentTokenKind::ParenClose
        );
        let closed = if closes { self.open.pop() } else { None };
        if closed == Some(EnclosedTokens::Block) {
            self.blocks -= 1;
            let is_empty = at > 0 && self.tokens[at - 1].kind == AgentTokenKind::BraceOpen;
            if !is_empty || self.out.ends_with('\n') {
                self.pending = Break::Line;
            }
        }
        closed
    }

    fn open(&mut self, at: usize) {
        let kind = self.tokens[at].kind;
        if !matches!(
            kind,
            AgentTokenKind::BraceOpen | AgentTokenKind::BracketOpen | AgentTokenKind::ParenOpen
        ) {
            return;
        }
        let is_brace = kind == AgentTokenKind::BraceOpen;
        let enclosed = if is_brace && self.is_block(at) {
            EnclosedTokens::Block
        } else if is_brace && self.is_inside_type(at) {
            EnclosedTokens::Fields
        } else {
            EnclosedTokens::Inline
        };
        self.open.push(enclosed);
        if enclosed == EnclosedTokens::Block {
            self.blocks += 1;
            let is_empty = self.tokens[at + 1].kind == AgentTokenKind::BraceClose;
            self.pending = if is_empty { Break::None } else { Break::Line };
        }
    }

    fn break_after(&mut self, at: usize, closed: Option<EnclosedTokens>) {
        let next = self.tokens[(at + 1).min(self.tokens.len() - 1)].kind;
        let continues = matches!(
            next,
            AgentTokenKind::Else
                | AgentTokenKind::Catch
                | AgentTokenKind::Join
                | AgentTokenKind::Semicolon
        );
        let kind = self.tokens[at].kind;
        let closes_block = closed == Some(EnclosedTokens::Block) && !continues;
        // What is declared next begins on a line of its own.
        let ends_declaration = self.open.is_empty()
            && (matches!(
                next,
                AgentTokenKind::Agent | AgentTokenKind::Tool | AgentTokenKind::Task
            ) || matches!(
                next,
                AgentTokenKind::Pipeline | AgentTokenKind::Workflow | AgentTokenKind::Type
            ) || matches!(
                next,
                AgentTokenKind::Enum | AgentTokenKind::Test | AgentTokenKind::End
            ));
        if kind == AgentTokenKind::Semicolon
            || kind == AgentTokenKind::BraceClose && (closes_block || ends_declaration)
        {
            self.pending = Break::Line;
        }
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n(' ', self.blocks * INDENT));
    }

    /// Writes what stands between the last token and the next one.
    fn separate(&mut self, at: usize, start: usize, closed: Option<EnclosedTokens>) {
        if self.out.is_empty() {
            return;
        }
        if self.pending == Break::Line || self.out.ends_with('\n') {
            let closes = self.tokens[at].kind == AgentTokenKind::BraceClose;
            self.line(start, if closes { Gap::Closed } else { Gap::Kept });
            self.pending = Break::None;
        } else if closed != Some(EnclosedTokens::Fields) && self.is_spaced(at) {
            self.out.push(' ');
        }
    }

    /// Ends the line, keeps one empty line if there was one, and indents.
    fn line(&mut self, start: usize, gap: Gap) {
        if !self.out.ends_with('\n') {
            self.out.push('\n');
        }
        let between = self.text.get(self.last_end..start).unwrap_or("");
        let had_gap = between.bytes().filter(|byte| *byte == b'\n').count() > 1;
        if gap == Gap::Kept && had_gap && !self.out.ends_with("{\n") {
            self.out.push('\n');
        }
        self.indent();
    }

    fn comment(&mut self, comment: Span) {
        let before = self.text.get(self.last_end..comment.start).unwrap_or("");
        let is_trailing = self.last_end > 0 && !before.contains('\n');
        if is_trailing && !self.out.ends_with('\n') {
            self.out.push_str("  ");
        } else if self.out.is_empty() {
            self.indent();
        } else {
            self.line(comment.start, Gap::Kept);
        }
        self.out.push_str(self.text[comment.start..comment.end].trim_end());
        self.out.push('\n');
        self.last_end = comment.end;
        self.pending = Break::None;
    }

    /// Whether an opening brace begins a block of statements or steps, rather than a value, a
    /// type, or the one-line body of a declaration.
    fn is_block(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).map(|at| self.tokens[at]);
        let Some(previous) = before(1) else { return false };
        if previous.kind == AgentTokenKind::Name {
            return !self.opens_type(at) && !self.opens_short_body(at);
        }
        // After these a value, a type or a short body follows.
        let opens_value = matches!(
            previous.kind,
            AgentTokenKind::ParenOpen
                | AgentTokenKind::Comma
                | AgentTokenKind::Colon
                | AgentTokenKind::BracketOpen
                | AgentTokenKind::Plus
                | AgentTokenKind::EqualEqual
                | AgentTokenKind::NotEqual
                | AgentTokenKind::Equal
                | AgentTokenKind::Return
                | AgentTokenKind::Use
                | AgentTokenKind::With
                | AgentTokenKind::If
                | AgentTokenKind::While
                | AgentTokenKind::Assert
                | AgentTokenKind::Agent
        );
        !opens_value && !self.opens_empty_body(at)
    }

    /// `Obj{` where a type stands.
    fn opens_type(&self, at: usize) -> bool {
        let name = self.tokens[at - 1];
        if &self.text[name.start as usize..name.end as usize] != "Obj" || at < 2 {
            return false;
        }
        let before = self.tokens[at - 2].kind;
        matches!(
            before,
            AgentTokenKind::Colon | AgentTokenKind::Arrow | AgentTokenKind::BracketOpen
        ) || before == AgentTokenKind::Equal
            && at >= 4
            && self.tokens[at - 4].kind == AgentTokenKind::Type
    }

    /// The bodies of agents, enums, tasks and tools stay on one line.
    fn opens_short_body(&self, at: usize) -> bool {
        let word = at.checked_sub(2).map(|at| self.tokens[at].kind);
        matches!(word, Some(AgentTokenKind::Agent | AgentTokenKind::Enum))
            || self.opens_empty_body(at)
    }

    /// `{}` right where a declaration of a task or tool ends.
    fn opens_empty_body(&self, at: usize) -> bool {
        self.open.is_empty() && self.tokens[at + 1].kind == AgentTokenKind::BraceClose
    }

    /// Whether a blank stands between a token and the one before it.
    fn is_spaced(&self, at: usize) -> bool {
        let (previous, next) = (self.tokens[at - 1].kind, self.tokens[at].kind);
        match (previous, next) {
            (
                _,
                AgentTokenKind::Comma
                | AgentTokenKind::Semicolon
                | AgentTokenKind::Colon
                | AgentTokenKind::Dot,
            ) => false,
            (_, AgentTokenKind::ParenClose | AgentTokenKind::BracketClose) => false,
            (AgentTokenKind::ParenOpen | AgentTokenKind::BracketOpen | AgentTokenKind::Dot, _) => {
                false
            }
            (AgentTokenKind::BraceOpen, AgentTokenKind::BraceClose) => false,
            (AgentTokenKind::Name, AgentTokenKind::ParenOpen) => false,
            (AgentTokenKind::Name, AgentTokenKind::BracketOpen) => false,
            (AgentTokenKind::Name, AgentTokenKind::BraceOpen) => !self.opens_type(at),
            (AgentTokenKind::BraceOpen, _) => !self.is_inside_type(at - 1),
            _ => true,
        }
    }

    fn is_inside_type(&self, open: usize) -> bool {
        open > 0 && self.tokens[open - 1].kind == AgentTokenKind::Name && self.opens_type(open)
    }
}

/// Whether an empty line before a token is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    Kept,
    Closed,
}
