//! Counts the bytes that are looked at, where a test wants to know that; elsewhere it is nothing.
//!
//! A test that time grows as texts do cannot ask a clock: other programs run beside it. So whatever
//! looks at a stretch of a text says how long that is.

#[cfg(test)]
// process: what a test counts is its own thread's.
thread_local! {
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Says that so many bytes were looked at.
#[cfg(not(test))]
pub(crate) fn count(_n_bytes: usize) {}

/// Says that so many bytes were looked at.
#[cfg(test)]
pub(crate) fn count(n_bytes: usize) {
    STEPS.with(|steps| steps.set(steps.get() + n_bytes));
}

/// Returns how many bytes were looked at by this thread since it was last asked.
#[cfg(test)]
pub(crate) fn taken() -> usize {
    STEPS.with(|steps| steps.replace(0))
}
