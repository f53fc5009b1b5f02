//! What a redactor is made of in a repository: rules, known values, allowances, the key of the tags.
//!
//! Rules of the project only add to the built-in ones. Allowances count from the user's own git
//! configuration alone, so a repository cannot switch redaction off. Known values are held in memory
//! only. What cannot be loaded is an error: whoever captures then captures nothing.

mod known;
mod rules;
mod screen;

use std::path::{Path, PathBuf};

use agentic_redact::{AllowanceFault, RedactAllowances, RuleFault, SecretRedactor, TagKey};
use agentic_space::Space;
use agentic_store::Layout;

pub use self::screen::screen;

/// Where the key lies, below what is kept beside git.
const KEY_FILE: &str = "capture/key";
/// The name of the user's allowances in git's configuration: `agentic.redactAllow`.
const ALLOW_NAME: &str = "redactAllow";

/// Why there is no redactor.
#[derive(Debug, thiserror::Error)]
pub enum RedactionError {
    /// A file of rules cannot be read.
    #[error("cannot read the rules in `{path}`", path = path.display())]
    ReadRules {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of rules is none.
    #[error("the rules in `{path}` cannot be used: {reason}", path = path.display())]
    Rules {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file of rules lies elsewhere, or there are too many.
    #[error("`redact.files` of `agentic.toml`: {reason}")]
    Files {
        /// What is wrong.
        reason: String,
    },
    /// A rule cannot be used.
    #[error("a rule of this project cannot be used: {0}")]
    Rule(#[from] RuleFault),
    /// An allowance is no expression.
    #[error("`agentic.redactAllow` of your git configuration: {0}")]
    Allowance(#[from] AllowanceFault),
    /// The key of the tags can be neither read nor made.
    #[error("cannot read or make the key of the redaction's tags")]
    Key(#[from] agentic_store::Error),
}

/// Makes the redactor of a repository for the worktree where somebody stands, with the values of this
/// process's environment.
///
/// # Errors
/// Fails when rules or allowances cannot be used, and when there is no key. Then nothing may be
/// written down.
pub fn redactor(space: &Space, worktree: Option<&Path>) -> Result<SecretRedactor, RedactionError> {
    let rules = rules::load(worktree)?;
    let allowed = space.repository().values_of_user(ALLOW_NAME);
    let allowances = RedactAllowances::new(allowed)?;
    let key = TagKey::new(key(space.repository().layout())?);
    let known = known::load(worktree, std::env::vars_os());
    Ok(SecretRedactor::new(rules, known, allowances, key))
}

/// Returns what a table `redact` of a project's `agentic.toml` says that does not count, for a warning:
/// a project can add rules, and allow nothing.
pub fn refused_settings(worktree: &Path) -> Vec<String> {
    rules::refused(worktree)
}

/// Returns the key of a repository, which is made when it is first asked for: tags of redaction, names of
/// calls and marks of lines mean nothing without it.
///
/// # Errors
/// Fails when it can be neither read nor made.
pub fn key(layout: &Layout) -> agentic_store::Result<[u8; 32]> {
    agentic_store::secret::key(layout, &layout.root().join(KEY_FILE))
}

#[cfg(test)]
mod tests;
