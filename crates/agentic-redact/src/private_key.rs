//! Blocks of private keys, also between line numbers, marks of differences, escaped ends of lines,
//! or cut off before their end.

use crate::exempt::contains_ignoring_case;
use crate::hit::{HitRule, SecretHit};
use crate::steps;
use crate::value::is_irregular;

/// How long the label of a block may be.
const LABEL_BYTES_MAX: usize = 100;
/// From how many characters on a line of base64 needs no other sign.
const LINE_BYTES_MIN: usize = 16;
/// Empty lines that a block may have one after another.
const EMPTY_LINES_MAX: usize = 2;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyBlock {
    /// A private key.
    Private(usize, usize),
    /// A public key, a certificate, or something else that is no secret.
    Public(usize, usize),
}

/// Returns the block whose first line begins at `start`: `-----BEGIN LABEL-----`.
pub(crate) fn block(text: &[u8], start: usize) -> Option<KeyBlock> {
    let dashes: &[u8] = if text[start..].starts_with(b"-----") { b"-----" } else { b" ----" };
    let label_start = start + b"-----BEGIN ".len();
    let rest = &text[label_start..text.len().min(label_start + LABEL_BYTES_MAX)];
    let label_len = memchr::memmem::find(rest, dashes)?;
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_');
    let label = &rest[..label_len];
    if !label.iter().all(is_label) {
        return None;
    }
    let end = body_end(text, label_start + label_len + dashes.len())?;
    if contains_ignoring_case(label, "private key") {
        return Some(KeyBlock::Private(start, end));
    }
    Some(KeyBlock::Public(start, end))
}

/// Returns where the line ends that goes on at `at`.
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    let len = memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
    steps::count(len);
    at + len
}

/// Returns the private lines of a key of PuTTY, which begin where the line `Private-Lines: N` ends.
pub(crate) fn putty_lines(text: &[u8], line_end: usize) -> Option<SecretHit> {
    let end = body_end(text, line_end)?;
    let start = line_end + text[line_end..end].iter().position(u8::is_ascii_alphanumeric)?;
    Some(SecretHit::new(HitRule::PrivateKey, start, end))
}

/// Returns where the lines of a block end, if there is any of base64.
fn body_end(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let mut end = None;
    let mut empty = 0;
    while at < text.len() {
        let (len, next) = line(&text[at..]);
        steps::count(next.max(1));
        let (start, content) = content(&text[at..at + len]);
        match sort(content, end.is_some()) {
            BodyLine::End(closing) => return end.map(|_| at + start + closing),
            BodyLine::Secret => {
                end = Some(at + start + content.len());
                empty = 0;
            }
            BodyLine::Header => empty = 0,
            BodyLine::Empty if empty < EMPTY_LINES_MAX => empty += 1,
            BodyLine::Empty | BodyLine::Other => break,
        }
        at += next;
    }
    end
}

/// What a line of a block is.
enum BodyLine {
    /// The last one, and where its dashes end.
    End(usize),
    Secret,
    Header,
    Empty,
    Other,
}

fn sort(content: &[u8], has_secret: bool) -> BodyLine {
    if let Some(closing) = closing(content) {
        return BodyLine::End(closing);
    }
    if content.is_empty() {
        return BodyLine::Empty;
    }
    let is_base64 = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b' ')
    };
    if content.iter().all(is_base64) {
        let is_long = content.len() >= LINE_BYTES_MIN && !content.contains(&b' ')
            || content.split(|byte| *byte == b' ').all(|piece| piece.len() >= LINE_BYTES_MIN);
        let is_last = has_secret && (content.ends_with(b"=") || is_irregular(content));
        return if is_long || is_last { BodyLine::Secret } else { BodyLine::Other };
    }
    if content.starts_with(crate::tag::MARKER_START.as_bytes()) {
        return BodyLine::Header;
    }
    let colon = memchr::memchr(b':', content);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    match colon {
        Some(at) if !has_secret && at > 0 && content[..at].iter().all(is_name) => BodyLine::Header,
        Some(_) | None => BodyLine::Other,
    }
}

/// Returns where the line `-----END LABEL-----` ends, if this is one.
fn closing(content: &[u8]) -> Option<usize> {
    let start = memchr::memmem::find(content, b"---- END")
        .or_else(|| memchr::memmem::find(content, b"-----END"))?;
    let label = start + b"-----END".len();
    let dashes = content[label..].iter().position(|byte| *byte == b'-');
    let Some(dashes) = dashes else { return Some(content.len()) };
    let after = content[label + dashes..].iter().position(|byte| *byte != b'-');
    Some(after.map_or(content.len(), |after| label + dashes + after))
}

/// Returns how long the first line is and where the next begins. Lines also end where an end of
/// line is written as `\n`, and before what begins or ends a block on the same line.
fn line(text: &[u8]) -> (usize, usize) {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\n' => return (at, at + 1),
            b'\\' => {
                let slashes = text[at..].iter().take_while(|byte| **byte == b'\\').count();
                match text.get(at + slashes) {
                    Some(b'n' | b'r') => return (at, at + slashes + 1),
                    Some(_) | None => at += slashes,
                }
            }
            b'-' if at > 0 && is_fence(&text[at..]) => return (at, at),
            _ => at += 1,
        }
    }
    (at, at)
}

/// Tells whether a block begins or ends here.
fn is_fence(text: &[u8]) -> bool {
    text.starts_with(b"-----END") || text.starts_with(b"-----BEGIN")
}

/// Returns a line without what editors, differences and languages put around it, and where that
/// begins in the line.
fn content(line: &[u8]) -> (usize, &[u8]) {
    let is_around = |byte: u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'>' | b'|')
    };
    let mut start = number_len(line);
    let mut end = line.len();
    let begin = start;
    while start < end {
        let is_mark = matches!(line[start], b'+' | b'-') && !line[start + 1..].starts_with(b"----");
        let is_first_mark = is_mark && start == begin;
        if !is_around(line[start]) && !is_first_mark {
            break;
        }
        start += 1;
    }
    while start < end {
        let last = line[end - 1];
        let joins = last == b'+' && line[..end - 1].ends_with(b" ");
        if !is_around(last) && !joins && last != b'\\' {
            break;
        }
        end -= 1;
    }
    (start, &line[start..end])
}

/// Returns how long the number of a line is, with what parts it from the line: `12:`, `12→`.
fn number_len(line: &[u8]) -> usize {
    let blanks = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let digits = line[blanks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = &line[blanks + digits..];
    let parts: [&[u8]; 5] = [b"\t", b":", "→".as_bytes(), b" ", b"|"];
    let part = parts.iter().find(|part| digits > 0 && behind.starts_with(part));
    part.map_or(0, |part| blanks + digits + part.len())
}
