//! What goes over the server comes back as it was.

use std::sync::Arc;

use agentic_model::{Cid, Instant, Map, Value};
use agentic_replay::{
    CancelExtent, EffectClass, Path, Performance, ProgramFailure, Request, RequestAnswer, RequestId,
};

use super::{EffectAsk, WireAnswer, WireStart, WireValue};

fn crossed<T: serde::Serialize + serde::de::DeserializeOwned>(sent: &T) -> T {
    let text = serde_json::to_string(sent).expect("it is JSON");
    serde_json::from_str(&text).expect("it was just written")
}

fn values() -> Vec<Value> {
    let posing = Map::from([("/".to_owned(), Value::Map(Map::new()))]);
    vec![
        Value::Null,
        Value::Int(i64::MIN),
        Value::Float(1.0),
        Value::Float(-0.0),
        Value::text("a\u{0}b"),
        Value::Bytes(vec![0, 255]),
        Value::Link(Cid::of(b"x")),
        Value::List(vec![Value::Map(posing), Value::Bool(true)]),
        Value::map([("/", Value::text("no link"))]),
    ]
}

#[test]
fn values_come_back_as_they_were() {
    for value in values() {
        let back = crossed(&WireValue::of(&value)).value().expect("it was just sent");
        assert_eq!(back, value);
    }
}

#[test]
fn answers_come_back_as_they_were() {
    let failure = ProgramFailure { details: Value::Int(1), ..ProgramFailure::new("code", "words") };
    let extents = [CancelExtent::NotStarted, CancelExtent::Stopped, CancelExtent::Unknown];
    let answers = extents.map(RequestAnswer::Cancelled).into_iter();
    let answers = answers.chain(values().into_iter().map(RequestAnswer::Ok));
    for answer in answers.chain([RequestAnswer::TimedOut, RequestAnswer::Failed(failure)]) {
        let back = crossed(&WireAnswer::of(&answer)).answer().expect("it was just sent");
        assert_eq!(back, answer);
    }
}

#[test]
fn effects_come_back_as_they_were() {
    let path = Path::parse("b0/n1/0").expect("a valid path");
    let request = Request {
        schema: Some(Cid::of(b"schema")),
        timeout_ms: Some(5),
        origin: Some(Arc::new(Cid::of(b"plan"))),
        ..Request::new(path, "exec", Value::map([("argv", Value::List(Vec::new()))]))
    };
    let hash = request.hash().expect("it is data");
    let run = WireStart {
        space: "space".to_owned(),
        stamp: false,
        session: "0".repeat(64),
        agent: "alice".to_owned(),
        flow: Cid::of(b"flow").to_string(),
        language: "rhai".to_owned(),
        semantics: 1,
        key: "k".to_owned(),
        allow: vec!["*".to_owned()],
    };
    for class in [EffectClass::Pure, EffectClass::Read, EffectClass::Idempotent, EffectClass::Once]
    {
        let sent = Performance {
            request: Arc::new(request.clone()),
            id: RequestId::derive(&run.session, &request.path, &hash),
            class,
            attempt: 2,
            not_before: None,
            found: Some(Value::Int(7)),
        };
        let ask = EffectAsk::of(&run, &sent, Instant::from_millis(9), 0);
        assert_eq!(crossed(&ask).performance().expect("it was just sent"), sent);
    }
}

#[test]
fn what_is_not_ours_is_refused() {
    assert!(WireValue::Canonical("!".to_owned()).value().is_err());
    assert!(WireValue::Canonical("AA".to_owned()).value().is_err());
    let text = r#"{"ok":{"json":18446744073709551615}}"#;
    let answer: WireAnswer = serde_json::from_str(text).expect("it is JSON");
    assert!(answer.answer().is_err(), "a number that is no value");
}
