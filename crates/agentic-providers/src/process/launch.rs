//! Starting a program.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Seek as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Pid;

use super::file::ProcessFile;
use super::running::RunningProgram;
use super::{Charge, PROGRAM_VARIABLE, own, starter, system};

/// The variables that a program finds in an environment of its own: none of them is a secret.
const HARMLESS: [&str; 10] =
    ["PATH", "HOME", "LANG", "LC_ALL", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// A program to be started.
#[derive(Debug)]
pub struct Launch<'l> {
    /// The program and its arguments.
    pub argv: &'l [String],
    /// Where it runs.
    pub folder: &'l Path,
    /// What it reads.
    pub input: LaunchInput<'l>,
    /// Which of our variables it finds.
    pub environment: LaunchEnvironment,
    /// What it finds beyond those.
    pub variables: &'l [(String, String)],
    /// How long it may take: for whoever finds it later. It is not stopped here.
    pub limit: Duration,
    /// For whom it runs.
    pub charge: &'l Charge,
}

/// What a program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchInput<'l> {
    /// This, complete before the program begins.
    Whole(&'l [u8]),
    /// What is written to it while it runs.
    Piped,
}

/// The environment that a program begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchEnvironment {
    /// Ours.
    Inherited,
    /// Nothing of ours but where programs and folders are and how people like to read: what is
    /// secret stays here.
    Apart,
}

impl Launch<'_> {
    /// Starts the program. Once this returns it has begun.
    ///
    /// # Errors
    /// Fails when it cannot be started; nothing of it has begun then.
    pub fn start(self) -> std::io::Result<RunningProgram> {
        own::enter();
        // First of all: from here on what was reserved for the program tells nothing any more.
        let mut file = self.file()?;
        let prepared = self.stdin().and_then(|stdin| Ok((stdin, UnixStream::pair()?)));
        let ((stdin, writer), (ours, theirs)) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Err(given_up(file.as_ref(), error)),
        };
        let mut command = match self.command() {
            Ok(command) => command,
            Err(error) => return Err(given_up(file.as_ref(), error)),
        };
        let spawned = command.stdin(OwnedFd::from(theirs)).spawn();
        // The command holds the other end of the socket.
        drop(command);
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => return Err(given_up(file.as_ref(), error)),
        };
        let leader = leader_of(&child);
        let described = file.as_mut().map_or(Ok(()), |file| file.describe(leader, self.limit));
        own::groups().add(leader);
        let released = described.and_then(|()| {
            let lock = file.as_ref().map(|file| file.lock().as_fd());
            let files: Vec<_> = [stdin.as_fd()].into_iter().chain(lock).collect();
            starter::release(ours, &files)
        });
        if let Err(error) = released {
            own::groups().remove(leader);
            let _ = child.kill();
            let _ = child.wait();
            return Err(given_up(file.as_ref(), error));
        }
        Ok(RunningProgram::new(child, leader, file, writer))
    }

    /// Makes what the program reads, and where that is written while it runs.
    fn stdin(&self) -> std::io::Result<(OwnedFd, Option<std::io::PipeWriter>)> {
        match self.input {
            LaunchInput::Whole(bytes) => Ok((complete(bytes)?.into(), None)),
            LaunchInput::Piped => {
                let (reader, writer) = std::io::pipe()?;
                Ok((reader.into(), Some(writer)))
            }
        }
    }

    fn file(&self) -> std::io::Result<Option<ProcessFile>> {
        let Charge { folder: Some(folder), request: Some(request), .. } = self.charge else {
            return Ok(None);
        };
        ProcessFile::create(folder, request, self.charge.reserved.as_deref()).map(Some)
    }

    /// Makes the command of the starter that becomes the program.
    fn command(&self) -> std::io::Result<Command> {
        if self.argv.is_empty() {
            return Err(std::io::Error::new(ErrorKind::InvalidInput, "no program is named"));
        }
        let mut command = starter::command()?;
        if self.environment == LaunchEnvironment::Apart {
            let harmless = HARMLESS.into_iter();
            let harmless = harmless.filter_map(|name| Some((name, std::env::var_os(name)?)));
            command.env_clear().envs(harmless);
        }
        if self.charge.request.is_some()
            && let Ok(program) = std::env::current_exe()
        {
            command.env(PROGRAM_VARIABLE, program);
        }
        command
            .args(self.argv)
            .current_dir(self.folder)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .envs(self.charge.variables())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        Ok(command)
    }
}

fn given_up(file: Option<&ProcessFile>, error: std::io::Error) -> std::io::Error {
    if let Some(file) = file {
        file.remove();
    }
    error
}

fn leader_of(child: &Child) -> Pid {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.expect("a child has a process id")
}

/// Makes a file that nobody else knows of and that holds these bytes.
fn complete(bytes: &[u8]) -> std::io::Result<File> {
    let mut file = match system::file_in_memory() {
        Ok(file) => file,
        Err(_) => nameless()?,
    };
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Makes a file on disk that has no name any more.
fn nameless() -> std::io::Result<File> {
    let nonce = super::system::since_boot_ms();
    let thread = std::thread::current().id();
    let name = format!("agentic-input-{}-{thread:?}-{nonce}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file =
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
