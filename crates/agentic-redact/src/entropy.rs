//! Runs of characters that look random.

use crate::exempt::{is_exempt, is_hex};
use crate::hit::{HitRule, SecretHit};
use crate::measure::{count_classes, entropy_bits};
use crate::steps;
use crate::words::is_wordlike;

const RUN_BYTES_MIN: usize = 24;
const RUN_BYTES_MAX: usize = 200;
const BITS_MIN: f64 = 4.2;
/// One change of class for so many characters, at least.
const CHANGE_EACH: usize = 4;
/// How many `=` may end a run of base64.
const PADDING_BYTES_MAX: usize = 2;
/// How many folders and files a run names at least to be a path.
const PATH_NAMES_MIN: usize = 3;
/// How much of what stands before a run tells what it is.
const BEFORE_BYTES: usize = 16;
/// What stands before digests and public data, in lower case.
const PUBLIC_STARTS: [&str; 12] = [
    "sha256:", "sha384:", "sha512:", "sha1:", "sha256-", "sha384-", "sha512-", "sha1-", "h1:",
    "md5:", ";base64,", "ssh-rsa ",
];

/// Which bytes belong to a run.
const IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let is_letter = (byte as u8).is_ascii_alphanumeric();
        table[byte] = is_letter || matches!(byte as u8, b'+' | b'/' | b'_' | b'-');
        byte += 1;
    }
    table
};

/// Returns the runs of a text that look random.
pub(crate) fn find(text: &[u8]) -> Vec<SecretHit> {
    let mut hits = Vec::new();
    let mut at = 0;
    steps::count(text.len());
    // A run of the shortest length covers every place of that distance: only those are looked at
    // until one is part of a run.
    while at + RUN_BYTES_MIN <= text.len() {
        if !IN_RUN[usize::from(text[at + RUN_BYTES_MIN - 1])] {
            at += RUN_BYTES_MIN;
            continue;
        }
        let probe = at + RUN_BYTES_MIN - 1;
        let start = text[at..probe].iter().rposition(|byte| !IN_RUN[usize::from(*byte)]);
        let start = start.map_or(at, |before| at + before + 1);
        let start = behind_code(text, start);
        let len = text[probe..].iter().position(|byte| !IN_RUN[usize::from(*byte)]);
        let end = len.map_or(text.len(), |len| probe + len);
        if (RUN_BYTES_MIN..=RUN_BYTES_MAX).contains(&end.saturating_sub(start))
            && is_random_run(text, start, end)
        {
            let padding = text[end..].iter().take(PADDING_BYTES_MAX);
            let padding = padding.take_while(|byte| **byte == b'=').count();
            hits.push(SecretHit::new(HitRule::Entropy, start, end + padding));
        }
        at = end + 1;
    }
    hits
}

/// Returns where a run begins behind the code of a terminal, if it begins within one.
fn behind_code(text: &[u8], start: usize) -> usize {
    if !text[..start].ends_with(b"\x1b[") {
        return start;
    }
    let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = start + digits;
    end + usize::from(text.get(end).is_some_and(u8::is_ascii_alphabetic))
}

fn is_random_run(text: &[u8], start: usize, end: usize) -> bool {
    let run = &text[start..end];
    let counts = count_classes(run);
    if counts.lower == 0 || counts.upper == 0 || counts.digit == 0 {
        return false;
    }
    counts.changes * CHANGE_EACH >= run.len()
        && entropy_bits(run) >= BITS_MIN
        && !is_hex(run)
        && !is_exempt(run)
        && !is_path(run)
        && !is_wordlike(run)
        && !is_public(&text[start.saturating_sub(BEFORE_BYTES)..start])
}

/// Tells whether a run is an absolute path of names that are too short to be secrets.
///
/// The names of temporary folders are random. Of 1,000 random runs of base64 one looks like this.
fn is_path(run: &[u8]) -> bool {
    let Some(names) = run.strip_prefix(b"/") else { return false };
    let names = || names.split(|byte| *byte == b'/');
    names().count() >= PATH_NAMES_MIN
        && !run.contains(&b'+')
        && names().all(|name| (1..RUN_BYTES_MIN).contains(&name.len()))
}

/// Tells whether what stands before a run says that it is public.
fn is_public(before: &[u8]) -> bool {
    PUBLIC_STARTS.iter().any(|start| {
        before.len() >= start.len()
            && before[before.len() - start.len()..].eq_ignore_ascii_case(start.as_bytes())
    })
}
