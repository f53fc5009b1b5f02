use proptest::prelude::*;

use super::*;
use crate::json;

fn check(json_text: &str, hex: &str) {
    let value = json::from_text(json_text).expect("the case is valid JSON");
    let bytes = encode(&value).expect("the case has a canonical form");
    assert_eq!(to_hex(&bytes), hex, "{json_text}");
    assert_eq!(decode(&bytes).expect("what we encode decodes"), value);
}

fn refuse(hex: &str) {
    let bytes: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("the case is hex"))
        .collect();
    assert!(decode(&bytes).is_err(), "{hex} must be refused");
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn golden_vectors() {
    check("null", "f6");
    check("true", "f5");
    check("0", "00");
    check("-1", "20");
    check("24", "1818");
    check("9223372036854775807", "1b7fffffffffffffff");
    check("1.0", "fb3ff0000000000000");
    check("0.0", "fb0000000000000000");
    check("\"é\"", "62c3a9");
    check("[1,[2]]", "8201 8102".replace(' ', "").as_str());
    check(r#"{"zz":1,"a":2,"ccc":3}"#, "a36161 02 627a7a 01 63636363 03".replace(' ', "").as_str());
    check(r#"{"/":{"bytes":"AQI"}}"#, "420102");
}

#[test]
fn refuses_what_is_not_canonical() {
    refuse("1800"); // an integer longer than needed
    refuse("f93c00"); // a 16-bit float
    refuse("fa3f800000"); // a 32-bit float
    refuse("fb7ff8000000000000"); // NaN
    refuse("fb7ff0000000000000"); // infinity
    refuse("9f01ff"); // an indefinite list
    refuse("a2616201616102"); // unsorted keys
    refuse("a2616101616102"); // a key twice
    refuse("a10102"); // an integer key
    refuse("c001"); // a tag
    refuse("f7"); // undefined
    refuse("0000"); // trailing bytes
    refuse("61ff"); // text that is not UTF-8
    refuse("1bffffffffffffffff"); // an integer above 64 bits, signed
    refuse("9b7fffffffffffffff"); // a list that claims to be endless
    refuse(""); // nothing
}

#[test]
fn nesting_is_bounded_both_ways() {
    let mut value = Value::Null;
    for _ in 0..NESTING_MAX {
        value = Value::List(vec![value]);
    }
    let bytes = encode(&value).expect("64 levels are accepted");
    assert!(decode(&bytes).is_ok());
    assert!(matches!(encode(&Value::List(vec![value])), Err(CanonicalError::TooDeep)));
    let hostile = [vec![0x81_u8; 100_000], vec![0xf6]].concat();
    assert!(decode(&hostile).is_err());
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        prop::num::f64::NORMAL.prop_map(Value::Float),
        ".{0,8}".prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..8).prop_map(Value::Bytes),
        any::<[u8; 4]>().prop_map(|seed| Value::Link(Cid::of(&seed))),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::btree_map("[a-z/]{0,4}", inner, 0..6).prop_map(Value::Map),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_survives_the_round_trip(value in any_value()) {
        let bytes = encode(&value).expect("finite and shallow");
        prop_assert_eq!(decode(&bytes).expect("canonical"), value);
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(value) = decode(&bytes) {
            prop_assert_eq!(encode(&value).expect("decoded values are encodable"), bytes);
        }
    }
}
