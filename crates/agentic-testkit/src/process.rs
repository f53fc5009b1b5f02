//! Running a program within a time limit, and all that it started with it.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::Error;

/// How much of each stream is kept, in bytes: 16 MiB. The rest is read and dropped.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;
/// The permissions of a file that is to be executed.
const PROGRAM_MODE: u32 = 0o755;
/// How often a running program is looked at.
const POLL_INTERVAL: Duration = Duration::from_micros(500);

/// Held shared by whoever starts a program, and alone by whoever writes one.
// process: between a fork and its `exec` the child has every open file of this process, those of other
// threads too. A script that is open for writing there cannot be executed: the text file is busy.
static STARTS: RwLock<()> = RwLock::new(());

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEnding {
    /// It ended by itself with this code.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It was still running when its time was over, and was ended.
    TimeLimit,
}

/// A program that has ended, and what it wrote.
#[derive(Debug, Clone)]
pub struct FinishedProgram {
    /// How it ended.
    pub ending: ProgramEnding,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

/// Writes a file that is to be executed, while nobody starts a program.
///
/// # Errors
/// Fails when the file cannot be written.
pub fn write_program(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let _alone = STARTS.write().unwrap_or_else(PoisonError::into_inner);
    fs::write(path, bytes)?;
    fs::set_permissions(path, fs::Permissions::from_mode(PROGRAM_MODE))
}

/// Starts a program, while nobody writes one.
pub(crate) fn spawn(command: &mut Command) -> std::io::Result<Child> {
    let _shared = STARTS.read().unwrap_or_else(PoisonError::into_inner);
    command.spawn()
}

/// Runs a program with the given standard input. When it ends, or when `limit` is over, everything
/// that it left running in its process group is ended too.
///
/// # Errors
/// Fails when the program cannot be started.
pub fn run(mut command: Command, stdin: &[u8], limit: Duration) -> Result<FinishedProgram, Error> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let attempt = format!("start `{}`", command.get_program().to_string_lossy());
    let mut child = spawn(&mut command).map_err(Error::file(attempt))?;
    feed(&mut child, stdin.to_vec());
    let stdout = collect(child.stdout.take().expect("standard output is piped"));
    let stderr = collect(child.stderr.take().expect("standard error is piped"));
    let status = wait(&mut child, limit).map_err(Error::file("wait for the program"))?;
    end_group(&child);
    let ending = match status {
        Some(status) => ending_of(status),
        None => {
            child.wait().map_err(Error::file("end the program"))?;
            ProgramEnding::TimeLimit
        }
    };
    Ok(FinishedProgram { ending, stdout: join(stdout), stderr: join(stderr) })
}

/// Writes standard input from a thread of its own; a program that reads none of it is no error.
fn feed(child: &mut Child, bytes: Vec<u8>) {
    let mut pipe = child.stdin.take().expect("standard input is piped");
    thread::spawn(move || {
        let _a_closed_pipe_is_the_programs_choice = pipe.write_all(&bytes);
    });
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let kept = pipe.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        if kept.is_ok() {
            let _dropped = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        bytes
    })
}

fn join(reader: JoinHandle<Vec<u8>>) -> Vec<u8> {
    reader.join().expect("reading a pipe does not panic")
}

fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > limit {
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Ends what is left of the program's process group; that nothing is left is the usual case.
pub(crate) fn end_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _nothing_may_be_left = kill_process_group(group, Signal::KILL);
    }
}

fn ending_of(status: ExitStatus) -> ProgramEnding {
    match status.code() {
        Some(code) => ProgramEnding::Exit(code),
        None => ProgramEnding::Signal(status.signal().unwrap_or(0)),
    }
}
