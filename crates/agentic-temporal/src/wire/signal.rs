//! Signals on their way.
//!
//! Whoever reaches the server can send a run any bytes. What cannot be read is passed over: the SDK would
//! fail every task of the run on it, for ever.

use serde::Serialize;
use serde::de::DeserializeOwned;
use temporalio_common::data_converters::{PayloadConverter, RawValue};

/// Packs what a run is told.
pub fn told<T: Serialize + 'static>(ask: &T) -> RawValue {
    RawValue::from_value(ask, &PayloadConverter::serde_json())
}

/// Reads what a run was told; nothing where it is something else.
pub fn heard<T: DeserializeOwned>(signal: &RawValue) -> Option<T> {
    let [payload] = signal.payloads.as_slice() else { return None };
    serde_json::from_slice(&payload.data).ok()
}
