//! Texts of ours without secrets: what an activity or a task of a workflow fails with stands in the history.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::LazyLock;

use agentic_redact::{
    KnownValues, RedactAllowances, RedactRules, SecretRedactor, TagKey, is_secret_variable,
};

/// Returns a text without what looks like a secret, and without the values of variables whose names say that
/// they have one.
pub fn masked(text: &str) -> String {
    // process: the variables of a process and the key of its tags stay as they are while it runs.
    static REDACTOR: LazyLock<SecretRedactor> = LazyLock::new(redactor);
    REDACTOR.redact_text(text).text.into_owned()
}

fn redactor() -> SecretRedactor {
    let secret = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        is_secret_variable(&name).then_some(value)
    });
    let known = KnownValues::new(secret);
    let allowances = RedactAllowances::default();
    SecretRedactor::new(RedactRules::built_in(), known, allowances, key())
}

/// Makes a key that nobody else has, so that nobody can guess a secret by its tag.
fn key() -> TagKey {
    let mut bytes = [0; 32];
    for eight in bytes.chunks_mut(8) {
        eight.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes());
    }
    TagKey::new(bytes)
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn what_looks_like_a_secret_is_covered_and_the_rest_is_told() {
        let secret = format!("{}_{}", "ghp", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let told = masked(&format!("cannot read `x`: the server said {secret}"));
        assert!(!told.contains(&secret), "{told}");
        assert!(told.starts_with("cannot read `x`: the server said "), "{told}");
    }
}
