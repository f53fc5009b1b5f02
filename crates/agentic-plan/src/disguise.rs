//! Secrets in disguise: a text that is a secret once escapes are undone.
//!
//! Who sends a secret back may have put it into an address, a page or JSON on the way, and texts
//! stand inside one another. So each letter of the secret may stand as it is, percent-encoded, as
//! an entity of HTML or as an escape of JSON, each of them escaped again any number of times.

/// The letters that have a name in HTML, with it.
const NAMED: [(char, &str); 22] = [
    ('"', "quot"),
    ('\'', "apos"),
    ('<', "lt"),
    ('>', "gt"),
    ('=', "equals"),
    ('+', "plus"),
    ('/', "sol"),
    ('\\', "bsol"),
    ('_', "lowbar"),
    (':', "colon"),
    (';', "semi"),
    ('.', "period"),
    (',', "comma"),
    ('!', "excl"),
    ('#', "num"),
    ('$', "dollar"),
    ('%', "percnt"),
    ('@', "commat"),
    ('*', "ast"),
    ('(', "lpar"),
    (')', "rpar"),
    ('?', "quest"),
];
/// The letters that have an escape of their own in JSON, with it.
const ESCAPED: [(char, u8); 9] = [
    ('"', b'"'),
    ('\'', b'\''),
    ('\\', b'\\'),
    ('/', b'/'),
    ('\n', b'n'),
    ('\r', b'r'),
    ('\t', b't'),
    ('\u{8}', b'b'),
    ('\u{c}', b'f'),
];
/// The longest number of an entity, in digits: people write zeros in front.
const DIGITS_MAX: usize = 10;

/// Finds where a secret that begins at a place ends; the furthest end if there are several.
pub(crate) fn end_of(text: &[u8], at: usize, secret: &str) -> Option<usize> {
    let first = *text.get(at)?;
    if !matches!(first, b'%' | b'\\' | b'&' | b'+') && secret.as_bytes().first() != Some(&first) {
        return None;
    }
    // A letter may be read in several ways, such as a `%` and what is encoded by it.
    let mut ends = vec![at];
    for letter in secret.chars() {
        let mut next = Vec::new();
        for at in ends {
            letter_ends(text, at, letter, &mut next);
        }
        next.sort_unstable();
        next.dedup();
        if next.is_empty() {
            return None;
        }
        ends = next;
    }
    ends.pop()
}

fn letter_ends(text: &[u8], at: usize, letter: char, ends: &mut Vec<usize>) {
    let mut buffer = [0; 4];
    let plain = letter.encode_utf8(&mut buffer).as_bytes();
    if text[at..].starts_with(plain) {
        ends.push(at + plain.len());
    }
    match text.get(at) {
        Some(b'%') => ends.extend(percent(text, at, plain)),
        Some(b'+') if letter == ' ' => ends.push(at + 1),
        Some(b'\\') => backslash(text, at, letter, ends),
        Some(b'&') => entity(text, at, letter, ends),
        Some(_) | None => {}
    }
}

/// Reads `%41`, or `%2541`, for each byte of a letter.
fn percent(text: &[u8], at: usize, letter: &[u8]) -> Vec<usize> {
    let mut ends = vec![at];
    for byte in letter {
        let mut next = Vec::new();
        for at in ends {
            let mut at = at;
            if text.get(at) != Some(&b'%') {
                continue;
            }
            loop {
                if number(text.get(at + 1..at + 3), 16) == Some(u32::from(*byte)) {
                    next.push(at + 3);
                }
                if text.get(at + 1..at + 3) != Some(b"25") {
                    break;
                }
                at += 2;
            }
        }
        ends = next;
    }
    ends
}

/// Reads what stands behind backslashes, of which there are more where JSON stands in JSON.
fn backslash(text: &[u8], at: usize, letter: char, ends: &mut Vec<usize>) {
    let behind = |at: usize| at + text[at..].iter().take_while(|byte| **byte == b'\\').count();
    let sign = behind(at);
    let own = ESCAPED.iter().find(|(own, _)| *own == letter).map(|(_, sign)| *sign);
    if own == Some(b'\\') {
        ends.extend(at + 2..=sign);
    } else if own.is_some() && text.get(sign) == own.as_ref() {
        ends.push(sign + 1);
    }
    if text.get(sign) == Some(&b'x') {
        if number(text.get(sign + 1..sign + 3), 16) == Some(u32::from(letter)) {
            ends.push(sign + 3);
        }
        return;
    }
    let mut units = [0; 2];
    let mut sign = Some(sign);
    for unit in letter.encode_utf16(&mut units) {
        let is_unit = |at: usize| {
            let digits = number(text.get(at + 1..at + 5), 16);
            text.get(at) == Some(&b'u') && digits == Some(u32::from(*unit))
        };
        // Where a second unit is needed, backslashes stand in front of it, too.
        let at = sign.map(behind);
        sign = at.filter(|at| is_unit(*at)).map(|at| at + 5);
    }
    ends.extend(sign);
}

/// Reads `&#61;`, `&#x3d;` or `&equals;`, with any number of `amp;` behind the first sign.
fn entity(text: &[u8], at: usize, letter: char, ends: &mut Vec<usize>) {
    let mut at = at + 1;
    while text[at..].starts_with(b"amp;") {
        at += b"amp;".len();
        if letter == '&' {
            ends.push(at);
        }
    }
    let rest = &text[at..];
    let Some(length) = rest.iter().take(DIGITS_MAX + 2).position(|byte| *byte == b';') else {
        return;
    };
    let name = &rest[..length];
    let is_letter = match name {
        [b'#', b'x' | b'X', digits @ ..] => number(Some(digits), 16) == Some(u32::from(letter)),
        [b'#', digits @ ..] => number(Some(digits), 10) == Some(u32::from(letter)),
        name => NAMED.iter().any(|(own, known)| *own == letter && known.as_bytes() == name),
    };
    if is_letter {
        ends.push(at + length + 1);
    }
}

fn number(digits: Option<&[u8]>, radix: u32) -> Option<u32> {
    let digits = digits.filter(|digits| !digits.is_empty())?;
    digits.iter().try_fold(0_u32, |number, digit| {
        let digit = char::from(*digit).to_digit(radix)?;
        number.checked_mul(radix)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_in_every_disguise() {
        let secret = "a+/=\"é😀 %\\&<";
        let check = |text: &str| {
            let found = end_of(text.as_bytes(), 0, secret);
            assert_eq!(found, Some(text.len()), "{text}");
        };
        check(secret);
        check("a%2B%2f%3D%22%C3%A9%F0%9F%98%80%20%25%5c%26%3C");
        check("a%252B%252F%253D%2522%25C3%25A9%25F0%259F%2598%2580+%2525%255C%2526%253C");
        check(r#"a\u002B\/\u003d\"\u00e9\ud83d\ude00\u0020%\\\u0026\u003c"#);
        check(r#"a\\u002B\\\/=\\\"é\\uD83D\\uDE00 %\\\\&<"#);
        check("a&#43;&sol;&#x3D;&quot;&#233;&#128512;&#032;&percnt;&bsol;&amp;&lt;");
        check("a+/&amp;equals;&amp;quot;é😀 %\\&amp;amp;&amp;lt;");
        assert_eq!(end_of(b"x", 1, secret), None);
        assert_eq!(end_of(b"a%2", 0, secret), None);
        assert_eq!(end_of(b"\\", 0, "/"), None);
    }
}
