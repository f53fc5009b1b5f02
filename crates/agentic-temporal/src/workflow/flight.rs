//! What a run waits for, polled in the order in which it began.
//!
//! There is no waker of our own: the SDK polls the run whenever something happened, and takes wake-ups
//! from anywhere else for a mistake. So the order is the same on every replay.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::event::Event;

/// Futures under way.
#[derive(Default)]
pub struct Flight<'c> {
    n_begun: u64,
    under_way: BTreeMap<u64, Pin<Box<dyn Future<Output = Event> + 'c>>>,
}

impl<'c> Flight<'c> {
    /// Takes one up.
    pub fn begin(&mut self, future: impl Future<Output = Event> + 'c) {
        self.under_way.insert(self.n_begun, Box::pin(future));
        self.n_begun += 1;
    }

    /// Returns the first that has come to something.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Option<Event> {
        let arrived = self.under_way.iter_mut().find_map(|(number, future)| {
            match future.as_mut().poll(context) {
                Poll::Ready(event) => Some((*number, event)),
                Poll::Pending => None,
            }
        });
        let (number, event) = arrived?;
        self.under_way.remove(&number);
        Some(event)
    }
}
