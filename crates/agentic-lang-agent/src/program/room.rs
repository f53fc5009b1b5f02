//! How much of a trace there is room for.

use agentic_replay::ProgramEvent;

/// What an event takes beside its text, in bytes.
const EVENT_BYTES: usize = 64;

/// How much more may be traced before the next answer.
#[derive(Debug)]
pub(super) struct Room {
    bytes_left: usize,
    /// How many events found no room.
    pub n_left_out: u64,
}

impl Room {
    /// Begins with room for so many bytes.
    pub fn of(bytes: usize) -> Room {
        Room { bytes_left: bytes, n_left_out: 0 }
    }

    /// Takes room for an event, or counts it. After one that found no room no other finds any.
    pub fn take(&mut self, event: &ProgramEvent) -> bool {
        let n_bytes = event.data.as_text().map_or(0, str::len) + EVENT_BYTES;
        match self.bytes_left.checked_sub(n_bytes) {
            Some(left) => self.bytes_left = left,
            None => (self.bytes_left, self.n_left_out) = (0, self.n_left_out + 1),
        }
        self.n_left_out == 0
    }
}
