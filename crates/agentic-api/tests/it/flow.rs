//! Durable runs: what they came to, who drives them, who is asked.

use agentic_api::verb::{FlowAsk, FlowResult, FlowWorker};
use agentic_api::view::RunAnswer;
use agentic_api::{Caller, Surroundings, Verb, VerbCompletion, VerbEvent, VerbWatcher};
use agentic_model::guidance::ErrorClass;
use agentic_providers::host::CancelFlag;
use serde_json::{json, to_value};

use crate::place::{as_agent, place, refusal, start};

fn result(run: &str) -> FlowResult {
    FlowResult { run: run.to_owned() }
}

fn worker(run: Option<&str>) -> FlowWorker {
    FlowWorker { run: run.map(str::to_owned) }
}

#[test]
fn a_run_tells_what_it_came_to_once_it_is_over() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    start(&space, "done", "#{blocks: [#{index: 0, result: 1}]}");
    let reply = result("done").run(&caller).expect("it is over");
    assert!(matches!(reply.completion, VerbCompletion::Whole));
    let told = to_value(&reply.answer).expect("data");
    assert_eq!(told, json!({"blocks": [{"index": 0, "result": 1, "run_id": "k"}]}));

    start(&space, "held", "hold(\"Go?\").action");
    let reply = result("held").run(&caller).expect("it is there");
    assert!(matches!(reply.completion, VerbCompletion::Held) && reply.notices.len() == 1);
    let RunAnswer::Standing(view) = reply.answer else { panic!("it is not over") };
    assert_eq!((view.state.as_str(), view.holds.len()), ("held", 1));

    start(&space, "failed", "throw \"no\"");
    let refused = refusal(result("failed").run(&caller));
    assert_eq!(refused.class, ErrorClass::Refused);
    assert!(refused.ended_with.is_some(), "{refused:?}");
    assert!(result("nobody").run(&caller).is_err());
}

#[test]
fn a_worker_drives_one_run_or_all_until_it_is_stopped() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    start(&space, "alice", "hold(\"Go?\").action");
    let reply = worker(Some("alice")).run(&caller).expect("it is there");
    assert_eq!(reply.answer.len(), 1);
    assert_eq!(reply.answer[0].state, "held");
    assert!(worker(Some("nobody")).run(&caller).is_err());

    // One that is stopped before it begins has nothing to tell.
    let stop = CancelFlag::new();
    stop.set();
    let (watcher, told) = VerbWatcher::channel(stop);
    let stopped = Surroundings { watcher, ..caller.surroundings.clone() };
    let stopped = Caller { surroundings: stopped, ..Caller::new(&space, sandbox.start()) };
    assert!(worker(None).run(&stopped).expect("readable").answer.is_empty());
    drop(stopped);
    assert!(told.iter().all(|event| matches!(event, VerbEvent::Notice(_))));
}

#[test]
fn people_are_asked_by_a_person_and_where_a_way_leads_to_them() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    // Nothing is open: there is nobody to tell.
    let nothing = FlowAsk::default().run(&caller).expect("readable");
    assert!(nothing.answer.is_empty() && matches!(nothing.completion, VerbCompletion::Whole));
    start(&space, "alice", "hold(\"Go?\").action");
    let refused = refusal(FlowAsk::default().run(&caller));
    assert!(refused.message.starts_with("no route leads"), "{refused:?}");
    let agent = as_agent("alice", &space, &sandbox);
    assert_eq!(refusal(FlowAsk::default().run(&agent)).class, ErrorClass::NotAllowed);
}
