//! Options of programs that take a secret without saying so: `curl -u`, `sshpass -p`, `mysql -p`.

use crate::cursor::skip_blanks;
use crate::exempt::is_exempt;
use crate::hit::{HitRule, SecretHit};
use crate::name::NameStrength;
use crate::steps;
use crate::value::{Quoting, is_secret_value};

/// How much of a command's line is looked at.
const LINE_BYTES_MAX: usize = 2048;

/// How a program takes a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretOption {
    /// `-pSECRET`.
    Attached(&'static [u8]),
    /// `-p SECRET` or `-pSECRET`.
    Either(&'static [u8]),
    /// `-p SECRET`.
    Apart(&'static [u8]),
    /// `-u NAME:SECRET`, with what parts the two.
    User(&'static [u8], u8),
    /// The same behind options of one letter that take nothing: `-sSu NAME:SECRET`.
    JoinedUser(u8),
    /// `-passin pass:SECRET`.
    Pass,
}

/// Which program takes a secret by which option. Programs are named by how their name begins.
const OPTIONS: [(&[u8], SecretOption); 26] = [
    (b"sshpass", SecretOption::Either(b"-p")),
    (b"mysql", SecretOption::Attached(b"-p")),
    (b"mariadb", SecretOption::Attached(b"-p")),
    (b"redis-cli", SecretOption::Apart(b"-a")),
    (b"mongo", SecretOption::Apart(b"-p")),
    (b"docker", SecretOption::Apart(b"-p")),
    (b"podman", SecretOption::Apart(b"-p")),
    (b"helm", SecretOption::Apart(b"-p")),
    (b"az login", SecretOption::Apart(b"-p")),
    (b"cqlsh", SecretOption::Apart(b"-p")),
    (b"ipmitool", SecretOption::Apart(b"-P")),
    (b"sqlcmd", SecretOption::Apart(b"-P")),
    (b"unzip", SecretOption::Apart(b"-P")),
    (b"zip", SecretOption::Apart(b"-P")),
    (b"curl", SecretOption::JoinedUser(b'u')),
    (b"curl", SecretOption::JoinedUser(b'U')),
    (b"curl", SecretOption::User(b"--user", b':')),
    (b"curl", SecretOption::User(b"--proxy-user", b':')),
    (b"wget", SecretOption::User(b"--user", b':')),
    (b"http", SecretOption::User(b"-a", b':')),
    (b"http", SecretOption::User(b"--auth", b':')),
    (b"xh", SecretOption::User(b"-a", b':')),
    (b"lftp", SecretOption::User(b"-u", b',')),
    (b"smbclient", SecretOption::User(b"-U", b'%')),
    (b"ldap", SecretOption::Apart(b"-w")),
    (b"openssl", SecretOption::Pass),
];
/// Options of curl of one letter that take nothing.
const PLAIN_LETTERS: &[u8] = b"#012346afgijklnpqsvBGIJLMNORSVZ";

/// Finds secrets in the options of the command that begins at `start`; returns up to where it
/// looked.
pub(crate) fn find(text: &[u8], start: usize, hits: &mut Vec<SecretHit>) -> usize {
    let is_word = start == 0 || !text[start - 1].is_ascii_alphanumeric();
    if !is_word {
        return start + 1;
    }
    let rest = &text[start..text.len().min(start + LINE_BYTES_MAX)];
    let name_len = rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    steps::count(name_len);
    if rest.get(name_len) != Some(&b' ') {
        return start + 1;
    }
    let options = OPTIONS.iter().filter(|(program, _)| starts_with(rest, program));
    let options: Vec<SecretOption> = options.map(|(_, option)| *option).collect();
    let mut at = start + name_len;
    let line_end = start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    while at < line_end {
        at = skip_blanks(text, at).max(at + 1);
        if at >= line_end {
            break;
        }
        let end = word_end(text, at, line_end);
        for option in &options {
            hits.extend(secret(text, *option, (at, end), line_end));
        }
        at = end.max(at);
    }
    line_end
}

fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
}

/// Returns where a word of a command's line ends that begins at `at`, with what its marks hold.
fn word_end(text: &[u8], at: usize, line_end: usize) -> usize {
    let mut mark = None;
    for (place, byte) in text.iter().enumerate().take(line_end).skip(at) {
        steps::count(1);
        match (mark, *byte) {
            (None, byte) if byte.is_ascii_whitespace() => return place,
            (None, byte @ (b'"' | b'\'')) => mark = Some(byte),
            (Some(open), byte) if byte == open => mark = None,
            (None | Some(_), _) => {}
        }
    }
    line_end
}

/// Returns the secret that an option gives, if the word at `word` is that option.
fn secret(
    text: &[u8],
    option: SecretOption,
    word: (usize, usize),
    line_end: usize,
) -> Option<SecretHit> {
    let (start, end) = word;
    let next = || {
        let at = skip_blanks(text, end).min(line_end);
        (at, word_end(text, at, line_end))
    };
    let is_flag = |flag: &[u8]| &text[start..end] == flag;
    let attached = |flag: &[u8]| {
        let is_long = flag.starts_with(b"--");
        let len = flag.len() + usize::from(is_long);
        let is_attached = text[start..end].starts_with(flag) && end > start + len;
        (is_attached && (!is_long || text[start + flag.len()] == b'='))
            .then_some((start + len, end))
    };
    let value = match option {
        SecretOption::Attached(flag) => attached(flag)?,
        SecretOption::Either(flag) if is_flag(flag) => next(),
        SecretOption::Either(flag) => attached(flag)?,
        SecretOption::Apart(flag) if is_flag(flag) => next(),
        SecretOption::User(flag, _) if is_flag(flag) => next(),
        SecretOption::User(flag, _) => attached(flag)?,
        SecretOption::JoinedUser(letter) => {
            let len = joined_len(&text[start..end], letter)?;
            if start + len == end { next() } else { (start + len, end) }
        }
        SecretOption::Pass => (start, end),
        SecretOption::Apart(_) => return None,
    };
    let (mut from, to) = unquoted(text, value);
    let part = match option {
        SecretOption::User(_, part) => Some(part),
        SecretOption::JoinedUser(_) => Some(b':'),
        SecretOption::Pass if text[from..to].starts_with(b"pass:") => Some(b':'),
        SecretOption::Pass => return None,
        SecretOption::Attached(_) | SecretOption::Either(_) | SecretOption::Apart(_) => None,
    };
    if let Some(part) = part {
        from += memchr::memchr(part, &text[from..to])? + 1;
    }
    let secret = &text[from..to];
    let is_secret = match option {
        SecretOption::Attached(_) | SecretOption::Apart(_) => {
            is_secret_value(secret, NameStrength::Password, Quoting::Bare)
        }
        SecretOption::Either(_)
        | SecretOption::User(..)
        | SecretOption::JoinedUser(_)
        | SecretOption::Pass => {
            !secret.is_empty() && !is_exempt(secret) && !secret.starts_with(b"$")
        }
    };
    is_secret.then(|| SecretHit::new(HitRule::Flag, from, to))
}

/// Returns how long a word is up to a letter that takes something, behind letters that take nothing.
fn joined_len(word: &[u8], letter: u8) -> Option<usize> {
    let letters = word.strip_prefix(b"-")?;
    let plain = letters.iter().take_while(|byte| PLAIN_LETTERS.contains(byte)).count();
    (letters.get(plain) == Some(&letter)).then_some(plain + 2)
}

/// Takes the quotation marks around a word off.
fn unquoted(text: &[u8], word: (usize, usize)) -> (usize, usize) {
    let (start, end) = word;
    let inner = &text[start..end];
    let is_quoted =
        inner.len() >= 2 && matches!(inner[0], b'"' | b'\'') && inner[0] == inner[inner.len() - 1];
    if is_quoted { (start + 1, end - 1) } else { (start, end) }
}
