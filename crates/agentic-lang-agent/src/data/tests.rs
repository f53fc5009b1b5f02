//! Numbers, JSON text, and when values are equal.

use proptest::prelude::*;

use crate::data::{Data, Integer, add, json};

/// Reads a value.
fn read(text: &str) -> Data {
    json::from_text(text).expect("the case is JSON")
}

#[test]
fn numbers_print_as_people_expect() {
    let cases = [
        ("1", "1"),
        ("1.0", "1.0"),
        ("-0.0", "-0.0"),
        ("0.1", "0.1"),
        ("1e15", "1000000000000000.0"),
        ("1e16", "1e+16"),
        ("123456789012345680000.0", "1.2345678901234568e+20"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("1.5e-7", "1.5e-07"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("-0", "0"),
    ];
    for (text, wanted) in cases {
        assert_eq!(json::to_text(&read(text)), wanted, "{text}");
    }
}

#[test]
fn sums_are_exact_until_a_float_takes_part() {
    let cases = [
        ("9223372036854775807", "1", Some("9223372036854775808")),
        ("9223372036854775808", "-1", Some("9223372036854775807")),
        ("100000000000000000000", "-100000000000000000000", Some("0")),
        ("999999999999999999999999999", "1", Some("1000000000000000000000000000")),
        ("9007199254740993", "0.0", Some("9007199254740992.0")),
        ("1", "0.5", Some("1.5")),
        ("1.7e308", "1.7e308", None),
        ("\"a\"", "1", None),
        ("true", "1.5", None),
    ];
    for (left, right, wanted) in cases {
        let sum = add(&read(left), &read(right)).map(|sum| json::to_text(&sum));
        assert_eq!(sum.as_deref(), wanted, "{left} + {right}");
    }
}

#[test]
fn equality_is_by_value() {
    let equal = [
        ("1", "1.0"),
        ("[1,{\"a\":2}]", "[1.0,{\"a\":2.0}]"),
        ("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"),
        ("100000000000000000000", "1e20"),
        ("0", "-0.0"),
    ];
    let different = [
        ("9007199254740993", "9007199254740992.0"),
        ("1", "true"),
        ("0", "false"),
        ("null", "false"),
        ("{\"a\":1}", "{\"a\":1,\"b\":2}"),
        ("{\"a\":1}", "{\"b\":1}"),
        ("[1,2]", "[2,1]"),
        ("100000000000000000001", "1e20"),
        ("\"1\"", "1"),
    ];
    for (one, other) in equal {
        assert_eq!(read(one), read(other));
        assert_eq!(read(other), read(one));
    }
    for (one, other) in different {
        assert_ne!(read(one), read(other));
        assert_ne!(read(other), read(one));
    }
}

#[test]
fn the_last_of_equal_keys_counts_and_keeps_the_first_place() {
    assert_eq!(json::to_text(&read("{\"a\":1,\"b\":2,\"a\":3}")), "{\"a\":3,\"b\":2}");
    let many: Vec<String> = (0..40).map(|at| format!("\"k{}\":{at}", at % 20)).collect();
    let read = read(&format!("{{{}}}", many.join(",")));
    let values: Vec<&Data> = (0..20).filter_map(|at| read.get(&format!("k{at}"))).collect();
    assert_eq!(read.fields().map(<[_]>::len), Some(20));
    assert!(values.iter().enumerate().all(|(at, value)| **value == Data::Int(at as i64 + 20)));
}

#[test]
fn escapes_go_both_ways() {
    let text = read(r#""\u00e9\ud83d\ude80\n\"\\\/\b\u0000""#);
    assert_eq!(text.as_text(), Some("é🚀\n\"\\/\u{8}\0"));
    assert_eq!(json::to_text(&text), "\"é🚀\\n\\\"\\\\/\\u0008\\u0000\"");
    assert_eq!(json::to_pretty(&text), r#""\u00e9\ud83d\ude80\n\"\\/\u0008\u0000""#);
}

proptest! {
    #[test]
    fn long_integers_add_like_integers(one in any::<i128>(), other in any::<i128>()) {
        let (one, other) = (one / 4, other / 4);
        let read = |number: i128| Integer::parse(&number.to_string()).expect("digits");
        prop_assert_eq!(read(one).plus(&read(other)).to_string(), (one + other).to_string());
    }

    #[test]
    fn floats_read_back_as_they_were(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        if number.is_finite() {
            let text = json::to_text(&Data::Float(number));
            let Data::Float(again) = read(&text) else { panic!("{text} is no float") };
            prop_assert_eq!(again.to_bits(), bits, "{}", text);
        }
    }

    #[test]
    fn texts_read_back_as_they_were(text in any::<String>()) {
        let data = Data::text(text);
        prop_assert_eq!(&read(&json::to_text(&data)), &data);
        prop_assert_eq!(&read(&json::to_pretty(&data)), &data);
    }
}
