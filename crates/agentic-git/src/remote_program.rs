//! The `git` program where it talks to a remote, which may be silent for ever or never be done.
//!
//! Silence is that git prints nothing and that nobody of its family works. So git is told to show its progress. While
//! a program of the user's asks for a passphrase nobody works either: the person has as long as a remote.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Repository;
use super::command::{GitEnd, GitEnvironment, command_in, git_command, tell_run, untranslated};
use agentic_store::error::{GitError, RemoteStop};
use agentic_store::os::{ProcessFamily, await_readable};
use agentic_store::{Error, Result};

/// The setting that says after how many seconds of silence a remote is given up.
const SILENCE: &str = "agentic.remoteSilence";
/// For how many seconds one is waited for otherwise.
const SILENCE_SECONDS: u64 = 60;
/// The setting that says after how many seconds a remote is given up, whatever it says.
const TIME: &str = "agentic.remoteTime";
/// After how many seconds it is otherwise: an hour.
const TIME_SECONDS: u64 = 3_600;
/// How many bytes are read of an answer that has no limit of its own: 1 GiB.
const ANSWER_BYTES_MAX: u64 = 1 << 30;
/// How many bytes of what is said beside are kept, from the last on: 64 KiB.
const SAID_BYTES_MAX: usize = 64 << 10;
/// How much is read at once.
const PART_BYTES: usize = 64 << 10;
/// How long what is said beside gathers before it is read: progress is very many short lines.
const GATHER: Duration = Duration::from_millis(1);
/// How often is looked whether the program has ended and something else holds what it printed to.
const LOOK: Duration = Duration::from_millis(100);
/// The longest time between two looks at a program that prints nothing any more.
const LAST_LOOK: Duration = Duration::from_millis(20);
/// Which part of a silence the family of the program has to work in order to be no silence: what keeps a connection
/// alive works much less.
const WORKED_SHARE: u32 = 1_000;
/// How long programs have in order to end by themselves.
const GRACE: Duration = Duration::from_secs(2);
/// How lines of progress begin, maybe after `remote: `.
const PROGRESS: [&str; 10] = [
    "Enumerating objects:",
    "Counting objects:",
    "Compressing objects:",
    "Writing objects:",
    "Receiving objects:",
    "Unpacking objects:",
    "Resolving deltas:",
    "Checking connectivity:",
    "Delta compression using ",
    "Total ",
];

/// How long a remote is waited for, and how much is read of it.
struct RemoteLimits {
    /// The longest silence.
    silence: Option<Duration>,
    /// The longest time for all of it.
    time: Option<Duration>,
    /// How many bytes it answers at most.
    answer_bytes_max: u64,
}

/// To what a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PrintedStream {
    Answer,
    Beside,
}

/// A pipe that a program prints to.
struct PrintedPipe {
    stream: PrintedStream,
    pipe: File,
}

/// A program that talks to a remote.
struct RemoteProgram {
    child: Child,
    limits: RemoteLimits,
    started: Instant,
    /// When something was heard of it last.
    heard_at: Instant,
    /// How long its family had worked then.
    worked: Duration,
    answer: Vec<u8>,
    beside: Vec<u8>,
}

impl Repository {
    /// Runs git where it talks to a remote, with messages in no language of the user's. It has to show its progress,
    /// if it has any: a remote that is silent for too long is given up.
    ///
    /// # Errors
    /// Fails when git cannot be started, and when the configuration is wrong; how it ended is in the value.
    pub fn git_at_remote(&self, arguments: &[&str]) -> Result<GitEnd> {
        self.git_asking_remote(arguments, ANSWER_BYTES_MAX)
    }

    /// Does the same, and reads so many bytes of its answer at most.
    ///
    /// # Errors
    /// Fails as [`Repository::git_at_remote`] does.
    pub fn git_asking_remote(&self, arguments: &[&str], answer_bytes_max: u64) -> Result<GitEnd> {
        let (directory, told) = self.git_place()?;
        let mut command = git_command(directory, arguments);
        command.envs(told).envs(untranslated());
        self.run_at_remote(&mut command, answer_bytes_max)
    }

    /// Runs a shell that runs git like this, with variables in its environment.
    pub(super) fn shell_at_remote(
        &self,
        arguments: &[&str],
        environment: GitEnvironment,
    ) -> Result<GitEnd> {
        let (directory, told) = self.git_place()?;
        let mut command = command_in(directory, OsStr::new("sh").as_ref(), arguments);
        command.envs(told).envs(environment).envs(untranslated());
        self.run_at_remote(&mut command, ANSWER_BYTES_MAX)
    }

    fn run_at_remote(&self, command: &mut Command, answer_bytes_max: u64) -> Result<GitEnd> {
        let limits = RemoteLimits {
            silence: self.configured_seconds(SILENCE, SILENCE_SECONDS)?,
            time: self.configured_seconds(TIME, TIME_SECONDS)?,
            answer_bytes_max,
        };
        let run = run_limited(command, limits);
        run.map_err(|error| match command.get_current_dir() {
            Some(folder) => Error::io("run `git` in", folder)(error),
            None => Error::io("run `git` in", self.git_dir())(error),
        })
    }

    /// Reads a number of seconds; nothing where it is 0.
    fn configured_seconds(&self, key: &'static str, otherwise: u64) -> Result<Option<Duration>> {
        let seconds = match self.config(key) {
            None => otherwise,
            Some(_) => {
                let number = self.config_number(key).and_then(|number| u64::try_from(number).ok());
                number.ok_or(Error::Git(GitError::NoSeconds { key }))?
            }
        };
        Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
    }
}

/// Runs a program until it ends, or until it is stopped with everything that it began.
fn run_limited(command: &mut Command, limits: RemoteLimits) -> std::io::Result<GitEnd> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn()?;
    let answer = child.stdout.take().map(|pipe| (PrintedStream::Answer, OwnedFd::from(pipe)));
    let beside = child.stderr.take().map(|pipe| (PrintedStream::Beside, OwnedFd::from(pipe)));
    let pipes = answer.into_iter().chain(beside);
    let pipes = pipes.map(|(stream, pipe)| PrintedPipe { stream, pipe: File::from(pipe) });
    let pipes: Vec<PrintedPipe> = pipes.collect();
    let (heard_at, worked) = (started, Duration::ZERO);
    let (answer, beside) = (Vec::new(), Vec::new());
    let mut program = RemoteProgram { child, limits, started, heard_at, worked, answer, beside };
    let stopped = match program.listen(pipes)? {
        None => program.await_end()?,
        stopped => stopped,
    };
    if stopped.is_some() {
        ProcessFamily::of(&program.child).end(GRACE);
    }
    let status = program.child.wait()?;
    tell_run(command, status, started);
    Ok(GitEnd {
        success: stopped.is_none() && status.success(),
        stdout: String::from_utf8_lossy(&program.answer).into_owned(),
        stderr: match stopped {
            None => without_progress(&String::from_utf8_lossy(&program.beside)),
            Some(why) => why.to_string(),
        },
        stopped,
    })
}

impl RemoteProgram {
    /// Takes what it prints until it prints no more, or has ended. Returns why it has to be stopped, if it has.
    fn listen(&mut self, mut pipes: Vec<PrintedPipe>) -> std::io::Result<Option<RemoteStop>> {
        let (mut has_ended, mut part) = (false, vec![0; PART_BYTES]);
        while !pipes.is_empty() {
            let files: Vec<&File> = pipes.iter().map(|printed| &printed.pipe).collect();
            let mut ready = await_readable(&files, LOOK)?.into_iter();
            let (mut printing, quiet): (Vec<PrintedPipe>, Vec<PrintedPipe>) =
                pipes.into_iter().partition(|_| ready.next() == Some(true));
            match (printing.is_empty(), has_ended) {
                (false, _) => {
                    if printing.iter().all(|printed| printed.stream == PrintedStream::Beside) {
                        std::thread::sleep(GATHER);
                    }
                    printing.retain_mut(|printed| self.take(printed, &mut part));
                }
                // Something that it began may go on and hold what it prints to, such as a connection that is kept.
                (true, true) => return Ok(None),
                (true, false) => has_ended = self.child.try_wait()?.is_some(),
            }
            pipes = quiet;
            pipes.append(&mut printing);
            let bytes_max = self.limits.answer_bytes_max;
            if self.answer.len() as u64 > bytes_max {
                return Ok(Some(RemoteStop::Much { bytes_max }));
            }
            if let Some(why) = self.over() {
                return Ok((!has_ended).then_some(why));
            }
        }
        Ok(None)
    }

    /// Takes what waits in a pipe. Returns whether more may come.
    fn take(&mut self, printed: &mut PrintedPipe, part: &mut [u8]) -> bool {
        let n_bytes = match printed.pipe.read(part) {
            Ok(n_bytes @ 1..) => n_bytes,
            Ok(_) => return false,
            Err(error) => return error.kind() == ErrorKind::Interrupted,
        };
        self.heard_at = Instant::now();
        match printed.stream {
            PrintedStream::Answer => self.answer.extend(&part[..n_bytes]),
            PrintedStream::Beside => {
                self.beside.extend(&part[..n_bytes]);
                if self.beside.len() > 2 * SAID_BYTES_MAX {
                    self.beside.drain(..self.beside.len() - SAID_BYTES_MAX);
                }
            }
        }
        true
    }

    /// Waits until it has ended, which takes no time as a rule.
    fn await_end(&mut self) -> std::io::Result<Option<RemoteStop>> {
        let mut pause = Duration::from_micros(50);
        while self.child.try_wait()?.is_none() {
            if let Some(why) = self.over() {
                return Ok(Some(why));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LAST_LOOK);
        }
        Ok(None)
    }

    /// Says why it has to be stopped now, if it has.
    fn over(&mut self) -> Option<RemoteStop> {
        if let Some(time) = self.limits.time.filter(|time| self.started.elapsed() > *time) {
            return Some(RemoteStop::Long { seconds: time.as_secs() });
        }
        let silence = self.limits.silence.filter(|silence| self.heard_at.elapsed() > *silence)?;
        let worked = ProcessFamily::of(&self.child).worked();
        if worked.saturating_sub(self.worked) < silence / WORKED_SHARE {
            return Some(RemoteStop::Silent { seconds: silence.as_secs() });
        }
        (self.heard_at, self.worked) = (Instant::now(), worked);
        None
    }
}

/// Leaves out the lines that show progress: of each line counts what is printed over the rest of it last.
fn without_progress(said: &str) -> String {
    let last = |line: &'_ str| {
        let mut parts = line.split('\r').map(str::trim_end);
        parts.rfind(|part| !part.is_empty()).unwrap_or_default().to_owned()
    };
    let is_progress = |line: &String| {
        let line = line.strip_prefix("remote: ").unwrap_or(line);
        PROGRESS.iter().any(|begin| line.starts_with(begin))
    };
    said.split('\n').map(last).filter(|line| !is_progress(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(silence_ms: u64, time_ms: u64) -> RemoteLimits {
        RemoteLimits {
            silence: Some(Duration::from_millis(silence_ms)),
            time: Some(Duration::from_millis(time_ms)),
            answer_bytes_max: 1_000,
        }
    }

    fn run(script: &str, limits: RemoteLimits) -> GitEnd {
        run_limited(Command::new("sh").args(["-c", script]), limits).expect("there is a shell")
    }

    #[test]
    fn what_is_printed_is_read_to_its_end() {
        let end = run("echo answer; echo beside >&2; exit 3", limits(60_000, 60_000));
        assert_eq!((end.stdout.as_str(), end.stderr.as_str()), ("answer\n", "beside\n"));
        assert_eq!((end.success, end.stopped), (false, None));
    }

    #[test]
    fn silence_ends_it_with_what_it_began() {
        // What it began holds what it prints to: if that went on, this would not end.
        for script in ["sleep 600", "echo a; sleep 600 & sleep 600", "exec >&- 2>&-; sleep 600"] {
            let end = run(script, limits(300, 60_000));
            assert_eq!(end.stopped, Some(RemoteStop::Silent { seconds: 0 }), "{script}");
            assert!(!end.success);
        }
    }

    #[test]
    fn who_speaks_for_ever_is_stopped_nevertheless() {
        let end = run("while :; do echo a >&2; sleep 0.05; done", limits(60_000, 500));
        assert_eq!(end.stopped, Some(RemoteStop::Long { seconds: 0 }));
    }

    /// A program that was silent for long, and has worked this long as somebody looked last.
    fn silent(script: &str, worked: Duration) -> RemoteProgram {
        let child = Command::new("sh").args(["-c", script]).spawn().expect("there is a shell");
        let started = Instant::now() - Duration::from_secs(10);
        let (answer, beside) = (Vec::new(), Vec::new());
        let limits = limits(1_000, 600_000);
        RemoteProgram { child, limits, started, heard_at: started, worked, answer, beside }
    }

    #[test]
    fn who_works_is_not_silent() {
        let mut works = silent("while :; do :; done", Duration::ZERO);
        let family = ProcessFamily::of(&works.child);
        while family.worked() < Duration::from_millis(20) {
            std::thread::yield_now();
        }
        assert_eq!(works.over(), None);
        assert!(works.worked >= Duration::from_millis(20));
        // Only what it worked since then counts.
        works.heard_at = works.started;
        works.worked = Duration::from_secs(3_600);
        assert_eq!(works.over(), Some(RemoteStop::Silent { seconds: 1 }));
        family.end(Duration::ZERO);
        works.child.wait().expect("it is ours");
    }

    #[test]
    fn no_more_is_read_than_somebody_wants() {
        let end = run("while :; do echo aaaaaaaaaa; done", limits(60_000, 60_000));
        assert_eq!(end.stopped, Some(RemoteStop::Much { bytes_max: 1_000 }));
    }

    #[test]
    fn what_goes_on_after_it_is_not_waited_for() {
        let end = run("echo a; sleep 5 &", limits(60_000, 60_000));
        assert_eq!((end.stdout.as_str(), end.success), ("a\n", true));
    }

    #[test]
    fn progress_is_nothing_that_is_said() {
        let said = "remote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.\n\
                    remote: it is not allowed\nReceiving objects:  12% (1/8)\rfatal: early EOF\n";
        assert_eq!(without_progress(said), "remote: it is not allowed\nfatal: early EOF\n");
    }
}
