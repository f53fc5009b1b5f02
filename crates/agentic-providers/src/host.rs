//! The host in memory: no journal, many requests at once.
//!
//! One thread drives the program; a bounded pool of threads performs its requests. The driver
//! never waits for one particular request, only for whatever happens next, so no executor can make
//! it hang: one that panics has failed, one that outlives the time limit of its request is left to
//! itself, one whose request was withdrawn is told so and forgotten. What such an executor answers
//! later is dropped.
//!
//! ```
//! use agentic_model::{Instant, Value};
//! use agentic_providers::host::{CancelFlag, HostExecutor, Host};
//! use agentic_replay::{RequestAnswer, ProgramFailure, Program, Request, Start};
//!
//! struct Echo;
//!
//! impl HostExecutor for Echo {
//!     fn perform(&self, request: &Request, _cancel: &CancelFlag) -> RequestAnswer {
//!         match request.kind.as_str() {
//!             "echo" => RequestAnswer::Ok(request.payload.clone()),
//!             kind => {
//!                 let text = format!("no `{kind}` here");
//!                 RequestAnswer::Failed(ProgramFailure::new("unknown-kind", text))
//!             }
//!         }
//!     }
//! }
//!
//! fn run(program: impl Program, start: &Start) {
//!     let host = Host::new(Echo);
//!     let end = host.run(program, start, &CancelFlag::new(), &mut |event| println!("{event:?}"));
//!     println!("{end:?}");
//! }
//! ```

use std::sync::Arc;
use std::time::Duration;

use agentic_model::{Instant, Value};
use agentic_replay::{End, Program, ProgramEvent, Request, RequestAnswer, Start};

mod cancel;
mod driver;
mod pool;

pub use crate::host::cancel::{CancelFlag, GRACE_DEFAULT};

/// The code of the failure of a request whose executor panicked.
pub const PANICKED: &str = "panicked";
/// The code of the failure of a request for which no thread could be had.
pub const OVERLOADED: &str = "overloaded";

/// Performs requests.
///
/// One executor serves many threads at once. It should look at `cancel` where it waits; if it does
/// not, its thread is abandoned, not the run.
pub trait HostExecutor: Send + Sync + 'static {
    /// Performs one request and answers it.
    fn perform(&self, request: &Request, cancel: &CancelFlag) -> RequestAnswer;

    /// Says where a request is performed; in the pool, unless it is known to take no time.
    fn place(&self, _request: &Request) -> RequestPlace {
        RequestPlace::Pool
    }
}

/// Where a request is performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPlace {
    /// In a thread of its own for as long as it takes.
    Pool,
    /// In the thread that drives the program: for what is computed in microseconds. Such requests
    /// are performed one after the other in path order; their time limit is not looked at.
    Inline,
}

/// Which time a run lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostClock {
    /// The system's.
    System,
    /// One that begins with the run, stands still while anything works, and jumps to the next
    /// `sleep` when nothing does: for tests and dry runs.
    Jumping,
}

/// The limits of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How many requests are performed at once; further ones wait in the order they came.
    pub workers_max: usize,
    /// How long withdrawn requests may take to stop, and how long a run that has ended waits for
    /// them.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { workers_max: 64, grace: GRACE_DEFAULT }
    }
}

/// A host in memory.
#[derive(Clone)]
pub struct Host {
    executor: Arc<dyn HostExecutor>,
    limits: Limits,
    clock: HostClock,
}

impl Host {
    /// Makes a host with the system's clock and default limits.
    pub fn new(executor: impl HostExecutor) -> Host {
        Host { executor: Arc::new(executor), limits: Limits::default(), clock: HostClock::System }
    }

    /// Replaces the limits.
    pub fn with_limits(self, limits: Limits) -> Host {
        Host { limits, ..self }
    }

    /// Replaces the clock.
    pub fn with_clock(self, clock: HostClock) -> Host {
        Host { clock, ..self }
    }

    /// Runs a program to its end. Requests of kind `sleep` are answered by the host itself.
    ///
    /// Setting `cancel` asks the program to stop, as [`Program::cancel`] says; setting it before
    /// the run does so right after its first turn.
    pub fn run(
        &self,
        program: impl Program,
        start: &Start,
        cancel: &CancelFlag,
        sink: &mut dyn FnMut(ProgramEvent),
    ) -> End {
        driver::run(self, program, start, cancel, sink)
    }
}

/// The answer of a sleep that is over.
fn awake() -> RequestAnswer {
    RequestAnswer::Ok(Value::Null)
}

/// Reads the system's clock.
pub fn system_now() -> Instant {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = since_epoch.map(|elapsed| elapsed.as_millis()).unwrap_or(0);
    Instant::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}
