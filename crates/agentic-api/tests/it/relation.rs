//! Relations between agents.

use agentic_api::verb::{
    EdgeChange, ListRelations, Merge, MergedAgents, Relate, Reviewers, SubAgents,
};
use agentic_api::{Caller, Verb};
use agentic_model::guidance::ErrorClass;

use crate::place::{from, named, place, refusal, write};

#[test]
fn a_relation_is_asserted_and_retracted_once() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    let reviews = |change| Relate {
        source: "user:ada".to_owned(),
        relation: "reviews".to_owned(),
        target: "alice".to_owned(),
        change,
    };
    reviews(EdgeChange::Assert).run(&caller).expect("it is free");
    reviews(EdgeChange::Retract).run(&caller).expect("it holds");
    let gone = refusal(reviews(EdgeChange::Retract).run(&caller));
    assert_eq!(gone.class, ErrorClass::Refused);
    let derived = Relate { relation: "sub-agent-of".to_owned(), ..reviews(EdgeChange::Assert) };
    assert!(derived.run(&caller).is_err());
}

#[test]
fn what_holds_between_agents_is_listed() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    from("bob", "alice").run(&caller).expect("the name is free");
    from("carol", "bob").run(&caller).expect("the name is free");
    let edge = Relate {
        source: "user:ada".to_owned(),
        relation: "reviews".to_owned(),
        target: "alice".to_owned(),
        change: EdgeChange::Assert,
    };
    edge.run(&caller).expect("it is free");
    write(&space, "bob", "file", "x");
    let merge = Merge { agent: "bob".to_owned(), into: "alice".to_owned(), ..Merge::default() };
    merge.run(&caller).expect("it merges");

    let alice = || "alice".to_owned();
    let below = |all| SubAgents { agent: alice(), all }.run(&caller).expect("it is there").answer;
    assert_eq!(
        (below(false), below(true)),
        (vec!["bob".to_owned()], vec!["bob".to_owned(), "carol".to_owned()])
    );
    assert_eq!(
        Reviewers { agent: alice() }.run(&caller).expect("it is there").answer,
        ["user:ada"]
    );
    assert_eq!(MergedAgents { agent: alice() }.run(&caller).expect("it is there").answer, ["bob"]);
    let listed = |of: Option<&str>, kind: Option<&str>| {
        let (of, kind) = (of.map(str::to_owned), kind.map(str::to_owned));
        ListRelations { of, kind }.run(&caller).map(|reply| reply.answer.len())
    };
    assert_eq!(listed(Some("user:ada"), None).expect("readable"), 1);
    assert_eq!(listed(None, Some("reviews")).expect("readable"), 1);
    assert_eq!(listed(Some("user:ada"), Some("merged-into")).expect("readable"), 0);
    assert!(listed(None, None).expect("readable") > 3);
    assert_eq!(listed(Some("A b"), None).expect_err("no name").class, ErrorClass::Usage);
    let nobody = SubAgents { agent: "nobody".to_owned(), all: true };
    assert_eq!(refusal(nobody.run(&caller)).class, ErrorClass::Refused);
}
