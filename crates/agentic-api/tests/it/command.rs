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
    from_str::<Command>(r#"{"verb":"stats","by":"agent"}"#).expect("a command");
    for bad in [
        r#"{"verb":"nothing"}"#,
        r#"{"verb":"show"}"#,
        r#"{"verb":"log","limit":-1}"#,
        r#"{"verb":"show","id":"alice","more":1}"#,
        r#"{"verb":"stats","by":"person"}"#,
    ] {
        assert!(from_str::<Command>(bad).is_err(), "{bad}");
    }
    let refused = refusal(Show { id: "nothing".to_owned() }.run(&caller));
    let view = to_value(refused.view()).expect("data");
    assert_eq!((&view["code"], &view["kind"]), (&json!(1), &json!("refused")));
}

#[test]
fn every_name_is_a_verb_and_the_looking_ones_answer_an_empty_repository() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let mut n_answered = 0;
    for name in Command::NAMES {
        let text = json!({ "verb": name }).to_string();
        match from_str::<Command>(&text) {
            // What it lacks is said by name.
            Err(error) => assert!(error.to_string().contains("missing field"), "{name}: {error}"),
            Ok(command) => {
                let is_look = ["agents", "tree", "log", "relations", "pending", "doctor"];
                let is_list = name.ends_with("-list") && *name != "credential-list";
                if (is_list && *name != "allow-list") || is_look.contains(name) {
                    let answer = command.run(&caller);
                    // Without an agent there is no log.
                    assert_eq!(answer.is_err(), *name == "log", "{name}: {answer:?}");
                    n_answered += 1;
                }
            }
        }
    }
    assert!(n_answered >= 8, "{n_answered}");
    let unique: std::collections::BTreeSet<_> = Command::NAMES.iter().collect();
    assert_eq!(unique.len(), Command::NAMES.len());
}

#[test]
fn a_piece_of_work_goes_through_as_json() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let ask = |text: &serde_json::Value| {
        let command: Command = from_str(&text.to_string()).expect("a command");
        let reply = command.run(&caller).map_err(|refusal| refusal.view().code)?;
        Ok::<_, u8>(to_value(reply.answer).expect("data"))
    };
    let spawn = json!({"verb": "spawn", "name": "alice", "briefing": {"text": "Go"}});
    ask(&spawn).expect("the name is free");
    assert_eq!(ask(&spawn), Err(3));
    let entry = json!({"verb": "trace-add", "agent": "alice", "body": {"text": "looked"}});
    assert_eq!(ask(&entry).expect("writable")["pending"], 1);
    let commit = json!({
        "verb": "commit", "agent": "alice", "message": "Work", "trace": true,
        "fields": {"n": 1}, "source": {"edits": {"src/a.rs": "text", "run": {"text": "x", "executable": true}}},
    });
    let made = ask(&commit).expect("it is new");
    assert_eq!(made["changed"], json!(["run", "src/a.rs"]));
    let log = ask(&json!({"verb": "log", "agent": "alice", "limit": 1})).expect("readable");
    assert_eq!((&log[0]["commit"], &log[0]["fields"]), (&made["commit"], &json!({"n": 1})));
    let begin = json!({
        "verb": "session-start", "agent": "alice", "key": "k", "flow": {"script": "hold(\"Go?\").action"},
    });
    let request = ask(&begin).expect("it parses")["pending"][0].clone();
    let question = ask(&json!({"verb": "question", "request": request})).expect("it is open");
    let decide = json!({
        "verb": "decide", "request": request, "answer": {"act": {"action": "approve"}},
        "seen": {"shown": question["shown"], "at": question["at"]},
        "expect": question["hold"]["request_hash"],
    });
    assert_eq!(ask(&decide).expect("Ada may")["state"], "done");
    let other =
        json!({"verb": "decide", "request": request, "answer": {"act": {"action": "reject"}}});
    assert_eq!(ask(&other), Err(8));
    let shown = ask(&json!({"verb": "session-show", "session": "alice"})).expect("it is there");
    assert_eq!(shown["result"], "approve");
}

#[test]
fn every_verb_has_a_schema_of_what_it_takes_and_of_what_it_answers() {
    let takes = Command::schemas();
    let answers = to_value(Answer::schema()).expect("data");
    for name in Command::NAMES {
        let schema = to_value(&takes[name]).expect("data");
        assert_eq!(schema["type"], "object", "{name}: {schema}");
        assert!(!answers["properties"][name].is_null(), "{name}");
    }
    assert_eq!(takes.len(), Command::NAMES.len());
}
