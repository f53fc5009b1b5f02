//! Secrets stay out of everything that is written.

use agentic_model::{Value, json};
use agentic_plan::{CredentialError, Redactor, Secret, placeholder};

fn redactor() -> Redactor {
    let secrets = [("hunter2hunter2", "A"), ("hunter2", "B"), ("abc", "C"), ("", "D")];
    Redactor::new(secrets.map(|(secret, mask)| (Secret::new(secret), format!("<{mask}>"))))
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
    let printed = format!("{:?} {:?}", Secret::new("hunter2"), redactor());
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
