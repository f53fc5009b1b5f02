//! Decisions and whether they count: `decision`.

use agentic_model::{Briefing, Oid};
use agentic_replay::record::CancelMode;
use agentic_session::decide::{Action, DecisionDraft, decide};
use agentic_session::{archive, cancel, resume};
use agentic_space::archive::ArchiveWish;
use agentic_space::spawn::{SpawnOrigin, spawn};

use super::question::check;
use crate::kit::{Stage, draft, second};

const ASKING: &str = "hold(\"Go on?\").action";
const STANDING: &str = "? (C, S) decision(commit: C, standing: S).";

fn by(principal: &str, action: Action) -> DecisionDraft {
    DecisionDraft { principal: principal.to_owned(), ..draft(action) }
}

/// Reads what a commit says.
fn message(stage: &Stage, commit: Oid) -> String {
    stage.space.repository().read_commit(commit).expect("it is here").message
}

/// Puts a commit that says something on the branch of an agent, as plain git would.
fn commit(stage: &Stage, agent: &str, message: &str) -> String {
    let git = |arguments: &[&str]| {
        let ran = stage.space.repository().git(arguments).expect("git runs");
        ran.stdout.trim().to_owned()
    };
    let branch = format!("refs/heads/agents/{agent}");
    let (head, tree) = (git(&["rev-parse", &branch]), format!("{branch}^{{tree}}"));
    let made = git(&["commit-tree", &tree, "-p", &head, "-m", message]);
    git(&["update-ref", &branch, &made, &head]);
    made
}

/// Shows rows of two columns in the order of the first.
fn in_order(mut rows: Vec<(String, &str)>) -> String {
    rows.sort();
    rows.iter().map(|(left, right)| format!("{left} {right}")).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_decision_that_answered_counts_with_what_it_says() {
    let stage = Stage::at(second(0));
    let id = stage.start(ASKING);
    let hold = stage.only_hold().hold.id;
    let commit = stage.answer(&draft(Action::Approve)).expect("it may").commit;
    let at = "2027-01-15T08:00:00.000Z";
    check(
        &stage.space,
        "? decision(commit: C, request: R, action: A, who: W, at: T, standing: S, value: V).",
        &format!("{commit} {id}.{hold} approve user:alice {at} counted null"),
    );
    check(
        &stage.space,
        "? (C) hold(request: R), decision(request: R, commit: C).",
        &commit.to_string(),
    );
}

#[test]
fn a_decision_that_came_after_the_answer_is_late() {
    let stage = Stage::new();
    stage.start(ASKING);
    let counted = stage.answer(&draft(Action::Approve)).expect("it may").commit;
    let late = commit(&stage, "alice", &message(&stage, counted));
    let rows = vec![(counted.to_string(), "counted"), (late, "late")];
    check(&stage.space, STANDING, &in_order(rows));
}

#[test]
fn a_decision_that_nothing_proves_is_unverified_and_its_hold_stays_open() {
    let first = Stage::new();
    first.start(ASKING);
    let decided = first.answer(&draft(Action::Approve)).expect("it may").commit;
    let said = message(&first, decided);
    // The same session, of which nobody has decided anything.
    let stage = Stage::new();
    stage.start(ASKING);
    let forged = commit(&stage, "alice", &said);
    check(&stage.space, STANDING, &format!("{forged} unverified"));
    check(&stage.space, "? (S) hold(state: S).", "open");
    let counted = stage.answer(&by("user:bob", Action::Reject)).expect("it may").commit;
    // What stands before the decision that counts had its say.
    let rows = vec![(counted.to_string(), "counted"), (forged, "unverified")];
    check(&stage.space, STANDING, &in_order(rows));
}

#[test]
fn a_decision_on_the_branch_of_another_agent_decides_nothing() {
    let stage = Stage::new();
    stage.start(ASKING);
    let bob = agentic_model::AgentName::parse("bob").expect("a valid name");
    let briefing = Briefing::of_text("y").to_object().expect("it is short");
    spawn(&stage.space, &bob, &briefing, &SpawnOrigin::Root).expect("the name is free");
    let counted = stage.answer(&draft(Action::Approve)).expect("it may").commit;
    let foreign = commit(&stage, "bob", &message(&stage, counted));
    let rows = vec![(counted.to_string(), "counted"), (foreign.clone(), "unverified")];
    check(&stage.space, STANDING, &in_order(rows));
    check(&stage.space, "? (C) decision(commit: C, request: null).", &foreign);
}

#[test]
fn a_decision_that_nobody_has_applied_counts() {
    let stage = Stage::new();
    let id = stage.start(ASKING);
    let hold = stage.only_hold();
    let made = decide(&stage.space, &hold, &draft(Action::Approve)).expect("it may").commit;
    check(&stage.space, STANDING, &format!("{made} counted"));
    resume(&stage.space, &id).expect("it goes on");
    check(&stage.space, STANDING, &format!("{made} counted"));
    let alice = stage.agent.clone();
    stage.space.attach_trace(&alice, made).expect("there is one");
    archive::archive(&stage.space, ArchiveWish::by_person(&[alice])).expect("it is done");
    check(&stage.space, STANDING, &format!("{made} counted"));
}

#[test]
fn what_the_engine_decides_is_told_with_who() {
    let stage = Stage::new();
    let id = stage.start(ASKING);
    cancel(&stage.space, &id, CancelMode::Cooperative, "user:alice", "enough").expect("it stops");
    check(
        &stage.space,
        "? (W, A, S) decision(who: W, action: A, standing: S).",
        "system:withdrawn withdrawn counted",
    );
    check(&stage.space, "? (S) hold(state: S).", "cancelled");
}

#[test]
fn a_commit_that_says_nothing_of_what_it_decides_is_none() {
    let stage = Stage::new();
    commit(&stage, "alice", "Decide\n\nAgentic-Kind: decision\n");
    check(&stage.space, STANDING, "");
    let strange = "Decide\n\nAgentic-Kind: decision\nAgentic-Session: x\nAgentic-Request: y\n";
    commit(&stage, "alice", strange);
    check(&stage.space, STANDING, "");
}
