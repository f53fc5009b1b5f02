use super::*;

fn check(text: &str, canonical: &str) {
    assert_eq!(LineJson::parse(text).expect("the case is JSON").to_text(), canonical);
}

#[test]
fn numbers_stay_as_they_are_written() {
    check(
        r#"{"b": 1.50, "a": [1e3, 18446744073709551616, -0]}"#,
        r#"{"a":[1e3,18446744073709551616,-0],"b":1.50}"#,
    );
}

#[test]
fn of_a_key_that_stands_twice_the_last_counts() {
    check(r#"{"a":1,"b":2,"a":3}"#, r#"{"a":3,"b":2}"#);
}

#[test]
fn half_a_pair_and_deep_nesting_stop_nobody() {
    check(r#"{"a":"\ud83d!"}"#, "{\"a\":\"\u{fffd}!\"}");
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    assert!(LineJson::parse(&deep).is_err());
}

#[test]
fn so_many_values_that_they_would_take_much_room_are_none() {
    let of = |n: usize| format!("[{}0]", "0,".repeat(n - 1));
    // The list itself is one.
    assert!(LineJson::parse(&of(VALUES_MAX - 1)).is_ok());
    assert!(LineJson::parse(&of(VALUES_MAX)).is_err());
    let empty = format!("[{}[]]", "[],".repeat(VALUES_MAX));
    assert!(LineJson::parse(&empty).is_err(), "an empty list is a value, too");
}

#[test]
fn every_text_and_key_is_redacted_but_for_ids_of_the_vendor() {
    let id = "32a69913-af49-401a-a4ec-511c8a0c66e1";
    let text = format!(
        r#"{{"uuid":"{id}","message":{{"id":"msg_01A","x":"hide","content":[{{"id":"toolu_1","input":{{"id":"{id}","hide":1}}}}]}}}}"#
    );
    let mut json = LineJson::parse(&text).expect("the case is JSON");
    json.redact(&mut |_, text| Some(format!("<{}>", text.len())));
    assert_eq!(
        json.to_text(),
        format!(
            r#"{{"<4>":"{id}","<7>":{{"<1>":"<4>","<2>":"msg_01A","<7>":[{{"<2>":"toolu_1","<5>":{{"<2>":"<36>","<4>":1}}}}]}}}}"#
        )
    );
}
