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

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn a_panic_becomes_a_fault_without_its_words() {
        let panics = async { panic!("the key is hunter2") };
        let mut guarded = pin!(guarded::<()>(panics));
        let polled = guarded.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(Err(fault)) = polled else { panic!("it did not become a fault") };
        assert!(matches!(fault, WorkflowFault::Panicked));
        let told = fault.to_string();
        assert!(told.starts_with(crate::error::DIVERGED) && !told.contains("hunter2"), "{told}");
    }

    #[test]
    fn what_does_not_panic_is_passed_on() {
        let mut guarded = pin!(guarded(async { Ok(7) }));
        let polled = guarded.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Ready(Ok(7))));
    }
}
