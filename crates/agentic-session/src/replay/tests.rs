//! Records made readable.

use std::collections::BTreeMap;

use agentic_model::{Cid, Value, canonical};

use super::plain;
use crate::folder::Values;
use crate::tests::space_with_an_agent;

#[test]
fn values_are_shown_as_what_they_are_and_hashes_as_digits() {
    let (_folder, space, _) = space_with_an_agent();
    let values = Values { space: &space, folders: Vec::new() };
    let encoded = |value: &Value| canonical::encode(value).expect("it is data");
    let five = Value::Bytes(encoded(&Value::Int(5)));
    let gone = Value::Link(Cid::of(b"gone"));
    let record: BTreeMap<&str, (Value, Value)> = BTreeMap::from([
        ("value", (five.clone(), Value::Int(5))),
        ("payload", (Value::Bytes(b"\xff".to_vec()), Value::Bytes(b"\xff".to_vec()))),
        ("result", (gone.clone(), gone.clone())),
        ("flow", (gone.clone(), gone)),
        ("hash", (Value::Bytes(vec![0, 255]), Value::text("00ff"))),
        // Only the fields that hold a value are decoded: an answer cannot pose as something else.
        ("stranger", (five, Value::text("05"))),
        ("kind", (Value::text("exec"), Value::text("exec"))),
    ]);
    let map = |pick: fn(&(Value, Value)) -> Value| {
        Value::map(record.iter().map(|(key, both)| (*key, pick(both))))
    };
    assert_eq!(plain(map(|both| both.0.clone()), &values), map(|both| both.1.clone()));
    assert_eq!(plain(Value::Int(1), &values), Value::Int(1));
}
