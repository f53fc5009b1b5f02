//! Versions of the context language, as they are named from outside.

use agentic_lang_context::{Dialect, Version};

/// Reads the version that a program is held to.
///
/// # Errors
/// Returns what a version is like.
pub fn parse_dialect(text: &str) -> Result<Dialect, String> {
    Version::parse(text).map(Dialect::strict).ok_or_else(|| "a version is like 0.1.18".to_owned())
}
