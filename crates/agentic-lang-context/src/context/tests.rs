use proptest::prelude::*;

use super::clip::{ClippedValue, size};
use super::measure::{CostMeasure, ValueBudget};
use crate::code::ContextCode;
use crate::json::{Json, OrderedMap, parse, pretty};
use crate::value::{Addresses, ContextValue};

fn clip(value: &Json, limit: u64, measure: CostMeasure) -> ClippedValue {
    let budget = ValueBudget { limit, measure, addresses: Addresses::LeftOut };
    let clipped =
        super::clip::clip(&ContextValue::from_json(value), &ContextCode::default(), budget);
    clipped.expect("the value is small").0
}

fn check(value: &str, limit: u64, expected: &str) {
    check_measured(value, limit, CostMeasure::Estimated, expected);
}

fn check_measured(value: &str, limit: u64, measure: CostMeasure, expected: &str) {
    let value = parse(value).expect("the case is valid");
    assert_eq!(&*clip(&value, limit, measure).text, expected);
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
    check_measured(list, 18, CostMeasure::Exact, "[\n  \"aaaa\"\n]");
    check_measured(list, 22, CostMeasure::Exact, "[\n  \"aaaa\",\n  \"bbbb\"\n]");
}

#[test]
fn texts_in_objects_are_measured_without_their_quotation_marks_unless_exact() {
    let object = r#"{"a":"xxxx","":"y\nz"}"#;
    let one = "{\n  \"a\": \"xxxx\"\n}";
    check(object, 14, "{}");
    check(object, 15, one);
    check(object, 30, "{\n  \"a\": \"xxxx\",\n  \"\": \"y\\nz\"\n}");
    check(object, 27, one);
    check_measured(object, 16, CostMeasure::Exact, "{}");
    check_measured(object, 17, CostMeasure::Exact, one);
}

#[test]
fn the_estimate_of_lists_without_texts_is_their_real_size() {
    let value = parse(r#"[1,{"a":[2,{}]},null,[[3]]]"#).expect("valid");
    let whole = clip(&value, 0, CostMeasure::Estimated);
    let exact = clip(&value, whole.original_size, CostMeasure::Estimated);
    assert!(!exact.clipped);
    let less = clip(&value, whole.original_size - 1, CostMeasure::Estimated);
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
    let fits = clip(&Json::text("abc"), 10, CostMeasure::Estimated);
    assert!(!fits.clipped);
    assert_eq!((fits.original_size, fits.clipped_size), (3, 3));
    let scalar = clip(&Json::Number(123_456.0), 2, CostMeasure::Estimated);
    assert!(!scalar.clipped);
}

/// Returns how many items are kept, found by the rule as it is written: every item is printed.
fn kept_by_the_rule(container: &Json, limit: u64, measure: CostMeasure) -> usize {
    let item_text = |key: Option<&str>, item: &Json| {
        let label = key.map(|key| format!("{}: ", pretty(&Json::text(key)))).unwrap_or_default();
        let shown = match (item, measure) {
            (Json::Text(text), CostMeasure::Estimated) => text.to_string(),
            _ => pretty(item),
        };
        label + &shown
    };
    let texts: Vec<String> = match container {
        Json::List(items) => items.iter().map(|item| item_text(None, item)).collect(),
        Json::Object(entries) => {
            entries.iter().map(|(key, item)| item_text(Some(key), item)).collect()
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => Vec::new(),
    };
    let mut total = 4;
    let fits = |(at, text): &(usize, &String)| {
        let n_lines = 1 + text.matches('\n').count() as u64;
        total += size(text) + 2 * n_lines + if *at > 0 { 2 } else { 0 };
        total <= limit
    };
    texts.iter().enumerate().take_while(fits).count()
}

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<f64>().prop_map(Json::Number),
        any::<i32>().prop_map(|number| Json::Number(f64::from(number))),
        "[a\"\\\\\n\u{1}é😀]{0,9}".prop_map(Json::text),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::List),
            prop::collection::vec(("[a\n😀]{0,3}", inner), 0..6).prop_map(Json::object),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_kept_is_what_the_rule_keeps(
        value in value(),
        limit in 1u64..200,
        measure in prop_oneof![Just(CostMeasure::Estimated), Just(CostMeasure::Exact)],
    ) {
        let whole = pretty(&value);
        let is_container = matches!(value, Json::List(_) | Json::Object(_));
        prop_assume!(is_container);
        let clipped = clip(&value, limit, measure);
        let kept = match &value {
            _ if size(&whole) <= limit => value.clone(),
            Json::List(items) => {
                Json::List(items[..kept_by_the_rule(&value, limit, measure)].to_vec())
            }
            Json::Object(entries) => {
                let kept = entries.iter().take(kept_by_the_rule(&value, limit, measure));
                let kept = kept.map(|(key, item)| (key.clone(), item.clone()));
                Json::Object(kept.collect::<OrderedMap<Json>>())
            }
            other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_)) => other.clone(),
        };
        prop_assert_eq!(&*clipped.text, pretty(&kept));
        prop_assert_eq!(clipped.original_size, size(&whole));
        prop_assert_eq!(clipped.clipped_size, size(&clipped.text));
        prop_assert_eq!(clipped.clipped, *clipped.text != *whole);
        // What is no number prints as null and equals nothing.
        prop_assert_eq!(pretty(&clipped.value), pretty(&kept));
    }
}

#[test]
fn a_list_inside_itself_is_cut_like_any_other() {
    let own = ContextValue::list(vec![ContextValue::Number(1.0)]);
    let ContextValue::List(cells) = &own else { panic!("it was made as a list") };
    cells.items.borrow_mut().push(own.clone());
    cells.items.borrow_mut().push(ContextValue::Text("x".repeat(9).into()));
    let cut = |limit| {
        let measure = CostMeasure::Estimated;
        let budget = ValueBudget { limit, measure, addresses: Addresses::LeftOut };
        super::clip::clip(&own, &ContextCode::default(), budget).expect("it is small").0
    };
    let whole = "[\n  1,\n  \"[Circular]\",\n  \"xxxxxxxxx\"\n]";
    assert_eq!((&*cut(0).text, cut(0).original_size), (whole, size(whole)));
    // What stands for it is a text, and is measured like one.
    assert_eq!(&*cut(34).text, whole);
    assert_eq!(&*cut(33).text, "[\n  1,\n  \"[Circular]\"\n]");
    // It would never be freed.
    cells.items.borrow_mut().clear();
}
