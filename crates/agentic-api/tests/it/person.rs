//! What only a person may do.

use agentic_api::verb::{CheckoutPlace, Spawn};
use agentic_api::{Caller, Surroundings, Verb, principal, require_person};
use agentic_model::guidance::ErrorClass;
use agentic_session::{SessionOptions, SessionSpace};

use crate::place::{as_agent, named, place};

#[test]
fn an_agent_at_work_is_refused_wherever_it_stands() {
    let (sandbox, space) = place();
    let person = Caller::new(&space, sandbox.start());
    person.require_person("decide").expect("nobody is at work");
    let refused = as_agent("alice", &space, &sandbox).require_person("decide");
    let refused = refused.expect_err("an agent");
    assert_eq!(refused.class, ErrorClass::NotAllowed);
    assert_eq!(refused.message, "an agent may not decide: AGENTIC_AGENT is set");
    let performing = Surroundings { request: Some("1".to_owned()), ..Surroundings::default() };
    let refused = require_person("say what counts", &performing, None).expect_err("a program");
    assert_eq!(refused.message, "an agent may not say what counts: AGENTIC_REQUEST is set");
    require_person("say what counts", &Surroundings::default(), None).expect("a person");
}

#[test]
fn the_worktree_of_an_agent_is_no_place_of_a_person() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let there = Spawn { worktree: CheckoutPlace::Folder("work".into()), ..named("alice") };
    there.run(&caller).expect("the name is free");
    let folder = sandbox.start().join("work");
    let inside = SessionSpace::open(&folder, SessionOptions::default()).expect("a worktree");
    let refused = Caller::new(&inside, &folder).require_person("decide").expect_err("a worktree");
    assert_eq!(refused.class, ErrorClass::NotAllowed);
    assert_eq!(refused.message, "this is the worktree of `alice`, and an agent may not decide");
}

#[test]
fn a_person_is_who_git_says() {
    let (sandbox, space) = place();
    assert_eq!(principal(&space).expect("git knows Ada"), "user:ada");
    sandbox.git(sandbox.start(), &["config", "user.email", "@x"]).expect("writable");
    let space =
        SessionSpace::open(sandbox.start(), SessionOptions::default()).expect("a repository");
    assert_eq!(principal(&space).expect("git knows Ada"), "user:Ada");
}
