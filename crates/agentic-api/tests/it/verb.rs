use std::fs;

use agentic_api::verb::{Agents, Beginning, BriefingSource, EdgeChange, ForkPoint, Log, LogTraces};
use agentic_api::verb::{
    Archive, EntryBody, ListArchive, Merge, Place, Relate, Restore, Show, Spawn,
};
use agentic_api::verb::{TraceAdd, TraceAttach, TraceHistory, TracePending, TraceShow, Tree};
use agentic_api::view::{AgentView, MergeView, ShowView};
use agentic_api::{Answer, Caller, Command, Refusal, Reply, Verb};
use agentic_model::guidance::ErrorClass;
use agentic_session::{Options, SessionSpace};
use agentic_space::commit::{Capture, commit};
use agentic_space::model::AgentName;
use agentic_testkit::{Sandbox, Setup, small_draft};
use serde_json::{from_str, json, to_value};

fn place() -> (Sandbox, SessionSpace) {
    let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        sandbox.git(sandbox.start(), &["config", key, value]).expect("writable");
    }
    let space = SessionSpace::open(sandbox.start(), Options::default()).expect("a repository");
    (sandbox, space)
}

fn named(name: &str) -> Spawn {
    Spawn {
        name: name.to_owned(),
        briefing: BriefingSource::Text(format!("Do the work of {name}")),
        beginning: Beginning::Empty,
        worktree: Place::Nowhere,
    }
}

fn from(name: &str, parent: &str) -> Spawn {
    Spawn { beginning: Beginning::Agent(parent.to_owned()), ..named(name) }
}

fn refusal<A>(outcome: Result<Reply<A>, Refusal>) -> Refusal {
    outcome.err().expect("it is refused")
}

fn write(space: &SessionSpace, agent: &str, path: &str, text: &str) {
    let agent = AgentName::parse(agent).expect("valid");
    commit(space, &agent, &small_draft(path, text, Capture::Nothing)).expect("writable");
}

#[test]
fn an_agent_is_made_listed_shown_and_drawn() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let made = named("alice").run(&caller).expect("the name is free");
    assert!(made.notices.is_empty());
    assert_eq!(made.answer.branch, "refs/heads/agents/alice");
    from("bob", "alice").run(&caller).expect("the name is free");

    let lines = Agents {}.run(&caller).expect("readable").answer;
    let names: Vec<_> = to_value(&lines).expect("data").as_array().cloned().unwrap_or_default();
    assert_eq!(names.len(), 2);
    assert_eq!((&names[1]["agent"], &names[1]["parent"]), (&json!("bob"), &json!("alice")));

    let shown = Show { id: "alice".to_owned() }.run(&caller).expect("readable").answer;
    let ShowView::Agent { agent: AgentView { genesis, .. }, .. } = shown else {
        panic!("an agent is shown as one");
    };
    assert_eq!(genesis.as_ref(), Some(&made.answer.genesis));

    let tree = Tree {}.run(&caller).expect("readable").answer;
    assert_eq!(tree[0].children[0].agent, "bob");
}

#[test]
fn a_spawn_is_refused_with_class_and_hint_and_leaves_nothing() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    let taken = refusal(named("alice").run(&caller));
    assert_eq!(taken.class, ErrorClass::Conflict);
    assert!(taken.hint.contains("agentic agents"), "{}", taken.hint);

    let no_name = refusal(named("A b").run(&caller));
    assert_eq!(no_name.class, ErrorClass::Usage);
    let no_parent = refusal(from("carol", "nobody").run(&caller));
    assert_eq!(no_parent.class, ErrorClass::Refused);
    let document = BriefingSource::Document(r#"{"type":"briefing"}"#.to_owned());
    let no_text = refusal(Spawn { briefing: document, ..named("carol") }.run(&caller));
    assert_eq!(no_text.class, ErrorClass::Schema);
    let no_commit = Spawn { beginning: Beginning::Commit("nothing".to_owned()), ..named("carol") };
    assert_eq!(refusal(no_commit.run(&caller)).class, ErrorClass::Refused);
    assert_eq!(Agents {}.run(&caller).expect("readable").answer.len(), 1);
}

#[test]
fn a_worktree_that_cannot_be_made_is_told_and_does_not_undo_the_agent() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let folder = sandbox.start().join("taken");
    fs::create_dir(&folder).expect("writable");
    fs::write(folder.join("file"), "x").expect("writable");
    let inside = Spawn { worktree: Place::Folder("taken".into()), ..named("alice") };
    let refused = refusal(inside.run(&caller));
    assert_eq!(refused.class, ErrorClass::Refused);
    assert!(Agents {}.run(&caller).expect("readable").answer.is_empty());

    let there = Spawn { worktree: Place::Folder("free".into()), ..named("alice") };
    let made = there.run(&caller).expect("the name is free").answer;
    assert!(made.worktree.is_some_and(|path| path.ends_with("free")));
}

#[test]
fn a_log_is_read_as_far_as_it_is_asked_for() {
    let (sandbox, space) = place();
    let caller = Caller { agent: Some("alice".to_owned()), ..Caller::new(&space, sandbox.start()) };
    named("alice").run(&caller).expect("the name is free");
    for at in 0..3 {
        write(&space, "alice", "file", &format!("step {at}"));
    }
    let log = Log { limit: Some(2), ..Log::default() };
    let newest = log.run(&caller).expect("readable").answer;
    assert_eq!(newest.len(), 2);
    assert_eq!(newest[0].subject, "step 2");
    let spawns = Log { kind: Some("spawn".to_owned()), ..Log::default() };
    let mut commits = spawns.commits(&caller, LogTraces::Read).expect("a kind");
    let genesis = commits.next().expect("there is one").expect("readable");
    assert_eq!(genesis.view.kind, "spawn");
    assert!(commits.next().is_none());
    let unknown = Log { kind: Some("nonsense".to_owned()), ..Log::default() };
    assert_eq!(refusal(unknown.run(&caller)).class, ErrorClass::Refused);
    let stranger = Caller { agent: Some("No Name".to_owned()), ..caller };
    assert_eq!(refusal(Log::default().run(&stranger)).class, ErrorClass::Usage);
}

#[test]
fn a_conflict_is_an_answer_and_a_merge_a_commit() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    from("bob", "alice").run(&caller).expect("the name is free");
    write(&space, "bob", "file", "of bob");
    let merge = || Merge { agent: "bob".to_owned(), into: "alice".to_owned(), ..Merge::default() };
    let merged = merge().run(&caller).expect("it merges").answer;
    assert!(matches!(merged, MergeView::Merged { .. }));
    let again = merge().run(&caller).expect("nothing is new").answer;
    assert!(matches!(again, MergeView::UpToDate { .. }));
    write(&space, "alice", "file", "of alice");
    write(&space, "bob", "file", "of bob again");
    let conflict = merge().run(&caller).expect("a conflict is an answer").answer;
    assert!(matches!(conflict, MergeView::Conflict { ref conflicts, .. } if conflicts.len() == 1));
    let found = ForkPoint { left: "alice".to_owned(), right: "bob".to_owned() };
    assert_eq!(found.run(&caller).expect("they have one").answer.commit.len(), 40);
}

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
fn entries_are_added_bound_and_found_again() {
    let (sandbox, space) = place();
    let caller = Caller { agent: Some("alice".to_owned()), ..Caller::new(&space, sandbox.start()) };
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
fn agents_are_folded_away_all_or_none_and_come_back() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    let both = vec!["alice".to_owned(), "bob".to_owned()];
    assert_eq!(refusal(Archive { agents: both }.run(&caller)).class, ErrorClass::Refused);
    let alice = || vec!["alice".to_owned()];
    Archive { agents: alice() }.run(&caller).expect("nobody works on it");
    assert!(Agents {}.run(&caller).expect("readable").answer.is_empty());
    assert_eq!(ListArchive {}.run(&caller).expect("readable").answer.len(), 1);
    assert_eq!(refusal(named("alice").run(&caller)).class, ErrorClass::Conflict);
    Restore { agents: alice() }.run(&caller).expect("it is archived");
    assert_eq!(Agents {}.run(&caller).expect("readable").answer.len(), 1);
    assert_eq!(refusal(Restore { agents: alice() }.run(&caller)).class, ErrorClass::Refused);
}

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
