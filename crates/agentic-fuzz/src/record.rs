//! Records of sessions and of streams, and the canonical form that both are written in.
//!
//! - Canonical bytes decode to a value that has exactly these bytes, and another reader of DAG-CBOR
//!   takes them too; both ways to decode a map agree.
//! - A session's record that decodes has exactly these bytes again: one more field, or another
//!   spelling of one, would be part of no hash.
//! - A stream's record that decodes is, written again, the same record.
//!
//! Every second input is JSON instead, so that the fuzzer reaches the fields and not the length
//! bytes alone.

use agentic_model::{Value, canonical, json};
use agentic_replay::Record as SessionRecord;
use agentic_store::journal::JournalRecord;

use crate::{take_byte, text_of};

/// Checks one input: how to read it, then the record.
pub fn check(mut data: &[u8]) {
    if take_byte(&mut data).is_multiple_of(2) {
        return check_bytes(data);
    }
    let Some(Ok(value)) = text_of(data).map(json::from_text) else { return };
    if let Ok(bytes) = canonical::encode(&value) {
        check_bytes(&bytes);
        assert_eq!(canonical::decode(&bytes).expect("it was encoded just now"), value);
    }
}

fn check_bytes(bytes: &[u8]) {
    let value = canonical::decode(bytes);
    if let Ok(value) = &value {
        assert_eq!(canonical::encode(value).expect("it was decoded"), bytes, "one value, one form");
    }
    let entries = canonical::decode_entries(bytes);
    match (&value, &entries) {
        (Ok(Value::Map(map)), Ok(entries)) => {
            let parts = entries.iter().map(|(key, part)| ((*key).to_owned(), part.clone()));
            let whole: agentic_model::Map =
                parts.map(|(key, part)| (key, part.into_value())).collect();
            assert_eq!(&whole, map);
        }
        (Ok(Value::Map(_)), Err(error)) => panic!("its entries do not decode: {error}"),
        (_, Ok(_)) => panic!("entries of what is no map"),
        (_, Err(_)) => {}
    }
    if let Ok(entries) = entries
        && let Ok(record) = SessionRecord::from_entries(entries)
    {
        let again = canonical::encode_entries(&record.to_entries()).expect("it was decoded");
        assert_eq!(again, bytes, "a session's record has one form: {record:?}");
        assert_eq!(Some(record.to_value()), value.ok());
    }
    if let Ok(record) = JournalRecord::decode(bytes) {
        let again = record.encode().expect("what was read can be written");
        assert_eq!(JournalRecord::decode(&again).expect("what was written is read"), record);
    }
}
