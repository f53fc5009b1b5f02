use agentic_model::canonical;
use proptest::prelude::*;

use super::*;
use crate::tests::any_value;

/// Says that settling is what encoding and decoding does, to the sign of every zero.
fn check(value: Value) {
    match (settle(value.clone()), canonical::encode(&value)) {
        (Ok(settled), Ok(bytes)) => {
            let decoded = canonical::decode(&bytes).expect("what was encoded decodes");
            assert_eq!(spell(&settled), spell(&decoded));
            let mut copy = value;
            let length = settle_in_place(&mut copy).expect("it has an encoding");
            assert_eq!(length, bytes.len(), "{settled:?}");
        }
        (Err(_), Err(_)) => {}
        (settled, encoded) => panic!("settle gives {settled:?}, the encoder {encoded:?}"),
    }
}

/// Prints a value with the sign of its zeros, which equality does not see.
fn spell(value: &Value) -> String {
    format!("{value:?}")
}

#[test]
fn the_edges_settle_as_the_encoder_does() {
    let mut deep = Value::Null;
    for _ in 0..=NESTING_MAX {
        check(deep.clone());
        deep = Value::List(vec![deep]);
    }
    check(deep);
    for number in [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 2.0, f64::MAX] {
        check(Value::Float(number));
    }
    for number in [0, 23, 24, 255, 256, 65_535, 65_536, 1 << 32, i64::MAX, -1, -24, -25, i64::MIN] {
        check(Value::Int(number));
    }
}

#[test]
fn a_value_above_the_length_bound_is_refused() {
    let value = Value::Bytes(vec![0; ENCODED_BYTES_MAX - 5]);
    assert!(settle(value).is_ok());
    let value = Value::Bytes(vec![0; ENCODED_BYTES_MAX - 4]);
    assert!(matches!(settle(value), Err(CanonicalError::TooLong { .. })));
}

proptest! {
    #[test]
    fn every_value_settles_as_the_encoder_does(value in any_value()) {
        check(value);
    }
}
