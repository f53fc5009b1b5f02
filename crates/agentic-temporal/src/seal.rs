//! What is asked of the activity that seals.

use agentic_model::{Cid, Instant};
use agentic_session::hosted::{Teller, ToldLine, ValuePiece};
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
    /// What the trace of the agent is told with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<WireLine>,
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

/// What the trace of an agent is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WireLine {
    /// Whether the program says it, not its host.
    pub is_said: bool,
    /// What.
    pub text: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

impl WireLine {
    /// Takes it up.
    pub fn of(line: ToldLine) -> WireLine {
        let ToldLine { teller, text, at } = line;
        WireLine { is_said: teller == Teller::Program, text, at: at.millis() }
    }

    /// Gives it back.
    pub fn line(self) -> ToldLine {
        let WireLine { is_said, text, at } = self;
        let teller = if is_said { Teller::Program } else { Teller::Host };
        ToldLine { teller, text, at: Instant::from_millis(at) }
    }
}
