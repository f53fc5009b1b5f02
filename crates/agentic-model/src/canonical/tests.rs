use ipld_core::ipld::Ipld;
use proptest::prelude::*;

use super::*;
use crate::{Cid, json};

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

/// Decodes by way of another library: what it reads is encoded again and compared. Slower, and
/// right by construction.
fn decode_by_comparison(bytes: &[u8]) -> Result<Value, CanonicalError> {
    let ipld: Ipld = serde_ipld_dagcbor::from_slice(bytes)
        .map_err(|error| CanonicalError::NotDagCbor { reason: error.to_string() })?;
    let value = from_ipld(ipld, 0)?;
    if encode(&value)? != bytes {
        return Err(CanonicalError::NotCanonical);
    }
    Ok(value)
}

fn from_ipld(ipld: Ipld, depth: usize) -> Result<Value, CanonicalError> {
    if depth > NESTING_MAX {
        return Err(CanonicalError::TooDeep);
    }
    Ok(match ipld {
        Ipld::Null => Value::Null,
        Ipld::Bool(truth) => Value::Bool(truth),
        Ipld::Integer(number) => {
            Value::Int(i64::try_from(number).map_err(|_| CanonicalError::IntTooLarge { number })?)
        }
        Ipld::Float(number) => Value::Float(number),
        Ipld::String(text) => Value::Text(text),
        Ipld::Bytes(bytes) => Value::Bytes(bytes),
        Ipld::List(items) => Value::List(
            items.into_iter().map(|item| from_ipld(item, depth + 1)).collect::<Result<_, _>>()?,
        ),
        Ipld::Map(map) => Value::Map(
            map.into_iter()
                .map(|(key, item)| Ok((key, from_ipld(item, depth + 1)?)))
                .collect::<Result<_, CanonicalError>>()?,
        ),
        Ipld::Link(cid) => Value::Link(Cid::from_inner(cid)),
    })
}

fn agrees(bytes: &[u8]) -> Result<(), TestCaseError> {
    match (decode(bytes), decode_by_comparison(bytes)) {
        (Ok(value), Ok(other)) => {
            prop_assert_eq!(&value, &other);
            let entries: Option<Vec<(&str, Value)>> = decode_entries(bytes).ok().map(|entries| {
                entries.into_iter().map(|(key, part)| (key, part.into_value())).collect()
            });
            if let Some(entries) = &entries {
                prop_assert_eq!(encode_entries(entries).expect("they were decoded"), bytes);
            }
            let map = entries.map(|entries| {
                entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            });
            prop_assert_eq!(map.as_ref(), value.as_map());
        }
        (Err(_), Err(_)) => prop_assert!(decode_entries(bytes).is_err()),
        (ours, other) => prop_assert!(false, "{ours:?} and {other:?} for {}", to_hex(bytes)),
    }
    Ok(())
}

/// Bytes that often begin an item: heads of every sort and length.
fn any_item_byte() -> impl Strategy<Value = u8> {
    let head = (0_u8..8, prop_oneof![0_u8..4, 20_u8..28, Just(31_u8)]);
    prop_oneof![head.prop_map(|(major, info)| major << 5 | info), 0_u8..3, b'a'..=b'c']
}

/// A change to a byte string.
#[derive(Debug, Clone)]
enum Damage {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, u8),
    Remove(prop::sample::Index),
    Cut(prop::sample::Index),
}

fn any_damage() -> impl Strategy<Value = Damage> {
    let at = || any::<prop::sample::Index>();
    let byte = || prop_oneof![any_item_byte(), any::<u8>()];
    prop_oneof![
        (at(), byte()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (at(), byte()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        at().prop_map(Damage::Remove),
        at().prop_map(Damage::Cut),
    ]
}

fn damaged(mut bytes: Vec<u8>, damage: &[Damage]) -> Vec<u8> {
    for one in damage {
        let length = bytes.len();
        if length == 0 {
            break;
        }
        match one {
            Damage::Set(at, byte) => bytes[at.index(length)] = *byte,
            Damage::Insert(at, byte) => bytes.insert(at.index(length), *byte),
            Damage::Remove(at) => drop(bytes.remove(at.index(length))),
            Damage::Cut(at) => bytes.truncate(at.index(length)),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn both_decoders_agree_on_values(value in any_value()) {
        agrees(&encode(&value).expect("finite and shallow"))?;
    }

    #[test]
    fn both_decoders_agree_on_damaged_values(
        value in any_value(),
        damage in prop::collection::vec(any_damage(), 1..4),
    ) {
        agrees(&damaged(encode(&value).expect("finite and shallow"), &damage))?;
    }

    #[test]
    fn both_decoders_agree_on_what_looks_like_items(
        bytes in prop::collection::vec(any_item_byte(), 0..24),
    ) {
        agrees(&bytes)?;
    }
}

#[test]
fn both_decoders_agree_at_the_bounds() {
    let nested = |n: usize, leaf: &[u8]| [vec![0x81_u8; n], leaf.to_vec()].concat();
    let cases = [
        nested(NESTING_MAX, &[0xf6]),
        nested(NESTING_MAX, &[0x80]),
        nested(NESTING_MAX - 1, &[0x80]),
        nested(NESTING_MAX, &[0xa0]),
        nested(NESTING_MAX + 1, &[0xf6]),
        vec![0xfb, 0x80, 0, 0, 0, 0, 0, 0, 0],
        vec![0x3b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        vec![0x3b, 0x80, 0, 0, 0, 0, 0, 0, 0],
        vec![0x1b, 0x80, 0, 0, 0, 0, 0, 0, 0],
        vec![0xf8, 0x16],
        vec![0xd8, 0x2a, 0x41, 0x00],
        vec![0xd8, 0x2a, 0x40],
        vec![0xd9, 0x00, 0x2a, 0x41, 0x00],
        vec![0xd8, 0x2a, 0x61, 0x00],
        vec![0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ];
    for bytes in cases {
        agrees(&bytes).expect("both say the same");
    }
    // A content id of the elder version, and one with bytes behind it.
    let elder = [vec![0xd8, 0x2a, 0x58, 0x23, 0x00, 0x12, 0x20], vec![7; 32]].concat();
    agrees(&elder).expect("both say the same");
    let id = Cid::of(b"").to_bytes();
    let longer = [vec![0xd8, 0x2a, 0x58, 0x26, 0x00], id, vec![0]].concat();
    agrees(&longer).expect("both say the same");
}
