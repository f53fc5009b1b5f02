use super::*;
use crate::json::{compact, parse};

fn check_extract(text: &str, expected: Option<&str>) {
    let found = extract(text).ok().map(|json| compact(&json));
    assert_eq!(found.as_deref(), expected, "{text}");
}

#[test]
fn json_is_found_in_prose() {
    check_extract(" {\"a\": 1}\n", Some(r#"{"a":1}"#));
    check_extract("In {braces}:\n```json\n{\"a\": 1}\n```", Some(r#"{"a":1}"#));
    check_extract("```\nno\n```\n```json\n[1]\n```", Some("[1]"));
    check_extract("x {\"s\": \"a } \\\" b\"} y {", Some(r#"{"s":"a } \" b"}"#));
    check_extract("{x} {\"a\": 1}", None);
    check_extract("sorry", None);
    check_extract("```json", None);
    check_extract(&"{".repeat(200_000), None);
    check_extract(&"[".repeat(200_000), None);
}

#[test]
fn what_is_not_json_is_shown_short() {
    let error = extract("a\n\n  b\tc").expect_err("not JSON");
    assert_eq!(error, "LLM provider did not return JSON: a b c");
    let error = extract(&"word ".repeat(10_000)).expect_err("not JSON");
    assert_eq!(error.chars().count(), "LLM provider did not return JSON: ".len() + 160);
    assert!(error.ends_with("..."));
}

fn contract(fields: &[(&str, TypeExpr)]) -> ContractCode {
    let fields = fields
        .iter()
        .map(|(name, kind)| FieldCode {
            name: (*name).into(),
            kind: kind.clone(),
            place: CodePlace::default(),
        })
        .collect();
    ContractCode { fields, schema: Json::Null, schema_text: "".into() }
}

use crate::code::FieldCode;

fn check(kind: TypeExpr, reply: &str, validation: Validation, expected: Result<&str, &str>) {
    let contract = contract(&[("x", kind)]);
    let mut reply = parse(reply).expect("the case is valid");
    if validation != Validation::Strict {
        reply = coerce(reply, &contract);
    }
    let result = validate(&reply, &contract, validation).map_err(|misfit| misfit.message);
    let shown = result.map(|()| compact(&reply));
    assert_eq!(shown.as_deref().map_err(String::as_str), expected);
}

#[test]
fn clean_texts_convert_unless_strict() {
    let list = || TypeExpr::List(Some(Box::new(TypeExpr::Number)));
    check(TypeExpr::Number, r#"{"x":" -4.50 "}"#, Validation::Lenient, Ok(r#"{"x":-4.5}"#));
    for text in ["01", "1e3", "", "+1", ".5", "5.", "1 2", "0x1"] {
        let reply = format!("{{\"x\":\"{text}\"}}");
        let error = Err("LLM result field must be a number");
        check(TypeExpr::Number, &reply, Validation::Lenient, error);
    }
    check(TypeExpr::Boolean, r#"{"x":" False"}"#, Validation::Lenient, Ok(r#"{"x":false}"#));
    check(list(), r#"{"x":["1",2]}"#, Validation::Lenient, Ok(r#"{"x":[1,2]}"#));
    let error = Err("LLM result field must be a number");
    check(list(), r#"{"x":["1",2]}"#, Validation::Strict, error);
    check(
        TypeExpr::Text,
        r#"{"x":1}"#,
        Validation::Lenient,
        Err("LLM result field must be a string"),
    );
}

#[test]
fn further_fields_are_kept_only_by_lenient_validation() {
    let error = Err("LLM result contains unexpected field 'y'");
    check(TypeExpr::Json, r#"{"x":null,"y":1}"#, Validation::Lenient, Ok(r#"{"x":null,"y":1}"#));
    check(TypeExpr::Json, r#"{"x":null,"y":1}"#, Validation::Strict, error);
    check(TypeExpr::Json, r#"{"x":null,"y":1}"#, Validation::First, error);
}

#[test]
fn bare_lists_are_checked_unless_lenient() {
    let error = Err("LLM result field must be a list");
    check(TypeExpr::List(None), r#"{"x":1}"#, Validation::Lenient, Ok(r#"{"x":1}"#));
    check(TypeExpr::List(None), r#"{"x":1}"#, Validation::Strict, error);
    check(TypeExpr::List(None), r#"{"x":1}"#, Validation::First, error);
}

#[test]
fn whole_replies_of_other_types_are_refused() {
    let error = "LLM result must be an object matching the generate return contract";
    for reply in ["[]", "\"x\"", "null", "1"] {
        check(TypeExpr::Json, reply, Validation::Lenient, Err(error));
    }
    check(
        TypeExpr::Json,
        "{}",
        Validation::Lenient,
        Err("LLM result is missing required field 'x'"),
    );
}

fn check_repair(instruction: &str, expected: &str) {
    let instruction = parse(instruction).expect("the case is valid");
    assert_eq!(compact(&repair(&instruction, None, "E")), expected);
}

#[test]
fn repair_text_joins_any_instruction() {
    let text = "Previous generation failed.\\n\\nError:\\nE\\n\\n\
                Return corrected JSON matching the requested schema only.";
    check_repair("\"Go\"", &format!("\"Go\\n\\n{text}\""));
    check_repair(r#"{"a":1}"#, &format!("{{\"a\":1,\"repair\":\"{text}\"}}"));
    check_repair("[1]", &format!("{{\"input\":[1],\"repair\":\"{text}\"}}"));
}
