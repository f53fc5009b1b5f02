//! Sessions of other hosts, and of agents in the archive: read as far as they are sealed.

use std::path::Path;

use agentic_git::run_git;
use agentic_model::AgentName;
use agentic_session::decide::Action;
use agentic_session::hold::{Filter, pending};
use agentic_session::{ForkPlan, SessionOptions, SessionSpace, archive, fork};
use agentic_space::archive::ArchiveWish;

use super::question::check;
use crate::kit::{Stage, draft};

/// Makes another repository with everything that travels.
fn other_host(stage: &Stage, folder: &Path) -> SessionSpace {
    let from = stage.path("").display().to_string();
    let refs = ["heads/agents", "notes/agentic", "agentic"];
    let refs = refs.map(|prefix| format!("+refs/{prefix}/*:refs/{prefix}/*"));
    let fetch: Vec<&str> =
        ["fetch", "--quiet", &from].into_iter().chain(refs.iter().map(String::as_str)).collect();
    for arguments in [
        &["init", "--quiet", "."][..],
        &["config", "user.name", "Bob"],
        &["config", "user.email", "bob@example.com"],
        &fetch,
    ] {
        run_git(folder, arguments).expect("git runs").checked(arguments).expect("it works");
    }
    SessionSpace::open(folder, SessionOptions::default()).expect("it is a repository")
}

#[test]
fn a_session_of_another_host_is_read_as_far_as_it_is_sealed() {
    let stage = Stage::new();
    let id = stage.start("hold(\"One?\"); hold(\"Two?\").action");
    let sealed = tempfile::tempdir().expect("a temporary folder");
    let other = other_host(&stage, sealed.path());
    check(&other, "? session(id: I, host: H, state: S).", &format!("{id} elsewhere held"));
    check(&other, "? (Q) hold(question: Q, state: open).", "One?");
    assert_eq!(pending(&other, &Filter::default()).expect("readable").len(), 1);
    check(&other, "? (Q) hold(question: Q, state: open, agent: alice).", "One?");
    check(&other, &format!("? session(id: #{}, agent: A).", &id.to_string()[..8]), "alice");
}

#[test]
fn a_fork_that_came_by_fetch_finds_what_it_shares() {
    let stage = Stage::new();
    let parent = stage.start("hold(\"One?\"); hold(\"Two?\").action");
    stage.answer(&draft(Action::Approve)).expect("it may");
    let plan = ForkPlan { who: "user:alice".to_owned(), ..ForkPlan::default() };
    let fork = fork(&stage.space, &parent, &plan).expect("it is forked");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other = other_host(&stage, folder.path());
    check(&other, "? forked(S, P, N).", &format!("{fork} {parent} 6"));
    check(&other, "? N = count { hold(state: open) }.", "2");
}

#[test]
fn sessions_of_archived_agents_are_as_present_as_others() {
    let stage = Stage::new();
    let id = stage.start("exec([\"true\"]); 42");
    let rows = "? (V, K) result(S, V), request(session: S, kind: K), session(id: S, agent: alice).";
    check(&stage.space, rows, "42 exec");
    let alice = AgentName::parse("alice").expect("a valid name");
    let head = stage.space.head(&alice).expect("it was spawned");
    stage.space.attach_trace(&alice, head).expect("there is one");
    archive::archive(&stage.space, ArchiveWish::by_person(&[alice])).expect("it is done");
    check(&stage.space, rows, "42 exec");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other = other_host(&stage, folder.path());
    check(&other, rows, "42 exec");
    check(&other, "? session(id: I, host: H).", &format!("{id} elsewhere"));
}
