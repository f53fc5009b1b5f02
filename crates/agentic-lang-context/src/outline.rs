//! What a person has typed so far, for whoever reads programs piece by piece.

use crate::dialect::Dialect;
use crate::lexer::{self, ContextToken, ContextTokenKind, Punctuation, Word};

/// How many tokens an import has.
const IMPORT_TOKENS: usize = 5;

/// What a piece of text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outline {
    /// Blanks and remarks.
    Nothing,
    /// A bracket, a quoted text or a declaration is not closed yet.
    Open,
    /// Imports and agents, in order.
    Declarations(Vec<Declaration>),
    /// Anything else, such as the statements of a function.
    Statements,
}

/// One import or agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// What it declares.
    pub sort: DeclarationSort,
    /// The name; nothing for a main agent without one.
    pub name: Option<String>,
    /// How it is written.
    pub text: String,
}

/// What a declaration declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclarationSort {
    /// A tool, model, file, agent or memory from elsewhere.
    Import,
    /// An agent.
    Agent,
    /// The agent that a program begins with.
    MainAgent,
}

/// Says what a piece of text is, and takes its declarations apart. A text that is none of the
/// language counts as statements, so that whoever checks them says what is wrong.
pub fn outline(text: &str, dialect: Dialect) -> Outline {
    let tokens = match lexer::lex(text, dialect) {
        Ok(lexed) => lexed.tokens,
        Err(fault) => {
            let start = fault.into_diagnostic().span.start;
            let is_quoted = text[start..].starts_with(['"', '\'']);
            return if is_quoted { Outline::Open } else { Outline::Statements };
        }
    };
    if tokens.iter().map(|token| depth_of(*token)).sum::<i64>() > 0 {
        return Outline::Open;
    }
    match tokens.as_slice() {
        [_] | [] => Outline::Nothing,
        [first, ..] if !begins_declaration(*first, tokens[1]) => Outline::Statements,
        tokens => declarations(text, tokens),
    }
}

fn depth_of(token: ContextToken) -> i64 {
    match token.kind {
        ContextTokenKind::Symbol(
            Punctuation::BraceOpen | Punctuation::BracketOpen | Punctuation::ParenOpen,
        ) => 1,
        ContextTokenKind::Symbol(
            Punctuation::BraceClose | Punctuation::BracketClose | Punctuation::ParenClose,
        ) => -1,
        ContextTokenKind::Symbol(_)
        | ContextTokenKind::Name(_)
        | ContextTokenKind::Number
        | ContextTokenKind::Text
        | ContextTokenKind::End => 0,
    }
}

/// Keywords are soft: what follows tells a declaration from a use of the word as a name.
fn begins_declaration(first: ContextToken, second: ContextToken) -> bool {
    let is_named = matches!(second.kind, ContextTokenKind::Name(_));
    match first.kind {
        ContextTokenKind::Name(Word::Import | Word::Agent) => {
            is_named || second.kind == ContextTokenKind::End
        }
        ContextTokenKind::Name(Word::Main) => second.is_word(Word::Agent),
        ContextTokenKind::Name(_)
        | ContextTokenKind::Number
        | ContextTokenKind::Text
        | ContextTokenKind::Symbol(_)
        | ContextTokenKind::End => false,
    }
}

fn declarations(text: &str, tokens: &[ContextToken]) -> Outline {
    let mut found = Vec::new();
    let mut rest = tokens;
    while let [first, ..] = rest
        && first.kind != ContextTokenKind::End
    {
        let (sort, name_at) = match first.kind {
            ContextTokenKind::Name(Word::Import) => (DeclarationSort::Import, 2),
            ContextTokenKind::Name(Word::Main) => (DeclarationSort::MainAgent, 2),
            ContextTokenKind::Name(_)
            | ContextTokenKind::Number
            | ContextTokenKind::Text
            | ContextTokenKind::Symbol(_)
            | ContextTokenKind::End => (DeclarationSort::Agent, 1),
        };
        let length = match sort {
            DeclarationSort::Import => Some(IMPORT_TOKENS.min(rest.len() - 1)),
            DeclarationSort::Agent | DeclarationSort::MainAgent => block_end(rest),
        };
        let Some(length) = length else { return Outline::Open };
        let name =
            rest.get(name_at).filter(|token| matches!(token.kind, ContextTokenKind::Name(_)));
        let name = name.map(|token| text[token.span.start..token.span.end].to_owned());
        let end = rest[length - 1].span.end;
        found.push(Declaration { sort, name, text: text[first.span.start..end].to_owned() });
        rest = &rest[length..];
    }
    Outline::Declarations(found)
}

/// Returns how many tokens there are up to the brace that closes the first block.
fn block_end(tokens: &[ContextToken]) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        let change = depth_of(*token);
        depth += change;
        if change < 0 && depth <= 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests;
