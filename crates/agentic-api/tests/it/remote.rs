//! Other repositories.

use agentic_api::verb::{Fetch, Init, ListAgents, Push};
use agentic_api::{Caller, Verb};
use agentic_model::guidance::ErrorClass;
use agentic_session::{SessionOptions, SessionSpace};
use agentic_testkit::Sandbox;

use crate::place::{named, place, refusal, write};

/// Makes an empty repository beside the one where tests run, and names it there.
fn remote(sandbox: &Sandbox, name: &str) -> std::path::PathBuf {
    let path = sandbox.start().with_file_name(format!("{name}.git"));
    let text = path.to_string_lossy().into_owned();
    sandbox.git(sandbox.start(), &["init", "-q", "--bare", &text]).expect("git is installed");
    sandbox.git(sandbox.start(), &["remote", "add", name, &text]).expect("the name is free");
    path
}

#[test]
fn an_agent_goes_to_a_remote_and_comes_back() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    write(&space, "alice", "file", "x");
    let url = remote(&sandbox, "origin");
    let space =
        SessionSpace::open(sandbox.start(), SessionOptions::default()).expect("a repository");
    let caller = Caller::new(&space, sandbox.start());
    let set_up = Init::default().run(&caller).expect("writable").answer;
    assert_eq!((set_up.remotes, set_up.changed), (vec!["origin".to_owned()], true));
    assert!(!Init::default().run(&caller).expect("writable").answer.changed);
    let pushed = Push::default().run(&caller).expect("it is reachable").answer;
    assert_eq!(pushed.remote, "origin");
    assert!(pushed.pushed.iter().any(|name| name.ends_with("agents/alice")), "{pushed:?}");
    assert!(Push::default().run(&caller).expect("it is reachable").answer.pushed.is_empty());

    let other = sandbox.start().with_file_name("other");
    let (from, to) = (url.to_string_lossy(), other.to_string_lossy());
    sandbox.git(sandbox.start(), &["clone", "-q", &from, &to]).expect("it is there");
    let there = SessionSpace::open(&other, SessionOptions::default()).expect("a repository");
    let caller = Caller::new(&there, &other);
    let adopt = Fetch { adopt: vec!["alice".to_owned()], ..Fetch::default() };
    assert_eq!(adopt.run(&caller).expect("it is reachable").answer.adopted, ["alice"]);
    assert_eq!(ListAgents {}.run(&caller).expect("readable").answer.len(), 1);
}

#[test]
fn a_remote_is_chosen_where_only_one_can_be_meant() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    assert_eq!(refusal(Push::default().run(&caller)).class, ErrorClass::Refused);
    remote(&sandbox, "one");
    remote(&sandbox, "two");
    let space =
        SessionSpace::open(sandbox.start(), SessionOptions::default()).expect("a repository");
    let caller = Caller::new(&space, sandbox.start());
    let several = refusal(Fetch::default().run(&caller));
    assert_eq!(several.class, ErrorClass::Usage);
    assert!(several.hint.contains("one, two"), "{}", several.hint);
    let bad = Push { agents: vec!["A b".to_owned()], ..Push::default() };
    assert_eq!(refusal(bad.run(&caller)).class, ErrorClass::Usage);
    let unknown = Push {
        agents: vec!["nobody".to_owned()],
        remote: Some("one".to_owned()),
        ..Push::default()
    };
    assert_eq!(refusal(unknown.run(&caller)).class, ErrorClass::Refused);
    let nowhere = Fetch { remote: Some("nowhere".to_owned()), ..Fetch::default() };
    assert!(nowhere.run(&caller).is_err());
}
