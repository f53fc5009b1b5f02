//! What happens to an agent while a question reads its sessions.

use agentic_model::AgentName;
use agentic_session::archive::archive;
use agentic_session::decide::Action;
use agentic_space::archive::ArchiveWish;

use super::question::{ask_while, shown};
use crate::kit::{Stage, draft};

/// Asks while something happens, and checks that nothing was left out.
fn check_while(stage: &Stage, question: &str, predicate: &str, happens: &dyn Fn(), expected: &str) {
    let report = ask_while(&stage.space, question, predicate, happens);
    assert_eq!(report.notes, Vec::<String>::new(), "{question}");
    assert_eq!(report.answers.last().map(shown).as_deref(), Some(expected), "{question}");
}

/// Takes the branch of the agent and its notes away.
fn delete(stage: &Stage) {
    for name in ["refs/heads/agents/alice", "refs/notes/agentic/alice"] {
        stage.git(&["update-ref", "-d", name]);
    }
}

#[test]
fn the_sessions_of_an_agent_that_is_deleted_meanwhile_are_as_they_were() {
    let stage = Stage::new();
    let id = stage.start("hold(\"One?\").action");
    let question =
        "? (A, S, Q) session(id: _I, agent: A, state: S), hold(session: _I, question: Q).";
    check_while(&stage, question, "hold", &|| delete(&stage), "alice held One?");
    // Afterwards, too: their records are here.
    check_while(
        &stage,
        "? request(session: I, kind: K).",
        "request",
        &|| (),
        &format!("{id} hold"),
    );
}

#[test]
fn the_sessions_of_an_agent_that_is_archived_meanwhile_are_as_they_were() {
    let questions = [
        ("? (A, V) session(id: _I, agent: A), result(_I, V).", "result", "alice 42"),
        ("? (A, W) session(id: _I, agent: A), decision(action: W).", "decision", "alice approve"),
        (
            "? (A, K) session(id: _I, agent: A), request(session: _I, kind: K).",
            "request",
            "alice hold",
        ),
        ("? (A, N) session(id: _I, agent: A), N = count { usage() }.", "usage", "alice 0"),
    ];
    for (question, predicate, expected) in questions {
        let stage = Stage::new();
        let id = stage.start("hold(\"One?\"); 42");
        stage.answer(&draft(Action::Approve)).expect("it may");
        stage.resume(&id);
        let alice = AgentName::parse("alice").expect("a valid name");
        let head = stage.space.head(&alice).expect("it was spawned");
        stage.space.attach_trace(&alice, head).expect("there is one");
        let archived = || {
            _ = archive(&stage.space, ArchiveWish::by_person(std::slice::from_ref(&alice)))
                .expect("it may")
        };
        check_while(&stage, question, predicate, &archived, expected);
    }
}
