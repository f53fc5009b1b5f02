use super::clip::{Measure, clip, size};
use crate::json::{Json, parse};

fn check(value: &str, limit: u64, expected: &str) {
    check_measured(value, limit, Measure::Estimated, expected);
}

fn check_measured(value: &str, limit: u64, measure: Measure, expected: &str) {
    let value = parse(value).expect("the case is valid");
    assert_eq!(&*clip(value, limit, measure).text, expected);
}

#[test]
fn texts_are_cut_by_utf16_units_and_never_inside_a_character() {
    check(r#""abcdef""#, 3, "abc");
    check(r#""a😀b""#, 2, "a");
    check(r#""a😀b""#, 3, "a😀");
    check(r#""abc""#, 3, "abc");
    check(r#""abc""#, 0, "abc");
}

#[test]
fn scalars_stay_whole() {
    check("123456", 2, "123456");
    check("true", 1, "true");
    check("null", 1, "null");
}

#[test]
fn lists_and_objects_keep_whole_items_that_fit() {
    check("[1,2,3]", 3, "[]");
    check("[1,2,3]", 7, "[\n  1\n]");
    check("[1,2,3]", 11, "[\n  1\n]");
    check("[1,2,3]", 12, "[\n  1,\n  2\n]");
    check(r#"{"a":1,"b":2}"#, 12, "{\n  \"a\": 1\n}");
    check(r#"{"a":1,"b":2}"#, 5, "{}");
}

#[test]
fn texts_in_lists_are_measured_without_their_quotation_marks_unless_exact() {
    let list = r#"["aaaa","bbbb","cccc"]"#;
    check(list, 18, "[\n  \"aaaa\",\n  \"bbbb\"\n]");
    check_measured(list, 18, Measure::Exact, "[\n  \"aaaa\"\n]");
    check_measured(list, 22, Measure::Exact, "[\n  \"aaaa\",\n  \"bbbb\"\n]");
}

#[test]
fn texts_in_objects_are_measured_without_their_quotation_marks_unless_exact() {
    let object = r#"{"a":"xxxx","":"y\nz"}"#;
    let one = "{\n  \"a\": \"xxxx\"\n}";
    check(object, 14, "{}");
    check(object, 15, one);
    check(object, 30, "{\n  \"a\": \"xxxx\",\n  \"\": \"y\\nz\"\n}");
    check(object, 27, one);
    check_measured(object, 16, Measure::Exact, "{}");
    check_measured(object, 17, Measure::Exact, one);
}

#[test]
fn the_estimate_of_lists_without_texts_is_their_real_size() {
    let value = parse(r#"[1,{"a":[2,{}]},null,[[3]]]"#).expect("valid");
    let whole = clip(value.clone(), 0, Measure::Estimated);
    let exact = clip(value.clone(), whole.original_size, Measure::Estimated);
    assert!(!exact.clipped);
    let less = clip(value, whole.original_size - 1, Measure::Estimated);
    assert!(less.clipped && less.clipped_size < whole.original_size);
}

#[test]
fn sizes_are_those_of_utf16() {
    for text in ["", "abc", "é", "😀", "a\u{ffff}😀", &"é😀".repeat(300)] {
        assert_eq!(size(text), text.encode_utf16().count() as u64, "{text}");
    }
}

#[test]
fn a_value_that_fits_is_not_called_clipped() {
    let fits = clip(Json::text("abc"), 10, Measure::Estimated);
    assert!(!fits.clipped);
    assert_eq!((fits.original_size, fits.clipped_size), (3, 3));
    let scalar = clip(Json::Number(123_456.0), 2, Measure::Estimated);
    assert!(!scalar.clipped);
}
