use super::{JsonPlace, JsonText, WrittenJson};

/// Puts a member into the root and a list of its own into that, and takes all of it out again.
fn there_and_back(text: &str) -> String {
    let mut json = JsonText::parse(text.to_owned()).expect("JSON");
    let group = WrittenJson::object([("m", WrittenJson::text("a")), ("n", WrittenJson::Number(1))]);
    json.put_member(&[], "ours", &WrittenJson::List(vec![group.clone()]));
    json.put_item(&[JsonPlace::Key("ours")], &group);
    let with = json.text().to_owned();
    serde_json::from_str::<serde_json::Value>(&with).expect("still JSON");
    json.take(&[JsonPlace::Key("ours")], 1);
    json.take(&[JsonPlace::Key("ours")], 0);
    let position = json.at(&[]).and_then(|root| root.position("ours")).expect("there");
    json.take(&[], position);
    assert_eq!(json.text(), text, "by way of {with}");
    with
}

#[test]
fn what_is_put_in_is_taken_out_without_a_trace() {
    for text in [
        "{}",
        "{ }",
        "{\n}\n",
        "{\r\n\t\"a\": [1,2 , 3]\r\n}",
        "{\"a\":1}",
        "{ \"a\" : {\"b\": \"\\\"}\"} }\n\n",
        "{\n   \"a\": 1,\n\n   \"b\": {\n   }\n  }\n",
        "{\"a\": 1,\n \"b\": 2}",
    ] {
        there_and_back(text);
    }
}

#[test]
fn lines_of_windows_and_the_indentation_of_the_file_are_kept() {
    let with = there_and_back("{\r\n\t\"a\": 1\r\n}\r\n");
    assert_eq!(
        with,
        "{\r\n\t\"a\": 1,\r\n\t\"ours\": [\r\n\t\t{\r\n\t\t\t\"m\": \"a\",\r\n\t\t\t\"n\": 1\r\n\t\t},\
         \r\n\t\t{\r\n\t\t\t\"m\": \"a\",\r\n\t\t\t\"n\": 1\r\n\t\t}\r\n\t]\r\n}\r\n"
    );
}

#[test]
fn comments_and_commas_at_the_end_are_no_json() {
    for text in ["{} // no", "{\"a\": 1,}", "", "\u{feff}{}", "{\"a\": 1} {}"] {
        assert!(JsonText::parse(text.to_owned()).is_err(), "{text}");
    }
}
