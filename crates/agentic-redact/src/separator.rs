//! What parts a name from its value.

use crate::context::FoundName;
use crate::cursor::{Quote, next_line, skip_blanks};
use crate::exempt::contains_ignoring_case;
use crate::name::NameStrength;
use crate::trigger::TriggerHit;
use crate::{place, setter, steps};

/// How long the end of an element may be that stands around a name.
const TAG_BYTES_MAX: usize = 12;
/// How far from the beginning of a row of a table its cells are looked at.
const ROW_BYTES_MAX: usize = 200;
/// How much of a statement around `IDENTIFIED` is looked at, and words there that name a user.
const STATEMENT_BYTES_MAX: usize = 100;
const USER_WORDS: [&str; 5] =
    ["create user ", "alter user ", "create role ", "connect to ", "grant "];
/// Words between a name and whose it is, and how long that may be.
const OWNER_WORDS: [&[u8]; 4] = [b"for ", b"FOR ", b"of ", b"("];
const OWNER_BYTES_MAX: usize = 60;
/// The colon and the equals sign of Chinese and Japanese texts.
const WIDE_COLON: &[u8] = "：".as_bytes();
const WIDE_EQUALS: &[u8] = "＝".as_bytes();
/// What stands between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// `=`, `:=`, `=>`, `<name>`.
    Assign,
    /// `:`.
    Colon,
    /// `==`, `(`, `,`, a blank in SQL: the value has quotation marks, or there is none.
    QuotedOnly,
    /// `is`.
    Is,
    /// The blank behind an option, or behind a name that is set.
    Blank,
    /// `|`, or the blank before quotation marks in a sentence: only what is irregular is a value.
    Loose,
}

/// Returns what parts a name from its value, and where that may begin.
pub(crate) fn sign(text: &[u8], name: FoundName<'_>) -> Option<(Separator, usize)> {
    let mut at = name.end;
    let quote = Quote::at(text, at);
    if let Some(quote) = quote {
        at += quote.len();
    }
    if text.get(at) == Some(&b']') {
        at += 1;
    }
    let tight = at;
    at = skip_blanks(text, behind_emphasis(text, at));
    if let Some(found) = plain_sign(text, at) {
        return Some(found);
    }
    let is_tag = name.start > 0 && text[name.start - 1] == b'<';
    let attribute = quote.is_some().then(|| place::attribute(text, at)).flatten();
    let attribute = attribute.map(|at| (Separator::Assign, at));
    match text.get(at) {
        Some(b'>') if is_tag && at == tight => Some((Separator::Assign, at + 1)),
        Some(b'(') if quote.is_none() && at == tight => Some((Separator::QuotedOnly, at + 1)),
        Some(b',') if quote.is_some() => {
            attribute.or_else(|| Some((Separator::QuotedOnly, at + 1)))
        }
        Some(b'{') if quote.is_some() => Some((Separator::Assign, at)),
        Some(b'|') if begins_row(text, name) => Some((Separator::Loose, at + 1)),
        Some(_) | None => attribute
            .or_else(|| place::form_field(text, name, at).map(|at| (Separator::Assign, at)))
            .or_else(|| {
                let line = skip_blanks(text, next_line(text, at)?);
                place::field(text, line).map(|at| (Separator::Colon, at))
            }),
    }
}

/// Returns the sign at `at` that parts a name from its value, and where that may begin.
fn plain_sign(text: &[u8], at: usize) -> Option<(Separator, usize)> {
    const SIGNS: [(&[u8], Separator); 16] = [
        (b"===", Separator::QuotedOnly),
        (b"==", Separator::QuotedOnly),
        (b"=>", Separator::Assign),
        (b":=", Separator::Assign),
        (b"?=", Separator::Assign),
        (b"||=", Separator::Assign),
        (b"??=", Separator::Assign),
        (b"=", Separator::Assign),
        (WIDE_EQUALS, Separator::Assign),
        (WIDE_COLON, Separator::Colon),
        (b"is ", Separator::Is),
        (b"is:", Separator::Is),
        (b"was ", Separator::Is),
        (b"was:", Separator::Is),
        (b"ist ", Separator::Is),
        (b"ist:", Separator::Is),
    ];
    let rest = &text[at..];
    if let Some((mark, separator)) = SIGNS.iter().find(|(mark, _)| rest.starts_with(mark)) {
        return Some((*separator, at + mark.len()));
    }
    let is_colon = rest.first() == Some(&b':') && rest.get(1) != Some(&b':');
    is_colon.then(|| (Separator::Colon, behind_emphasis(text, at + 1)))
}

/// Returns where the value may begin that a blank parts from its name, where a command, a file or a
/// sentence does so.
pub(crate) fn blank(
    text: &[u8],
    name: FoundName<'_>,
    strength: NameStrength,
) -> Option<(Separator, usize)> {
    let end = name.end + Quote::at(text, name.end).map_or(0, Quote::len);
    let at = skip_blanks(text, end);
    if at == end || at >= text.len() {
        return None;
    }
    let is_password = strength == NameStrength::Password && end == name.end;
    if let Some(at) = behind_owner(text, at).filter(|_| is_password) {
        return Some((Separator::Loose, at));
    }
    if let Some(at) = setter::value(text, name, at) {
        return Some((Separator::Blank, at));
    }
    match text[at] {
        b'\'' if is_password => Some((Separator::QuotedOnly, at)),
        b'"' | b'`' if is_password => Some((Separator::Loose, at)),
        _ => None,
    }
}

/// Returns where the value begins in `password for the user root: V`, from `for` on.
fn behind_owner(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..text.len().min(at + OWNER_BYTES_MAX)];
    if !OWNER_WORDS.iter().any(|word| rest.starts_with(word)) {
        return None;
    }
    let is_owner = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.@'`()".contains(byte);
    let len = rest.iter().take_while(|byte| is_owner(byte)).count();
    steps::count(len);
    matches!(rest.get(len), Some(b':' | b'=')).then(|| skip_blanks(text, at + len + 1))
}

/// Returns where the password begins that identifies a user of a database, behind what a word begins:
/// `IDENTIFIED BY 'V'`, `IDENTIFIED WITH NAME BY 'V'`, and without marks where a user is named before.
pub(crate) fn identified(text: &[u8], word: TriggerHit) -> Option<usize> {
    let rest = &text[word.end..text.len().min(word.end + STATEMENT_BYTES_MAX)];
    let is_by = contains_ignoring_case(&text[word.start..word.end], " by ");
    let by = || rest.windows(4).position(|part| part.eq_ignore_ascii_case(b" by "));
    let at = skip_blanks(text, word.end + if is_by { 0 } else { by()? + 4 });
    let before = &text[word.start.saturating_sub(STATEMENT_BYTES_MAX)..word.start];
    steps::count(rest.len() + before.len());
    let is_quoted = matches!(text.get(at), Some(b'\'' | b'"'));
    (is_quoted || USER_WORDS.iter().any(|word| contains_ignoring_case(before, word))).then_some(at)
}

/// Returns where the marks end that make a name bold, or the element that does.
fn behind_emphasis(text: &[u8], at: usize) -> usize {
    let rest = &text[at..text.len().min(at + TAG_BYTES_MAX)];
    let stars = rest.iter().take_while(|byte| **byte == b'*').count();
    if stars > 0 {
        return at + stars;
    }
    let Some(tag) = rest.strip_prefix(b"</") else { return at };
    let len = tag.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if len > 0 && tag.get(len) == Some(&b'>') { at + len + 3 } else { at }
}

/// Tells whether a name stands in a row of a table that `|` begins.
fn begins_row(text: &[u8], name: FoundName<'_>) -> bool {
    let before = &text[name.start.saturating_sub(ROW_BYTES_MAX)..name.start];
    let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    steps::count(before.len() - line);
    before[line..].trim_ascii_start().starts_with(b"|")
}
