//! Hooks of git: a commit that a program of a conversation makes is linked to that conversation.
//!
//! A hook that is there already is kept beside ours, under another name, and ours runs it first. It
//! is linked to that name before ours takes its place, so that at no moment there is none.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use agentic_store::file::read_whole;

use super::entry::shell_word;
use super::settings_file::{WiredAction, WiringRun, put_script, read};
use super::{WiringError, WiringResult};

/// The hooks of git that are ours.
pub const GIT_HOOKS: [&str; 2] = ["post-commit", "post-rewrite"];

const MARK: &str = "# Written by `agentic init --git-hooks`; `agentic capture off` takes it away.";
const KEPT: &str = "before-agentic";
/// The longest hook of somebody else's that is kept, in bytes.
const HOOK_BYTES_MAX: u64 = 64 << 20;

/// Returns the line that does what our hook does, for a hook that is written by hand.
pub fn hook_line(hook: &str) -> String {
    format!("agentic hook git {hook} \"$@\" || true")
}

fn script(hook: &str, program: &str) -> String {
    let program = shell_word(program);
    format!(
        "#!/bin/sh\n{MARK}\ninput=\nif [ {hook} = post-rewrite ]; then input=$(cat); fi\nended=0\n\
         if [ -x \"$0.{KEPT}\" ]; then\n  printf '%s\\n' \"$input\" | \"$0.{KEPT}\" \"$@\"\n  \
         ended=$?\nfi\nprintf '%s\\n' \"$input\" | {program} hook git {hook} \"$@\" || true\n\
         exit \"$ended\"\n"
    )
}

/// Puts our hooks into a folder of hooks. Returns the files that became others.
///
/// # Errors
/// Fails when a hook cannot be read or written.
pub fn put_git_hooks(
    folder: &Path,
    program: &str,
    run: WiringRun,
) -> WiringResult<Vec<(PathBuf, WiredAction)>> {
    let put = |hook: &&str| {
        let path = folder.join(hook);
        let action = put_hook(&path, &script(hook, program), run);
        let action = action.map_err(|source| WiringError::File { path: path.clone(), source })?;
        Ok((path, action))
    };
    GIT_HOOKS.iter().map(put).collect()
}

fn put_hook(path: &Path, text: &str, run: WiringRun) -> io::Result<WiredAction> {
    // Of bytes that are no text, too.
    let old = match read_whole(path, HOOK_BYTES_MAX) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if old.as_deref() == Some(text.as_bytes()) {
        return Ok(WiredAction::Unchanged);
    }
    if run == WiringRun::Apply {
        if let Some(old) = old.as_ref().filter(|old| !String::from_utf8_lossy(old).contains(MARK)) {
            keep_theirs(path, old)?;
        }
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
        put_script(path, text)?;
    }
    Ok(if old.is_some() { WiredAction::Changed } else { WiredAction::Made })
}

/// Gives somebody else's hook a second name.
fn keep_theirs(path: &Path, old: &[u8]) -> io::Result<()> {
    let kept = kept_name(path);
    match fs::hard_link(path, &kept) {
        Err(error)
            if error.kind() == ErrorKind::AlreadyExists
                && read_whole(&kept, HOOK_BYTES_MAX)? == old =>
        {
            Ok(())
        }
        other => other,
    }
}

fn kept_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{KEPT}"));
    PathBuf::from(name)
}

/// Takes our hooks out of a folder, and puts back what was there before. Returns the files.
///
/// # Errors
/// Fails when a hook cannot be read or written.
pub fn take_git_hooks(folder: &Path, run: WiringRun) -> WiringResult<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for path in GIT_HOOKS.map(|hook| folder.join(hook)) {
        let failed = |source: io::Error| WiringError::File { path: path.clone(), source };
        let is_ours = match read(&path) {
            Ok(text) => text.is_some_and(|text| text.contains(MARK)),
            // No text is no script of ours.
            Err(error) if error.kind() == ErrorKind::InvalidData => false,
            Err(error) => return Err(failed(error)),
        };
        if !is_ours {
            continue;
        }
        if run == WiringRun::Apply {
            match fs::rename(kept_name(&path), &path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    fs::remove_file(&path).map_err(failed)?;
                }
                other => other.map_err(failed)?,
            }
        }
        removed.push(path);
    }
    Ok(removed)
}

#[cfg(test)]
mod tests;
