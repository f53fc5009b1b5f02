//! What was done over time.

use agentic_api::Verb;
use agentic_api::verb::{ListCommits, Statistics, StatisticsStep};
use agentic_model::guidance::ErrorClass;

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
