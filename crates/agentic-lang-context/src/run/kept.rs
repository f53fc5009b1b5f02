//! Events that wait for the call around them to be over.
//!
//! The outermost events of a run go out at once. Those of a call of an agent are a part of its own
//! event and wait for its end, up to a bound for the whole run; what comes then is only counted.

use crate::json::Json;

use super::trace;

/// How many bytes of events wait in a run, roughly: 64 MiB. The event that reaches it is kept.
pub const TRACE_BYTES_MAX: u64 = 64 << 20;

/// The trace of a call that is not over.
#[derive(Debug, Default)]
pub(super) struct CallTrace {
    events: Vec<Json>,
    n_bytes: u64,
    n_left_out: u64,
}

impl CallTrace {
    /// Adds an event, unless too many bytes are held in the run already.
    pub fn push(&mut self, event: Json, held_bytes: &mut u64) {
        if *held_bytes >= TRACE_BYTES_MAX {
            self.n_left_out += 1;
            return;
        }
        let n_bytes = event.weight();
        *held_bytes += n_bytes;
        self.n_bytes += n_bytes;
        self.events.push(event);
    }

    /// Takes the events out; a last one says how many were left out.
    pub fn take(mut self, held_bytes: &mut u64) -> Vec<Json> {
        *held_bytes -= self.n_bytes;
        if self.n_left_out > 0 {
            self.events.push(trace::left_out(self.n_left_out));
        }
        self.events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_beyond_the_bound_are_counted() {
        let big = || Json::text("x".repeat(40 << 20));
        let (mut outer, mut inner, mut held) = (CallTrace::default(), CallTrace::default(), 0);
        outer.push(big(), &mut held);
        inner.push(big(), &mut held);
        inner.push(Json::Null, &mut held);
        outer.push(Json::Null, &mut held);
        inner.push(Json::Null, &mut held);
        let inner = inner.take(&mut held);
        assert_eq!(inner.len(), 2);
        assert_eq!(inner[1], trace::left_out(2));
        // What the inner one held is free again.
        outer.push(Json::List(inner), &mut held);
        let outer = outer.take(&mut held);
        assert_eq!((outer.len(), &outer[2]), (3, &trace::left_out(1)));
        assert_eq!(held, 0);
    }
}
