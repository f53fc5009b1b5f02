//! Commands and files that set a name to what a blank parts from it: `ENV NAME V`, `setenv NAME V`,
//! `npm config set NAME V`, `--name NAME --value V`, `machine H login U password V`.

use crate::context::FoundName;
use crate::cursor::skip_blanks;
use crate::steps;

/// How much of a text before and behind a name is looked at.
const AROUND_BYTES_MAX: usize = 160;
/// How many options may stand between a command and the name that it sets.
const OPTIONS_MAX: usize = 4;
/// Words that set a name to the word behind it.
const SETTERS: [&str; 5] = ["config", "putenv", "set", "setenv", "setx"];
/// Options that give the value of a name before them.
const VALUE_OPTIONS: [&[u8]; 3] = [b"--value", b"--body", b"-b"];
/// Words of the file of netrc before a name and what that is.
const NETRC_WORDS: [&[u8]; 4] = [b"machine", b"login", b"account", b"default"];

/// Returns where the value begins that something sets a name to, if it does; behind the name something
/// stands at `at`.
pub(crate) fn value(text: &[u8], name: FoundName<'_>, at: usize) -> Option<usize> {
    if is_option(text, name) {
        return Some(at);
    }
    if text[at] == b'-' {
        return behind_option(text, at);
    }
    // Of git, which keeps a key's id or path there.
    if name.name.eq_ignore_ascii_case(b"user.signingkey") {
        return None;
    }
    let before = &text[name.start.saturating_sub(AROUND_BYTES_MAX)..name.start];
    (is_set(before) || is_netrc(name, before)).then_some(at)
}

/// Tells whether a name is that of an option: `--password`, `-Password`.
pub(crate) fn is_option(text: &[u8], name: FoundName<'_>) -> bool {
    text[..name.start].ends_with(b"--") || text[..name.start].ends_with(b" -")
}

/// Returns where the value begins that an option gives which stands on the line from `at` on.
fn behind_option(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..text.len().min(at + AROUND_BYTES_MAX)];
    let line = rest.split(|byte| *byte == b'\n').next()?;
    steps::count(line.len());
    let mut from = 0;
    for word in line.split(|byte| *byte == b' ') {
        let option = VALUE_OPTIONS.iter().find(|option| word.starts_with(option));
        match option.map(|option| (option.len(), word.get(option.len()))) {
            Some((len, Some(b'='))) => return Some(at + from + len + 1),
            Some((len, None)) => return Some(skip_blanks(text, at + from + len)),
            Some((_, Some(_))) | None => from += word.len() + 1,
        }
    }
    None
}

/// Tells whether what stands before a name sets it.
fn is_set(before: &[u8]) -> bool {
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    // The name may be a part of its word: `//host/:_authToken`, `"Db:Password"`.
    let mut words = line.rsplit(|byte| matches!(byte, b' ' | b'\t')).skip(1);
    let option = |word: &&[u8]| word.is_empty() || word.starts_with(b"-");
    let word = words.by_ref().take(OPTIONS_MAX).find(|word| !option(word)).unwrap_or_default();
    word == b"ENV" || SETTERS.iter().any(|setter| word.eq_ignore_ascii_case(setter.as_bytes()))
}

/// Tells whether a name is that of a password in the file of netrc.
fn is_netrc(name: FoundName<'_>, before: &[u8]) -> bool {
    if !name.name.eq_ignore_ascii_case(b"password") {
        return false;
    }
    let words = before.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.take(2).any(|word| NETRC_WORDS.contains(&word))
}
