//! The `git` program, for what gix does not do: pushing, fetching, worktrees on disk.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{ChildStdout, Command, ExitStatus, Output, Stdio};

use super::Repository;
use super::repository::{absolute, leads_to};
use agentic_store::error::{GitError, RemoteStop};
use agentic_store::lock::Lock;
use agentic_store::{Error, Result};

/// The variable in which a program that git starts for us finds which lock is held for it.
pub(crate) const HELD_LOCK: &str = "AGENTIC_HELD_LOCK";

/// How much of a command line is paths, in bytes: 64 KiB. Systems take 128 KiB at least.
const PATHS_BYTES_MAX: usize = 64 << 10;

/// From which size on git has no file of a worktree in memory, and how much of packs.
const LARGE_FILES: [&str; 3] =
    ["core.bigFileThreshold=8m", "core.packedGitWindowSize=16m", "core.packedGitLimit=64m"];

/// What a git that runs us, as one of its hooks, says of its own repository and its own call. None of
/// it is meant for the programs that we run, maybe on another worktree.
const VARIABLES_OF_A_CALL: [&str; 17] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_DEFAULT_HASH",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

/// What a program is told besides its arguments.
pub(super) type GitEnvironment = Vec<(String, OsString)>;

/// How the `git` program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitEnd {
    /// Whether it succeeded.
    pub success: bool,
    /// What it printed on standard output.
    pub stdout: String,
    /// What it printed on standard error.
    pub stderr: String,
    /// Why it was stopped, if it was.
    pub stopped: Option<RemoteStop>,
}

impl GitEnd {
    /// Returns what it printed, if it succeeded.
    ///
    /// # Errors
    /// Fails with what it printed on standard error, if it did not.
    pub fn checked(self, arguments: &[&str]) -> Result<String> {
        if self.success {
            return Ok(self.stdout);
        }
        let command = arguments.iter().take(2).copied().collect::<Vec<_>>().join(" ");
        Err(Error::Git(match self.stopped {
            Some(why) => GitError::Stopped { command, why },
            None => GitError::Program { command, message: self.stderr.trim().to_owned() },
        }))
    }
}

/// Splits paths into lists that one command line has room for.
pub(crate) fn by_command_line<'a, 'b>(
    paths: &'a [&'b [u8]],
) -> impl Iterator<Item = &'a [&'b [u8]]> {
    let mut rest = paths;
    std::iter::from_fn(move || {
        let mut n_bytes = 0;
        let fits = |path: &&&[u8]| {
            n_bytes += path.len() + 1;
            n_bytes <= PATHS_BYTES_MAX
        };
        let n_paths = rest.iter().take_while(fits).count().max(1).min(rest.len());
        let (part, others) = rest.split_at(n_paths);
        rest = others;
        (!part.is_empty()).then_some(part)
    })
}

/// Runs the `git` program in a folder and waits for it.
///
/// # Errors
/// Fails when there is no such program.
pub fn run_git(directory: &Path, arguments: &[&str]) -> Result<GitEnd> {
    run_git_with_input(directory, arguments, b"")
}

/// Does the same with something to read on standard input.
///
/// # Errors
/// Fails when there is no such program.
pub fn run_git_with_input(directory: &Path, arguments: &[&str], input: &[u8]) -> Result<GitEnd> {
    run_git_with(directory, arguments, input, &GitEnvironment::new())
}

/// Does the same with variables of its own in its environment.
fn run_git_with(
    directory: &Path,
    arguments: &[&str],
    input: &[u8],
    environment: &GitEnvironment,
) -> Result<GitEnd> {
    let mut command = git_command(directory, arguments);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    run_program(&mut command, input).map_err(Error::io("run `git` in", directory))
}

/// Runs any program with something to read on standard input and waits for it.
///
/// # Errors
/// Fails when it cannot be started.
pub(super) fn run_program(command: &mut Command, input: &[u8]) -> std::io::Result<GitEnd> {
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    run_to_end(command, input)
}

fn run_to_end(command: &mut Command, input: &[u8]) -> std::io::Result<GitEnd> {
    let started = std::time::Instant::now();
    let output = output_of(command, input)?;
    tell_run(command, output.status, started);
    Ok(GitEnd {
        success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        stopped: None,
    })
}

/// Tells the log that a program ran.
pub(super) fn tell_run(command: &Command, status: ExitStatus, started: std::time::Instant) {
    let (program, arguments) = (command.get_program(), command.get_args());
    tracing::debug!(
        program = %program.display(),
        arguments = ?arguments.collect::<Vec<_>>(),
        %status,
        took = ?started.elapsed(),
        "ran a program"
    );
}

fn output_of(command: &mut Command, input: &[u8]) -> std::io::Result<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let pipe = child.stdin.take();
    std::thread::scope(|scope| {
        if let Some(mut pipe) = pipe {
            // A program may print much before it has read all. One that does not read to the end says
            // why with its exit code.
            scope.spawn(move || pipe.write_all(input));
        }
        child.wait_with_output()
    })
}

pub(super) fn git_command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = command_in(directory, Path::new("git"), arguments);
    // A look at a worktree must not leave a lock behind when it is killed.
    command.env("GIT_OPTIONAL_LOCKS", "0");
    // An object is what its id says, also to git.
    command.env("GIT_NO_REPLACE_OBJECTS", "1");
    command
}

/// Makes a git that writes and reads files of a worktree: large ones part by part, which it does by
/// itself from half a gigabyte on.
fn git_for_files(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = git_command(directory, &[]);
    command.args(LARGE_FILES.iter().flat_map(|setting| ["-c", setting])).args(arguments);
    command
}

pub(super) fn command_in(directory: &Path, program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).args(arguments);
    for name in VARIABLES_OF_A_CALL {
        command.env_remove(name);
    }
    command
}

/// Runs a hook of the user's in a folder.
pub(super) fn run_hook(folder: &Path, hook: &Path, arguments: &[&str]) -> Result<GitEnd> {
    let mut command = command_in(folder, hook, arguments);
    let run = run_to_end(command.stdin(Stdio::null()), b"");
    run.map_err(Error::io("run the hook", hook))
}

/// Runs the `git` program in a worktree. Where the folder does not lead to the git directory, as
/// with `core.worktree`, git is told both.
pub(super) fn run_git_at(folder: &Path, git_dir: &Path, arguments: &[&str]) -> Result<GitEnd> {
    run_git_with(folder, arguments, b"", &place(folder, git_dir)?)
}

/// Does the same, with messages in no language of the user's.
pub(super) fn run_git_untranslated_at(
    folder: &Path,
    git_dir: &Path,
    arguments: &[&str],
) -> Result<GitEnd> {
    let mut environment = place(folder, git_dir)?;
    environment.extend(untranslated());
    run_git_with(folder, arguments, b"", &environment)
}

/// Does the same with a git that holds a lock as long as it runs, even if this process dies meanwhile.
pub(super) fn run_git_holding(
    lock: &Lock,
    folder: &Path,
    git_dir: &Path,
    arguments: &[&str],
) -> Result<GitEnd> {
    let mut command = git_for_files(folder, arguments);
    command.envs(place(folder, git_dir)?).env(HELD_LOCK, lock.path());
    command.stdin(lock.share()?);
    run_to_end(&mut command, b"").map_err(Error::io("run `git` in", folder))
}

/// Runs the `git` program in a worktree on paths, which are bytes, and returns the bytes that it prints.
/// With a lock, it holds that as long as it runs.
pub(super) fn run_git_on_paths(
    lock: Option<&Lock>,
    folder: &Path,
    git_dir: &Path,
    arguments: &[&str],
    paths: &[&[u8]],
) -> Result<Vec<u8>> {
    let mut command = git_for_files(folder, arguments);
    command.args(paths.iter().map(|path| OsStr::from_bytes(path)));
    command.envs(place(folder, git_dir)?);
    match lock {
        Some(lock) => command.env(HELD_LOCK, lock.path()).stdin(lock.share()?),
        None => command.stdin(Stdio::null()),
    };
    let output = output_of(&mut command, b"").map_err(Error::io("run `git` in", folder))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let command = arguments.iter().take(2).copied().collect::<Vec<_>>().join(" ");
    Err(Error::Git(GitError::Program { command, message }))
}

/// Tells git to speak as it does without any language of the user's.
pub(super) fn untranslated() -> GitEnvironment {
    [("LC_ALL", "C"), ("LANGUAGE", "")].map(|(name, value)| (name.to_owned(), value.into())).into()
}

fn place(folder: &Path, git_dir: &Path) -> Result<GitEnvironment> {
    if leads_to(folder, git_dir) {
        return Ok(GitEnvironment::new());
    }
    // Both may be relative to where we are, which is not where git will be.
    let (folder, git_dir) = (absolute(folder)?, absolute(git_dir)?);
    Ok(vec![("GIT_DIR".to_owned(), git_dir.into()), ("GIT_WORK_TREE".to_owned(), folder.into())])
}

impl Repository {
    /// Runs the `git` program on this repository.
    ///
    /// # Errors
    /// Fails when there is no such program; how it ended is in the value.
    pub fn git(&self, arguments: &[&str]) -> Result<GitEnd> {
        self.git_with(arguments, b"", GitEnvironment::new())
    }

    /// Runs git with messages that no language of the user's changes, where they have to be read.
    ///
    /// # Errors
    /// Fails when git cannot be started.
    pub fn git_untranslated(&self, arguments: &[&str]) -> Result<GitEnd> {
        self.git_with(arguments, b"", untranslated())
    }

    /// Runs git with something to read on standard input.
    ///
    /// # Errors
    /// Fails when git cannot be started; how it ended is in the value.
    pub fn git_reading(&self, arguments: &[&str], input: &[u8]) -> Result<GitEnd> {
        self.git_with(arguments, input, GitEnvironment::new())
    }

    /// Runs git and hands on what it prints while it does: for answers that have no end.
    ///
    /// # Errors
    /// Fails when git does, and as `read` does.
    pub(super) fn git_streaming(
        &self,
        arguments: &[&str],
        read: &mut dyn FnMut(ChildStdout) -> Result<()>,
    ) -> Result<()> {
        let (directory, told) = self.git_place()?;
        let mut command = git_command(directory, arguments);
        command.envs(told).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = || Error::io("run `git` in", directory);
        let mut child = command.spawn().map_err(failed())?;
        let outcome = child.stdout.take().map_or(Ok(()), read);
        if outcome.is_err() {
            // It would wait for somebody who reads on.
            let _gone_is_fine = child.kill();
        }
        let output = child.wait_with_output().map_err(failed())?;
        outcome?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let success = output.status.success();
        GitEnd { success, stdout: String::new(), stderr, stopped: None }
            .checked(arguments)
            .map(drop)
    }

    /// Runs git with something to read on standard input, and with variables in its environment.
    pub(super) fn git_with(
        &self,
        arguments: &[&str],
        input: &[u8],
        environment: GitEnvironment,
    ) -> Result<GitEnd> {
        let (directory, mut told) = self.git_place()?;
        told.extend(environment);
        run_git_with(directory, arguments, input, &told)
    }

    /// Tells in which folder git is run, and what it is told of it.
    pub(super) fn git_place(&self) -> Result<(&Path, GitEnvironment)> {
        Ok(match self.work_dir() {
            Some(folder) => (folder, place(folder, self.git_dir())?),
            // Git may have been told not to look for bare repositories by itself.
            None => {
                let git_dir = self.common_dir().as_os_str().to_owned();
                (self.common_dir(), vec![("GIT_DIR".to_owned(), git_dir)])
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_in_their_order_and_none_is_lost() {
        let long = "x".repeat(PATHS_BYTES_MAX / 3);
        let longer = "y".repeat(2 * PATHS_BYTES_MAX);
        let (long, longer) = (long.as_bytes(), longer.as_bytes());
        for (paths, sizes) in [
            (vec![], vec![]),
            (vec![&b"a"[..], b"b"], vec![2]),
            (vec![long; 5], vec![2, 2, 1]),
            (vec![b"a", longer, longer, b"b"], vec![1, 1, 1, 1]),
        ] {
            let parts: Vec<&[&[u8]]> = by_command_line(&paths).collect();
            assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), sizes);
            assert_eq!(parts.concat(), paths);
        }
    }
}
