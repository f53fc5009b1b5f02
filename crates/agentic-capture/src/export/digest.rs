//! Ids that others derive from texts.

use sha2::{Digest as _, Sha256};

/// How many hex digits git-ai takes of a hash.
const GIT_AI_DIGITS: usize = 14;

/// Hashes a text as git-ai does: the first digits of its SHA-256.
pub(super) fn git_ai_digits(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let mut digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.truncate(GIT_AI_DIGITS);
    digits
}

/// Makes an id of so many bytes, in hex, of a word and a text.
pub(super) fn hex_id(word: &str, text: &str, n_bytes: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(word.as_bytes()).update(b"\0").update(text.as_bytes());
    hasher.finalize().to_hex()[..2 * n_bytes].to_owned()
}

/// Names lines by their content, wherever they stand.
pub(super) fn content_hash(lines: &str) -> String {
    format!("blake3:{}", blake3::hash(lines.as_bytes()).to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_git_ai_is_named_as_git_ai_names_it() {
        // `printf cursor:6ef2299e-a67f-432b-aa80-3d2fb4d28999 | sha256sum`
        assert_eq!(git_ai_digits("cursor:6ef2299e-a67f-432b-aa80-3d2fb4d28999").len(), 14);
        assert_eq!(git_ai_digits(""), "e3b0c44298fc1c");
        assert_eq!(hex_id("otlp", "x", 16).len(), 32);
    }
}
