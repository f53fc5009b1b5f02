//! A folder and an environment that belong to one test.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{FinishedProgram, ProgramEnding, run};
use crate::{Error, Setup};

/// How long a command may take that prepares or observes a sandbox.
const OWN_COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Where Linux keeps files in memory.
const MEMORY_FOLDER: &str = "/dev/shm";

/// How deep folders are copied; a new repository nests far less.
const FOLDER_DEPTH_MAX: usize = 40;

/// The git configuration of everyone in a sandbox.
const GIT_CONFIG: &str = "\
[user]
\tname = Ada
\temail = ada@example.com
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[maintenance]
\tauto = false
[advice]
\tdetachedHead = false
[protocol \"file\"]
\tallow = always
";

/// A script that runs a command under the usual rules of file permissions. Root is not bound by
/// them, so it gives that power up first; a case about a read-only folder would else prove nothing.
const UNPRIVILEGED: &str = "\
#!/bin/sh
[ \"$(id -u)\" = 0 ] || exec \"$@\"
exec setpriv --inh-caps=-all --bounding-set=-dac_override,-dac_read_search,-fowner \"$@\"
";

/// A temporary folder with an environment of its own. Dropping it removes the folder.
#[derive(Debug)]
pub struct Sandbox {
    root: tempfile::TempDir,
    start: PathBuf,
}

impl Sandbox {
    /// Makes a sandbox and fills it.
    ///
    /// # Errors
    /// Fails when the folder cannot be made or git cannot be run.
    pub fn new(setup: Setup) -> Result<Sandbox, Error> {
        let mut sandbox = Sandbox::without_repository()?;
        sandbox.start = sandbox.repositories().join(setup.start());
        setup.build(&sandbox)?;
        Ok(sandbox)
    }

    /// Makes a sandbox in memory where the system has a folder for that, and on the disk elsewhere:
    /// for tests that make thousands of files and ask nothing of the disk itself.
    ///
    /// # Errors
    /// Fails as [`Sandbox::new`] does.
    pub fn in_memory(setup: Setup) -> Result<Sandbox, Error> {
        match Path::new(MEMORY_FOLDER) {
            folder if folder.is_dir() => Sandbox::in_folder(folder, setup),
            _ => Sandbox::new(setup),
        }
    }

    /// Makes a sandbox inside a folder, for tests that measure a disk.
    ///
    /// # Errors
    /// Fails as [`Sandbox::new`] does.
    pub fn in_folder(folder: &Path, setup: Setup) -> Result<Sandbox, Error> {
        let mut sandbox = Sandbox::without_repository_in(Some(folder))?;
        sandbox.start = sandbox.repositories().join(setup.start());
        setup.build(&sandbox)?;
        Ok(sandbox)
    }

    /// Copies everything that the sandbox's repositories are to a folder beside them, in place of
    /// what was there.
    ///
    /// # Errors
    /// Fails when files cannot be copied.
    pub fn save(&self, name: &str) -> Result<(), Error> {
        replace_folder(&self.repositories(), &self.root().join(name))
            .map_err(Error::file(format!("save `{name}`")))
    }

    /// Puts the repositories back to what was saved.
    ///
    /// # Errors
    /// Fails when files cannot be copied.
    pub fn restore(&self, name: &str) -> Result<(), Error> {
        replace_folder(&self.root().join(name), &self.repositories())
            .map_err(Error::file(format!("restore `{name}`")))
    }

    /// Makes a sandbox of its own that holds what another one holds.
    pub(crate) fn copy_of(template: &Sandbox, setup: Setup) -> Result<Sandbox, Error> {
        let mut sandbox = Sandbox::without_repository()?;
        copy_folder(&template.repositories(), &sandbox.repositories(), 0)
            .map_err(Error::file("copy the repositories"))?;
        sandbox.start = sandbox.repositories().join(setup.start());
        setup.settle(&sandbox)?;
        Ok(sandbox)
    }

    fn without_repository() -> Result<Sandbox, Error> {
        Sandbox::without_repository_in(None)
    }

    fn without_repository_in(folder: Option<&Path>) -> Result<Sandbox, Error> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("agentic-");
        let root = match folder {
            Some(folder) => builder.tempdir_in(folder),
            None => builder.tempdir(),
        };
        let root = root.map_err(Error::file("make a temporary folder"))?;
        let sandbox = Sandbox { start: root.path().join("repos"), root };
        for folder in ["home", "bin", "tmp", "repos"] {
            let path = sandbox.root().join(folder);
            fs::create_dir(&path).map_err(Error::file(format!("make `{}`", path.display())))?;
        }
        fs::write(sandbox.root().join("home/gitconfig"), GIT_CONFIG)
            .map_err(Error::file("write the git configuration"))?;
        let script = sandbox.root().join("bin/unprivileged");
        fs::write(&script, UNPRIVILEGED)
            .and_then(|()| fs::set_permissions(&script, fs::Permissions::from_mode(0o755)))
            .map_err(Error::file("write the script `unprivileged`"))?;
        Ok(sandbox)
    }

    /// Returns the folder that holds everything, the home folder included.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Returns the folder that holds the repositories.
    pub fn repositories(&self) -> PathBuf {
        self.root().join("repos")
    }

    /// Returns the folder in which commands start: the (first) repository.
    pub fn start(&self) -> &Path {
        &self.start
    }

    /// Makes `program` callable as `name` inside the sandbox.
    ///
    /// # Errors
    /// Fails when the link cannot be made.
    pub fn install(&self, name: &str, program: &Path) -> Result<(), Error> {
        symlink(program, self.root().join("bin").join(name))
            .map_err(Error::file(format!("install `{name}`")))
    }

    /// Returns the whole environment of the sandbox: nothing is inherited but the search path.
    pub fn environment(&self) -> BTreeMap<String, OsString> {
        let mut path = self.root().join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        let within = |name: &str| self.root().join(name).into_os_string();
        let fixed = |text: &str| OsString::from(text);
        [
            ("PATH", path),
            ("HOME", within("home")),
            ("TMPDIR", within("tmp")),
            ("GIT_CONFIG_GLOBAL", within("home/gitconfig")),
            ("GIT_CONFIG_SYSTEM", fixed("/dev/null")),
            ("GIT_CEILING_DIRECTORIES", within("repos")),
            ("GIT_TERMINAL_PROMPT", fixed("0")),
            ("GIT_EDITOR", fixed("true")),
            ("GIT_PAGER", fixed("cat")),
            ("TZ", fixed("UTC")),
            ("LANG", fixed("C.UTF-8")),
            ("LC_ALL", fixed("C.UTF-8")),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    /// Makes a command that will run in `folder` with the environment of the sandbox.
    pub fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().envs(self.environment());
        command
    }

    /// Runs git in `folder` and returns how it ended and what it wrote.
    ///
    /// # Errors
    /// Fails when git cannot be started.
    pub fn try_git(&self, folder: &Path, arguments: &[&str]) -> Result<FinishedProgram, Error> {
        self.git_with_input(folder, arguments, b"")
    }

    /// Runs git in `folder` with standard input.
    ///
    /// # Errors
    /// Fails when git cannot be started.
    pub fn git_with_input(
        &self,
        folder: &Path,
        arguments: &[&str],
        stdin: &[u8],
    ) -> Result<FinishedProgram, Error> {
        let mut command = self.command("git", folder);
        command.args(arguments);
        run(command, stdin, OWN_COMMAND_LIMIT)
    }

    /// Runs git in `folder` and returns what it wrote to standard output.
    ///
    /// # Errors
    /// Fails when git fails.
    pub fn git(&self, folder: &Path, arguments: &[&str]) -> Result<String, Error> {
        let finished = self.try_git(folder, arguments)?;
        if finished.ending != ProgramEnding::Exit(0) {
            return Err(Error::Command {
                command: format!("git {}", arguments.join(" ")),
                said: String::from_utf8_lossy(&finished.stderr).trim().to_owned(),
            });
        }
        Ok(String::from_utf8_lossy(&finished.stdout).into_owned())
    }
}

/// Makes `to` a copy of `from`.
fn replace_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::create_dir_all(to)?;
    copy_folder(from, to, 0)
}

/// Copies files and folders with their permissions, and links as links.
fn copy_folder(from: &Path, to: &Path, depth: usize) -> std::io::Result<()> {
    if depth > FOLDER_DEPTH_MAX {
        return Ok(());
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy_folder(&entry.path(), &target, depth + 1)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
