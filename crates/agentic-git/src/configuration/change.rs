//! Changes of git's configuration, which one program at a time can make.

use std::time::{Duration, Instant};

use agentic_store::Result;

use crate::command::{GitEnd, run_git_untranslated_at};
use crate::{Repository, Worktree};

/// How long others may write the configuration before git's refusal counts. Each holds it for a few
/// milliseconds; what a killed one left behind stays for ever.
const OTHERS_WRITE_MAX: Duration = Duration::from_secs(3);
/// How long to wait between two tries.
const PAUSE: Duration = Duration::from_millis(10);
/// What git says where another program writes the same file. It does not wait by itself.
const HELD: &str = "could not lock config file";

impl Repository {
    /// Runs `git config` to change something, and waits up to three seconds while others do.
    ///
    /// # Errors
    /// Fails when there is no such program; how it ended is in the value.
    pub fn configure(&self, arguments: &[&str]) -> Result<GitEnd> {
        patiently(|| self.git_untranslated(arguments))
    }
}

impl Worktree {
    /// Does the same in this worktree.
    ///
    /// # Errors
    /// Fails when there is no such program; how it ended is in the value.
    pub fn configure(&self, arguments: &[&str]) -> Result<GitEnd> {
        patiently(|| run_git_untranslated_at(&self.path, &self.git_dir, arguments))
    }
}

fn patiently(run: impl Fn() -> Result<GitEnd>) -> Result<GitEnd> {
    let started = Instant::now();
    loop {
        let end = run()?;
        let is_held = !end.success && end.stderr.contains(HELD);
        if !is_held || started.elapsed() >= OTHERS_WRITE_MAX {
            return Ok(end);
        }
        std::thread::sleep(PAUSE);
    }
}
