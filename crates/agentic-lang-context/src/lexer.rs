//! From text to tokens.
//!
//! Keywords are soft: a token is a [`ContextTokenKind::Name`] whatever it spells, and carries the
//! [`Word`] that it may stand for.

use agentic_diag::Span;

use crate::dialect::Dialect;
use crate::syntax::SyntaxFault;

/// The largest source text that is read, in bytes: 16 MiB.
pub const SOURCE_BYTES_MAX: usize = 16 << 20;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContextTokenKind {
    Name(Word),
    Number,
    Text,
    Symbol(Punctuation),
    End,
}

/// One token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContextToken {
    pub kind: ContextTokenKind,
    pub span: Span,
    /// Whether a line break stands between this token and the one before.
    pub line_break_before: bool,
}

/// The words that mean something in some place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Agent,
    And,
    As,
    Description,
    Else,
    Empty,
    False,
    For,
    From,
    Func,
    Generate,
    If,
    Import,
    In,
    Loop,
    Main,
    Max,
    Model,
    None,
    Not,
    Of,
    One,
    Or,
    Other,
    Parallel,
    Repeat,
    Return,
    Role,
    Selected,
    True,
    Until,
    Use,
}

/// Punctuation and operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Punctuation {
    Arrow,
    Assign,
    Bang,
    BraceClose,
    BraceOpen,
    BracketClose,
    BracketOpen,
    Colon,
    Comma,
    Dot,
    Equal,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    Minus,
    MinusAssign,
    NotEqual,
    ParenClose,
    ParenOpen,
    Plus,
    PlusAssign,
    Slash,
    Star,
}

/// The tokens of a text, closed by one [`ContextTokenKind::End`], and its comments.
#[derive(Debug)]
pub(crate) struct LexedText {
    pub tokens: Vec<ContextToken>,
    pub comments: Vec<Span>,
}

impl ContextToken {
    pub fn is(&self, symbol: Punctuation) -> bool {
        self.kind == ContextTokenKind::Symbol(symbol)
    }

    pub fn is_word(&self, word: Word) -> bool {
        self.kind == ContextTokenKind::Name(word)
    }
}

/// Splits a text into tokens.
pub(crate) fn lex(text: &str, dialect: Dialect) -> Result<LexedText, SyntaxFault> {
    if text.len() > SOURCE_BYTES_MAX {
        return Err(too_long(text.len()));
    }
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let tokens = Vec::with_capacity(text.len() / 5);
    let lexer =
        ContextLexer { text, bytes: text.as_bytes(), dialect, at, line_break: false, tokens };
    lexer.run()
}

struct ContextLexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    dialect: Dialect,
    at: usize,
    line_break: bool,
    tokens: Vec<ContextToken>,
}

impl ContextLexer<'_> {
    fn run(mut self) -> Result<LexedText, SyntaxFault> {
        let mut comments = Vec::new();
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.line_break = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.peek(1) == Some(b'/') => comments.push(self.comment()),
                b'-' if self.peek(1) == Some(b'-') && self.dialect.dash_comments() => {
                    comments.push(self.comment());
                }
                b'"' | b'\'' => self.string(byte)?,
                b'0'..=b'9' => self.number(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.name(),
                _ => self.symbol(byte)?,
            }
        }
        let end = self.text.len();
        self.push(ContextTokenKind::End, end, end);
        Ok(LexedText { tokens: self.tokens, comments })
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn push(&mut self, kind: ContextTokenKind, start: usize, end: usize) {
        let span = Span::new(start, end);
        self.tokens.push(ContextToken { kind, span, line_break_before: self.line_break });
        self.line_break = false;
        self.at = end;
    }

    fn comment(&mut self) -> Span {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|byte| *byte != b'\n') {
            self.at += 1;
        }
        Span::new(start, self.at)
    }

    fn string(&mut self, quote: u8) -> Result<(), SyntaxFault> {
        let start = self.at;
        let mut end = start + 1;
        loop {
            match self.bytes.get(end) {
                None => return Err(unterminated(start, "a text is not closed")),
                Some(byte) if *byte == quote => break,
                Some(b'\\') if end + 1 == self.bytes.len() => {
                    return Err(unterminated(start, "an escape sequence is not complete"));
                }
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        self.push(ContextTokenKind::Text, start, end + 1);
        Ok(())
    }

    fn number(&mut self) {
        let start = self.at;
        let mut end = self.skip(start, u8::is_ascii_digit);
        if self.bytes.get(end) == Some(&b'.') {
            end = self.skip(end + 1, u8::is_ascii_digit);
        }
        end = self.skip(end, is_name_byte);
        self.push(ContextTokenKind::Number, start, end);
    }

    fn name(&mut self) {
        let start = self.at;
        let mut end = self.skip(start, is_name_byte);
        while self.dialect.hyphen_names()
            && self.bytes.get(end) == Some(&b'-')
            && self.bytes.get(end + 1).is_some_and(is_name_byte)
        {
            end = self.skip(end + 1, is_name_byte);
        }
        let word = word(&self.text[start..end]);
        self.push(ContextTokenKind::Name(word), start, end);
    }

    fn skip(&self, from: usize, accept: impl Fn(&u8) -> bool) -> usize {
        from + self.bytes[from..].iter().take_while(|byte| accept(byte)).count()
    }

    fn symbol(&mut self, byte: u8) -> Result<(), SyntaxFault> {
        let start = self.at;
        if let Some(symbol) = self.peek(1).and_then(|next| double_symbol(byte, next)) {
            self.push(ContextTokenKind::Symbol(symbol), start, start + 2);
            return Ok(());
        }
        if let Some(symbol) = single_symbol(byte) {
            self.push(ContextTokenKind::Symbol(symbol), start, start + 1);
            return Ok(());
        }
        let found = self.text[start..].chars().next().expect("a byte remains");
        let span = Span::new(start, start + found.len_utf8());
        let shown = found.escape_debug();
        Err(SyntaxFault::new(span, format!("the character `{shown}` has no meaning here"))
            .because("not part of the language outside texts and comments")
            .hint("remove it, or put it into a quoted text"))
    }
}

fn is_name_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

fn too_long(length: usize) -> SyntaxFault {
    let message = format!("the text has {length} bytes, more than {SOURCE_BYTES_MAX}");
    SyntaxFault::new(Span::new(0, 0), message)
        .hint("split the program over several files with `import agent`")
}

fn unterminated(start: usize, message: &str) -> SyntaxFault {
    SyntaxFault::new(Span::new(start, start + 1), message)
        .because("opened here")
        .hint("close it with the same quotation mark")
}

fn word(text: &str) -> Word {
    match text {
        "agent" => Word::Agent,
        "and" => Word::And,
        "as" => Word::As,
        "description" => Word::Description,
        "else" => Word::Else,
        "empty" => Word::Empty,
        "false" => Word::False,
        "for" => Word::For,
        "from" => Word::From,
        "func" => Word::Func,
        "generate" => Word::Generate,
        "if" => Word::If,
        "import" => Word::Import,
        "in" => Word::In,
        "loop" => Word::Loop,
        "main" => Word::Main,
        "max" => Word::Max,
        "model" => Word::Model,
        "none" => Word::None,
        "not" => Word::Not,
        "of" => Word::Of,
        "one" => Word::One,
        "or" => Word::Or,
        "parallel" => Word::Parallel,
        "repeat" => Word::Repeat,
        "return" => Word::Return,
        "role" => Word::Role,
        "selected" => Word::Selected,
        "true" => Word::True,
        "until" => Word::Until,
        "use" => Word::Use,
        _ => Word::Other,
    }
}

fn double_symbol(first: u8, second: u8) -> Option<Punctuation> {
    Some(match (first, second) {
        (b'=', b'=') => Punctuation::Equal,
        (b'!', b'=') => Punctuation::NotEqual,
        (b'<', b'=') => Punctuation::LessEqual,
        (b'>', b'=') => Punctuation::GreaterEqual,
        (b'-', b'>') => Punctuation::Arrow,
        (b'+', b'=') => Punctuation::PlusAssign,
        (b'-', b'=') => Punctuation::MinusAssign,
        _ => return None,
    })
}

fn single_symbol(byte: u8) -> Option<Punctuation> {
    Some(match byte {
        b'{' => Punctuation::BraceOpen,
        b'}' => Punctuation::BraceClose,
        b'(' => Punctuation::ParenOpen,
        b')' => Punctuation::ParenClose,
        b'[' => Punctuation::BracketOpen,
        b']' => Punctuation::BracketClose,
        b'.' => Punctuation::Dot,
        b',' => Punctuation::Comma,
        b':' => Punctuation::Colon,
        b'=' => Punctuation::Assign,
        b'!' => Punctuation::Bang,
        b'<' => Punctuation::Less,
        b'>' => Punctuation::Greater,
        b'+' => Punctuation::Plus,
        b'-' => Punctuation::Minus,
        b'*' => Punctuation::Star,
        b'/' => Punctuation::Slash,
        _ => return None,
    })
}

/// Returns what a quoted text says: quotation marks gone, escapes replaced.
pub(crate) fn unquote(raw: &str) -> String {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or("");
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some(other) => text.push(other),
            None => {}
        }
    }
    text
}
