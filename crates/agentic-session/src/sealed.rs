//! What stands in compressed blocks, for those who look for something in every byte.

use std::path::Path;

use agentic_model::Object;
use agentic_store::journal;

use crate::{Result, block, segment};

/// Returns the records that a segment of the notes holds; none if it is none.
///
/// # Errors
/// Fails when there is no memory.
pub fn records_of_segment(object: &Object) -> Result<Vec<Vec<u8>>> {
    Ok(segment::records_in(object)?.unwrap_or_default())
}

/// Returns the records of the log in a folder.
///
/// # Errors
/// Fails when the log is damaged.
pub fn records_of_log(folder: &Path) -> Result<Vec<Vec<u8>>> {
    block::expand(journal::payloads(folder)?)
}
