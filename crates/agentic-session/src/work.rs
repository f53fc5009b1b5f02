//! Work under way that threads wait for: programs, endpoints, child sessions.

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Moment};

use agentic_host::OutsideWork;
use agentic_providers::host::CancelFlag;
use agentic_providers::process::{Charge, OrphanProgram};
use agentic_replay::{CancelExtent, Path, Performance};

use super::children::Child;
use super::orphan::{self, OrphanFate};
use super::outcome::EffectOutcome;
use super::process::Process;
use super::start::start_child;
use crate::{SessionOptions, SessionSpace};

/// How much longer than its grace a program is waited for that is stopped by force then.
const KILLED_WITHIN: Duration = Duration::from_millis(500);
/// How often a program that is to end is looked at.
const POLL: Duration = Duration::from_millis(2);

/// Which request some work belongs to, and whom to tell when it is done.
pub(super) struct Order {
    /// The request.
    pub path: Path,
    /// In whose name programs are started for it.
    pub charge: Charge,
    /// How long it may take to end once it is told to stop.
    pub grace: Duration,
    /// Who waits.
    pub waiting: Sender<(Path, EffectOutcome)>,
}

/// Work under way.
pub(super) enum RunningWork {
    /// The program of an `exec`.
    Process(Process),
    /// The probe of an effect in doubt.
    Probe(Process),
    /// A program of the language, and the thread that watches it.
    Program(CancelFlag, JoinHandle<()>),
    /// The programs of an earlier driver, which are waited for or ended.
    Orphans(CancelFlag, JoinHandle<()>),
    /// Anything else, and what is known about it once it was told to stop.
    Thread(CancelFlag, CancelExtent),
}

/// What a thread is to do.
pub(super) enum Task {
    /// Run the program of an `exec` in a folder.
    Exec(PathBuf),
    /// Have somebody outside do it.
    Outside(Box<OutsideWork>),
    /// Run a child session, in a space that is opened so.
    Child(Child, (PathBuf, SessionOptions)),
}

impl Task {
    /// Begins the work.
    pub fn begin(self, order: Order, performance: &Performance) -> RunningWork {
        match self {
            Task::Exec(folder) => {
                let flag = order.flag();
                RunningWork::Process(Process::start(performance, &folder, flag, order.waiting))
            }
            Task::Outside(work) => RunningWork::outside(*work, order),
            Task::Child(child, opener) => RunningWork::child(child, opener, order),
        }
    }
}

impl RunningWork {
    /// Has somebody outside do the work. A program is waited for when it is stopped.
    fn outside(work: OutsideWork, order: Order) -> RunningWork {
        let is_program = work.is_program();
        let perform = move |cancel: &CancelFlag| EffectOutcome::Answer(work.perform(cancel));
        let (cancel, thread) = RunningWork::run(order, perform);
        match is_program {
            true => RunningWork::Program(cancel, thread),
            false => RunningWork::Thread(cancel, CancelExtent::Unknown),
        }
    }

    /// Runs a child session, in a space of its own.
    fn child(
        child: Child,
        (folder, options): (PathBuf, SessionOptions),
        order: Order,
    ) -> RunningWork {
        RunningWork::start(order, CancelExtent::Stopped, move |_| {
            let space = SessionSpace::open_as_is(&folder, options);
            EffectOutcome::Child(space.and_then(|space| start_child(&space, child)))
        })
    }

    fn start(
        order: Order,
        stopped: CancelExtent,
        work: impl FnOnce(&CancelFlag) -> EffectOutcome + Send + 'static,
    ) -> RunningWork {
        RunningWork::Thread(RunningWork::run(order, work).0, stopped)
    }

    /// Does the work on a thread of its own.
    fn run(
        order: Order,
        work: impl FnOnce(&CancelFlag) -> EffectOutcome + Send + 'static,
    ) -> (CancelFlag, JoinHandle<()>) {
        let cancel = order.flag();
        let watched = cancel.clone();
        let thread = std::thread::spawn(move || {
            let came = work(&watched);
            // A driver that has gone away reads the doubt from its records.
            let _ = order.waiting.send((order.path, came));
        });
        (cancel, thread)
    }

    /// Waits for programs of an earlier driver, or ends them.
    pub fn orphans(
        path: Path,
        programs: Vec<OrphanProgram>,
        flag: CancelFlag,
        remaining: OrphanFate,
        waiting: Sender<(Path, EffectOutcome)>,
    ) -> RunningWork {
        let watched = flag.clone();
        let thread = std::thread::spawn(move || {
            let came = orphan::settle(&programs, remaining, &watched);
            // Whoever drives the session next looks again.
            let _ = waiting.send((path, came));
        });
        RunningWork::Orphans(flag, thread)
    }

    /// Says whether these are programs of an earlier driver.
    pub fn is_orphans(&self) -> bool {
        match self {
            RunningWork::Orphans(..) => true,
            RunningWork::Process(_)
            | RunningWork::Probe(_)
            | RunningWork::Program(..)
            | RunningWork::Thread(..) => false,
        }
    }

    /// Asks a program to end and does not wait for it: of several that are stopped together each
    /// has its grace at the same time.
    pub fn ask_to_end(&self) {
        match self {
            RunningWork::Program(cancel, _) | RunningWork::Orphans(cancel, _) => cancel.set(),
            RunningWork::Process(_) | RunningWork::Probe(_) | RunningWork::Thread(..) => {}
        }
    }

    /// Stops the work, and says what is known about it then: whoever is asked over a network may
    /// have done what was asked.
    pub fn stop(&self) -> CancelExtent {
        match self {
            RunningWork::Process(process) => process.stop(),
            RunningWork::Probe(process) => {
                process.stop();
                // The effect itself is what it was: in doubt.
                CancelExtent::Unknown
            }
            RunningWork::Program(cancel, thread) => match end(cancel, thread) {
                true => CancelExtent::Stopped,
                false => CancelExtent::Unknown,
            },
            RunningWork::Orphans(cancel, thread) => {
                end(cancel, thread);
                // How far they came before nobody knows.
                CancelExtent::Unknown
            }
            RunningWork::Thread(cancel, stopped) => {
                cancel.set();
                *stopped
            }
        }
    }
}

/// Tells work to end, and says whether it did within its grace.
fn end(cancel: &CancelFlag, thread: &JoinHandle<()>) -> bool {
    cancel.set();
    let deadline = Moment::now() + cancel.grace() + 2 * KILLED_WITHIN;
    while !thread.is_finished() && Moment::now() < deadline {
        std::thread::sleep(POLL);
    }
    thread.is_finished()
}

impl Order {
    fn flag(&self) -> CancelFlag {
        CancelFlag::with_grace(self.grace).in_charge(self.charge.clone())
    }
}
