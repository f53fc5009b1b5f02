//! Passwords in addresses: `scheme://user:password@host`.

use crate::exempt::{is_placeholder, is_reference};
use crate::hit::{HitRule, SecretHit};
use crate::steps;
use crate::value::is_random;

/// How long the part before the host may be.
const USER_BYTES_MAX: usize = 1024;
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
    let user_len = rest[..len].iter().rposition(|byte| *byte == b'@')?;
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

/// Tells whether the part of an address that names user and host ends before this byte.
fn ends_host(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}
