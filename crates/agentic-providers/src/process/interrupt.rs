//! Work that ctrl-c ends, where it would end the whole program otherwise.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_default};

/// Listens to ctrl-c for work that it ends.
#[derive(Debug)]
pub struct InterruptListener {
    /// Whether nothing is done that could be ended, so that the program ends.
    is_idle: Arc<AtomicBool>,
    is_interrupted: Arc<AtomicBool>,
}

impl InterruptListener {
    /// Begins to listen. While no work is done ctrl-c does what it always does.
    ///
    /// # Errors
    /// Fails when the system lets nobody listen.
    pub fn begin() -> std::io::Result<InterruptListener> {
        let (is_idle, is_interrupted) =
            (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        register_conditional_default(SIGINT, Arc::clone(&is_idle))?;
        register(SIGINT, Arc::clone(&is_interrupted))?;
        Ok(InterruptListener { is_idle, is_interrupted })
    }

    /// Returns what is set when the work that is done is to end.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_interrupted)
    }

    /// Does work that ctrl-c ends.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_interrupted.store(false, Ordering::SeqCst);
        self.is_idle.store(false, Ordering::SeqCst);
        let done = work();
        self.is_idle.store(true, Ordering::SeqCst);
        done
    }
}
