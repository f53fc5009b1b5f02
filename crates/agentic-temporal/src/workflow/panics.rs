//! Panics of what a run does: their text may hold anything, and the SDK would write it into the history.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use super::hosting::WorkflowFault;

/// Runs a future; a panic in it becomes a fault that says only that there was one.
pub async fn guarded<T>(
    future: impl Future<Output = Result<T, WorkflowFault>>,
) -> Result<T, WorkflowFault> {
    let mut future = Box::pin(future);
    std::future::poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.unwrap_or(Poll::Ready(Err(WorkflowFault::Panicked)))
    })
    .await
}
