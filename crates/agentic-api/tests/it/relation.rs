//! Relations between agents.

use agentic_api::verb::{EdgeChange, Relate};
use agentic_api::{Caller, Verb};
use agentic_model::guidance::ErrorClass;

use crate::place::{named, place, refusal};

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
