//! Reading on all cores: git's objects are decompressed by whoever asks for them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use agentic_query::{ReadProgress, ReadTeller};

/// Fewer things than this are read by the calling thread: to begin another takes longer.
const PARALLEL_MIN: usize = 32;
/// How many things a thread takes at a time.
const PART: usize = 8;

/// What is read, and who is told how far that is.
#[derive(Clone, Copy)]
pub struct ReadPace<'a> {
    /// What is read, as people call it.
    pub what: &'static str,
    /// Who is told.
    pub teller: Option<&'a ReadTeller<'a>>,
}

/// What became of one thing.
pub type ReadOutcome<R> = Result<R, String>;

impl ReadPace<'_> {
    fn tell(&self, n_done: usize, n_all: usize) -> ControlFlow<()> {
        let progress = ReadProgress { what: self.what, n_done, n_all };
        self.teller.map_or(ControlFlow::Continue(()), |teller| teller(progress))
    }
}

/// Makes a value of each item, in their order. Of those that reading was ended before, it says so.
pub fn map<T: Sync, R: Send>(
    items: &[T],
    pace: ReadPace<'_>,
    make: impl Fn(&T) -> ReadOutcome<R> + Sync,
) -> Vec<ReadOutcome<R>> {
    let is_worth_it = items.len() >= PARALLEL_MIN;
    map_in_parts(items, PART, if is_worth_it { n_cores() } else { 1 }, pace, |part, made| {
        made.extend(part.iter().map(&make));
    })
}

/// Makes the values of long parts that are made at once, such as by another process.
pub fn map_parts<T: Sync, R: Send>(
    items: &[T],
    part: usize,
    pace: ReadPace<'_>,
    make: impl Fn(&[T]) -> Vec<ReadOutcome<R>> + Sync,
) -> Vec<ReadOutcome<R>> {
    let n_threads = if items.len() > part { n_cores() } else { 1 };
    map_in_parts(items, part, n_threads, pace, |part, made| made.extend(make(part)))
}

fn n_cores() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get())
}

fn map_in_parts<T: Sync, R: Send>(
    items: &[T],
    part: usize,
    n_threads: usize,
    pace: ReadPace<'_>,
    make: impl Fn(&[T], &mut Vec<ReadOutcome<R>>) + Sync,
) -> Vec<ReadOutcome<R>> {
    let (next, n_done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_ended = AtomicBool::new(false);
    // Only the calling thread tells: who is told may live on no other.
    let work = |tell: &dyn Fn(usize) -> ControlFlow<()>| {
        let mut made = Vec::new();
        while !is_ended.load(Ordering::Relaxed) {
            let start = next.fetch_add(part, Ordering::Relaxed);
            let Some(taken) = items.get(start..(start + part).min(items.len())) else { break };
            if taken.is_empty() {
                break;
            }
            let mut values = Vec::with_capacity(taken.len());
            make(taken, &mut values);
            made.push((start, values));
            let n_done = n_done.fetch_add(taken.len(), Ordering::Relaxed) + taken.len();
            if tell(n_done).is_break() {
                is_ended.store(true, Ordering::Relaxed);
            }
        }
        made
    };
    let tell = |n_done: usize| pace.tell(n_done, items.len());
    let mut made = if n_threads < 2 {
        work(&tell)
    } else {
        let say_nothing = |_: usize| ControlFlow::Continue(());
        thread::scope(|scope| {
            let others: Vec<_> =
                (1..n_threads).map(|_| scope.spawn(|| work(&say_nothing))).collect();
            let mut made = work(&tell);
            for other in others {
                made.extend(other.join().expect("BUG: reading does not panic"));
            }
            // The others may have done the most of it, or all. It is too late to end it.
            let _ = tell(n_done.load(Ordering::Relaxed));
            made
        })
    };
    made.sort_by_key(|(start, _)| *start);
    in_order(made, items.len())
}

/// Puts parts behind each other, with what says that reading was ended where one is missing.
fn in_order<R>(made: Vec<(usize, Vec<ReadOutcome<R>>)>, n_items: usize) -> Vec<ReadOutcome<R>> {
    let mut all: Vec<ReadOutcome<R>> = Vec::with_capacity(n_items);
    let unread = || Err("reading was ended".to_owned());
    for (start, values) in made {
        all.resize_with(start, unread);
        all.extend(values);
    }
    all.resize_with(n_items, unread);
    all
}
