//! Verbs that come as JSON.

use agentic_api::verb::Show;
use agentic_api::{Answer, Caller, Command, Verb};
use serde_json::{from_str, json, to_value};

use crate::place::{place, refusal};

#[test]
fn a_command_is_json_and_unknown_fields_are_refused() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let text = r#"{"verb":"spawn","name":"alice","briefing":{"text":"Go"},"beginning":"empty"}"#;
    let command: Command = from_str(text).expect("a command");
    let answer = command.run(&caller).expect("the name is free").answer;
    assert!(matches!(&answer, Answer::Spawn(view) if view.agent == "alice"));
    let list: Command = from_str(r#"{"verb":"agents"}"#).expect("a command");
    let answer = to_value(list.run(&caller).expect("readable").answer).expect("data");
    assert_eq!(answer[0]["agent"], "alice");
    for bad in [
        r#"{"verb":"nothing"}"#,
        r#"{"verb":"show"}"#,
        r#"{"verb":"log","limit":-1}"#,
        r#"{"verb":"show","id":"alice","more":1}"#,
    ] {
        assert!(from_str::<Command>(bad).is_err(), "{bad}");
    }
    let refused = refusal(Show { id: "nothing".to_owned() }.run(&caller));
    let view = to_value(refused.view()).expect("data");
    assert_eq!((&view["code"], &view["kind"]), (&json!(1), &json!("refused")));
}
