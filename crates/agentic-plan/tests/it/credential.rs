//! Secrets stay out of everything that is written.

use agentic_model::{Value, json};
use agentic_plan::{CredentialError, CredentialSecret, Redactor, placeholder};

fn redactor() -> Redactor {
    let secrets = [("hunter2hunter2", "A"), ("hunter2", "B"), ("abc", "C"), ("", "D")];
    Redactor::new(
        secrets.map(|(secret, mask)| (CredentialSecret::new(secret), format!("<{mask}>"))),
    )
}

#[test]
fn secrets_are_masked_longest_first() {
    let check = |text: &str, expected: &str| assert_eq!(redactor().text(text), expected, "{text}");
    check("token hunter2hunter2!", "token <A>!");
    check("hunter2,hunter2", "<B>,<B>");
    check("abc", "<C>");
    check("abcdef", "abcdef");
    check("", "");
}

#[test]
fn values_are_masked_in_texts_bytes_and_keys() {
    let value = Value::map([
        ("hunter2", Value::List(vec![Value::text("x hunter2"), Value::Int(7)])),
        ("bytes", Value::Bytes(b"\xffhunter2\xff".to_vec())),
        ("text", Value::Bytes(b"hunter2".to_vec())),
    ]);
    let masked = redactor().value(&value);
    assert_eq!(masked.get("bytes"), Some(&Value::Bytes(b"\xff<B>\xff".to_vec())));
    assert_eq!(masked.get("text"), Some(&Value::Bytes(b"<B>".to_vec())));
    assert!(!json::to_text(&masked).contains("hunter2"), "{masked:?}");
}

#[test]
fn secrets_have_no_printed_form() {
    let printed = format!("{:?} {:?}", CredentialSecret::new("hunter2"), redactor());
    assert!(!printed.contains("hunter2"), "{printed}");
}

#[test]
fn placeholders_tell_names_and_sessions_apart() {
    assert_eq!(placeholder("KEY", "s1"), placeholder("KEY", "s1"));
    let all = [("KEY", "s1"), ("KEY", "s2"), ("KEYs", "1"), ("", "KEYs1")];
    let mut texts: Vec<String> =
        all.iter().map(|(name, session)| placeholder(name, session)).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), all.len());
}

#[test]
fn errors_name_the_code_that_programs_see() {
    let error = CredentialError::MissingIdentity { provider: "github".to_owned() };
    assert_eq!(error.code(), "MissingIdentity");
    assert!(error.to_string().contains("`github`"), "{error}");
}

#[test]
fn a_reply_is_masked_in_its_bytes_and_in_every_text_of_its_json() {
    let secret = "dGhlIHNlY3JldA+/Z\u{e9}BRA==";
    let redactor = Redactor::new([
        (CredentialSecret::new(secret), "<M>".to_owned()),
        (CredentialSecret::new("12345678"), "<N>".to_owned()),
    ]);
    let check = |reply: &str, wanted: &str| {
        let masked = redactor.reply(reply.as_bytes().to_vec());
        assert_eq!(String::from_utf8_lossy(&masked), wanted, "{reply}");
    };
    check(r#"{ "b": "x dGhlIHNlY3JldA+/ZéBRA== y", "a":1.50 }"#, r#"{ "b": "x <M> y", "a":1.50 }"#);
    check(r#"["dGhlIHNlY3JldA\u002b\/Z\u00E9BRA\u003d\u003D"]"#, r#"["<M>"]"#);
    check(r#"["{\"in\":\"dGhlIHNlY3JldA+\\/Z\\u00e9BRA\\u003d=\"}"]"#, r#"["{\"in\":\"<M>\"}"]"#);
    check(r#"["\u0064GhlIHNlY3JldA%2b%2FZ%C3%a9BRA%3D%3d"]"#, r#"["<M>"]"#);
    check(r#"["dGhlIHNlY3JldA&#43;&#x2F;Z&#233;BRA&equals;&#061;"]"#, r#"["<M>"]"#);
    check(r#"{"pin":12345678,"n":123456789}"#, r#"{"pin":"<N>","n":123456789}"#);
    check("no JSON: dGhlIHNlY3JldA%2B/ZéBRA==!", "no JSON: <M>!");
    // Keys that become equal are numbered, also where one of them was there.
    check(
        r#"{"12345678":1,"1234567%38":2,"<N>":3,"x":{"12345678":4}}"#,
        r#"{"<N>":1,"<N>-2":2,"<N>-3":3,"x":{"<N>":4}}"#,
    );
}

#[test]
fn keys_of_a_value_that_become_equal_are_numbered() {
    let value = Value::map([("hunter2", Value::Int(1)), ("hunter%32", Value::Int(2))]);
    let masked = redactor().value(&value);
    let keys: Vec<&str> = masked.as_map().expect("a map").keys().map(String::as_str).collect();
    assert_eq!(keys, ["<B>", "<B>-2"]);
}

#[test]
fn short_secrets_are_masked_inside_texts_where_that_is_asked_for() {
    let secrets = [(CredentialSecret::new("pin1"), "<P>".to_owned())];
    assert_eq!(Redactor::of_any_length(secrets).text("a pin1 b"), "a <P> b");
}
