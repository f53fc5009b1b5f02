//! Reading on all cores: git's objects are decompressed by whoever asks for them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Fewer things than this are read by the calling thread: to begin another takes longer.
const PARALLEL_MIN: usize = 32;
/// How many things a thread takes at a time.
const PART: usize = 8;

/// Makes a value of each item, in their order.
pub(super) fn map<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let n_threads = thread::available_parallelism().map_or(1, |n| n.get());
    if items.len() < PARALLEL_MIN || n_threads < 2 {
        return items.iter().map(make).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let start = next.fetch_add(PART, Ordering::Relaxed);
            let Some(part) = items.get(start..(start + PART).min(items.len())) else { break };
            if part.is_empty() {
                break;
            }
            made.extend(part.iter().enumerate().map(|(n, item)| (start + n, make(item))));
        }
        made
    };
    let mut made = thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
        let mut made = work();
        for other in others {
            made.extend(other.join().expect("BUG: reading does not panic"));
        }
        made
    });
    made.sort_by_key(|(number, _)| *number);
    made.into_iter().map(|(_, value)| value).collect()
}
