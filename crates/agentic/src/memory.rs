//! Runs in memory: no repository, no record, gone when they end.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentic_model::{Cid, Value};
use agentic_providers::executable::{Executable, OUTPUT_BYTES_MAX, Outcome};
use agentic_providers::host::{CancelFlag, Executor as Performer, Host, Limits, Place};
use agentic_replay::{Answer, End, Event, Failure, Program, Request, Seed, Start, Stopped};
use agentic_space::Clock;
use agentic_space::session::{CommandLine, Executor, Printed};

/// How many requests are performed at once.
const WORKERS_MAX: usize = 256;
/// How long a program may take where nothing says otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Runs a program to its end.
pub fn run(
    program: impl Program,
    input: Value,
    executor: Executor,
    folder: PathBuf,
    sink: &mut dyn FnMut(Event),
) -> End {
    drive(program, input, Memory { executor: Mutex::new(executor), folder }, sink)
}

/// Runs a program to its end, with somebody else who performs its requests.
pub fn drive(
    program: impl Program,
    input: Value,
    performer: impl Performer,
    sink: &mut dyn FnMut(Event),
) -> End {
    let limits = Limits { workers_max: WORKERS_MAX, ..Limits::default() };
    let host = Host::new(performer).with_limits(limits);
    host.run(program, &start(input), &CancelFlag::new(), sink)
}

/// What a run begins with: the time, and randomness that no other run has.
fn start(input: Value) -> Start {
    let at = Clock::System.now();
    let unique = Cid::of(format!("{} {}", at.millis(), std::process::id()).as_bytes());
    let seed = Seed(unique.digest().try_into().expect("a content id is a hash of 32 bytes"));
    Start { input, seed, at }
}

/// Performs the requests of a run.
struct Memory {
    executor: Mutex<Executor>,
    folder: PathBuf,
}

impl Memory {
    /// A panic under the lock leaves counters behind, never half of one.
    fn executor(&self) -> MutexGuard<'_, Executor> {
        self.executor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn execute(&self, command: CommandLine, request: &Request, cancel: &CancelFlag) -> Answer {
        let program = command.argv.first().cloned().unwrap_or_default();
        let executable = Executable {
            argv: command.argv,
            folder: self.folder.clone(),
            input: command.stdin.into_bytes(),
            environment: Vec::new(),
            limit: request.timeout_ms.map_or(TIME_LIMIT, Duration::from_millis),
        };
        let ended = |status, stdout: &str, stderr: &str| {
            self.executor().read(Printed { status, stdout, stderr })
        };
        match executable.run(cancel) {
            Outcome::Done(printed) => ended(Some(0), &String::from_utf8_lossy(&printed), ""),
            Outcome::Crashed { status, complaint } => ended(status.code(), "", &complaint),
            Outcome::Lost(error) => self.executor().lost(&format!("`{program}`: {error}")),
            Outcome::Flooded => Answer::Failed(Failure::new(
                "OutputTooLarge",
                format!("`{program}` printed more than {OUTPUT_BYTES_MAX} bytes"),
            )),
            Outcome::TimedOut => Answer::TimedOut,
            Outcome::Stopped => Answer::Cancelled(Stopped::Stopped),
        }
    }
}

impl Performer for Memory {
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> Answer {
        let command = self.executor().command(request);
        if let Some(command) = command {
            return self.execute(command, request, cancel);
        }
        let computed = self.executor().compute(request);
        computed.unwrap_or_else(|| {
            let message = format!("nothing here performs `{}`", request.kind);
            Answer::Failed(Failure::new("unknown-kind", message))
        })
    }

    fn place(&self, request: &Request) -> Place {
        match self.executor().command(request) {
            Some(_) => Place::Pool,
            None => Place::Inline,
        }
    }
}
