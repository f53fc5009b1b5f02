//! Holds: which are listed for whom, and which one a text names.

use agentic_replay::record::CancelMode;
use agentic_session::decide::{Action, decide};
use agentic_session::error::RequestError;
use agentic_session::hold::name::{NamedRequest, find_hold};
use agentic_session::hold::{Filter, HoldScope, Overdue, pending};
use agentic_session::outlook::outlook;
use agentic_session::{Error, SessionState, overtaken, tick};
use agentic_space::spawn::SpawnOrigin;

use crate::kit::{EPOCH_MS, Stage, by, draft, name, second};

/// Makes alice, bob who was forked from her, and carol, each with a hold of their own.
fn three() -> Stage {
    let stage = Stage::at(second(0));
    let bob = stage.spawn("bob", &SpawnOrigin::Agent(stage.agent.clone()));
    let carol = stage.spawn("carol", &SpawnOrigin::Root);
    stage.start_as(&stage.agent, "a", "hold(\"One?\", #{assignees: [\"user:ada\"]})");
    let deadline = EPOCH_MS + 5000;
    stage.start_as(&bob, "b", &format!("hold(\"Two?\", #{{deadline: {deadline}}})"));
    stage.start_as(&carol, "c", "suspend(\"go\")");
    stage
}

/// Lists the agents of the holds that are wanted.
fn agents(stage: &Stage, filter: &Filter) -> Vec<String> {
    let found = pending(&stage.space, filter).expect("readable");
    let mut agents: Vec<_> = found.iter().map(|hold| hold.hold.agent.to_string()).collect();
    agents.sort();
    agents
}

#[test]
fn holds_are_listed_as_they_are_wanted() {
    let stage = three();
    let all = Filter::default;
    let of = |agent: &str| Filter { agent: Some(name(agent)), ..all() };
    for (filter, wanted) in [
        (all(), &["alice", "bob", "carol"][..]),
        (of("alice"), &["alice"]),
        (Filter { reach: HoldScope::Subtree, ..of("alice") }, &["alice", "bob"]),
        (of("nobody"), &[]),
        (Filter { kind: Some("suspend".to_owned()), ..all() }, &["carol"]),
        (Filter { assignee: Some("user:ada".to_owned()), ..all() }, &["alice", "bob", "carol"]),
        (Filter { assignee: Some("user:eve".to_owned()), ..all() }, &["bob", "carol"]),
        (Filter { overdue_only: Overdue::Only, ..all() }, &[]),
    ] {
        assert_eq!(agents(&stage, &filter), wanted, "{filter:?}");
    }
    let stage = stage.reopened_at(second(5));
    let late = Filter { overdue_only: Overdue::Only, ..all() };
    assert_eq!(agents(&stage, &late), ["bob"], "from its deadline on");
}

#[test]
fn a_text_names_one_hold_or_none() {
    let stage = three();
    let hold = &pending(&stage.space, &Filter::default()).expect("readable")[0].hold;
    let (session, request) = (hold.session.to_string(), hold.id.to_string());
    let is_open = |text: &str| matches!(find_hold(&stage.space, text), Ok(NamedRequest::Open(_)));
    for text in [
        hold.session.short_request(&hold.id),
        format!("{}.{}", &session[..8], &request[..4]),
        format!("{session}.{request}"),
        hold.agent.to_string(),
    ] {
        assert!(is_open(&text), "{text}");
    }
    for text in [
        format!("{}.{}", &session[..12], "0000"),
        format!("{}.{}", "0".repeat(12), &request[..12]),
        format!("{}.{}", &session[..7], &request[..12]),
        format!("{}.{}", &session[..12], &request[..3]),
        "nobody".to_owned(),
        String::new(),
    ] {
        assert!(find_hold(&stage.space, &text).is_err(), "{text}");
    }
}

#[test]
fn the_name_of_an_agent_with_several_holds_is_ambiguous() {
    let stage = Stage::new();
    stage.start("all([|| hold(\"One?\"), || hold(\"Two?\")])");
    let named = find_hold(&stage.space, "alice");
    let Err(Error::Request(RequestError::Ambiguous { candidates, .. })) = named else {
        panic!("{named:?}")
    };
    assert_eq!(candidates.len(), 2);
    assert!(candidates.iter().all(|text| find_hold(&stage.space, text).is_ok()));
}

#[test]
fn a_hold_that_was_decided_is_told_with_who_did_it() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\").action");
    let hold = stage.only_hold().hold;
    let done = stage.answer(&by("user:bob", Action::Reject)).expect("it may");
    for text in [hold.session.short_request(&hold.id), "alice".to_owned()] {
        let named = find_hold(&stage.space, &text);
        let Ok(NamedRequest::Decided(made)) = named else { panic!("{text}: {named:?}") };
        assert_eq!((made.commit, made.session), (Some(done.commit), hold.session));
        assert_eq!(made.decision.map(|made| made.principal).as_deref(), Some("user:bob"));
    }
}

#[test]
fn a_hold_whose_branch_was_moved_back_is_put_before_people_anew() {
    let stage = Stage::new();
    let genesis = stage.git(&["rev-parse", "agents/alice"]);
    stage.commit(&stage.agent, "a", "1");
    let id = stage.start("hold(\"Go on?\").action");
    let hold = stage.only_hold();
    decide(&stage.space, &hold, &draft(Action::Approve)).expect("it may");
    stage.git(&["update-ref", "refs/heads/agents/alice", &genesis]);
    let stage = stage.reopened();
    tick(&stage.space).expect("readable");
    assert_eq!(stage.state(&id), SessionState::Held, "what stood on the other line is no answer");
    let again = stage.only_hold().hold;
    assert_eq!(again.published.as_deref(), Some(genesis.as_str()));
    stage.answer(&draft(Action::Reject)).expect("it is open");
    assert_eq!(stage.result(&id), Some(agentic_model::Value::text("reject")));
}

#[test]
fn a_decision_that_comes_too_late_is_kept_and_shown_as_overtaken() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\").action");
    let other = stage.copied();
    let theirs = other.answer(&by("user:bob", Action::Reject)).expect("it may").commit;
    stage.answer(&draft(Action::Approve)).expect("it may");
    // Theirs is put upon ours, as a rebase does.
    let tree = stage.git(&["rev-parse", "agents/alice^{tree}"]);
    other.git(&["update-ref", "refs/heads/theirs", &theirs.to_string()]);
    let from = other.root().display().to_string();
    stage.git(&["fetch", "--quiet", &from, "theirs:theirs"]);
    let message = stage.git(&["log", "-1", "--format=%B", "theirs"]);
    let late = stage.git(&["commit-tree", "-p", "agents/alice", "-m", &message, &tree]);
    stage.git(&["update-ref", "refs/heads/agents/alice", &late]);
    let stage = stage.reopened();
    let found = overtaken(&stage.space, &id).expect("readable");
    let told: Vec<_> = found.iter().map(|late| late.decision.principal.as_str()).collect();
    assert_eq!(told, ["user:bob"]);
    assert_eq!(
        stage.result(&id),
        Some(agentic_model::Value::text("approve")),
        "it changed nothing"
    );
}

#[test]
fn what_only_wants_somebody_to_drive_it_is_told_from_what_asks_people() {
    let stage = three();
    let look = outlook(&stage.space, &Filter::default()).expect("readable");
    assert_eq!((look.holds.len(), look.unattended.len()), (3, 0));
    let hold = look.holds.into_iter().find(|hold| hold.hold.agent == name("bob")).expect("it asks");
    decide(&stage.space, &hold, &draft(Action::Approve)).expect("it may");
    let look = outlook(&stage.space, &Filter::default()).expect("readable");
    let unattended: Vec<_> = look.unattended.iter().map(|(id, _)| *id).collect();
    assert_eq!((look.holds.len(), unattended), (2, vec![hold.hold.session]));
    stage.resume(&hold.hold.session);
    let look = outlook(&stage.space, &Filter::default()).expect("readable");
    assert_eq!(look.unattended, []);
}

#[test]
fn holds_escalate_to_other_people_and_then_expire() {
    let stage = Stage::at(second(0));
    let (first, after) = (EPOCH_MS + 5000, 5000);
    let id = stage.start(&format!(
        "hold(\"Go on?\", #{{assignees: \"user:ada\", deadline: {first}, on_expiry: \
         #{{escalate: #{{to: \"user:bob\", after_ms: {after}, on_expiry: \"late\"}}}}}}).value"
    ));
    assert!(decide(&stage.space, &stage.only_hold(), &by("user:bob", Action::Approve)).is_err());
    let stage = stage.reopened_at(second(5));
    tick(&stage.space).expect("readable");
    let hold = stage.only_hold();
    assert_eq!((hold.hold.n_escalations, hold.policy.assignees.len()), (1, 2));
    let stage = stage.reopened_at(second(10));
    assert!(decide(&stage.space, &stage.only_hold(), &by("user:bob", Action::Approve)).is_err());
    tick(&stage.space).expect("readable");
    assert_eq!(stage.result(&id), Some(agentic_model::Value::text("late")));
    let told = find_hold(&stage.space, "alice");
    let Ok(NamedRequest::Decided(made)) = told else { panic!("{told:?}") };
    assert_eq!(made.decision.map(|made| made.principal).as_deref(), Some("system:expiry"));
}

#[test]
fn a_session_that_was_cancelled_asks_nobody_by_any_filter() {
    let stage = three();
    for id in stage.space.sessions().expect("readable") {
        agentic_session::cancel(&stage.space, &id, CancelMode::Kill, "user:ada", "x")
            .expect("it stops");
    }
    assert_eq!(agents(&stage, &Filter::default()), Vec::<String>::new());
    let look = outlook(&stage.space, &Filter::default()).expect("readable");
    assert_eq!((look.holds.len(), look.unattended.len()), (0, 0));
}
