use super::*;

fn check_number(number: f64, text: &str) {
    assert_eq!(number_to_text(number), text);
}

#[test]
fn numbers_print_as_ecmascript_prints_them() {
    check_number(0.1 + 0.2, "0.30000000000000004");
    check_number(-0.0, "0");
    check_number(1e21, "1e+21");
    check_number(123_456_789_012_345_680_000.0, "123456789012345680000");
    check_number(1.5e300, "1.5e+300");
    check_number(0.000_001, "0.000001");
    check_number(0.000_000_1, "1e-7");
    check_number(-1.25e-9, "-1.25e-9");
    check_number(5e-324, "5e-324");
    check_number(1e5, "100000");
    check_number(13.5, "13.5");
}

fn check_round(text: &str, expected: &str) {
    assert_eq!(compact(&parse(text).expect("the case is valid")), expected, "{text}");
}

#[test]
fn texts_keep_key_order_and_lose_blanks() {
    check_round(r#" { "z" : 1 , "a" : [ ] , "z" : 2 } "#, r#"{"z":2,"a":[]}"#);
    check_round(r#""\u00e9\ud83d\ude00\ud800\n\/""#, "\"é😀\u{fffd}\\n/\"");
    check_round("[1e2,-0,1E400,0.5]", "[100,0,null,0.5]");
}

#[test]
fn many_keys_are_found_and_keep_their_order() {
    let keys: Vec<String> = (0..100).rev().map(|number| format!("k{number}")).collect();
    let json = Json::object(keys.iter().map(|key| (key.as_str(), Json::text(key.as_str()))));
    for key in &keys {
        assert_eq!(json.get(key).and_then(Json::as_text), Some(key.as_str()));
    }
    let order: Vec<&str> =
        json.as_object().expect("an object").iter().map(|(key, _)| &**key).collect();
    assert_eq!(order, keys);
}

#[test]
fn what_is_not_json_is_refused() {
    for text in [
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "01",
        "1.",
        "1e",
        "-",
        "tru",
        "\"\u{1}\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"",
        "\"\\",
        "1 2",
        "{a:1}",
        "'a'",
        "NaN",
        "\u{feff}1",
    ] {
        assert!(parse(text).is_err(), "{text:?}");
    }
    let deep = "[".repeat(100_000);
    assert!(parse(&deep).is_err());
}

#[test]
fn pretty_text_is_indented_by_two_blanks() {
    let json = parse(r#"{"a":[1,{"b":"x\ty"}],"c":{},"d":[]}"#).expect("valid");
    let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x\\ty\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
    assert_eq!(pretty(&json), expected);
}

#[test]
fn values_cross_the_boundary_with_their_key_order() {
    let json = parse(r#"{"z":1,"a":{"json":"{}"}}"#).expect("valid");
    assert_eq!(from_value(&to_value(&json)), Ok(json));
    let common = agentic_model::json::from_text(r#"{"b":1.0,"a":[true]}"#).expect("valid");
    assert_eq!(from_value(&common).map(|json| compact(&json)), Ok(r#"{"a":[true],"b":1}"#.into()));
}

#[test]
fn characters_that_need_it_are_escaped_wherever_they_stand() {
    for at in 0..70 {
        for (special, escaped) in [("\"", "\\\""), ("\u{1}", "\\u0001"), ("\u{8}\u{c}", "\\b\\f")] {
            let (before, after) = ("é".repeat(at), "x".repeat(40));
            let json = Json::text(format!("{before}{special}{after}"));
            assert_eq!(compact(&json), format!("\"{before}{escaped}{after}\""));
        }
    }
}
