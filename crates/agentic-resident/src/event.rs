//! What happened, numbered, for everybody who listens.
//!
//! The numbers count from the start of the process, whose name is the epoch. Who was away asks for
//! what it missed by its last number; where that is not kept any more it is told to fetch anew.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agentic_api::view::{EventName, EventView};
use bytes::Bytes;
use tokio::sync::broadcast;

/// How many events are kept for those who were away.
const KEPT_MAX: usize = 4_096;
/// How many events a listener may be behind.
const BEHIND_MAX: u64 = 256;
/// How many batches of events a listener may be behind: as many as events, for most have one.
const BATCHES_BEHIND_MAX: usize = 256;

/// An event with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedEvent {
    /// What it is about.
    pub name: EventName,
    /// What it says.
    pub data: EventView,
}

/// Events that are told together, at least one.
#[derive(Debug)]
pub struct EventBatch {
    /// The events, in the order of their numbers.
    pub events: Vec<Arc<NumberedEvent>>,
    written: OnceLock<Bytes>,
}

impl EventBatch {
    /// Returns the number of the last event.
    pub fn last(&self) -> u64 {
        self.events.last().map_or(0, |event| event.data.n)
    }

    /// Returns the events as they are sent: however many listen, they are written once.
    pub fn written(&self, write: impl FnOnce(&[Arc<NumberedEvent>]) -> String) -> Bytes {
        self.written.get_or_init(|| write(&self.events).into()).clone()
    }
}

/// A place in the events of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPlace {
    /// The process.
    pub epoch: String,
    /// The number of the last event that is known.
    pub n: u64,
}

impl fmt::Display for EventPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.n)
    }
}

impl FromStr for EventPlace {
    type Err = ();

    fn from_str(text: &str) -> Result<EventPlace, ()> {
        let (epoch, n) = text.split_once('-').ok_or(())?;
        Ok(EventPlace { epoch: epoch.to_owned(), n: n.parse().map_err(|_| ())? })
    }
}

/// Numbers events and hands them out.
#[derive(Debug)]
pub struct EventHub {
    epoch: String,
    kept: Mutex<KeptEvents>,
}

#[derive(Debug)]
struct KeptEvents {
    last: u64,
    events: VecDeque<Arc<NumberedEvent>>,
    sender: broadcast::Sender<Arc<EventBatch>>,
}

/// What somebody who listens is given.
#[derive(Debug)]
pub struct EventSubscription {
    /// Whether it has to fetch anew, because not all that it missed is known.
    pub is_reset: bool,
    /// What it missed.
    pub missed: Vec<Arc<NumberedEvent>>,
    /// What is still to come.
    pub coming: broadcast::Receiver<Arc<EventBatch>>,
    /// The number of the last event before that.
    pub place: u64,
}

impl EventHub {
    /// Makes a hub without events.
    pub fn new(epoch: String) -> EventHub {
        let kept = KeptEvents { last: 0, events: VecDeque::new(), sender: sender() };
        EventHub { epoch, kept: Mutex::new(kept) }
    }

    /// Returns where the events are now.
    pub fn place(&self) -> EventPlace {
        EventPlace { epoch: self.epoch.clone(), n: self.kept().last }
    }

    /// Returns how many listen.
    pub fn n_listeners(&self) -> usize {
        self.kept().sender.receiver_count()
    }

    /// Numbers events and hands them out together. The numbers in their data are set here.
    pub fn publish(&self, events: impl IntoIterator<Item = (EventName, EventView)>) {
        let mut kept = self.kept();
        let number = |(name, data)| {
            kept.last += 1;
            Arc::new(NumberedEvent { name, data: EventView { n: kept.last, ..data } })
        };
        let events: Vec<_> = events.into_iter().map(number).collect();
        if events.is_empty() {
            return;
        }
        kept.events.extend(events.iter().cloned());
        let n_over = kept.events.len().saturating_sub(KEPT_MAX);
        kept.events.drain(..n_over);
        // Under the lock, so that nobody sees an event twice or never. Maybe nobody listens.
        let _ = kept.sender.send(Arc::new(EventBatch { events, written: OnceLock::new() }));
    }

    /// Ends what those hear who listen now, behind what was told. Who comes later is told what comes.
    pub fn end_listening(&self) {
        self.kept().sender = sender();
    }

    /// Returns whether who was told these events last is too far behind to be told the rest.
    pub fn is_too_slow(&self, told: &EventBatch) -> bool {
        self.kept().last - told.last() > BEHIND_MAX
    }

    /// Listens, from a place on or from now on; nothing where so many listen already.
    pub fn subscribe(
        &self,
        from: Option<&EventPlace>,
        n_listeners_max: usize,
    ) -> Option<EventSubscription> {
        let kept = self.kept();
        if kept.sender.receiver_count() >= n_listeners_max {
            return None;
        }
        let coming = kept.sender.subscribe();
        let oldest = kept.events.front().map_or(kept.last + 1, |event| event.data.n);
        let is_known = |from: &EventPlace| {
            from.epoch == self.epoch && from.n <= kept.last && from.n + 1 >= oldest
        };
        let is_reset = from.is_some_and(|from| !is_known(from));
        let missed = match from.filter(|_| !is_reset) {
            Some(from) => {
                kept.events.iter().filter(|event| event.data.n > from.n).cloned().collect()
            }
            None => Vec::new(),
        };
        Some(EventSubscription { is_reset, missed, coming, place: kept.last })
    }

    /// No code that can panic runs under the lock, so a poisoned one still holds whole events.
    fn kept(&self) -> MutexGuard<'_, KeptEvents> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sender() -> broadcast::Sender<Arc<EventBatch>> {
    broadcast::channel(BATCHES_BEHIND_MAX).0
}

#[cfg(test)]
mod tests {
    use agentic_api::view::{EventName, EventView};
    use tokio::sync::broadcast::error::TryRecvError;

    use super::{BEHIND_MAX, EventHub, EventPlace, KEPT_MAX};

    fn hub(n_events: usize) -> EventHub {
        let hub = EventHub::new("e".to_owned());
        (0..n_events).for_each(|_| publish(&hub, 1));
        hub
    }

    fn publish(hub: &EventHub, n_events: usize) {
        hub.publish((0..n_events).map(|_| (EventName::Trace, EventView::default())));
    }

    fn missed(hub: &EventHub, epoch: &str, n: u64) -> Option<Vec<u64>> {
        let from = EventPlace { epoch: epoch.to_owned(), n };
        let subscription = hub.subscribe(Some(&from), 1).expect("nobody listens yet");
        let numbers = subscription.missed.iter().map(|event| event.data.n).collect();
        (!subscription.is_reset).then_some(numbers)
    }

    #[test]
    fn who_was_away_gets_what_it_missed_once_and_what_comes() {
        let hub = hub(3);
        assert_eq!(missed(&hub, "e", 1), Some(vec![2, 3]));
        assert_eq!(missed(&hub, "e", 3), Some(Vec::new()));
        let mut listener = hub.subscribe(Some(&hub.place()), 1).expect("nobody listens yet");
        publish(&hub, 0);
        publish(&hub, 2);
        let batch = listener.coming.try_recv().expect("it is told");
        assert_eq!(batch.events.iter().map(|event| event.data.n).collect::<Vec<_>>(), [4, 5]);
        assert!(listener.coming.try_recv().is_err(), "nothing is no batch");
        assert!(hub.subscribe(None, 1).is_none(), "one listens, and no more may");
        let newcomer = hub.subscribe(None, 2).expect("there is room");
        assert!(newcomer.missed.is_empty(), "who begins now has missed nothing");
        assert_eq!(newcomer.place, 5);
    }

    #[test]
    fn at_an_end_who_listens_gets_what_was_told_until_then() {
        let hub = hub(0);
        let mut listener = hub.subscribe(None, 1).expect("nobody listens yet");
        publish(&hub, 1);
        hub.end_listening();
        publish(&hub, 1);
        assert_eq!(listener.coming.try_recv().expect("it was told").last(), 1);
        assert_eq!(listener.coming.try_recv().expect_err("it ended"), TryRecvError::Closed);
        let newcomer = hub.subscribe(None, 1).expect("nobody listens any more");
        assert_eq!(newcomer.place, 2);
    }

    #[test]
    fn who_is_behind_by_more_events_than_are_queued_is_too_slow() {
        let hub = hub(0);
        let mut listener = hub.subscribe(None, 1).expect("nobody listens yet");
        publish(&hub, 3);
        let told = listener.coming.try_recv().expect("it is told");
        (0..4).for_each(|_| publish(&hub, 64));
        assert!(!hub.is_too_slow(&told), "{BEHIND_MAX} may wait");
        publish(&hub, 1);
        assert!(hub.is_too_slow(&told));
    }

    #[test]
    fn what_is_told_together_is_written_once() {
        let hub = hub(0);
        let mut listener = hub.subscribe(None, 1).expect("nobody listens yet");
        publish(&hub, 2);
        let told = listener.coming.try_recv().expect("it is told");
        assert_eq!(told.written(|events| events.len().to_string()), "2");
        assert_eq!(told.written(|_| unreachable!("it is written")), "2");
    }

    #[test]
    fn who_asks_for_what_is_not_kept_fetches_anew() {
        let hub = hub(KEPT_MAX + 10);
        assert_eq!(missed(&hub, "e", 9), None);
        assert_eq!(missed(&hub, "e", 10).map(|missed| missed.len()), Some(KEPT_MAX));
        assert_eq!(missed(&hub, "another start", 4_000), None);
        assert_eq!(missed(&hub, "e", hub.place().n + 1), None, "nobody was told of that");
    }

    #[test]
    fn places_read_as_they_are_written() {
        let place = EventPlace { epoch: "00ff".to_owned(), n: 7 };
        assert_eq!(place.to_string().parse(), Ok(place));
        for wrong in ["", "00ff", "00ff-", "00ff-x", "00ff--1"] {
            assert_eq!(wrong.parse::<EventPlace>(), Err(()), "{wrong}");
        }
    }
}
