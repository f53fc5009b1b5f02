//! Agents and handlers that are programs: one value on standard input, one on standard output.
//!
//! A program is started for each call, without a shell, in a process group of its own. It has a
//! time limit and a bound on what it may print; whoever exceeds either is stopped with everything
//! that it started. What it prints is bytes to its caller, never trusted to be text.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::host::CancelFlag;
use crate::process::{Launch, LaunchEnvironment, LaunchInput, Leftover, RunningProgram};

/// The most that a program may print on standard output, in bytes.
pub const OUTPUT_BYTES_MAX: usize = 4 << 20;
/// How much of standard error is kept, in bytes; the rest is read and dropped.
const COMPLAINT_BYTES_MAX: usize = 4 << 10;
/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(2);
/// How long the rest of standard error is waited for once a program has ended.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A program to be run once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// What it reads.
    pub input: Vec<u8>,
    /// What it finds in its environment beyond ours.
    pub environment: Vec<(String, String)>,
    /// How long it may take.
    pub limit: Duration,
}

/// What became of a program.
#[derive(Debug)]
pub enum ProgramOutcome {
    /// It ended by itself with status 0 and printed this.
    Done(Vec<u8>),
    /// It ended with another status, or by a signal.
    Crashed {
        /// How.
        status: ExitStatus,
        /// The beginning of what it said on standard error.
        complaint: String,
    },
    /// It could not be started or watched.
    Lost(std::io::Error),
    /// It printed more than [`OUTPUT_BYTES_MAX`].
    Flooded,
    /// Its time was over.
    TimedOut,
    /// It was told to stop: it ended then, or was stopped by force when its grace was over.
    Stopped,
}

impl Executable {
    /// Runs the program to its end, or until its limit. When `cancel` is set, it is asked to end
    /// (SIGTERM, with all that it started) and stopped by force once the grace of the flag is over;
    /// one that ends with status 0 meanwhile is done.
    pub fn run(&self, cancel: &CancelFlag) -> ProgramOutcome {
        self.watched(LaunchEnvironment::Inherited, cancel)
    }

    /// Does the same in an environment that holds nothing of ours but where programs and folders
    /// are and how people like to read: what is secret stays here.
    pub fn run_apart(&self, cancel: &CancelFlag) -> ProgramOutcome {
        self.watched(LaunchEnvironment::Apart, cancel)
    }

    fn watched(&self, environment: LaunchEnvironment, cancel: &CancelFlag) -> ProgramOutcome {
        let launched = Launch {
            argv: &self.argv,
            folder: &self.folder,
            input: LaunchInput::Whole(&self.input),
            environment,
            variables: &self.environment,
            limit: self.limit,
            charge: cancel.charge(),
        };
        let mut program = match launched.start() {
            Ok(program) => program,
            Err(error) => return ProgramOutcome::Lost(error),
        };
        let output = collect(program.take_stdout(), OUTPUT_BYTES_MAX + 1, ExcessOutput::Left);
        let complaint = collect(program.take_stderr(), COMPLAINT_BYTES_MAX, ExcessOutput::Dropped);
        let outcome = self.watch(&program, &output, &complaint, cancel);
        // Whatever it started goes with it; usually there is nothing left.
        program.finish(Leftover::Ended);
        outcome
    }

    fn watch(
        &self,
        program: &RunningProgram,
        output: &Receiver<Vec<u8>>,
        complaint: &Receiver<Vec<u8>>,
        cancel: &CancelFlag,
    ) -> ProgramOutcome {
        let deadline = Instant::now().checked_add(self.limit);
        let mut printed: Option<Vec<u8>> = None;
        // When it is stopped by force, once it was asked to end.
        let mut kill_at: Option<Option<Instant>> = None;
        loop {
            if printed.is_none() {
                printed = match output.recv_timeout(POLL) {
                    Ok(bytes) => Some(bytes),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => Some(Vec::new()),
                };
            }
            if printed.as_ref().is_some_and(|bytes| bytes.len() > OUTPUT_BYTES_MAX) {
                return ProgramOutcome::Flooded;
            }
            match program.ended() {
                Ok(Some(status)) if !status.success() && kill_at.is_some() => {
                    return ProgramOutcome::Stopped;
                }
                Ok(Some(status)) if !status.success() => {
                    let said = complaint.recv_timeout(LAST_WORDS).unwrap_or_default();
                    let complaint = String::from_utf8_lossy(&said).trim().to_owned();
                    return ProgramOutcome::Crashed { status, complaint };
                }
                // It may have left someone behind who still prints.
                Ok(Some(_)) if printed.is_some() => {
                    return ProgramOutcome::Done(printed.unwrap_or_default());
                }
                Ok(Some(_) | None) => {}
                Err(error) => return ProgramOutcome::Lost(error),
            }
            if cancel.is_set() {
                let told = *kill_at.get_or_insert_with(|| {
                    program.signal(Signal::TERM);
                    Instant::now().checked_add(cancel.grace())
                });
                if told.is_some_and(|at| Instant::now() >= at) {
                    return ProgramOutcome::Stopped;
                }
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return ProgramOutcome::TimedOut;
            }
            if printed.is_some() {
                match kill_at {
                    None => drop(cancel.wait(POLL)),
                    Some(_) => std::thread::sleep(POLL),
                }
            }
        }
    }
}

/// What happens to output beyond what is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExcessOutput {
    /// It stays in the pipe.
    Left,
    /// It is read and dropped.
    Dropped,
}

/// Reads a stream on a thread of its own; what it kept is sent once it has enough or all.
fn collect(
    stream: Option<impl Read + Send + 'static>,
    bytes_max: usize,
    rest: ExcessOutput,
) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(mut stream) = stream {
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            // What was read before a fault is as good as all.
            let _ = stream.by_ref().take(bytes_max as u64).read_to_end(&mut kept);
            let _ = sender.send(kept);
            if rest == ExcessOutput::Dropped {
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
            }
        });
    }
    receiver
}
