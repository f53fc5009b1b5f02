//! Who writes for whom, and what becomes of those whose leader fails.

use std::sync::mpsc::channel;
use std::thread;

use agentic_model::{AgentName, Map};

use super::{GROUP_MAX, GroupPart, GroupReply, Queues};
use crate::Error;
use crate::commit::{CommitDraft, Emptiness, TraceBinding, TreeSource};
use crate::error::CommitError;

fn name() -> AgentName {
    AgentName::parse("alice").expect("a valid name")
}

fn draft(message: &str) -> CommitDraft {
    CommitDraft {
        behaviour: None,
        message: message.to_owned(),
        kind: None,
        fields: Map::new(),
        source: TreeSource::Edits([].into()),
        capture: TraceBinding::Nothing,
        expect: None,
        emptiness: Emptiness::Allowed,
        asker: None,
    }
}

fn messages(drafts: &[CommitDraft]) -> Vec<&str> {
    drafts.iter().map(|draft| draft.message.as_str()).collect()
}

/// Waits until so many drafts have been left for an agent.
fn until_waiting(queues: &Queues, agent: &AgentName, count: usize) {
    while queues.locked().get(agent).is_none_or(|waiting| waiting.len() < count) {
        thread::yield_now();
    }
}

#[test]
fn whoever_comes_first_writes_alone_and_nobody_is_left() {
    let (queues, alice) = (Queues::default(), name());
    for _ in 0..2 {
        let GroupPart::First(turn) = queues.enter(&alice, &draft("one")) else { panic!("free") };
        assert_eq!(queues.locked().len(), 1);
        drop(turn);
        assert!(queues.locked().is_empty(), "an agent that nobody writes to costs nothing");
    }
}

#[test]
fn agents_do_not_wait_for_each_other() {
    let queues = Queues::default();
    let (alice, bob) = (name(), AgentName::parse("bob").expect("a valid name"));
    let _turn = queues.enter(&alice, &draft("one"));
    assert!(matches!(queues.enter(&bob, &draft("two")), GroupPart::First(_)));
}

#[test]
fn one_of_those_who_wait_commits_for_all_in_the_order_in_which_they_came() {
    let (queues, alice) = (Queues::default(), name());
    let GroupPart::First(turn) = queues.enter(&alice, &draft("first")) else { panic!("free") };
    let told = thread::scope(|scope| {
        let mut waiting = Vec::new();
        for number in 0..3 {
            let (queues, alice) = (&queues, &alice);
            waiting.push(scope.spawn(
                move || match queues.enter(alice, &draft(&number.to_string())) {
                    GroupPart::Leader(group) => {
                        let all = messages(group.all()).join(" ");
                        let refused = |_: &CommitDraft| Err(Error::Commit(CommitError::NotInBatch));
                        let answers = group.all().iter().map(refused).collect();
                        let own = group.tell(Ok(answers));
                        assert!(own.is_some_and(|own| own.is_err()));
                        format!("leader of {all}")
                    }
                    GroupPart::Member(outcome) => {
                        assert!(outcome.is_err(), "what the leader told");
                        "member".to_owned()
                    }
                    GroupPart::First(_) => "first".to_owned(),
                    GroupPart::Stray => "stray".to_owned(),
                },
            ));
            until_waiting(queues, alice, number + 1);
        }
        drop(turn);
        let told: Vec<_> = waiting.into_iter().map(|one| one.join().expect("no panic")).collect();
        told
    });
    assert_eq!(told, ["leader of 0 1 2", "member", "member"]);
    assert!(queues.locked().is_empty());
}

#[test]
fn those_whose_leader_could_write_nothing_try_by_themselves() {
    let (queues, alice) = (Queues::default(), name());
    let GroupPart::First(turn) = queues.enter(&alice, &draft("first")) else { panic!("free") };
    let (told, hears) = channel();
    let waiting = super::WaitingDraft { draft: draft("other"), told };
    queues.locked().entry(alice.clone()).or_default().push_back(waiting);
    let group = turn.with_waiting(draft("own"));
    assert_eq!(messages(group.all()), ["own", "other"]);
    let failed = group.tell(Err(Error::Commit(CommitError::NotInBatch)));
    assert!(failed.is_none(), "everybody hears why from an attempt of their own");
    assert!(hears.recv().is_err(), "its leader is gone and has told nothing");
}

#[test]
fn somebody_who_went_away_is_passed_over() {
    let (queues, alice) = (Queues::default(), name());
    let GroupPart::First(turn) = queues.enter(&alice, &draft("first")) else { panic!("free") };
    let (gone, hears_nothing) = channel();
    let (told, hears) = channel();
    drop(hears_nothing);
    for (told, message) in [(gone, "gone"), (told, "there")] {
        let waiting = super::WaitingDraft { draft: draft(message), told };
        queues.locked().entry(alice.clone()).or_default().push_back(waiting);
    }
    drop(turn);
    let Ok(GroupReply::Turn(own)) = hears.recv() else { panic!("it is its turn") };
    assert_eq!(own.message, "there");
    assert!(queues.locked().contains_key(&alice), "it has the turn until it gives that back");
}

#[test]
fn so_many_drafts_go_into_one_write_and_no_more() {
    let (queues, alice) = (Queues::default(), name());
    let GroupPart::First(turn) = queues.enter(&alice, &draft("first")) else { panic!("free") };
    let mut all = Vec::new();
    for number in 0..GROUP_MAX + 5 {
        let (told, hears) = channel();
        let waiting = super::WaitingDraft { draft: draft(&number.to_string()), told };
        queues.locked().entry(alice.clone()).or_default().push_back(waiting);
        all.push(hears);
    }
    let group = turn.with_waiting(draft("own"));
    assert_eq!(group.all().len(), GROUP_MAX);
    drop(group);
    let turned = all.iter().filter(|hears| matches!(hears.try_recv(), Ok(GroupReply::Turn(_))));
    assert_eq!(turned.count(), 1, "one of those who are left goes on");
}
