//! How much all values of a run hold together.
//!
//! Each value has a bound of its own, but a program may keep many. Once it has touched a good deal,
//! everything that it can still reach is measured, and a run that holds too much ends: with an error
//! of the language, before the memory of the machine does. The sizes are those of the language, so a
//! replay ends at the same place.

use std::collections::HashSet;
use std::sync::Arc;

use crate::code;
use crate::data::Data;
use crate::program::fault::MachineFault;
use crate::program::strand::Strand;

/// How much all values of a run may hold, in bytes: 1 GiB.
const LIVE_BYTES_MAX: u64 = 1 << 30;
/// How much work is done before it is measured again, in statements: those of 256 MiB.
pub(super) const WORK_MAX: u64 = 1 << 20;
/// What a text, a list or an object takes beside what is in it.
const HEAD_BYTES: u64 = 64;
/// What an item of a list takes.
const ITEM_BYTES: u64 = 24;
/// What a field of an object takes beside its value.
const FIELD_BYTES: u64 = 40;

/// Measures what strands hold.
///
/// # Errors
/// Fails when that is too much.
pub(super) fn measure<'a>(strands: impl Iterator<Item = &'a Strand>) -> Result<(), MachineFault> {
    let mut census = LiveCensus::default();
    for strand in strands {
        strand.for_each_value(&mut |value| census.count(value));
    }
    if census.n_bytes <= LIVE_BYTES_MAX {
        return Ok(());
    }
    let text = format!("the values of the program hold more than {LIVE_BYTES_MAX} bytes");
    Err(MachineFault::new(code::TOO_MANY_VALUES, text))
}

/// Counts values, each once however often it is reached.
#[derive(Default)]
struct LiveCensus {
    /// What is shared and was counted.
    seen: HashSet<usize>,
    n_bytes: u64,
}

impl LiveCensus {
    fn count(&mut self, value: &Data) {
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value {
                Data::Text(text) => {
                    if self.is_new(text) {
                        self.n_bytes += HEAD_BYTES + text.len() as u64;
                    }
                }
                Data::List(list) => {
                    if self.is_new(list) {
                        let items = value.items().unwrap_or_default();
                        self.n_bytes += HEAD_BYTES + items.len() as u64 * ITEM_BYTES;
                        waiting.extend(items);
                    }
                }
                Data::Object(object) => {
                    if self.is_new(object) {
                        let fields = value.fields().unwrap_or_default();
                        self.n_bytes += HEAD_BYTES + fields.len() as u64 * FIELD_BYTES;
                        waiting.extend(fields.iter().map(|(_, item)| item));
                    }
                }
                Data::Big(_) => self.n_bytes += value.bytes(),
                Data::Null | Data::Bool(_) | Data::Int(_) | Data::Float(_) => {}
            }
        }
    }

    /// What nobody shares is reached once.
    fn is_new<T: ?Sized>(&mut self, value: &Arc<T>) -> bool {
        Arc::strong_count(value) == 1 || self.seen.insert(Arc::as_ptr(value).cast::<()>() as usize)
    }
}
