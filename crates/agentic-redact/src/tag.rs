//! Marks that stand where secrets stood: `[redacted:RULE:TAG]`.
//!
//! The tag is a keyed hash, so that the same secret is recognised in this repository and cannot be
//! tried out elsewhere. A marker is never redacted itself.

use std::fmt;

/// What every marker begins with.
pub(crate) const MARKER_START: &str = "[redacted:";
/// How long the name of a rule may be.
pub(crate) const RULE_ID_MAX: usize = 64;
/// Digits of a tag.
const TAG_DIGITS: usize = 8;

/// The key of the tags: 32 random bytes that never leave their repository.
#[derive(Clone)]
pub struct TagKey([u8; 32]);

impl TagKey {
    /// Makes a key of random bytes.
    pub fn new(bytes: [u8; 32]) -> TagKey {
        TagKey(bytes)
    }

    /// Returns the tag of a secret: eight hex digits.
    pub fn tag(&self, secret: &[u8]) -> String {
        let hash = blake3::keyed_hash(&self.0, secret);
        hash.to_hex()[..TAG_DIGITS].to_owned()
    }
}

impl fmt::Debug for TagKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TagKey(…)")
    }
}

/// Returns the marker of a rule and a tag.
pub(crate) fn marker(rule: &str, tag: &str) -> String {
    format!("{MARKER_START}{rule}:{tag}]")
}

/// Returns where the markers of a text stand, in order.
pub(crate) fn markers(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for start in memchr::memmem::find_iter(text, MARKER_START) {
        if let Some(end) = marker_end(text, start) {
            found.push((start, end));
        }
    }
    found
}

/// Returns where the marker ends that begins at `start`, if one does.
fn marker_end(text: &[u8], start: usize) -> Option<usize> {
    let rest = &text[start + MARKER_START.len()..];
    let rule = rest.iter().take(RULE_ID_MAX + 1).position(|byte| !is_rule_byte(*byte))?;
    let tag = rest.get(rule + 1..rule + 1 + TAG_DIGITS)?;
    let is_marker = rule > 0
        && rest[rule] == b':'
        && tag.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && rest.get(rule + 1 + TAG_DIGITS) == Some(&b']');
    is_marker.then(|| start + MARKER_START.len() + rule + TAG_DIGITS + 2)
}

/// Tells whether the name of a rule may have this byte.
pub(crate) fn is_rule_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')
}
