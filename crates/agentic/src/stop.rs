//! Being told to stop by a signal: once to end cleanly, where somebody listens, else at once. What
//! this program started ends with it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agentic_providers::process::end_all;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::failure::Failure;

/// The exit code of a program that is told a second time.
const TOLD_TWICE: i32 = 130;
/// How long programs that are asked to end with this one may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// Whether this program listens, and ends cleanly when it is told the first time.
static LISTENS: AtomicBool = AtomicBool::new(false);
/// Whether this program was told to stop while it listened.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Whether signals are watched, or why not.
static WATCHED: OnceLock<Result<(), String>> = OnceLock::new();

/// Listens to SIGTERM and to ctrl-c from now on.
pub fn listen() -> Result<(), Failure> {
    LISTENS.store(true, Ordering::SeqCst);
    watch(&[SIGTERM, SIGINT])
        .map_err(|error| Failure::io("listen to signals", &std::io::Error::other(error)))
}

/// Sees to it from now on that a signal which ends this program ends what it started.
pub fn guard() {
    // Without, programs outlive this one, as they do when it is killed.
    let _ = watch(&[]);
}

/// Says whether this program was told to stop.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Watches for these signals, and for those that would end this program.
fn watch(wanted: &[i32]) -> Result<(), String> {
    let begin = || {
        let mut watched = vec![SIGHUP, SIGINT, SIGTERM];
        // One that is ignored, as `nohup` has it, ends nothing, and is to stay so.
        let ignored = ignored();
        watched.retain(|signal| wanted.contains(signal) || ignored >> (signal - 1) & 1 == 0);
        let signals = Signals::new(watched).map_err(|error| error.to_string())?;
        let thread = std::thread::Builder::new().name("agentic-signals".to_owned());
        thread.spawn(move || obey(signals)).map(drop).map_err(|error| error.to_string())
    };
    WATCHED.get_or_init(begin).clone()
}

/// Returns which signals this program was told to ignore, as a mask; none where nobody tells.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

fn obey(mut signals: Signals) {
    for signal in signals.forever() {
        let is_listening = LISTENS.load(Ordering::SeqCst) && signal != SIGHUP;
        if is_listening && !ASKED.swap(true, Ordering::SeqCst) {
            continue;
        }
        end_all(PATIENCE);
        if is_listening {
            std::process::exit(TOLD_TWICE);
        }
        // As if nobody had watched: whoever waits for this program sees the signal.
        let _ = emulate_default_handler(signal);
    }
}
