//! Numbers of git's configuration. One that cannot be read is an error: whoever wrote it counts on it.

use agentic_git::Repository;

use crate::{Error, Result};

/// Returns a number of git's configuration, if it says one; nothing below zero is.
///
/// # Errors
/// Fails when it says something else.
pub(crate) fn configured_count(repository: &Repository, key: &str) -> Result<Option<u64>> {
    let Some(text) = repository.config(key) else { return Ok(None) };
    let number = repository.config_number(key).and_then(|number| u64::try_from(number).ok());
    match number {
        Some(number) => Ok(Some(number)),
        None => Err(Error::usage(
            format!("`{key}` in git's configuration is `{text}`, which is no number"),
            format!("`git config {key} NUMBER` says one; `k`, `m` and `g` may follow it"),
        )),
    }
}
