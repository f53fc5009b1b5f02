//! The `git` program, for what gix does not do: pushing, fetching, worktrees on disk.

use std::path::Path;
use std::process::{Command, Stdio};

use super::Repository;
use crate::{Error, Result};

/// How the `git` program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Whether it succeeded.
    pub success: bool,
    /// What it printed on standard output.
    pub stdout: String,
    /// What it printed on standard error.
    pub stderr: String,
}

impl Program {
    /// Returns what it printed, if it succeeded.
    ///
    /// # Errors
    /// Fails with what it printed on standard error, if it did not.
    pub fn checked(self, arguments: &[&str]) -> Result<String> {
        if self.success {
            return Ok(self.stdout);
        }
        let command = arguments.iter().take(2).copied().collect::<Vec<_>>().join(" ");
        Err(Error::GitProgram { command, message: self.stderr.trim().to_owned() })
    }
}

/// Runs the `git` program in a folder and waits for it.
///
/// # Errors
/// Fails when there is no such program.
pub fn run_git(directory: &Path, arguments: &[&str]) -> Result<Program> {
    let output = Command::new("git")
        .current_dir(directory)
        .args(arguments)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null())
        .output()
        .map_err(Error::io("run `git` in", directory))?;
    Ok(Program {
        success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

impl Repository {
    /// Runs the `git` program on this repository.
    ///
    /// # Errors
    /// Fails when there is no such program; how it ended is in the value.
    pub fn git(&self, arguments: &[&str]) -> Result<Program> {
        let directory = self.work_dir().unwrap_or(self.common_dir());
        run_git(directory, arguments)
    }
}
