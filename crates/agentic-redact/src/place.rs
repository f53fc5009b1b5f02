//! Where a value begins that does not stand right behind what parts it from its name.

use crate::context::FoundName;
use crate::cursor::{Quote, next_line, skip_blanks};
use crate::separator::Separator;
use crate::steps;

/// How much may stand between a name and the value that its type parts from it.
const TYPE_BYTES_MAX: usize = 48;
/// How long the name of a function around a value may be.
const CALL_BYTES_MAX: usize = 40;
/// How long the fields may be of which one is the value.
const FIELDS_BYTES_MAX: usize = 512;
/// Fields that hold the value of what they stand in or beside.
const VALUE_FIELDS: [&[u8]; 2] = [b"value", b"default"];
/// How much may stand between the name of a field in a form and its value.
const FORM_HEAD_BYTES_MAX: usize = 256;
/// How far a name is indented at most that begins a line.
const INDENT_BYTES_MAX: usize = 60;
/// How many lines may end between a name and its value.
const LINES_MAX: usize = 3;

/// Returns how far a name is indented that begins its line, as YAML and files of settings have it.
pub(crate) fn indent(text: &[u8], name: FoundName<'_>) -> Option<usize> {
    let before = text[..name.start].iter().rev().take(INDENT_BYTES_MAX);
    let len = before.take_while(|byte| matches!(byte, b' ' | b'\t' | b'-')).count();
    (name.start == len || text[name.start - len - 1] == b'\n').then_some(len)
}

/// Returns where the value begins on a line below its name, if the line of the name ends at `at`: in
/// quotation marks, in a field of its own, or as the one word of a line of YAML.
pub(crate) fn below(
    text: &[u8],
    name: FoundName<'_>,
    separator: Separator,
    at: usize,
) -> Option<usize> {
    if !matches!(separator, Separator::Assign | Separator::Colon | Separator::Is) {
        return None;
    }
    let mut line = next_line(text, skip_blanks(text, at))?;
    for _ in 1..LINES_MAX {
        line = next_line(text, skip_blanks(text, line)).unwrap_or(line);
    }
    let start = skip_blanks(text, line);
    if start >= text.len() || Quote::at(text, start).is_some() {
        return Some(start);
    }
    field(text, start).or_else(|| {
        let is_inner = separator == Separator::Colon && start - line > indent(text, name)?;
        let rest = &text[start..text.len().min(start + FIELDS_BYTES_MAX)];
        let len = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        steps::count(len);
        let end = skip_blanks(text, start + len);
        let is_line = end == text.len() || next_line(text, end).is_some();
        (is_inner && is_line && !rest[..len].ends_with(b":")).then_some(start)
    })
}

/// Returns where the value begins in `name="N" value="V"`, also where a line ends between the two.
pub(crate) fn attribute(text: &[u8], at: usize) -> Option<usize> {
    let at = if text.get(at) == Some(&b',') { skip_blanks(text, at + 1) } else { at };
    field(text, skip_blanks(text, next_line(text, at).unwrap_or(at)))
}

/// Returns where the value begins in `value: V`, `"default": V` and their like, if that stands at `at`.
pub(crate) fn field(text: &[u8], at: usize) -> Option<usize> {
    let at = Quote::at(text, at).map_or(at, |quote| at + quote.len());
    let rest = &text[at..];
    let is_start =
        |name: &&&[u8]| rest.get(..name.len()).is_some_and(|rest| rest.eq_ignore_ascii_case(name));
    let at = at + VALUE_FIELDS.iter().find(is_start)?.len();
    let at = Quote::at(text, at).map_or(at, |quote| at + quote.len());
    let at = skip_blanks(text, at);
    matches!(text.get(at), Some(b'=' | b':')).then_some(at + 1)
}

/// Returns where the value begins of the fields that `{` opens at `at`: `{"value": V}`,
/// `{ default = V }`.
pub(crate) fn member(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..text.len().min(at + FIELDS_BYTES_MAX))?.strip_prefix(b"{")?;
    let len = rest.iter().position(|byte| *byte == b'}').unwrap_or(rest.len());
    steps::count(len);
    let begins =
        |place: &usize| matches!(text[place - 1], b'{' | b',' | b';' | b' ' | b'\t' | b'\n');
    (at + 1..at + 1 + len).filter(begins).find_map(|place| field(text, place))
}

/// Returns where the value begins of a field in a form of several parts: behind the empty line.
pub(crate) fn form_field(text: &[u8], name: FoundName<'_>, at: usize) -> Option<usize> {
    let before = &text[..name.start];
    let before = before.strip_suffix(b"\"")?;
    let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    if !before[..before.len() - slashes].ends_with(b" name=") {
        return None;
    }
    let most = text.len().min(at + FORM_HEAD_BYTES_MAX);
    let mut line = next_line(text, at)?;
    while line < most {
        if let Some(value) = next_line(text, line) {
            return Some(value);
        }
        line = (line..most).find_map(|at| next_line(text, at))?;
        steps::count(line - at);
    }
    None
}

/// Returns where the value begins in `name: Type = value`; elsewhere where it began before.
pub(crate) fn behind_type(text: &[u8], at: usize, separator: Separator) -> usize {
    let start = skip_blanks(text, at);
    if separator != Separator::Colon {
        return start;
    }
    let rest = &text[start..text.len().min(start + TYPE_BYTES_MAX)];
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_&<>[]:.?| ".contains(byte);
    let len = rest.iter().take_while(|byte| is_type(byte)).count();
    let is_spaced = len > 0 && rest[len - 1] == b' ' && rest[0] != b'[';
    let is_assigned = rest.get(len) == Some(&b'=') && rest.get(len + 1) != Some(&b'=');
    if is_spaced && is_assigned {
        return skip_blanks(text, start + len + 1);
    }
    block_scalar(text, start)
}

/// Returns where the text begins that `|` or `>` puts on the next line; elsewhere `start`.
fn block_scalar(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let is_mark = |byte: &&u8| matches!(byte, b'|' | b'>' | b'-' | b'+' | b'1'..=b'9');
    let marks = rest.iter().take(3).take_while(is_mark).count();
    if marks > 0 && matches!(rest[0], b'|' | b'>') {
        return next_line(text, start + marks).map_or(start, |line| skip_blanks(text, line));
    }
    start
}

/// Returns where the value in quotation marks begins that a call is given: `Some("V")`.
pub(crate) fn behind_call(text: &[u8], at: usize) -> usize {
    let start = skip_blanks(text, at);
    let rest = &text[start..];
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:! ".contains(byte);
    let len = rest.iter().take(CALL_BYTES_MAX).take_while(|byte| is_name(byte)).count();
    let is_call = rest.first().is_some_and(u8::is_ascii_alphabetic)
        && rest.get(len) == Some(&b'(')
        && Quote::at(text, start + len + 1).is_some();
    let prefix = rest.first().is_some_and(|byte| b"brufBRUF@$".contains(byte))
        && Quote::at(text, start + 1).is_some_and(|quote| quote.len() == 1);
    if is_call {
        start + len + 1
    } else if prefix {
        start + 1
    } else {
        start
    }
}
