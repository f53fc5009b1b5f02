//! The published versions of the language, and what each of them accepts.
//!
//! Every program of every version must run unchanged, so one parser reads them all and asks the
//! [`Dialect`] where they differ. A strict dialect accepts what its version accepted; the union
//! reads anything that has one meaning. [`Dialect::detect`] chooses for a program that does not
//! say what it was written for.

use std::fmt;

use crate::lexer::{self, ContextToken, ContextTokenKind, Punctuation, Word};

/// A published version at which syntax or behaviour changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// The first one: `<` limits and a `return` block after `generate`.
    V0_1_0,
    /// Contracts after `->`, labels, final expressions, the second prompt layout.
    V0_1_3,
    /// `max_output` and strict validation.
    V0_1_4,
    /// `max` limits; `<` compares.
    V0_1_5,
    /// `parallel for`, `+`, `-`, `>`; no hyphens in names.
    V0_1_7,
    /// `npm:` and `node:` tools, agent-level `use`.
    V0_1_11,
    /// `name: type` contracts, `use one of`.
    V0_1_18,
}

/// How closely a program is held to its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Exactly what the version accepted.
    Strict,
    /// Whatever has one meaning in any version since the named one.
    Union,
}

/// A version and how closely a program is held to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// The version whose behaviour the program gets.
    pub version: Version,
    /// How closely the syntax is held to it.
    pub strictness: Strictness,
}

/// How commas between entries are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commas {
    Optional,
    Required,
}

/// How the type of a contract field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldStyle {
    /// `name type`
    Juxtaposed,
    /// `name: type`
    Colon,
    /// Either.
    Either,
}

/// What may stand between contract entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntrySeparator {
    /// A comma, a line break or nothing.
    Anything,
    /// A line break, with or without a comma.
    LineOrComma,
    /// A line break alone.
    Line,
}

/// What introduces a budget or a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitMark {
    /// `< 2k`
    Less,
    /// `max 2k`
    Max,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Version; 7] = [
        Version::V0_1_0,
        Version::V0_1_3,
        Version::V0_1_4,
        Version::V0_1_5,
        Version::V0_1_7,
        Version::V0_1_11,
        Version::V0_1_18,
    ];

    /// Returns the newest version here that is not newer than the published version `text`.
    pub fn parse(text: &str) -> Option<Version> {
        if text == "1.0.0" {
            return Some(Version::V0_1_0);
        }
        let patch: u32 = text.strip_prefix("0.1.")?.parse().ok()?;
        Version::ALL.into_iter().rev().find(|version| version.patch() <= patch)
    }

    fn patch(self) -> u32 {
        match self {
            Version::V0_1_0 => 0,
            Version::V0_1_3 => 3,
            Version::V0_1_4 => 4,
            Version::V0_1_5 => 5,
            Version::V0_1_7 => 7,
            Version::V0_1_11 => 11,
            Version::V0_1_18 => 18,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0.1.{}", self.patch())
    }
}

impl Dialect {
    /// The newest version, read as widely as possible.
    pub const NEWEST: Dialect =
        Dialect { version: Version::V0_1_18, strictness: Strictness::Union };

    /// Holds a program to exactly one version.
    pub fn strict(version: Version) -> Dialect {
        Dialect { version, strictness: Strictness::Strict }
    }

    /// Finds the dialect of a program by the forms that only one generation has.
    ///
    /// A program without `generate` whose limits are written with `<` is ambiguous by nature and
    /// is taken for 0.1.4.
    pub fn detect(text: &str) -> Dialect {
        let Ok(lexed) = lexer::lex(text, Dialect::NEWEST) else {
            return Dialect::NEWEST;
        };
        let tokens = &lexed.tokens;
        if has_return_block(tokens) {
            return Dialect { version: Version::V0_1_0, strictness: Strictness::Union };
        }
        if has_less_limit(tokens) && !has_max_limit(tokens) {
            return Dialect { version: Version::V0_1_4, strictness: Strictness::Union };
        }
        Dialect::NEWEST
    }

    fn is_union(self) -> bool {
        self.strictness == Strictness::Union
    }

    fn is_newest_union(self) -> bool {
        self.is_union() && self.version == Version::V0_1_18
    }

    pub(crate) fn since(self, version: Version) -> bool {
        self.version >= version
    }

    pub(crate) fn hyphen_names(self) -> bool {
        !self.since(Version::V0_1_7)
    }

    pub(crate) fn dash_comments(self) -> bool {
        self.is_union()
    }

    pub(crate) fn limit_mark(self) -> LimitMark {
        if self.since(Version::V0_1_5) { LimitMark::Max } else { LimitMark::Less }
    }

    pub(crate) fn object_commas(self) -> Commas {
        if self.since(Version::V0_1_5) && !self.is_union() {
            Commas::Required
        } else {
            Commas::Optional
        }
    }

    pub(crate) fn list_commas(self) -> Commas {
        if self.since(Version::V0_1_18) && !self.is_union() {
            Commas::Required
        } else {
            Commas::Optional
        }
    }

    pub(crate) fn field_style(self) -> FieldStyle {
        match (self.is_newest_union(), self.since(Version::V0_1_18)) {
            (true, _) => FieldStyle::Either,
            (false, true) => FieldStyle::Colon,
            (false, false) => FieldStyle::Juxtaposed,
        }
    }

    pub(crate) fn bare_fields(self) -> bool {
        self.since(Version::V0_1_11)
    }

    pub(crate) fn entry_separator(self) -> EntrySeparator {
        if self.is_union() || !self.since(Version::V0_1_5) {
            EntrySeparator::Anything
        } else if self.since(Version::V0_1_18) {
            EntrySeparator::Line
        } else {
            EntrySeparator::LineOrComma
        }
    }

    /// Whether `return { … }` after `generate(…)` holds the contract.
    pub(crate) fn return_block(self) -> bool {
        !self.since(Version::V0_1_3)
    }

    pub(crate) fn labels(self) -> bool {
        self.since(Version::V0_1_3)
    }

    /// Whether a label may be several bare words, up to the end of its line.
    pub(crate) fn many_word_labels(self) -> bool {
        self.labels() && !self.since(Version::V0_1_5)
    }

    pub(crate) fn label_before_budget(self) -> bool {
        self.is_union() || self.many_word_labels()
    }

    /// Whether a line that begins with `(` or `[` ends the expression above it.
    pub(crate) fn brackets_begin_lines(self) -> bool {
        self.is_newest_union()
    }

    /// Whether an odd number such as `2m` is an error in an expression.
    pub(crate) fn exact_numbers(self) -> bool {
        self.since(Version::V0_1_18)
    }

    pub(crate) fn final_expression(self) -> bool {
        self.since(Version::V0_1_3)
    }

    pub(crate) fn operator(self, symbol: Punctuation) -> bool {
        let since = match symbol {
            Punctuation::Less => Version::V0_1_5,
            Punctuation::Greater
            | Punctuation::Plus
            | Punctuation::Minus
            | Punctuation::PlusAssign
            | Punctuation::MinusAssign => Version::V0_1_7,
            Punctuation::LessEqual
            | Punctuation::GreaterEqual
            | Punctuation::Star
            | Punctuation::Slash => Version::V0_1_18,
            Punctuation::Arrow
            | Punctuation::Assign
            | Punctuation::Bang
            | Punctuation::BraceClose
            | Punctuation::BraceOpen
            | Punctuation::BracketClose
            | Punctuation::BracketOpen
            | Punctuation::Colon
            | Punctuation::Comma
            | Punctuation::Dot
            | Punctuation::Equal
            | Punctuation::NotEqual
            | Punctuation::ParenClose
            | Punctuation::ParenOpen => Version::V0_1_0,
        };
        self.since(since)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.strictness {
            Strictness::Strict => write!(f, "{}", self.version),
            Strictness::Union => write!(f, "{}+", self.version),
        }
    }
}

/// Finds `generate(… ) { return {`.
fn has_return_block(tokens: &[ContextToken]) -> bool {
    let generates = tokens
        .windows(2)
        .any(|pair| pair[0].is_word(Word::Generate) && pair[1].is(Punctuation::ParenOpen));
    generates
        && tokens.windows(4).any(|four| {
            four[0].is(Punctuation::ParenClose)
                && four[1].is(Punctuation::BraceOpen)
                && four[2].is_word(Word::Return)
                && four[3].is(Punctuation::BraceOpen)
        })
}

fn has_max_limit(tokens: &[ContextToken]) -> bool {
    tokens
        .windows(2)
        .any(|pair| pair[0].is_word(Word::Max) && pair[1].kind == ContextTokenKind::Number)
}

/// Finds `use … < 2k` on one line, or the head of a loop that ends in `< 3 {`.
fn has_less_limit(tokens: &[ContextToken]) -> bool {
    let mut head: Option<Word> = None;
    for (at, token) in tokens.iter().enumerate() {
        if token.line_break_before && head == Some(Word::Use) {
            head = None;
        }
        match token.kind {
            ContextTokenKind::Name(word @ (Word::Use | Word::For | Word::Loop)) => {
                head = Some(word)
            }
            ContextTokenKind::Symbol(Punctuation::BraceOpen | Punctuation::BraceClose) => {
                head = None
            }
            ContextTokenKind::Symbol(Punctuation::Less) => {
                let number =
                    tokens.get(at + 1).is_some_and(|next| next.kind == ContextTokenKind::Number);
                let brace = tokens.get(at + 2).is_some_and(|next| next.is(Punctuation::BraceOpen));
                if number && (head == Some(Word::Use) || (head.is_some() && brace)) {
                    return true;
                }
            }
            ContextTokenKind::Name(_)
            | ContextTokenKind::Number
            | ContextTokenKind::Text
            | ContextTokenKind::Symbol(_)
            | ContextTokenKind::End => {}
        }
    }
    false
}
