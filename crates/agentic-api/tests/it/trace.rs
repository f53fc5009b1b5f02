//! What an agent saw and said.

use agentic_api::Verb;
use agentic_api::verb::{
    EntryBody, TraceAdd, TraceAttach, TraceBindings, TraceHistory, TracePending, TraceShow,
};
use agentic_model::guidance::ErrorClass;

use crate::place::{as_agent, named, place, refusal};

#[test]
fn entries_are_added_bound_and_found_again() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    let add = |body| TraceAdd { agent: None, kind: None, body }.run(&caller);
    add(EntryBody::Text("one".to_owned())).expect("writable");
    let added = add(EntryBody::Base64("AP8=".to_owned())).expect("writable").answer;
    assert_eq!((added.bytes, added.pending), (2, 2));
    assert_eq!(refusal(add(EntryBody::Base64("?".to_owned()))).class, ErrorClass::Usage);
    let pending = TracePending::default().run(&caller).expect("readable").answer;
    assert_eq!(pending.len(), 2);
    let commit = "agents/alice".to_owned();
    let attach = || TraceAttach { commit: commit.clone(), agent: None }.run(&caller);
    let attached = attach().expect("it is alice's").answer;
    let shown = TraceShow { id: "alice".to_owned() }.run(&caller).expect("readable").answer;
    assert_eq!((shown.cid, shown.entries.len()), (attached.cid.clone(), 2));
    let history = TraceHistory { commit: commit.clone() }.run(&caller).expect("readable").answer;
    assert_eq!(history[0].cid.as_ref(), Some(&attached.cid));
    assert_eq!(refusal(attach()).class, ErrorClass::Refused);
}

#[test]
fn bindings_are_held_against_the_one_before() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    let commit = "agents/alice".to_owned();
    for texts in [["one", "two"], ["three", "four"]] {
        for text in texts {
            let body = EntryBody::Text(text.to_owned());
            TraceAdd { agent: None, kind: None, body }.run(&caller).expect("writable");
        }
        let attach = TraceAttach { commit: commit.clone(), agent: None };
        attach.run(&caller).expect("it is alice's");
    }
    let found = TraceBindings { commit }.run(&caller).expect("readable").answer;
    let found: Vec<_> = found
        .iter()
        .map(|one| (one.entries, one.added.as_slice(), one.left_out.as_slice()))
        .collect();
    // What is bound later goes on where the trace before ends, so nothing is left out.
    assert_eq!(found, [(Some(4), &[3, 4][..], &[][..]), (Some(2), &[1, 2][..], &[])]);
}
