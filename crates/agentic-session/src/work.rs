//! Work under way that threads wait for: programs, endpoints, child sessions.

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Moment};

use agentic_providers::credential::Caller;
use agentic_providers::endpoint::{Call, Exchange};
use agentic_providers::executable::Executable;
use agentic_providers::host::CancelFlag;
use agentic_providers::process::{Charge, Orphan};
use agentic_replay::{Path, Performance, Stopped};

use super::children::Child;
use super::observer::{self, Observer};
use super::orphan::{self, Remaining};
use super::outcome::EffectOutcome;
use super::performer::CommandLine;
use super::process::Process;
use super::provision::ProviderCall;
use super::start::start_child;
use crate::{Options, SessionSpace};

/// How long a program or an endpoint may take where nothing says otherwise.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(600);
/// How much longer than its grace a program is waited for that is stopped by force then.
const KILLED_WITHIN: Duration = Duration::from_millis(500);
/// How often a program that is to end is looked at.
const POLL: Duration = Duration::from_millis(2);

/// Which request some work belongs to, and whom to tell when it is done.
pub(super) struct Order {
    /// The request.
    pub path: Path,
    /// The key under which the work may be repeated.
    pub key: String,
    /// In whose name programs are started for it.
    pub charge: Charge,
    /// How long it may take.
    pub timeout_ms: Option<u64>,
    /// How long it may take to end once it is told to stop.
    pub grace: Duration,
    /// Who makes the call.
    pub caller: Caller,
    /// Who waits.
    pub waiting: Sender<(Path, EffectOutcome)>,
}

/// Work under way.
pub(super) enum Work {
    /// The program of an `exec`.
    Process(Process),
    /// The probe of an effect in doubt.
    Probe(Process),
    /// A program of the language, and the thread that watches it.
    Program(CancelFlag, JoinHandle<()>),
    /// The programs of an earlier driver, which are waited for or ended.
    Orphans(CancelFlag, JoinHandle<()>),
    /// Anything else, and what is known about it once it was told to stop.
    Thread(CancelFlag, Stopped),
}

/// What a thread is to do.
pub(super) enum Task {
    /// Run the program of an `exec` in a folder.
    Exec(PathBuf),
    /// Run a program of the language in a folder.
    Program(CommandLine, PathBuf),
    /// Call an endpoint.
    Call(Call),
    /// Call a provider, watched by whoever watches.
    Provider(Box<ProviderCall>, Option<Observer>),
    /// Run a child session, in a space that is opened so.
    Child(Child, (PathBuf, Options)),
}

impl Task {
    /// Begins the work.
    pub fn begin(self, order: Order, performance: &Performance) -> Work {
        match self {
            Task::Exec(folder) => {
                let flag = order.flag();
                Work::Process(Process::start(performance, &folder, flag, order.waiting))
            }
            Task::Program(command, folder) => Work::program(command, folder, order),
            Task::Call(call) => Work::call(call, order),
            Task::Provider(call, observer) => Work::start(order, Stopped::Unknown, move |cancel| {
                EffectOutcome::Answer(observer::perform(observer.as_ref(), &call, cancel))
            }),
            Task::Child(child, opener) => Work::child(child, opener, order),
        }
    }
}

impl Work {
    /// Starts a program of the language.
    fn program(command: CommandLine, folder: PathBuf, order: Order) -> Work {
        let executable = Executable {
            argv: command.argv,
            folder,
            input: command.stdin.into_bytes(),
            environment: Vec::new(),
            limit: order.limit(),
        };
        let caller = order.caller.clone();
        let (cancel, thread) = Work::run(order, move |cancel| EffectOutcome::Program {
            name: executable.argv.first().cloned().unwrap_or_default(),
            outcome: caller.execute(executable, cancel),
        });
        Work::Program(cancel, thread)
    }

    /// Calls an endpoint.
    fn call(call: Call, order: Order) -> Work {
        let exchange =
            Exchange { key: order.key.clone(), limit: order.limit(), headers: Vec::new(), call };
        let caller = order.caller.clone();
        Work::start(order, Stopped::Unknown, move |cancel| EffectOutcome::Reply {
            url: exchange.call.url.clone(),
            reply: caller.call(exchange, cancel),
        })
    }

    /// Runs a child session, in a space of its own.
    fn child(child: Child, (folder, options): (PathBuf, Options), order: Order) -> Work {
        Work::start(order, Stopped::Stopped, move |_| {
            let space = SessionSpace::open_as_is(&folder, options);
            EffectOutcome::Child(space.and_then(|space| start_child(&space, child)))
        })
    }

    fn start(
        order: Order,
        stopped: Stopped,
        work: impl FnOnce(&CancelFlag) -> EffectOutcome + Send + 'static,
    ) -> Work {
        Work::Thread(Work::run(order, work).0, stopped)
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
        programs: Vec<Orphan>,
        flag: CancelFlag,
        remaining: Remaining,
        waiting: Sender<(Path, EffectOutcome)>,
    ) -> Work {
        let watched = flag.clone();
        let thread = std::thread::spawn(move || {
            let came = orphan::settle(&programs, remaining, &watched);
            // Whoever drives the session next looks again.
            let _ = waiting.send((path, came));
        });
        Work::Orphans(flag, thread)
    }

    /// Says whether these are programs of an earlier driver.
    pub fn is_orphans(&self) -> bool {
        match self {
            Work::Orphans(..) => true,
            Work::Process(_) | Work::Probe(_) | Work::Program(..) | Work::Thread(..) => false,
        }
    }

    /// Asks a program to end and does not wait for it: of several that are stopped together each
    /// has its grace at the same time.
    pub fn ask_to_end(&self) {
        match self {
            Work::Program(cancel, _) | Work::Orphans(cancel, _) => cancel.set(),
            Work::Process(_) | Work::Probe(_) | Work::Thread(..) => {}
        }
    }

    /// Stops the work, and says what is known about it then: whoever is asked over a network may
    /// have done what was asked.
    pub fn stop(&self) -> Stopped {
        match self {
            Work::Process(process) => process.stop(),
            Work::Probe(process) => {
                process.stop();
                // The effect itself is what it was: in doubt.
                Stopped::Unknown
            }
            Work::Program(cancel, thread) => match end(cancel, thread) {
                true => Stopped::Stopped,
                false => Stopped::Unknown,
            },
            Work::Orphans(cancel, thread) => {
                end(cancel, thread);
                // How far they came before nobody knows.
                Stopped::Unknown
            }
            Work::Thread(cancel, stopped) => {
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

    fn limit(&self) -> Duration {
        self.timeout_ms.map_or(TIME_LIMIT, Duration::from_millis)
    }
}
