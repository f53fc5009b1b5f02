//! Holds: `hold`, `assignee`, `vote`.

use agentic_replay::record::CancelMode;
use agentic_session::decide::{Action, DecisionDraft, decide};
use agentic_session::hold::PendingHold;
use agentic_session::{Begin, cancel, start, tick};

use super::question::{ask, check, shown};
use crate::kit::{Stage, draft, second};

/// Checks that the open holds are those that are listed as pending.
fn check_open(stage: &Stage) {
    let question = |pending: &PendingHold| pending.question().unwrap_or("null").to_owned();
    let row = |pending: &PendingHold| {
        let hold = &pending.hold;
        let (session, agent) = (hold.session, &hold.agent);
        let (reason, at) = (hold.reason.name(), hold.asked_at);
        let deadline = pending.policy.deadline.map_or("null".to_owned(), |at| at.to_string());
        let asked = question(pending);
        format!("{session}.{} {agent} {session} {reason} {asked} {at} {deadline}", hold.id)
    };
    let mut pending: Vec<String> = stage.holds().iter().map(row).collect();
    pending.sort();
    let program = "? hold(request: R, agent: A, session: S, reason: W, question: Q, at: T, \
                   deadline: D, state: open).";
    let mut open: Vec<String> =
        shown(&ask(&stage.space, program).answers[0]).split("; ").map(str::to_owned).collect();
    open.retain(|row| !row.is_empty());
    open.sort();
    assert_eq!(open, pending);
}

fn by(principal: &str, action: Action) -> DecisionDraft {
    DecisionDraft { principal: principal.to_owned(), ..draft(action) }
}

#[test]
fn the_open_holds_are_those_that_are_pending() {
    let stage = Stage::at(second(0));
    check_open(&stage);
    stage.start("hold(\"Go on?\").action");
    let begin = |key: &str, source: &str| Begin {
        key: key.to_owned(),
        allow: Vec::new(),
        ..stage.begin(source)
    };
    let sources = [
        "exec([\"touch\", \"ran\"])",
        "hold(\"Both?\", #{quorum: #{need: 2}})",
        "hold(\"Soon?\", #{deadline: \"2027-01-15T09:00:00.000Z\", on_expiry: \"no\"})",
        "hold(\"Who?\", #{deadline: \"2027-01-15T08:00:01.000Z\", \
         on_expiry: #{escalate: #{to: \"user:eve\", after_ms: 3600000, on_expiry: \"no\"}}})",
        "all([|| hold(\"One?\"), || hold(\"Two?\"), || suspend(\"go\")])",
        "6 * 7",
    ];
    for (n, source) in sources.into_iter().enumerate() {
        start(&stage.space, begin(&format!("key {n}"), source)).expect("it starts");
    }
    check_open(&stage);
    // One of them is decided, and nobody has gone on with it; of another there is one vote.
    let question =
        |asked: &'static str| move |pending: &PendingHold| pending.question() == Some(asked);
    let hold = |asked| stage.holds().into_iter().find(question(asked)).expect("it is open");
    decide(&stage.space, &hold("Go on?"), &draft(Action::Approve)).expect("it may");
    decide(&stage.space, &hold("Both?"), &draft(Action::Approve)).expect("it may");
    check_open(&stage);
    check(&stage.space, "? (Q) hold(question: Q, state: decided).", "Go on?");
    // Overdue, and nobody has looked: it stays open until somebody goes on with it.
    let stage = stage.reopened_at(second(7200));
    check_open(&stage);
    tick(&stage.space).expect("the sessions can be read");
    check_open(&stage);
    check(&stage.space, "? (Q) hold(question: Q, state: expired).", "Soon?; Who?");
}

#[test]
fn a_hold_is_withdrawn_by_its_program_and_cancelled_with_its_session() {
    let stage = Stage::new();
    stage.start("any([|| hold(\"First?\").action, || hold(\"Second?\").action])");
    let hold = stage.holds().remove(0);
    decide(&stage.space, &hold, &draft(Action::Approve)).expect("it may");
    agentic_session::resume(&stage.space, &hold.hold.session).expect("it goes on");
    let states = "? (Q, S) hold(question: Q, state: S).";
    check(&stage.space, states, "First? decided; Second? withdrawn");
    let begin = Begin { key: "two".to_owned(), ..stage.begin("hold(\"Third?\")") };
    let id = start(&stage.space, begin).expect("it starts");
    cancel(&stage.space, &id, CancelMode::Cooperative, "user:alice", "enough").expect("it stops");
    check(&stage.space, states, "First? decided; Second? withdrawn; Third? cancelled");
    check(&stage.space, "? N = count { hold(state: open) }.", "0");
}

#[test]
fn what_was_not_allowed_is_a_hold_of_its_own_reason() {
    let stage = Stage::new();
    let begin = Begin { allow: Vec::new(), ..stage.begin("exec([\"touch\", \"ran\"]); 1") };
    start(&stage.space, begin).expect("it starts");
    check(&stage.space, "? (W, S) hold(reason: W, state: S).", "not-allowed open");
    stage.answer(&draft(Action::Approve)).expect("it may");
    check(&stage.space, "? (W, S) hold(reason: W, state: S).", "not-allowed decided");
    check(&stage.space, "? (O) request(id: R, kind: exec), answer(request: R, outcome: O).", "ok");
}

#[test]
fn whoever_may_decide_is_an_assignee() {
    let stage = Stage::at(second(0));
    let source = "hold(\"Who?\", #{assignees: [\"user:bob\", \"role:lead\"], \
                  deadline: \"2027-01-15T08:00:01.000Z\", \
                  on_expiry: #{escalate: #{to: \"user:eve\", after_ms: 3600000, on_expiry: 1}}})";
    stage.start(source);
    let who = "? (W) hold(request: R), assignee(R, W).";
    check(&stage.space, who, "role:lead; user:bob");
    let stage = stage.reopened_at(second(60));
    check(&stage.space, who, "role:lead; user:bob; user:eve");
    tick(&stage.space).expect("the sessions can be read");
    stage.answer(&by("user:eve", Action::Approve)).expect("it may");
    check(&stage.space, who, "role:lead; user:bob; user:eve");
    check(&stage.space, "? (D) hold(state: decided, deadline: D).", "2027-01-15T09:00:01.000Z");
}

#[test]
fn a_vote_is_told_before_it_is_noted_and_afterwards() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Both?\", #{quorum: #{need: 2}}).action");
    let hold = stage.only_hold();
    let voted = decide(&stage.space, &hold, &draft(Action::Approve)).expect("it may").commit;
    let votes = "? (W, A, C) vote(R, W, A, C).";
    check(&stage.space, votes, &format!("user:alice approve {voted}"));
    agentic_session::resume(&stage.space, &id).expect("it goes on");
    check(&stage.space, votes, &format!("user:alice approve {voted}"));
    stage.answer(&by("user:bob", Action::Approve)).expect("it may");
    check(&stage.space, votes, &format!("user:alice approve {voted}"));
    check(&stage.space, "? (W) decision(who: W, standing: counted).", "user:alice; user:bob");
}
