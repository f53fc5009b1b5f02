//! Work that ctrl-c ends, where it would end the whole program otherwise.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_default};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Does something before ctrl-c ends the program, such as to leave the terminal as it was. The program
/// ends at once all the same, and by that signal, as whoever started it expects.
///
/// # Errors
/// Fails when the system lets nobody listen.
pub fn before_interrupt(leave: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGINT])?;
    let wait = move || {
        if signals.forever().next().is_some() {
            leave();
            let _ = emulate_default_handler(SIGINT);
        }
    };
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(wait).map(drop)
}

/// Listens to ctrl-c for work that it ends.
#[derive(Debug)]
pub struct InterruptListener {
    /// Whether the program only waits for its input, so that the signal ends it.
    is_idle: Arc<AtomicBool>,
    is_interrupted: Arc<AtomicBool>,
}

impl InterruptListener {
    /// Begins to listen. From here on ctrl-c sets the flag.
    ///
    /// # Errors
    /// Fails when the system lets nobody listen.
    pub fn begin() -> std::io::Result<InterruptListener> {
        let (is_idle, is_interrupted) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        register_conditional_default(SIGINT, Arc::clone(&is_idle))?;
        register(SIGINT, Arc::clone(&is_interrupted))?;
        Ok(InterruptListener { is_idle, is_interrupted })
    }

    /// Returns what is set when the work that is done is to end.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_interrupted)
    }

    /// Forgets that something was interrupted: that work is over. What comes after this is meant for
    /// the next, even where it has not begun yet.
    pub fn forget(&self) {
        self.is_interrupted.store(false, Ordering::SeqCst);
    }

    /// Waits for input from where ctrl-c is no key: it ends the program meanwhile.
    pub fn while_idle<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.is_idle.store(true, Ordering::SeqCst);
        let waited = wait();
        self.is_idle.store(false, Ordering::SeqCst);
        waited
    }
}
