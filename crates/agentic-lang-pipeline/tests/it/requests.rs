//! What calls look like from outside, for every sort of implementation.

use std::sync::Arc;

use agentic_lang_pipeline::compile;
use agentic_lang_pipeline::run::{
    AgentCall, PipelineOptions, PipelineProgram, RequestKind, add_kinds,
};
use agentic_model::{Map, Value, json};
use agentic_plan::Registry;
use agentic_replay::{EffectClass, Handling, Kinds, ProgramRun, Request};

use crate::kit::start;

/// Opens the first request of `x "p" "v"`, a builtin with these further fields.
fn request(fields: &str) -> Request {
    let registry = format!(
        r#"{{"builtins":[{{"name":"x","agent":"a/x","params":[{{"name":"p","type":"string"}}],
            "variadic":"string","backends":["memory","temporal"]{fields}}}]}}"#
    );
    let registry = Registry::from_json(&registry).expect("the case is a registry");
    let compiled = compile("memory static ( x \"p\" \"v\" )", Arc::new(registry)).expect("valid");
    let program = PipelineProgram::new(&compiled, PipelineOptions::default());
    let (_, step) = ProgramRun::begin(program, &start(Value::text("in")));
    step.opened[0].as_ref().clone()
}

fn check(fields: &str, kind: &str, head: &str, class: EffectClass) {
    let request = request(fields);
    assert_eq!(request.kind, kind, "{fields}");
    let mut payload = request.payload.as_map().expect("a map").clone();
    payload.remove("call");
    assert_eq!(json::to_text(&Value::Map(payload)), head, "{fields}");
    let mut kinds = Kinds::built_in();
    add_kinds(&mut kinds);
    assert_eq!(kinds.rule(&request).handling, Handling::Effect(class), "{fields}");
    assert!(RequestKind::of(&request).is_some(), "{fields}");
    let call = AgentCall {
        agent: "a/x".to_owned(),
        node_id: "n0".to_owned(),
        requires: None,
        key: "b0/n0/0".to_owned(),
        attempt: 1,
        params: Map::from([("p".to_owned(), Value::text("p"))]),
        args: vec![Value::text("v")],
        input: Value::text("in"),
        invoked_by: None,
        plan: request.origin.clone(),
    };
    // An agent of the store gets the call as the input of its flow.
    let carried = match kind {
        "spawn" => AgentCall::of_spawn(&request),
        _ => AgentCall::of(&request),
    };
    assert_eq!(carried, Some(call), "{fields}");
}

#[test]
fn every_implementation_has_its_kind_and_class() {
    use EffectClass::{Idempotent, Once, Pure, Read};
    check("", "agent", "{}", Once);
    check(r#","effect":"read""#, "agent.read", "{}", Read);
    check(r#","run":"f""#, "native", r#"{"function":"f"}"#, Once);
    check(r#","run":{"native":"f"},"effect":"pure""#, "native.pure", r#"{"function":"f"}"#, Pure);
    check(r#","run":{"exec":["a","-b"]}"#, "exec", r#"{"argv":["a","-b"]}"#, Once);
    check(
        r#","run":{"exec":["a"]},"effect":"idempotent""#,
        "exec.idempotent",
        r#"{"argv":["a"]}"#,
        Idempotent,
    );
    let endpoint = r#"{"method":"POST","url":"http://h/p"}"#;
    check(r#","run":{"http":"http://h/p"}"#, "endpoint", endpoint, Once);
    let spawn = concat!(
        r#"{"allow":["*"],"briefing":"Do what `bob` does, for the call at `b0/n0/0`","from":"bob","#,
        r#""input":{"agent":"a/x","args":["v"],"attempt":1,"input":"in","key":"b0/n0/0","node":"n0","#,
        r#""params":{"p":"p"}},"suffix":"b0-n0-0"}"#,
    );
    check(r#","run":{"agent":"bob"}"#, "spawn", spawn, Idempotent);
    let model = r#"{"model":"m","system":"s"}"#;
    check(r#","run":{"model":"m","system":"s"}"#, "model", model, Read);
    check(r#","run":{"model":"m"},"effect":"once""#, "model.once", r#"{"model":"m"}"#, Once);
}

#[test]
fn an_agent_receives_all_fields_always() {
    let request = request("");
    let plan = request.origin.clone().expect("every call is of a plan");
    let call = AgentCall::of(&request).expect("a call");
    let check = |call: AgentCall, wanted: &str| {
        assert_eq!(json::to_text(&call.to_input("r")), wanted.replace("PLAN", &plan.to_string()));
    };
    check(
        call.clone(),
        concat!(
            r#"{"agent":"a/x","args":["v"],"attempt":1,"input":"in","invoked_by":null,"#,
            r#""node_id":"n0","params":{"p":"p"},"plan":"PLAN","run_id":"r","upstream":{}}"#
        ),
    );
    let bare = AgentCall { requires: Some("j0".to_owned()), params: Map::new(), ..call };
    check(
        AgentCall { args: Vec::new(), invoked_by: Some("user:ada".to_owned()), ..bare },
        concat!(
            r#"{"agent":"a/x","args":[],"attempt":1,"input":"in","invoked_by":"user:ada","#,
            r#""node_id":"n0","params":{},"plan":"PLAN","run_id":"r","upstream":{"j0":"in"}}"#
        ),
    );
}

#[test]
fn a_request_is_the_same_in_every_run_and_plan() {
    let request = request("");
    let elsewhere = Request { origin: None, ..request.clone() };
    assert_eq!(request.hash().expect("data"), elsewhere.hash().expect("data"));
    // What another language spawns says itself what flows into it.
    let spawned = Request { kind: "spawn".to_owned(), ..elsewhere };
    assert_eq!(AgentCall::of_spawn(&spawned), None);
}

#[test]
fn what_the_registry_says_about_attempts_is_written_into_plans() {
    let request = request(r#","timeout_ms":5000,"retry":{"max_attempts":7}"#);
    assert_eq!(request.timeout_ms, Some(5_000));
}

#[test]
fn foreign_kinds_are_not_ours() {
    let mut request = request("");
    for kind in ["exec.twice", "file.read", ""] {
        request.kind = kind.to_owned();
        assert_eq!(RequestKind::of(&request), None, "{kind}");
    }
}
