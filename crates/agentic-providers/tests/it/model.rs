//! Models that need no network: what is asked of them, and what becomes of their replies.

use agentic_model::{Value, json};
use agentic_providers::host::CancelFlag;
use agentic_providers::model::{
    FaultClass, MockModel, Model, ModelCall, ModelFault, ModelPrompt, ModelRegistry, ReplyPart,
    ScriptedModel, ScriptedReply,
};
use agentic_providers::provider::{ProviderExecutor, Providers};
use agentic_replay::{Path, Request, RequestAnswer};

fn ask(executor: &ProviderExecutor, payload: &str) -> String {
    request(executor, "model", payload)
}

fn request(executor: &ProviderExecutor, kind: &str, payload: &str) -> String {
    let payload = json::from_text(payload).expect("the payload is JSON");
    let request = Request::new(Path::root(), kind, payload);
    match executor.answer(&request, &CancelFlag::new()) {
        Some(RequestAnswer::Ok(value)) => json::to_text(&value),
        Some(RequestAnswer::Failed(failure)) => format!("{}: {}", failure.code, failure.message),
        other => format!("{other:?}"),
    }
}

fn with(model: impl Model + 'static) -> ProviderExecutor {
    Providers { models: ModelRegistry::every(model), ..Providers::default() }.executor("test")
}

/// Checks what the mock makes of a schema.
fn check_mock(schema: &str, wanted: &str) {
    let payload = Value::map([("schema", Value::text(schema))]);
    let answer = ask(&with(MockModel), &json::to_text(&payload));
    let value = Value::map([("json", Value::text(wanted))]);
    let wanted = format!(
        r#"{{"finish":"stop","usage":{{"input_tokens":0,"output_tokens":0}},"value":{}}}"#,
        json::to_text(&value)
    );
    assert_eq!(answer, wanted, "{schema}");
}

#[test]
fn the_mock_fills_schemas_in_their_order() {
    check_mock(r#"{"type":"string"}"#, r#""""#);
    check_mock(r#"{"type":"string","enum":["calm","wild"]}"#, r#""calm""#);
    check_mock(r#"{"type":"array","items":{"type":"string"}}"#, "[]");
    check_mock("{}", "{}");
    check_mock("no schema", "null");
    let object = r#"{"type":"object","properties":{"z":{"type":"number"},"a\n":{"type":"boolean"},
        "m":{"properties":{"x":{"type":"null"}}}}}"#;
    check_mock(object, r#"{"z":0,"a\n":true,"m":{"x":null}}"#);
}

#[test]
fn a_schema_of_any_depth_is_filled_or_given_up() {
    let deep = format!("{}{}{}", r#"{"properties":{"a":"#.repeat(5000), "{}", "}}".repeat(5000));
    let answer =
        ask(&with(MockModel), &json::to_text(&Value::map([("schema", Value::text(deep))])));
    assert!(answer.contains("value"), "{answer}");
}

#[test]
fn a_script_replies_in_order_and_ends() {
    let refused = ModelFault::new(FaultClass::Refused, "no quota");
    let model =
        ScriptedModel::new(vec![ScriptedReply::text("one two"), ScriptedReply::Failed(refused)]);
    let executor = with(model);
    let usage = r#""usage":{"input_tokens":0,"output_tokens":2}"#;
    assert_eq!(ask(&executor, "{}"), format!(r#"{{"finish":"stop","text":"one two",{usage}}}"#));
    assert_eq!(ask(&executor, "{}"), "refused: no quota");
    assert_eq!(ask(&executor, "{}"), "refused: the script has no reply number 3");
}

#[test]
fn a_listener_hears_the_reply() {
    let cancel = CancelFlag::new();
    let mut heard = String::new();
    let mut listen = |piece: ReplyPart<'_>| match piece {
        ReplyPart::Text(text) => heard.push_str(text),
        ReplyPart::Again => heard.clear(),
    };
    let mut call = ModelCall { listener: Some(&mut listen), ..ModelCall::new(&cancel) };
    let model = ScriptedModel::new(vec![ScriptedReply::text("hello")]);
    model.complete(&ModelPrompt::default(), &mut call).expect("it replies");
    assert_eq!(heard, "hello");
}

#[test]
fn a_model_that_nobody_configured_is_refused() {
    let executor = Providers::default().executor("test");
    let wanted = "unconfigured: no model is spoken to by `nobody://`";
    assert_eq!(ask(&executor, r#"{"uri":"nobody://x"}"#), wanted);
}

#[test]
fn a_model_performs_the_tasks_of_agents() {
    let payload = r#"{"task":"think","args":"{}","result":"{\"type\":\"object\"}","model":"x"}"#;
    let replies = vec![
        ScriptedReply::text("```json\n{\"mood\":\"calm\"}\n```"),
        ScriptedReply::text("no idea"),
    ];
    let executor = with(ScriptedModel::new(replies));
    let usage = r#""usage":{"input_tokens":0,"output_tokens":3}"#;
    let wanted = format!(r#"{{"result":"{{\"mood\":\"calm\"}}",{usage}}}"#);
    assert_eq!(request(&executor, "agent-task", payload), wanted);
    let wanted = "InvalidAnswer: the model did not return JSON: no idea";
    assert_eq!(request(&executor, "agent-task", payload), wanted);
    // What is asked for by name is looked up by name, and by nobody in place of it.
    let nobody = Providers::default().executor("test");
    let wanted = "unconfigured: `x` is neither a configured model nor an address";
    assert_eq!(request(&nobody, "agent-task", payload), wanted);
    assert_eq!(request(&nobody, "hold", "{}"), "None");
}
