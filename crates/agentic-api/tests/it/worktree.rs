//! Agents checked out into folders of their own.

use std::fs;
use std::path::PathBuf;

use agentic_api::verb::{WorktreeAdd, WorktreeList, WorktreeRemove, WorktreeSync};
use agentic_api::{Caller, Verb};
use agentic_model::guidance::ErrorClass;

use crate::place::{as_agent, named, place, refusal, write};

#[test]
fn a_worktree_is_added_listed_brought_along_and_removed() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    write(&space, "alice", "file", "one");
    let folder = Some(PathBuf::from("work"));
    let added = WorktreeAdd { folder, agent: None }.run(&caller).expect("it is free").answer;
    let work = PathBuf::from(&added.path);
    assert!(work.join("file").exists());
    let list = || WorktreeList {}.run(&caller).expect("readable").answer;
    assert!(
        matches!(list().as_slice(), [one] if one.clean && !one.stale && one.base == added.base)
    );

    let again = WorktreeAdd { agent: None, folder: Some("other".into()) }.run(&caller);
    assert_eq!(refusal(again).class, ErrorClass::Refused);
    let synced = WorktreeSync::default().run(&caller).expect("nothing is to do").answer;
    assert_eq!((&synced.from, &synced.to), (&added.base, &added.base));

    fs::write(work.join("new"), "x").expect("writable");
    assert!(!list()[0].clean);
    let remove = |force| WorktreeRemove { agent: "alice".to_owned(), force }.run(&caller);
    assert_eq!(refusal(remove(false)).class, ErrorClass::Refused);
    assert!(work.join("new").exists());
    remove(true).expect("its work is given up");
    assert!(!work.exists() && list().is_empty());
    assert_eq!(refusal(remove(true)).class, ErrorClass::Refused);
}

#[test]
fn a_worktree_needs_an_agent_that_there_is() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let add = |agent: Option<&str>| {
        let agent = agent.map(str::to_owned);
        refusal(WorktreeAdd { agent, folder: Some("work".into()) }.run(&caller)).class
    };
    assert_eq!(add(None), ErrorClass::Usage);
    assert_eq!(add(Some("A b")), ErrorClass::Usage);
    assert_eq!(add(Some("nobody")), ErrorClass::Refused);
    assert!(!sandbox.start().join("work").exists());
    let sync = WorktreeSync { agent: Some("nobody".to_owned()) };
    assert_eq!(refusal(sync.run(&caller)).class, ErrorClass::Refused);
}
