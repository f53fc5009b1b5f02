//! Names and ids that an event brings, without secrets: they stand in entries, briefings and records.
//!
//! Vendors' ids look like ids, and cost nothing. Any other name is looked at; what is a secret in it
//! becomes a mark, the same in every event, so that a conversation keeps its name.

use std::cell::OnceCell;
use std::path::Path;

use agentic_redact::{SecretRedactor, is_plain_id};
use agentic_space::Space;

use crate::event::HookEvent;
use crate::{CaptureError, redaction};

/// Cleans names; what that takes is read when the first one does not look like an id.
struct NameCleaner<'s> {
    space: &'s Space,
    redactor: OnceCell<SecretRedactor>,
}

/// Takes the secrets out of the names of an event.
///
/// # Errors
/// Fails when secrets cannot be looked for.
pub(super) fn clean_names(space: &Space, event: &mut HookEvent) -> Result<(), CaptureError> {
    let cleaner = NameCleaner { space, redactor: OnceCell::new() };
    if let Some(conversation) = &mut event.conversation {
        cleaner.clean("id", &mut conversation.native)?;
    }
    if let Some(subagent) = &mut event.subagent {
        cleaner.clean("id", &mut subagent.id)?;
        cleaner.clean("type", &mut subagent.sort)?;
        subagent.parent.iter_mut().try_for_each(|parent| cleaner.clean("id", parent))?;
    }
    if let Some(call) = &mut event.call {
        call.id.iter_mut().try_for_each(|id| cleaner.clean("id", id))?;
    }
    Ok(())
}

/// Tells whether the path of a transcript may be written down.
///
/// # Errors
/// Fails when secrets cannot be looked for.
pub(super) fn is_clean_path(space: &Space, path: &Path) -> Result<bool, CaptureError> {
    let redactor = redactor(space)?;
    Ok(redactor.findings(&path.to_string_lossy()).is_empty())
}

impl NameCleaner<'_> {
    fn clean(&self, key: &str, name: &mut String) -> Result<(), CaptureError> {
        if is_plain_id(name) {
            return Ok(());
        }
        let redactor = match self.redactor.get() {
            Some(redactor) => redactor,
            None => {
                let made = redactor(self.space)?;
                self.redactor.get_or_init(|| made)
            }
        };
        let clean = redactor.redact_beside(key, name);
        if !clean.findings.is_empty() {
            *name = clean.text.into_owned();
        }
        Ok(())
    }
}

fn redactor(space: &Space) -> Result<SecretRedactor, CaptureError> {
    let worktree = space.repository().work_dir();
    Ok(redaction::redactor(space, worktree)?)
}
