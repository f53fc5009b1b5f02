//! Agents: making them, looking at them, folding them away.

use std::fs;

use agentic_api::verb::{
    Archive, BriefingSource, CheckoutPlace, ListAgents, ListArchive, Restore, SpawnBeginning,
};
use agentic_api::verb::{Show, ShowBriefing, Spawn, Tree};
use agentic_api::view::{AgentView, ShowView};
use agentic_api::{Caller, Verb};
use agentic_model::guidance::ErrorClass;
use serde_json::{json, to_value};

use crate::place::{as_agent, from, named, place, refusal};

#[test]
fn an_agent_is_made_listed_shown_and_drawn() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let made = named("alice").run(&caller).expect("the name is free");
    assert!(made.notices.is_empty());
    assert_eq!(made.answer.branch, "refs/heads/agents/alice");
    from("bob", "alice").run(&caller).expect("the name is free");

    let lines = ListAgents {}.run(&caller).expect("readable").answer;
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
    let no_commit =
        Spawn { beginning: SpawnBeginning::Commit("nothing".to_owned()), ..named("carol") };
    assert_eq!(refusal(no_commit.run(&caller)).class, ErrorClass::Refused);
    assert_eq!(ListAgents {}.run(&caller).expect("readable").answer.len(), 1);
}

#[test]
fn a_worktree_that_cannot_be_made_is_told_and_does_not_undo_the_agent() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    let folder = sandbox.start().join("taken");
    fs::create_dir(&folder).expect("writable");
    fs::write(folder.join("file"), "x").expect("writable");
    let inside = Spawn { worktree: CheckoutPlace::Folder("taken".into()), ..named("alice") };
    let refused = refusal(inside.run(&caller));
    assert_eq!(refused.class, ErrorClass::Refused);
    assert!(ListAgents {}.run(&caller).expect("readable").answer.is_empty());

    let there = Spawn { worktree: CheckoutPlace::Folder("free".into()), ..named("alice") };
    let made = there.run(&caller).expect("the name is free").answer;
    assert!(made.worktree.is_some_and(|path| path.ends_with("free")));
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
    assert!(ListAgents {}.run(&caller).expect("readable").answer.is_empty());
    assert_eq!(ListArchive {}.run(&caller).expect("readable").answer.len(), 1);
    assert_eq!(refusal(named("alice").run(&caller)).class, ErrorClass::Conflict);
    Restore { agents: alice() }.run(&caller).expect("it is archived");
    assert_eq!(ListAgents {}.run(&caller).expect("readable").answer.len(), 1);
    assert_eq!(refusal(Restore { agents: alice() }.run(&caller)).class, ErrorClass::Refused);
}

#[test]
fn a_briefing_is_read_as_data_and_as_text() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    named("alice").run(&caller).expect("the name is free");
    let document = r#"{"type":"briefing","text":"Go on","n":1}"#.to_owned();
    let briefing = BriefingSource::Document(document);
    Spawn { briefing, ..named("bob") }.run(&caller).expect("the name is free");
    let of = |agent: &str| ShowBriefing { agent: Some(agent.to_owned()) };
    let data = of("bob").run(&caller).expect("it has one").answer.0;
    assert_eq!((&data["text"], &data["n"]), (&json!("Go on"), &json!(1)));
    assert!(data["cid"].as_str().is_some_and(|cid| cid.starts_with("bafy")), "{data}");
    let text = of("alice").read(&caller).expect("it has one").text().expect("it is one");
    assert_eq!(text, "Do the work of alice");
    let own = as_agent("alice", &space, &sandbox);
    assert!(ShowBriefing::default().run(&own).is_ok());
    assert_eq!(refusal(of("nobody").run(&caller)).class, ErrorClass::Refused);
    assert_eq!(refusal(of("A b").run(&caller)).class, ErrorClass::Usage);
    assert_eq!(refusal(ShowBriefing::default().run(&caller)).class, ErrorClass::Usage);
}
