//! Elements of XML and HTML that a name names: `<password>V</password>`, `<a name="password">V</a>`,
//! `<key>password</key><string>V</string>`.

use crate::context::FoundName;
use crate::cursor::{FoundValue, Quote};
use crate::separator::Separator;
use crate::steps;

/// How long a tag may be, and how long what it holds.
const TAG_BYTES_MAX: usize = 200;
const CONTENT_BYTES_MAX: usize = 512;
/// Elements that hold the name of what the next one holds, and how surely.
const NAME_ELEMENTS: [(&[u8], Separator); 7] = [
    (b"key", Separator::Assign),
    (b"name", Separator::Assign),
    (b"string", Separator::Assign),
    (b"td", Separator::Loose),
    (b"th", Separator::Loose),
    (b"dt", Separator::Loose),
    (b"label", Separator::Loose),
];

/// Returns what the element holds that a name names.
pub(crate) fn content(text: &[u8], name: FoundName<'_>) -> Option<(Separator, FoundValue)> {
    let (tag_end, separator) = if let Some(quote) = Quote::at(text, name.end) {
        let is_attribute = in_tag(text, name.start.checked_sub(quote.len())?);
        (is_attribute.then_some(name.end + quote.len())?, Separator::Assign)
    } else if begins_tag(text, name.start) {
        (name.end, Separator::Assign)
    } else {
        next_tag(text, name.end)?
    };
    let mut start = opened(text, tag_end)?;
    let rest = |at: usize| &text[at..text.len().min(at + CONTENT_BYTES_MAX)];
    // What holds a value may hold it in one element more.
    let inner = rest(start).trim_ascii_start();
    let inner_start = start + rest(start).len() - inner.len();
    if inner.get(1).is_some_and(u8::is_ascii_alphabetic) && inner[0] == b'<' {
        let len = inner[1..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        start = opened(text, inner_start + 1 + len)?;
    }
    let content = rest(start);
    let data = content.trim_ascii_start().strip_prefix(b"<![CDATA[");
    let start = start + content.len() - data.unwrap_or(content).len();
    let content = data.unwrap_or(content);
    let close: &[u8] = if data.is_some() { b"]]>" } else { b"</" };
    let len = memchr::memmem::find(content, close)?;
    steps::count(len);
    let content = &content[..len];
    let end = start + content.trim_ascii_end().len();
    let start = start + content.len() - content.trim_ascii_start().len();
    let is_end = |byte: &u8| *byte == b'\n' || *byte == b'<' && data.is_none();
    let is_plain = !text.get(start..end)?.iter().any(is_end);
    (start < end && is_plain).then_some((separator, FoundValue { start, end, is_quoted: true }))
}

/// Tells whether a tag begins before its name at `at`: `<name`, `<space:name`.
fn begins_tag(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(TAG_BYTES_MAX)..at];
    let before = before.strip_suffix(b":").map_or(before, |before| {
        let space = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        &before[..before.len() - space]
    });
    before.ends_with(b"<")
}

/// Tells whether the value of an attribute begins at `at`.
fn in_tag(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(TAG_BYTES_MAX)..at];
    if !before.ends_with(b"=") {
        return false;
    }
    let begin = before.iter().rposition(|byte| matches!(byte, b'<' | b'>' | b'\n'));
    steps::count(before.len() - begin.unwrap_or(0));
    begin.is_some_and(|at| before[at] == b'<' && before[at + 1].is_ascii_alphabetic())
}

/// Returns where the name of the element ends that follows the end of another at `at`, and how surely it
/// holds what the other names.
fn next_tag(text: &[u8], at: usize) -> Option<(usize, Separator)> {
    let word = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let rest = &text[at..text.len().min(at + TAG_BYTES_MAX)];
    let closed = rest.strip_prefix(b"</")?;
    let closing = &closed[..word(closed)];
    let (_, separator) =
        NAME_ELEMENTS.iter().find(|(name, _)| closing.eq_ignore_ascii_case(name))?;
    let next = closed[closing.len()..].strip_prefix(b">")?;
    let next = next.trim_ascii_start().strip_prefix(b"<")?;
    (word(next) > 0).then(|| (at + rest.len() - next.len() + word(next), *separator))
}

/// Returns where the content begins of the element whose tag goes on at `at`.
fn opened(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..text.len().min(at + TAG_BYTES_MAX))?;
    if !rest.first().is_some_and(|byte| *byte == b'>' || byte.is_ascii_whitespace()) {
        return None;
    }
    let len = rest.iter().position(|byte| matches!(byte, b'<' | b'>'))?;
    steps::count(len);
    let is_open = rest[len] == b'>' && !rest[..len].ends_with(b"/");
    is_open.then_some(at + len + 1)
}
