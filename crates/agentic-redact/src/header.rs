//! Headers of HTTP that authorize.

use crate::cursor::{Quote, ValueEnds, skip_blanks};
use crate::exempt::is_exempt;
use crate::hit::{HitRule, SecretHit};
use crate::name::{NameStrength, strength};
use crate::steps;
use crate::value::{is_irregular, is_random};

/// Shortest credential.
const CREDENTIAL_BYTES_MIN: usize = 8;
/// How long the name of a scheme may be: `Bearer`, `Basic`, `token`.
const SCHEME_BYTES_MAX: usize = 20;
/// How much of a header is looked at for fields.
const FIELDS_BYTES_MAX: usize = 1024;
/// Fields of a header that prove who asks: `Digest … response="V"`, `OAuth … oauth_signature="V"`.
const PROOF_FIELDS: [&str; 4] = ["response=", "signature=", "mac=", "proof="];
/// How many cookies of a header are looked at.
const COOKIES_MAX: usize = 100;
/// Names of cookies that stand for a session.
const SESSION_PARTS: [&str; 8] =
    ["sess", "sid", "auth", "token", "jwt", "csrf", "login", "remember"];

/// Tells whether a name is that of a header that authorizes.
pub(crate) fn is_header(name: &[u8]) -> bool {
    let has_start = |start: &str| {
        name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start.as_bytes()))
    };
    is_authorization(name) || is_cookie(name) || has_start("x-") && strength(name).is_some()
}

/// Finds the secrets in the value of a header, which begins behind `at`.
pub(crate) fn find(
    text: &[u8],
    name: &[u8],
    at: usize,
    ends: &mut ValueEnds,
    hits: &mut Vec<SecretHit>,
) {
    let at = skip_blanks(text, at);
    let at = Quote::at(text, at).map_or(at, |quote| at + quote.len());
    if is_cookie(name) {
        cookies(text, at, ends, hits);
        return;
    }
    let at = skip_blanks(text, at);
    let start = if is_authorization(name) { behind_scheme(text, at) } else { at };
    let start = Quote::at(text, start).map_or(start, |quote| start + quote.len());
    let end = ends.bare(text, start);
    if is_credential(&text[start..end]) {
        hits.push(SecretHit::new(HitRule::Header, start, end));
    } else if is_authorization(name) {
        proofs(text, at, ends, hits);
    }
}

/// Finds the fields of a header that prove who asks.
fn proofs(text: &[u8], at: usize, ends: &mut ValueEnds, hits: &mut Vec<SecretHit>) {
    let rest = &text[at..text.len().min(at + FIELDS_BYTES_MAX)];
    let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
    steps::count(line.len());
    for (place, _) in line.iter().enumerate().filter(|(_, byte)| **byte == b'=') {
        let is_proof = |field: &&str| {
            let begin = (place + 1).checked_sub(field.len());
            begin.is_some_and(|begin| line[begin..=place].eq_ignore_ascii_case(field.as_bytes()))
        };
        if PROOF_FIELDS.iter().any(is_proof)
            && let Some(value) = ends.value(text, at + place + 1)
            && is_credential(&text[value.start..value.end])
        {
            hits.push(SecretHit::new(HitRule::Header, value.start, value.end));
        }
    }
}

/// Finds the secret in a text that is the value of a header by itself.
pub(crate) fn find_leaf(text: &[u8], name: &[u8], hits: &mut Vec<SecretHit>) {
    if is_header(name) {
        find(text, name, 0, &mut ValueEnds::default(), hits);
    }
}

/// Tells whether a text may be what a header authorizes with.
pub(crate) fn is_credential(value: &[u8]) -> bool {
    let is_credential =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=|:%!@#*".contains(byte);
    value.len() >= CREDENTIAL_BYTES_MIN
        && value.iter().all(is_credential)
        && !is_exempt(value)
        && is_irregular(value)
}

fn is_authorization(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with(b"authorization") || name == b"x-auth"
}

fn is_cookie(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    name == b"cookie" || name == b"set-cookie" || name == b"cookies"
}

/// Returns where the credential begins behind the name of a scheme.
fn behind_scheme(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    let len =
        rest.iter().take(SCHEME_BYTES_MAX).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let behind = skip_blanks(text, at + len);
    if len > 0 && behind > at + len { behind } else { at }
}

/// Finds the values of cookies: `a=1; b=2`.
fn cookies(text: &[u8], at: usize, ends: &mut ValueEnds, hits: &mut Vec<SecretHit>) {
    let mut at = at;
    for _ in 0..COOKIES_MAX {
        let start = skip_blanks(text, at);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let len = text[start..].iter().take(80).take_while(|byte| is_name(byte)).count();
        if len == 0 || text.get(start + len) != Some(&b'=') {
            return;
        }
        let value = start + len + 1;
        let end = ends.query(text, value);
        if is_cookie_secret(&text[start..start + len], &text[value..end]) {
            hits.push(SecretHit::new(HitRule::Header, value, end));
        }
        if text.get(end) != Some(&b';') {
            return;
        }
        at = end + 1;
    }
}

fn is_cookie_secret(name: &[u8], value: &[u8]) -> bool {
    let name_text = String::from_utf8_lossy(name).to_lowercase();
    let is_session = SESSION_PARTS.iter().any(|part| name_text.contains(part))
        || matches!(strength(name), Some(NameStrength::Password | NameStrength::Secret));
    !is_exempt(value) && (is_session && is_credential(value) || is_random(value))
}
