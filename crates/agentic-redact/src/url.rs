//! Passwords in addresses: `scheme://user:password@host`.

use crate::exempt::{is_placeholder, is_reference};
use crate::hit::{HitRule, SecretHit};
use crate::steps;
use crate::value::{is_irregular, is_random};

/// How long the part before the host may be.
const USER_BYTES_MAX: usize = 1024;
/// How long the rest of a password may be that has signs which else end a host.
const RAW_BYTES_MAX: usize = 128;
/// How many digits a port has at most.
const PORT_BYTES_MAX: usize = 5;
/// What examples write in place of passwords.
const COMMON_PASSWORDS: [&[u8]; 14] = [
    b"password",
    b"passwd",
    b"pass",
    b"pwd",
    b"secret",
    b"postgres",
    b"mysql",
    b"root",
    b"user",
    b"guest",
    b"admin",
    b"test",
    b"mypassword",
    b"pw",
];

/// Returns the password of the address whose `://` ends at `at`.
pub(crate) fn password(text: &[u8], scheme: usize, at: usize) -> Option<SecretHit> {
    let is_scheme = scheme.checked_sub(1).is_some_and(|at| text[at].is_ascii_alphanumeric());
    let rest = &text[at..text.len().min(at + USER_BYTES_MAX)];
    let len = rest.iter().position(|byte| ends_host(*byte)).unwrap_or(rest.len());
    steps::count(len);
    let user_len = rest[..len].iter().rposition(|byte| *byte == b'@');
    let raw_len = || raw_user_len(rest, len);
    let user_len = match user_len {
        Some(at) if is_plain_name(&rest[at + 1..len]) => raw_len().or(Some(at)),
        Some(at) => Some(at),
        None => raw_len(),
    }?;
    let user = &rest[..user_len];
    if !is_scheme {
        return None;
    }
    let Some(colon) = user.iter().position(|byte| *byte == b':') else {
        return is_random(user).then(|| SecretHit::new(HitRule::UrlPassword, at, at + user_len));
    };
    let password = &user[colon + 1..];
    let is_none = password.is_empty()
        || is_placeholder(password)
        || is_reference(password)
        || password
            .iter()
            .any(|byte| matches!(byte, b'{' | b'}' | b'$' | b'%') && password.len() < 4)
        || password.contains(&b'{') && password.contains(&b'}')
        || password.eq_ignore_ascii_case(&user[..colon])
        || COMMON_PASSWORDS.iter().any(|common| password.eq_ignore_ascii_case(common));
    let start = at + colon + 1;
    (!is_none).then(|| SecretHit::new(HitRule::UrlPassword, start, at + user_len))
}

/// Returns how long user and password are where the password has signs that else end a host, which
/// would do so at `len`: `u:pa/ss#w@host/db`. What follows a host is a port.
fn raw_user_len(rest: &[u8], len: usize) -> Option<usize> {
    let is_raw = |byte: u8| matches!(byte, b'/' | b'?' | b'#');
    if !rest.get(len).is_some_and(|byte| is_raw(*byte)) {
        return None;
    }
    let colon = rest[..len].iter().position(|byte| *byte == b':')?;
    let begin = &rest[colon + 1..len];
    let is_port = begin.len() <= PORT_BYTES_MAX && begin.iter().all(u8::is_ascii_digit)
        || begin.eq_ignore_ascii_case(b"port");
    if is_port || rest[0] == b'[' || is_placeholder(begin) || is_reference(begin) {
        return None;
    }
    let more = &rest[len..rest.len().min(len + RAW_BYTES_MAX)];
    let more_len = more.iter().position(|byte| ends_host(*byte) && !is_raw(*byte));
    let more = &more[..more_len.unwrap_or(more.len())];
    steps::count(more.len());
    let at = more.iter().rposition(|byte| *byte == b'@')?;
    let is_host = more.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) && more[at - 1] != b'/';
    // `host.com:owner/name@version` has no password.
    let is_name = rest[..colon].contains(&b'.') && !is_irregular(&rest[colon + 1..len + at]);
    let is_two = memchr::memmem::find(&more[..at], b"://").is_some();
    (is_host && !is_name && !is_two).then_some(len + at)
}

/// Tells whether what looks like a host may as well be a piece of a password.
fn is_plain_name(host: &[u8]) -> bool {
    host.iter().all(u8::is_ascii_alphanumeric) && !host.eq_ignore_ascii_case(b"localhost")
}

/// Tells whether the part of an address that names user and host ends before this byte.
fn ends_host(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}
