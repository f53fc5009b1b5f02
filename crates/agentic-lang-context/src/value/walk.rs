//! Walking over a value within bounds: how much of it is seen, and where it is inside itself.

use crate::json::JSON_NESTING_MAX;

/// How many values one rendering may show. Shared parts count every time they are shown, so that
/// a small program cannot print without end.
pub const SHOWN_VALUES_MAX: usize = 4 << 20;

/// How many bytes of text one rendering may show: 64 MiB.
pub const SHOWN_BYTES_MAX: usize = 64 << 20;

/// Why a value cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DisplayLimit {
    #[error("a value nests deeper than {JSON_NESTING_MAX} levels")]
    TooDeep,
    #[error("a value is larger than {SHOWN_VALUES_MAX} parts or {SHOWN_BYTES_MAX} bytes")]
    TooLarge,
}

/// How much a walk saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WalkMeasure {
    pub n_values: usize,
    /// The bytes of texts and keys.
    pub n_bytes: usize,
}

/// Where a walk is when it comes to a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkEntry {
    Inside,
    /// It has not entered: the container is one of those around it.
    InsideItself,
}

/// A walk over one value.
#[derive(Debug)]
pub(crate) struct ValueWalk {
    /// The containers around the value that is seen.
    above: Vec<*const ()>,
    values_left: usize,
    bytes_left: usize,
}

impl Default for ValueWalk {
    fn default() -> ValueWalk {
        ValueWalk { above: Vec::new(), values_left: SHOWN_VALUES_MAX, bytes_left: SHOWN_BYTES_MAX }
    }
}

impl ValueWalk {
    pub fn see_value(&mut self) -> Result<(), DisplayLimit> {
        self.values_left = self.values_left.checked_sub(1).ok_or(DisplayLimit::TooLarge)?;
        Ok(())
    }

    pub fn see_text(&mut self, text: &str) -> Result<(), DisplayLimit> {
        self.bytes_left = self.bytes_left.checked_sub(text.len()).ok_or(DisplayLimit::TooLarge)?;
        Ok(())
    }

    /// Steps into a container, unless it is inside itself.
    pub fn enter(&mut self, container: *const ()) -> Result<WalkEntry, DisplayLimit> {
        if self.is_inside(container) {
            return Ok(WalkEntry::InsideItself);
        }
        if self.above.len() >= JSON_NESTING_MAX {
            return Err(DisplayLimit::TooDeep);
        }
        self.above.push(container);
        Ok(WalkEntry::Inside)
    }

    /// Tells whether a container is one of those around the value that is seen.
    pub fn is_inside(&self, container: *const ()) -> bool {
        self.above.contains(&container)
    }

    /// Steps out of the container that was entered last.
    pub fn leave(&mut self) {
        self.above.pop();
    }

    /// Counts what was seen so far.
    pub fn seen(&self) -> WalkMeasure {
        WalkMeasure {
            n_values: SHOWN_VALUES_MAX - self.values_left,
            n_bytes: SHOWN_BYTES_MAX - self.bytes_left,
        }
    }
}
