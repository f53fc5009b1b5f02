//! What is asked of the activity that seals.

use serde::{Deserialize, Serialize};

use crate::wire::WireStart;

/// Records to seal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SealAsk {
    /// Whose.
    pub run: WireStart,
    /// The position of the first.
    pub from: usize,
    /// The bytes of each, in Base64.
    pub records: Vec<String>,
    /// The long values that they name, in Base64.
    pub objects: Vec<String>,
    /// Whether the run is over with them.
    pub is_last: bool,
}
