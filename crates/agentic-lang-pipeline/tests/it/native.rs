//! Native functions.

use agentic_lang_pipeline::native::Natives;
use agentic_lang_pipeline::run::AgentCall;
use agentic_model::{Map, Value};

fn check(natives: &Natives, function: &str, wanted: &str) {
    let call = AgentCall {
        agent: "t/x".to_owned(),
        node_id: "n0".to_owned(),
        requires: None,
        key: "b0/n0/0".to_owned(),
        attempt: 1,
        params: Map::new(),
        args: Vec::new(),
        input: Value::text("in"),
        invoked_by: None,
        plan: None,
    };
    let said = match natives.perform(function, &call) {
        None => "nothing".to_owned(),
        Some(Ok(value)) => format!("{value:?}"),
        Some(Err(failure)) => format!("{}: {}", failure.code, failure.message),
    };
    assert_eq!(said, wanted, "{function}");
}

#[test]
fn a_function_that_panics_has_failed() {
    let natives = Natives::default()
        .with("boom", |_| panic!("ouch"))
        .with("index", |call| Ok(call.args[3].clone()))
        .with("mute", |_| std::panic::panic_any(7));
    check(&natives, "upper", &format!("{:?}", Value::text("IN")));
    check(&natives, "absent", "nothing");
    check(&natives, "boom", "panicked: `boom` panicked: ouch");
    check(&natives, "mute", "panicked: `mute` panicked: it said nothing");
    let length = "index out of bounds: the len is 0 but the index is 3";
    check(&natives, "index", &format!("panicked: `index` panicked: {length}"));
}
