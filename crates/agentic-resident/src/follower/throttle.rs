//! How often the same is told: ten times a second of each agent and name, and the last one always.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agentic_api::view::{EventName, EventView};

/// How long events are counted.
const SPAN: Duration = Duration::from_secs(1);
/// How many are told in that time.
const TOLD_MAX: u32 = 10;

/// Who holds events back that come too fast.
#[derive(Debug, Default)]
pub struct EventThrottle {
    spans: BTreeMap<(EventName, String), EventSpan>,
}

/// The events of one name and one agent.
#[derive(Debug)]
struct EventSpan {
    begun: Instant,
    n_told: u32,
    /// The last one that was held back.
    last: Option<EventView>,
}

impl EventThrottle {
    /// Takes an event: it is told now, or the last of those that are held back is told later.
    pub fn take(&mut self, name: EventName, data: EventView, now: Instant) -> Option<EventView> {
        let of = data.agent.as_ref().or(data.session.as_ref()).cloned().unwrap_or_default();
        let span = self.spans.entry((name, of));
        let span = span.or_insert(EventSpan { begun: now, n_told: 0, last: None });
        if now.duration_since(span.begun) >= SPAN && span.last.is_none() {
            (span.begun, span.n_told) = (now, 0);
        }
        if span.n_told < TOLD_MAX {
            span.n_told += 1;
            return Some(data);
        }
        span.last = Some(data);
        None
    }

    /// Returns what was held back and whose time has come.
    pub fn due(&mut self, now: Instant) -> Vec<(EventName, EventView)> {
        let mut due = Vec::new();
        self.spans.retain(|(name, _), span| {
            if now.duration_since(span.begun) < SPAN {
                return true;
            }
            let Some(data) = span.last.take() else { return false };
            due.push((*name, data));
            (span.begun, span.n_told) = (now, 1);
            true
        });
        due
    }

    /// Returns how long it takes until the first of those comes whose time has not.
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        let held = self.spans.values().filter(|span| span.last.is_some());
        held.map(|span| (span.begun + SPAN).saturating_duration_since(now)).min()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use agentic_api::view::{EventName, EventView};

    use super::EventThrottle;

    fn event(n: u64) -> EventView {
        EventView { n, agent: Some("alice".to_owned()), ..EventView::default() }
    }

    #[test]
    fn ten_a_second_are_told_and_the_last_one_always() {
        let (mut throttle, begun) = (EventThrottle::default(), Instant::now());
        let mut told = Vec::new();
        for n in 0..100 {
            told.extend(throttle.take(EventName::Trace, event(n), begun));
        }
        assert_eq!(told.len(), 10);
        assert!(throttle.due(begun).is_empty(), "not yet");
        let wait = throttle.wait(begun).expect("one is held back");
        let due = throttle.due(begun + wait);
        assert_eq!(due.iter().map(|(_, data)| data.n).collect::<Vec<_>>(), [99]);
        assert_eq!(throttle.wait(begun + wait), None);
        let later = begun + wait + Duration::from_millis(1);
        assert!(throttle.take(EventName::Trace, event(100), later).is_some());
        let bob = EventView { agent: Some("bob".to_owned()), ..event(101) };
        assert!(throttle.take(EventName::Trace, bob, begun).is_some(), "of another agent");
        assert!(throttle.take(EventName::Commit, event(102), begun).is_some(), "another name");
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let (mut throttle, begun) = (EventThrottle::default(), Instant::now());
        throttle.take(EventName::Trace, event(0), begun);
        assert!(throttle.due(begun + Duration::from_secs(2)).is_empty());
        assert!(throttle.spans.is_empty());
    }
}
