//! A program that runs.

use std::io::PipeWriter;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::file::ProcessFile;
use super::own;

/// What happens to what a program left running in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// It is ended.
    Ended,
    /// It may go on.
    Left,
}

/// A program that runs, with everything in its group. One that is dropped is ended.
#[derive(Debug)]
pub struct RunningProgram {
    child: Child,
    leader: Pid,
    file: Option<ProcessFile>,
    writer: Option<PipeWriter>,
    is_over: bool,
}

impl RunningProgram {
    pub(super) fn new(
        child: Child,
        leader: Pid,
        file: Option<ProcessFile>,
        writer: Option<PipeWriter>,
    ) -> RunningProgram {
        RunningProgram { child, leader, file, writer, is_over: false }
    }

    /// Takes what is written to the program while it runs, where something is.
    pub fn take_stdin(&mut self) -> Option<PipeWriter> {
        self.writer.take()
    }

    /// Takes what the program prints.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Takes what the program says beside.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Says how the program ended, once it has. It keeps its id until [`RunningProgram::finish`],
    /// so that its group cannot be taken for another's.
    ///
    /// # Errors
    /// Fails when the system does not tell.
    pub fn ended(&self) -> std::io::Result<Option<ExitStatus>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let told = waitid(WaitId::Pid(self.leader), options)?;
        let Some(told) = told else { return Ok(None) };
        own::groups().stand_still_if_ending();
        let code = told.exit_status().map(|code| (code & 0xff) << 8);
        let raw = code.or(told.terminating_signal()).unwrap_or_default();
        Ok(Some(ExitStatus::from_raw(raw)))
    }

    /// Signals the program and everything in its group.
    pub fn signal(&self, what: Signal) {
        // A group that is gone is what is wanted.
        let _ = kill_process_group(self.leader, what);
    }

    /// Brings the program to its end, whatever it does, and forgets it.
    pub fn finish(mut self, leftover: Leftover) {
        self.end(leftover);
    }

    fn end(&mut self, leftover: Leftover) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        if leftover == Leftover::Ended || !matches!(self.ended(), Ok(Some(_))) {
            self.signal(Signal::KILL);
        }
        self.writer = None;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        // It was stopped by force: this does not take long.
        let _ = waitid(WaitId::Pid(self.leader), options);
        own::groups().stand_still_if_ending();
        if let Some(file) = &self.file {
            file.remove();
        }
        own::groups().remove(self.leader);
        let _ = self.child.wait();
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        self.end(Leftover::Ended);
    }
}
