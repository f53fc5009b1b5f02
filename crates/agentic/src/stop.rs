//! Being told to stop by a signal: once to end cleanly, twice to end at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// The exit code of a program that is told a second time.
const TOLD_TWICE: i32 = 130;

/// Whether this program was told to stop; nothing while it does not listen.
static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Listens to SIGTERM and to ctrl-c from now on.
pub fn listen() -> Result<(), Failure> {
    let asked = ASKED.get_or_init(Arc::default);
    for signal in [SIGTERM, SIGINT] {
        // The order counts: the first signal must not find the flag set.
        flag::register_conditional_shutdown(signal, TOLD_TWICE, Arc::clone(asked))
            .and_then(|_| flag::register(signal, Arc::clone(asked)))
            .map_err(|error| Failure::io("listen to signals", &error))?;
    }
    Ok(())
}

/// Says whether this program was told to stop.
pub fn is_asked() -> bool {
    ASKED.get().is_some_and(|asked| asked.load(Ordering::Relaxed))
}
