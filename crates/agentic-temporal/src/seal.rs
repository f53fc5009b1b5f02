//! What is asked of the activity that seals.

use agentic_model::Cid;
use agentic_session::hosted::ValuePiece;
use serde::{Deserialize, Serialize};

use crate::wire::{BadWire, WireStart, unpacked};

/// Records to seal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SealAsk {
    /// Whose.
    pub run: WireStart,
    /// The position of the first.
    pub from: usize,
    /// The bytes of each, in Base64.
    pub records: Vec<String>,
    /// The long values that they name, whole or in pieces.
    pub pieces: Vec<WirePiece>,
    /// Whether the run is over with them.
    pub is_last: bool,
}

/// A piece of a long value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WirePiece {
    /// The value.
    pub cid: String,
    /// Where in it the piece begins.
    pub at: u64,
    /// How long the value is.
    pub length: u64,
    /// The piece, in Base64.
    pub bytes: String,
}

impl WirePiece {
    /// Gives it back.
    ///
    /// # Errors
    /// Fails when it is none.
    pub fn piece(&self) -> Result<ValuePiece, BadWire> {
        let cid = Cid::parse(&self.cid).map_err(|_| BadWire { what: "piece" })?;
        let (at, length) = (self.at, self.length);
        Ok(ValuePiece { cid, at, length, bytes: unpacked(&self.bytes)? })
    }
}
