//! What happened, numbered, for everybody who listens.
//!
//! The numbers count from the start of the process, whose name is the epoch. Who was away asks for
//! what it missed by its last number; where that is not kept any more it is told to fetch anew.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agentic_api::view::{EventName, EventView};
use tokio::sync::broadcast;

/// How many events are kept for those who were away.
const KEPT_MAX: usize = 4_096;
/// How many events a listener may be behind.
const BEHIND_MAX: usize = 256;

/// An event with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedEvent {
    /// What it is about.
    pub name: EventName,
    /// What it says.
    pub data: EventView,
    /// The same as text, once somebody wanted that.
    text: OnceLock<String>,
}

impl NumberedEvent {
    /// Returns what it says as JSON: however many listen, it is written once.
    pub fn text(&self) -> &str {
        let write = || serde_json::to_string(&self.data).expect("events have text keys");
        self.text.get_or_init(write)
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
    sender: broadcast::Sender<Arc<NumberedEvent>>,
}

#[derive(Debug, Default)]
struct KeptEvents {
    last: u64,
    events: VecDeque<Arc<NumberedEvent>>,
}

/// What somebody who listens is given.
#[derive(Debug)]
pub struct EventSubscription {
    /// Whether it has to fetch anew, because not all that it missed is known.
    pub is_reset: bool,
    /// What it missed.
    pub missed: Vec<Arc<NumberedEvent>>,
    /// What is still to come.
    pub coming: broadcast::Receiver<Arc<NumberedEvent>>,
    /// The number of the last event before that.
    pub place: u64,
}

impl EventHub {
    /// Makes a hub without events.
    pub fn new(epoch: String) -> EventHub {
        let (sender, _) = broadcast::channel(BEHIND_MAX);
        EventHub { epoch, kept: Mutex::default(), sender }
    }

    /// Returns where the events are now.
    pub fn place(&self) -> EventPlace {
        EventPlace { epoch: self.epoch.clone(), n: self.kept().last }
    }

    /// Returns how many listen.
    pub fn n_listeners(&self) -> usize {
        self.sender.receiver_count()
    }

    /// Numbers an event and hands it out. The number in `data` is set here.
    pub fn publish(&self, name: EventName, data: EventView) {
        let mut kept = self.kept();
        kept.last += 1;
        let data = EventView { n: kept.last, ..data };
        let event = Arc::new(NumberedEvent { name, data, text: OnceLock::new() });
        if kept.events.len() == KEPT_MAX {
            kept.events.pop_front();
        }
        kept.events.push_back(Arc::clone(&event));
        // Under the lock, so that nobody sees an event twice or never. Maybe nobody listens.
        let _ = self.sender.send(event);
    }

    /// Listens, from a place on or from now on; nothing where so many listen already.
    pub fn subscribe(
        &self,
        from: Option<&EventPlace>,
        n_listeners_max: usize,
    ) -> Option<EventSubscription> {
        let kept = self.kept();
        if self.n_listeners() >= n_listeners_max {
            return None;
        }
        let coming = self.sender.subscribe();
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

#[cfg(test)]
mod tests {
    use agentic_api::view::{EventName, EventView};

    use super::{EventHub, EventPlace, KEPT_MAX};

    fn hub(n_events: usize) -> EventHub {
        let hub = EventHub::new("e".to_owned());
        (0..n_events).for_each(|_| hub.publish(EventName::Trace, EventView::default()));
        hub
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
        hub.publish(EventName::Commit, EventView::default());
        assert_eq!(listener.coming.try_recv().expect("it is told").data.n, 4);
        assert!(hub.subscribe(None, 1).is_none(), "one listens, and no more may");
        let newcomer = hub.subscribe(None, 2).expect("there is room");
        assert!(newcomer.missed.is_empty(), "who begins now has missed nothing");
        assert_eq!(newcomer.place, 4);
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
