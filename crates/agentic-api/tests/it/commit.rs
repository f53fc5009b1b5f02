//! Commits: making them, and what an agent did.

use std::fs;
use std::path::PathBuf;

use agentic_api::verb::{
    CheckoutPlace, Commit, CommitSource, EntryBody, ListCommits, LogTraces, Spawn, TraceAdd,
};
use agentic_api::{Caller, Notice, Verb};
use agentic_model::Value;
use agentic_model::guidance::ErrorClass;
use agentic_testkit::Sandbox;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value as Json, from_value, json};

use crate::place::{as_agent, named, place, refusal, write};

fn edits(changes: &Json) -> CommitSource {
    CommitSource::of_edits(changes.to_string().into_bytes()).expect("a map")
}

fn of(changes: &Json) -> Commit {
    Commit { message: "Work".to_owned(), source: edits(changes), ..Commit::default() }
}

#[test]
fn a_log_is_read_as_far_as_it_is_asked_for() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    for at in 0..3 {
        write(&space, "alice", "file", &format!("step {at}"));
    }
    let log = ListCommits { limit: Some(2), ..ListCommits::default() };
    let newest = log.run(&caller).expect("readable").answer;
    assert_eq!(newest.len(), 2);
    assert_eq!(newest[0].subject, "step 2");
    let spawns = ListCommits { kind: Some("spawn".to_owned()), ..ListCommits::default() };
    let mut commits = spawns.commits(&caller, LogTraces::Read).expect("a kind");
    let genesis = commits.next().expect("there is one").expect("readable");
    assert_eq!(genesis.view.kind, "spawn");
    assert!(commits.next().is_none());
    let unknown = ListCommits { kind: Some("nonsense".to_owned()), ..ListCommits::default() };
    assert_eq!(refusal(unknown.run(&caller)).class, ErrorClass::Refused);
    let stranger = as_agent("No Name", &space, &sandbox);
    assert_eq!(refusal(ListCommits::default().run(&stranger)).class, ErrorClass::Usage);
}

#[test]
fn changes_are_committed_with_kind_fields_and_trace() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    let body = EntryBody::Text("looked".to_owned());
    TraceAdd { agent: None, kind: None, body }.run(&caller).expect("writable");
    let all = json!({
        "a": "text",
        "b": {"base64": "AP8="},
        "run": {"text": "#!/bin/sh\n", "executable": true},
        "link": {"symlink": "a"},
    });
    let fields = [("severity".to_owned(), Value::text("high"))].into_iter().collect();
    let kind = Some("finding".to_owned());
    let verb = Commit { kind, fields, trace: true, ..of(&all) };
    let done = verb.run(&caller).expect("it is new").answer;
    assert_eq!((done.agent.as_str(), done.kind.as_str()), ("alice", "finding"));
    assert_eq!(done.changed, ["a", "b", "link", "run"]);
    assert!(done.trace.is_some());
    let tree = sandbox.git(sandbox.start(), &["ls-tree", &done.commit]).expect("readable");
    for (mode, path) in [("100644", "a"), ("100644", "b"), ("120000", "link"), ("100755", "run")] {
        let has = |line: &str| line.starts_with(mode) && line.ends_with(&format!("\t{path}"));
        assert!(tree.lines().any(has), "{mode} {path}: {tree}");
    }
    let gone = of(&json!({"a": null})).run(&caller).expect("it is there").answer;
    assert_eq!((gone.changed, gone.trace), (vec!["a".to_owned()], None));
    let log = ListCommits::default().run(&caller).expect("readable").answer;
    assert_eq!(log[1].fields, json!({"severity": "high"}));
}

#[test]
fn what_describes_no_change_is_refused_as_a_value_that_does_not_fit() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    let genesis = named("alice").run(&caller).expect("the name is free").answer.genesis;
    for bytes in [&b"\xff"[..], b"[]", b"\"text\"", b"{", b"{\"a\":1,\"a\":2}"] {
        let refused = CommitSource::of_edits(bytes.to_vec()).expect_err("no map");
        assert_eq!(refused.class, ErrorClass::Schema, "{bytes:?}");
    }
    for change in [
        json!(1),
        json!([]),
        json!({}),
        json!({"text": 1}),
        json!({"text": "a", "base64": "AA=="}),
        json!({"base64": "?"}),
        json!({"text": "a", "executable": "yes"}),
        json!({"text": "a", "more": true}),
    ] {
        let refused = refusal(of(&json!({"file": change})).run(&caller));
        assert_eq!(refused.class, ErrorClass::Schema, "{change}");
        assert!(refused.message.contains("`file`"), "{}", refused.message);
    }
    let head = ListCommits::default().run(&caller).expect("readable").answer;
    assert_eq!((head.len(), &head[0].commit), (1, &genesis));
}

#[test]
fn a_commit_says_which_head_it_expects() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    let genesis = named("alice").run(&caller).expect("the name is free").answer.genesis;
    write(&space, "alice", "file", "newer");
    for expect in [genesis.as_str(), "nothing"] {
        let stale = Commit { expect: Some(expect.to_owned()), ..of(&json!({"a": "b"})) };
        assert_eq!(refusal(stale.run(&caller)).class, ErrorClass::Conflict, "{expect}");
    }
    let head = Some("agents/alice".to_owned());
    let expecting = Commit { expect: head, ..of(&json!({"a": "b"})) };
    expecting.run(&caller).expect("it is the head");
}

#[test]
fn a_commit_without_a_change_needs_to_be_asked_for() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    let same = json!({"file": "same"});
    of(&same).run(&caller).expect("it is new");
    assert_eq!(refusal(of(&same).run(&caller)).class, ErrorClass::Refused);
    let empty = Commit { allow_empty: true, ..of(&same) };
    assert!(empty.run(&caller).expect("it may be empty").answer.changed.is_empty());
    // Without a worktree there is nothing else that an empty commit could be made of.
    let bare = Commit { message: "Nothing".to_owned(), ..Commit::default() };
    let allowed = Commit { allow_empty: true, ..bare.clone() };
    assert!(allowed.run(&caller).expect("it may be empty").answer.changed.is_empty());
    assert_eq!(refusal(bare.run(&caller)).class, ErrorClass::Refused);
}

#[test]
fn a_worktree_a_folder_and_paths_are_committed() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let there = Spawn { worktree: CheckoutPlace::Folder("work".into()), ..named("alice") };
    let made = there.run(&caller).expect("the name is free").answer;
    let work = PathBuf::from(made.worktree.expect("it was asked for"));
    fs::write(work.join("a"), "a").expect("writable");
    fs::create_dir(work.join("inner")).expect("writable");
    sandbox.git(&work.join("inner"), &["init", "-q"]).expect("git is installed");
    let alice = Some("alice".to_owned());
    let base = || Commit { message: "Work".to_owned(), agent: alice.clone(), ..Commit::default() };
    let reply = base().run(&caller).expect("it is new");
    assert_eq!(reply.answer.changed, ["a"]);
    let [Notice::LeftOut { repositories }] = reply.notices.as_slice() else {
        panic!("a repository inside is told of: {:?}", reply.notices);
    };
    assert_eq!(repositories.len(), 1);

    fs::write(work.join("a"), "b").expect("writable");
    let own = CommitSource::Folder("work".into());
    let whole = Commit { source: own, ..base() }.run(&caller).expect("it is the worktree").answer;
    assert_eq!(whole.changed, ["a"]);
    let other = || CommitSource::Folder("other".into());
    let blind = refusal(Commit { source: other(), ..base() }.run(&caller));
    assert_eq!(blind.class, ErrorClass::Usage);
    let expect = Some(whole.commit);
    let absent = Commit { source: other(), expect: expect.clone(), ..base() };
    assert_eq!(refusal(absent.run(&caller)).class, ErrorClass::Refused);
    fs::create_dir(sandbox.start().join("other")).expect("writable");
    let snapshot = Commit { source: other(), expect, ..base() }.run(&caller);
    assert_eq!(snapshot.expect("it is there").answer.changed, ["a"]);

    fs::write(sandbox.start().join("p"), "p").expect("writable");
    let paths = CommitSource::Paths(vec!["p".into()]);
    let picked = Commit { source: paths, ..base() }.run(&caller).expect("it is there").answer;
    assert_eq!(picked.changed, ["p"]);
}

#[test]
fn a_commit_without_an_agent_or_with_a_bad_name_is_wrong_usage() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    let nobody = refusal(of(&json!({"a": "b"})).run(&caller));
    assert_eq!(nobody.class, ErrorClass::Usage);
    let alice = Some("alice".to_owned());
    for (agent, kind) in [(Some("A b".to_owned()), None), (alice, Some("No Kind".to_owned()))] {
        let verb = Commit { agent, kind, ..of(&json!({"a": "b"})) };
        assert_eq!(refusal(verb.run(&caller)).class, ErrorClass::Usage);
    }
    for bad in [json!({"fields": []}), json!({"source": "elsewhere"}), json!({"more": 1})] {
        assert!(from_value::<Commit>(bad.clone()).is_err(), "{bad}");
    }
    let text = json!({"message": "m", "fields": {"n": 1}, "source": {"edits": {"a": "b"}}});
    let verb: Commit = from_value(text).expect("a commit");
    assert_eq!(verb.fields.get("n"), Some(&Value::Int(1)));
}

fn git(sandbox: &Sandbox, arguments: &[&str]) -> String {
    sandbox.git(sandbox.start(), arguments).expect("git knows it")
}

#[test]
fn long_contents_are_committed_as_short_ones_are() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    named("alice").run(&caller).expect("the name is free");
    let line = "a line with \"quotes\", ä, € and 😀\n";
    let long = line.repeat(300_000);
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at / 7 % 251) as u8).collect();
    let encoded = BASE64.encode(&bytes);
    let changes = json!({
        "long": &long,
        "run": {"executable": true, "text": &long},
        "bytes": {"base64": encoded},
        "short": "x",
        "gone": null,
    });
    let text = changes.to_string();
    assert!(text.len() > 16 << 20, "it is not kept in memory");
    let source = CommitSource::of_stream(&mut text.as_bytes(), &space).expect("a map");
    assert!(matches!(source, CommitSource::LongEdits(_)));
    let verb = Commit { message: "Long".to_owned(), source, ..Commit::default() };
    let commit = verb.run(&caller).expect("there is room").answer.commit;
    let names = git(&sandbox, &["ls-tree", &commit]);
    assert!(names.contains("100755 blob") && names.contains("\tshort"), "{names}");
    assert_eq!(git(&sandbox, &["show", &format!("{commit}:long")]), long);
    assert_eq!(git(&sandbox, &["show", &format!("{commit}:run")]), long);
    let size = git(&sandbox, &["cat-file", "-s", &format!("{commit}:bytes")]);
    assert_eq!(size.trim(), bytes.len().to_string());

    let refused = |text: String| {
        let source = CommitSource::of_stream(&mut text.as_bytes(), &space);
        let run = |source| Commit { source, ..Commit::default() }.run(&caller);
        refusal(source.and_then(run)).class
    };
    let long = "x".repeat(17 << 20);
    for broken in [
        format!("{{\"{long}\": null}}"),
        format!("{{\"a\": {{\"base64\": \"{long}!\"}}}}"),
        format!("{{\"a\": {{\"text\": \"{long}\", \"symlink\": \"b\"}}}}"),
        format!("{{\"a\": [\"{long}\"]}}"),
        format!("{{\"a\": \"{long}\\q\"}}"),
        format!("{{\"a\": \"{long}\", "),
        format!("{{\"a\": \"{long}"),
    ] {
        assert_eq!(refused(broken), ErrorClass::Schema);
    }
    let begun = space.repository().layout().begun_packs();
    let left = fs::read_dir(begun).expect("readable").count();
    assert_eq!(left, 0, "nothing waits any more");
}
