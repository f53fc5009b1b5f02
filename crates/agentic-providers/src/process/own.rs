//! What this process is, and what becomes of what it started when a signal ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;

use super::group::Groups;
use super::system;
use crate::host::CancelFlag;

/// The exit code of a program that is told to stop a second time.
const TOLD_TWICE: i32 = 130;
/// How long programs that are asked to end with this one may take.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long whoever has something to leave in order may take, and then how long the end may.
const ORDER_WAIT: Duration = Duration::from_secs(1);

/// What this process is.
// process: a signal is sent to a whole process, and a program that ends takes with it what any part of it
// started: this one value is shared by all of it, and nothing else here is.
static PROCESS: OwnProcess = OwnProcess {
    is_ours: AtomicBool::new(false),
    groups: Groups::none(),
    watched: OnceLock::new(),
    told: Mutex::new(StopListener { flags: Vec::new(), orders: Vec::new(), is_told: false }),
};

/// What there is once in a process.
struct OwnProcess {
    /// Whether the program is ours from its first line on: it can be its own starter, and may watch
    /// for signals.
    is_ours: AtomicBool,
    groups: Groups,
    /// What watches for signals, or why nothing does.
    watched: OnceLock<Result<Handle, String>>,
    told: Mutex<StopListener>,
}

/// Who ends cleanly when this process is told to stop the first time.
struct StopListener {
    flags: Vec<CancelFlag>,
    /// Who leaves something in order before a signal ends this process.
    orders: Vec<OrderlyEnd>,
    /// Whether it was told while somebody listened.
    is_told: bool,
}

/// Says that this program is ours from its first line on. A signal that ends it then ends what it
/// started, too: from the first such program on signals are watched.
pub(super) fn claim() {
    PROCESS.is_ours.store(true, Ordering::Relaxed);
}

/// Says whether this program is ours from its first line on.
pub(super) fn is_claimed() -> bool {
    PROCESS.is_ours.load(Ordering::Relaxed)
}

/// Returns the groups that this process has started.
pub(super) fn groups() -> &'static Groups {
    &PROCESS.groups
}

/// Sets a flag when this process is told to stop, by SIGTERM or ctrl-c, for the first time. The
/// second time ends it at once, and what it started with it.
///
/// # Errors
/// Fails when signals cannot be watched.
pub fn set_when_told_to_stop(flag: &CancelFlag) -> std::io::Result<()> {
    let is_told = {
        let mut told = told();
        told.flags.push(flag.clone());
        told.is_told
    };
    if is_told {
        flag.set();
    }
    watch(&[SIGTERM, SIGINT]).map(drop).map_err(std::io::Error::other)
}

/// Lets somebody leave in order what outlives this process, such as a terminal, before SIGHUP or SIGQUIT
/// ends it. It ends by that signal all the same, as whoever started it expects.
#[derive(Debug, Clone, Default)]
pub struct OrderlyEnd {
    asked: CancelFlag,
    done: CancelFlag,
}

impl OrderlyEnd {
    /// Begins to listen. A signal that is ignored, as `nohup` has it, stays so.
    ///
    /// # Errors
    /// Fails when signals cannot be watched.
    pub fn listen() -> std::io::Result<OrderlyEnd> {
        let order = OrderlyEnd::default();
        told().orders.push(order.clone());
        let watched = watch(&[]).map_err(std::io::Error::other)?;
        if !is_ignored(SIGQUIT) {
            watched.add_signal(SIGQUIT)?;
        }
        Ok(order)
    }

    /// Says whether this process is about to end. It ends after a second even if nobody heeds that.
    pub fn is_near(&self) -> bool {
        self.asked.is_set()
    }

    /// Lets it end: all is in order. Returns after a second if it did not.
    pub fn come(&self) {
        self.done.set();
        std::thread::sleep(ORDER_WAIT);
    }
}

/// Comes before a program is started: never returns when this process is being ended.
pub(super) fn enter() {
    if is_claimed() {
        // Without, programs outlive this one, as they do when it is killed.
        let _ = watch(&[]);
    }
    PROCESS.groups.stand_still_if_ending();
}

/// Watches for these signals, and for those that would end this program.
fn watch(wanted: &[i32]) -> Result<Handle, String> {
    let begin = || {
        let mut watched = vec![SIGHUP, SIGINT, SIGTERM];
        // One that is ignored, as `nohup` has it, ends nothing, and is to stay so.
        watched.retain(|signal| wanted.contains(signal) || !is_ignored(*signal));
        let signals = Signals::new(watched).map_err(|error| error.to_string())?;
        let handle = signals.handle();
        let thread = std::thread::Builder::new().name("agentic-signals".to_owned());
        thread.spawn(move || obey(signals)).map_err(|error| error.to_string())?;
        Ok(handle)
    };
    PROCESS.watched.get_or_init(begin).clone()
}

/// Says whether this program was told to ignore a signal.
fn is_ignored(signal: i32) -> bool {
    system::ignored_signals() >> (signal - 1) & 1 != 0
}

fn obey(mut signals: Signals) {
    for signal in signals.forever() {
        let listening = match signal {
            SIGHUP | SIGQUIT => StopListening::Nobody,
            _ => tell_to_stop(),
        };
        if listening == StopListening::FirstTime {
            continue;
        }
        leave_in_order();
        PROCESS.groups.end_all(PATIENCE);
        if listening == StopListening::Again {
            std::process::exit(TOLD_TWICE);
        }
        // As if nobody had watched: whoever waits for this program sees the signal.
        let _ = emulate_default_handler(signal);
    }
}

/// Whether somebody here ends cleanly when told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopListening {
    FirstTime,
    Again,
    Nobody,
}

/// Sets the flags of all who listen.
fn tell_to_stop() -> StopListening {
    let flags = {
        let mut told = told();
        if told.is_told {
            return StopListening::Again;
        }
        if told.flags.is_empty() {
            return StopListening::Nobody;
        }
        told.is_told = true;
        std::mem::take(&mut told.flags)
    };
    flags.iter().for_each(CancelFlag::set);
    StopListening::FirstTime
}

/// Waits until all who listen have left in order what is theirs, or took too long.
fn leave_in_order() {
    let orders = std::mem::take(&mut told().orders);
    orders.iter().for_each(|order| order.asked.set());
    let by = std::time::Instant::now() + ORDER_WAIT;
    for order in &orders {
        order.done.wait(by.saturating_duration_since(std::time::Instant::now()));
    }
}

/// No code that can panic runs under the lock, so a poisoned one still holds whole flags.
fn told() -> MutexGuard<'static, StopListener> {
    PROCESS.told.lock().unwrap_or_else(PoisonError::into_inner)
}
