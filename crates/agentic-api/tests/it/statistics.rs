//! What was done over time.

use std::sync::atomic::AtomicBool;

use agentic_api::verb::{
    AskQuery, Fetch, Init, ListCommits, Push, QueryOutcome, Statistics, StatisticsStep,
};
use agentic_api::{Caller, Verb};
use agentic_model::guidance::ErrorClass;
use agentic_session::{SessionOptions, SessionSpace};

use crate::place::{as_agent, named, place, refusal, start, write};

#[test]
fn statistics_count_what_the_logs_list() {
    let (sandbox, space) = place();
    let caller = as_agent("alice", &space, &sandbox);
    for agent in ["alice", "bob"] {
        named(agent).run(&caller).expect("the name is free");
        for n in 0..4 {
            write(&space, agent, "file", &format!("{agent} {n}"));
        }
    }
    start(&space, "eve", "40 + 2");
    let counted = |verb: &Statistics| {
        let view = verb.clone().run(&caller).expect("readable").answer;
        (view.commits.iter().map(|one| one.count).sum::<usize>(), view)
    };
    let logged = |agent: &str| {
        let verb = ListCommits { agent: Some(agent.to_owned()), ..ListCommits::default() };
        verb.run(&caller).expect("readable").answer.len()
    };
    let (n, view) = counted(&Statistics::default());
    assert_eq!(n, logged("alice") + logged("bob") + logged("eve"));
    assert_eq!((view.by.as_str(), view.left_out.len()), ("day", 0));
    assert_eq!((view.outcomes.len(), view.outcomes[0].done), (1, 1));
    let of_bob = Statistics {
        agent: Some("bob".to_owned()),
        by: StatisticsStep::Week,
        ..Statistics::default()
    };
    assert_eq!(counted(&of_bob).0, logged("bob"));
    let past = Statistics { to: Some("2001-01-01".to_owned()), ..Statistics::default() };
    let (n, view) = counted(&past);
    assert_eq!((n, view.outcomes.len()), (0, 0));
    for (from, to) in
        [("2026-02-01", "2026-01-01"), ("yesterday", "2026-01-01"), ("1950-01-01", "2026-01-01")]
    {
        let (from, to) = (Some(from.to_owned()), Some(to.to_owned()));
        let wrong = Statistics { from, to, ..Statistics::default() };
        assert_eq!(refusal(wrong.run(&caller)).class, ErrorClass::Usage);
    }
}

#[test]
fn what_a_remote_has_counts_neither_as_commits_nor_as_outcomes() {
    let (sandbox, space) = place();
    start(&space, "eve", "40 + 2");
    write(&space, "eve", "file", "x");
    let path = sandbox.start().with_file_name("origin.git").to_string_lossy().into_owned();
    sandbox.git(sandbox.start(), &["init", "-q", "--bare", &path]).expect("git is installed");
    sandbox.git(sandbox.start(), &["remote", "add", "origin", &path]).expect("the name is free");
    let space =
        SessionSpace::open(sandbox.start(), SessionOptions::default()).expect("a repository");
    let caller = Caller::new(&space, sandbox.start());
    Init::default().run(&caller).expect("writable");
    Push::default().run(&caller).expect("it is reachable");
    let other = sandbox.start().with_file_name("other");
    let to = other.to_string_lossy();
    sandbox.git(sandbox.start(), &["clone", "-q", &path, &to]).expect("it is there");
    let there = SessionSpace::open(&other, SessionOptions::default()).expect("a repository");
    let caller = Caller::new(&there, &other);
    Fetch::default().run(&caller).expect("it is reachable");
    let asked = "? (A, S) session(id: S, agent: A).".to_owned();
    let known = AskQuery { text: asked, ..AskQuery::default() };
    let QueryOutcome::Answered(known) =
        known.ask(&caller, &AtomicBool::new(false)).expect("readable")
    else {
        panic!("the query is right");
    };
    assert_eq!(known.report.answers[0].rows.len(), 1, "the session is known of");
    let counted = || Statistics::default().run(&caller).expect("readable").answer;
    let view = counted();
    assert_eq!((view.commits.len(), view.outcomes.len(), view.left_out.len()), (0, 0, 0));
    let adopt = Fetch { adopt: vec!["eve".to_owned()], ..Fetch::default() };
    adopt.run(&caller).expect("it is reachable");
    let view = counted();
    assert!(view.commits.iter().map(|one| one.count).sum::<usize>() >= 2);
    assert_eq!((view.outcomes.len(), view.outcomes[0].done), (1, 1));
}
