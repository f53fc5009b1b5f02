//! Secrets that providers give a form of their own.
//!
//! An expression looks at the surroundings of its words only, so a text costs what its words cost.

use crate::hit::{HitRule, SecretHit};
use crate::rules::RedactRules;
use crate::steps;

/// How far before its word a secret may begin.
const BEFORE_BYTES: usize = 160;
/// How far behind its word an expression looks in any case.
const AFTER_BYTES: usize = 512;
/// How much longer a token that goes on may be.
const TOKEN_BYTES_MAX: usize = 16 << 10;

/// A word of a rule in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RuleWord {
    pub(crate) rule: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Returns what the rules find around their words.
pub(crate) fn find(rules: &RedactRules, text: &[u8], mut words: Vec<RuleWord>) -> Vec<SecretHit> {
    words.sort_unstable();
    let mut hits = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let mut window = window(text, word);
        while let Some(next) = words.peek() {
            if next.rule != word.rule || next.start.saturating_sub(BEFORE_BYTES) > window.1 {
                break;
            }
            // A token that many words stand in is looked at once, not once for each.
            let end = text.len().min(next.end + AFTER_BYTES);
            if end > window.1 {
                window.1 = token_end(text, end, end + TOKEN_BYTES_MAX);
            }
            words.next();
        }
        steps::count(window.1 - window.0);
        for (start, end) in rules.rules[word.rule].secrets(&text[window.0..window.1]) {
            let (start, end) = (window.0 + start, window.0 + end);
            let end = if end == window.1 { token_end(text, end, text.len()) } else { end };
            hits.push(SecretHit::new(HitRule::Provider(word.rule), start, end));
        }
    }
    hits
}

/// Returns the surroundings of a word, ending where no token is cut.
fn window(text: &[u8], word: RuleWord) -> (usize, usize) {
    let start = word.start.saturating_sub(BEFORE_BYTES);
    let end = text.len().min(word.end + AFTER_BYTES);
    (start, token_end(text, end, end + TOKEN_BYTES_MAX))
}

/// Returns where the token ends that goes on at `from`.
fn token_end(text: &[u8], from: usize, most: usize) -> usize {
    let rest = &text[from..text.len().min(most)];
    let len = rest.iter().position(|byte| !is_token_byte(*byte)).unwrap_or(rest.len());
    steps::count(len);
    from + len
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~')
}
