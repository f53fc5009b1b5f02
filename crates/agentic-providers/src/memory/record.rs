//! A record in its envelope.

use agentic_model::Instant;
use agentic_replay::RequestId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::MemoryFault;

/// The longest record, in bytes.
const RECORD_BYTES_MAX: usize = 4 << 20;

/// A record with who it is and since when, in the order in which programs see it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Envelope {
    pub id: String,
    pub created_at: String,
    pub updated_at: String,
    pub record: Box<RawValue>,
}

impl Envelope {
    /// Puts a record in its envelope. The id derives from the request.
    pub fn new(
        record: &RawValue,
        request: &RequestId,
        at: Instant,
    ) -> Result<Envelope, MemoryFault> {
        if !record.get().starts_with('{') {
            return Err(MemoryFault("memory.add expects an object record".to_owned()));
        }
        if record.get().len() > RECORD_BYTES_MAX {
            return Err(MemoryFault(format!("a record is at most {RECORD_BYTES_MAX} bytes long")));
        }
        // Line breaks stand only between the parts of JSON, where a blank does as well.
        let line = record.get().replace(['\n', '\r'], " ");
        let record = RawValue::from_string(line).map_err(|error| MemoryFault(error.to_string()))?;
        Ok(Envelope {
            id: request.uuid(),
            created_at: at.to_string(),
            updated_at: at.to_string(),
            record,
        })
    }

    /// Prints the envelope on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and JSON make JSON")
    }

    /// Says what is wrong with an envelope that was read.
    pub fn check(self) -> Result<Envelope, &'static str> {
        if self.record.get().starts_with('{') { Ok(self) } else { Err("its record is no object") }
    }
}
