//! Signals that stop this program for a while, let it go on, and end it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agentic_providers::process::OrderlyEnd;
use rustix::process::{Signal, getpgid, getsid, kill_current_process_group};
use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::flag;

use crate::error::{Result, UiError};

/// Hears of them.
#[derive(Debug)]
pub struct JobSignals {
    stop: Arc<AtomicBool>,
    go_on: Arc<AtomicBool>,
    end: OrderlyEnd,
}

impl JobSignals {
    /// Begins to listen.
    ///
    /// # Errors
    /// Fails when the system refuses.
    pub fn listen() -> Result<JobSignals> {
        let end = OrderlyEnd::listen().map_err(UiError::system("listen to signals"))?;
        let signals = JobSignals { stop: Arc::default(), go_on: Arc::default(), end };
        let register = |signal, set: &Arc<AtomicBool>| {
            flag::register(signal, Arc::clone(set))
                .map(drop)
                .map_err(UiError::system("listen to signals"))
        };
        register(SIGTSTP, &signals.stop)?;
        register(SIGCONT, &signals.go_on)?;
        Ok(signals)
    }

    /// Says whether the program was told to stop for a while, since this was asked last.
    pub fn is_to_stop(&self) -> bool {
        self.stop.swap(false, Ordering::SeqCst)
    }

    /// Says whether it went on after it was stopped.
    pub fn went_on(&self) -> bool {
        self.go_on.swap(false, Ordering::SeqCst)
    }

    /// Returns what is to be told when the terminal was given back, if a signal ends this program: the
    /// terminal went away, or somebody pressed `Ctrl+\` elsewhere.
    pub fn end(&self) -> Option<&OrderlyEnd> {
        Some(&self.end).filter(|end| end.is_near())
    }
}

/// Says whether there is a shell that could let a stopped program go on. The first program of a terminal
/// has none.
pub fn can_be_continued() -> bool {
    match (getpgid(None), getsid(None)) {
        (Ok(group), Ok(session)) => group != session,
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Stops this program and those that stand before it in its job. Returns when somebody goes on with it.
///
/// # Errors
/// Fails when the system refuses.
pub fn stop_here() -> Result<()> {
    kill_current_process_group(Signal::STOP)
        .map_err(|error| UiError::system("stop this program")(error.into()))
}
