//! Looking for secrets in what programs of sessions want written.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use agentic_redact::SecretRedactor;
use agentic_session::SecretScreen;

use super::redactor;

/// How old rules may be that were read for what was written before.
const RULES_AGE_MAX: Duration = Duration::from_secs(10);

/// Returns what looks for secrets in what programs want written. The rules are read once for all that one
/// run writes.
pub fn screen() -> SecretScreen {
    let known: Mutex<Option<KnownRules>> = Mutex::new(None);
    SecretScreen::new(move |space, value| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let worktree = space.repository().work_dir();
        let is_fresh = |rules: &KnownRules| {
            rules.since.elapsed() < RULES_AGE_MAX && rules.worktree.as_deref() == worktree
        };
        if !known.as_ref().is_some_and(is_fresh) {
            let redactor = redactor(space, worktree).map_err(|error| error.to_string())?;
            let worktree = worktree.map(Path::to_owned);
            *known = Some(KnownRules { redactor, worktree, since: Instant::now() });
        }
        let found = known.as_ref().map(|rules| rules.redactor.redact_value(value).1);
        Ok(found.and_then(|found| Some(found.first()?.rule.to_string())))
    })
}

/// Rules that were read for a worktree.
struct KnownRules {
    redactor: SecretRedactor,
    worktree: Option<PathBuf>,
    since: Instant,
}
