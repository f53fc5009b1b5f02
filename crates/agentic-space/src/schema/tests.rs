//! Values held against JSON Schemas.

use agentic_model::{Value, json};

use super::{fits, validator};

fn data(text: &str) -> Value {
    json::from_text(text).expect("the case is JSON")
}

/// Returns where a value does not fit a schema; nothing if it does.
fn misfit(schema: &str, value: &str) -> Option<String> {
    fits(&data(schema), &data(value)).err().map(|unfit| unfit.pointer)
}

#[test]
fn a_misfit_is_found_at_its_part() {
    let schema = r#"{"properties":{"a/b":{"items":{"type":"integer"}}}}"#;
    assert_eq!(misfit(schema, r#"{"a/b":[1,2]}"#), None);
    assert_eq!(misfit(schema, r#"{"a/b":[1,"2"]}"#).as_deref(), Some("/a~1b/1"));
    assert_eq!(misfit(r#"{"type":"object"}"#, "5").as_deref(), Some(""));
}

#[test]
fn a_schema_that_is_none_fits_nothing_and_says_so() {
    for schema in [r#"{"type":"number of bananas"}"#, r#"{"properties":5}"#, "5"] {
        let unfit = fits(&data(schema), &data("5")).expect_err(schema);
        assert_eq!(unfit.pointer, "", "{schema}");
        assert!(unfit.reason.contains("the schema is not valid"), "{schema}: {}", unfit.reason);
        assert!(validator(&data(schema)).is_err(), "{schema}");
    }
}

#[test]
fn a_schema_may_refer_to_itself_and_to_nothing_outside() {
    let tree =
        r##"{"type":"object","properties":{"left":{"$ref":"#"}},"additionalProperties":false}"##;
    assert_eq!(misfit(tree, r#"{"left":{"left":{}}}"#), None);
    assert_eq!(misfit(tree, r#"{"left":{"right":{}}}"#).as_deref(), Some("/left"));
    let outside = data(r#"{"$ref":"http://127.0.0.1:9/schema.json"}"#);
    assert!(validator(&outside).is_err(), "nobody is asked over a network");
    let file = data(r#"{"$ref":"file:///etc/passwd"}"#);
    assert!(validator(&file).is_err(), "no file is read");
}

#[test]
fn numbers_are_compared_as_numbers() {
    assert_eq!(misfit(r#"{"const":1}"#, "1"), None);
    assert_eq!(misfit(r#"{"type":"integer"}"#, "9223372036854775807"), None);
    assert_eq!(misfit(r#"{"maximum":5}"#, "5.5").as_deref(), Some(""));
}
