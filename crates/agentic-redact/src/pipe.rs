//! Secrets that a program reads from its input: `echo V | docker login --password-stdin`,
//! `echo root:V | chpasswd`, `sudo -S <<< V`.

use crate::cursor::{Quote, skip_blanks};
use crate::hit::{HitRule, SecretHit};
use crate::name::NameStrength;
use crate::steps;
use crate::trigger::TriggerHit;
use crate::value::{Quoting, is_secret_value};

/// How much of a line before and behind the program is looked at.
const LINE_BYTES_MAX: usize = 256;
/// Programs that print what they are given.
const PRINTERS: [&[u8]; 2] = [b"echo ", b"printf "];

/// Returns the secret that goes to the program or option which a word names.
pub(crate) fn secret(text: &[u8], word: TriggerHit) -> Option<SecretHit> {
    let name = &text[word.start..word.end];
    if name.eq_ignore_ascii_case(b"sudo -s") && name != b"sudo -S" {
        return None;
    }
    let (mut start, end) = printed(text, word.start).or_else(|| given(text, word.end))?;
    if name.eq_ignore_ascii_case(b"chpasswd") {
        start += memchr::memchr(b':', &text[start..end])? + 1;
    }
    let is_secret = is_secret_value(&text[start..end], NameStrength::Password, Quoting::Quoted);
    is_secret.then(|| SecretHit::new(HitRule::Flag, start, end))
}

/// Returns the last word of what is printed into the pipe before `at`.
fn printed(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let before = &text[at.saturating_sub(LINE_BYTES_MAX)..at];
    steps::count(before.len());
    let line = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let pipe = memchr::memrchr(b'|', &before[line..])? + line;
    let from = PRINTERS.iter().filter_map(|printer| {
        memchr::memmem::rfind(&before[line..pipe], printer).map(|at| line + at + printer.len())
    });
    let from = from.max()?;
    let printed = before[from..pipe].trim_ascii_end();
    let (mark, inner) = printed.split_last()?;
    let (start, len) = if matches!(mark, b'"' | b'\'') {
        let slashes = inner.iter().rev().take_while(|byte| **byte == b'\\').count();
        let inner = &inner[..inner.len() - slashes];
        (memchr::memrchr(*mark, inner)? + 1, inner.len())
    } else {
        (memchr::memrchr(b' ', printed).map_or(0, |blank| blank + 1), printed.len())
    };
    let from = at - before.len() + from;
    Some((from + start, from + len))
}

/// Returns the word behind `<<<` on the line that goes on at `at`.
fn given(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = &text[at..text.len().min(at + LINE_BYTES_MAX)];
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    steps::count(line.len());
    let start = skip_blanks(text, at + memchr::memmem::find(line, b"<<<")? + 3);
    let start = Quote::at(text, start).map_or(start, |quote| start + quote.len());
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'\\');
    let rest = &text[start..text.len().min(start + LINE_BYTES_MAX)];
    Some((start, start + rest.iter().position(is_end).unwrap_or(rest.len())))
}
