//! The log of an agent, and what an id names.

use agentic_model::Kind;
use agentic_session::decide::Action;
use agentic_session::log::{NamedRecord, SessionCommit};
use agentic_session::{AgentBranch, Error};
use agentic_space::archive::ArchiveWish;
use agentic_space::spawn::SpawnOrigin;

use crate::kit::{Stage, draft, name};

fn log(stage: &Stage, agent: &str, kind: Option<&str>) -> Vec<SessionCommit> {
    let kind = kind.map(|kind| Kind::parse(kind).expect("a valid kind"));
    let branch = AgentBranch::here(name(agent));
    let found = stage.space.log(&branch, kind).expect("it can be read");
    found.collect::<Result<_, _>>().expect("each commit is sound")
}

#[test]
fn a_log_has_an_agents_own_commits_newest_first() {
    let stage = Stage::new();
    stage.commit(&stage.agent, "a", "1");
    stage.spawn("bob", &SpawnOrigin::Agent(stage.agent.clone()));
    stage.commit(&name("bob"), "b", "2");
    let subjects: Vec<_> = log(&stage, "bob", None).into_iter().map(|one| one.subject).collect();
    assert_eq!(subjects, ["Write b", "Spawn bob: x"]);
}

#[test]
fn a_kind_selects_those_that_specialise_it() {
    let stage = Stage::new();
    stage.commit(&stage.agent, "a", "1");
    stage.start("hold(\"Go on?\").action");
    stage.answer(&draft(Action::Approve)).expect("it may");
    let count = |kind| log(&stage, "alice", Some(kind)).len();
    assert_eq!((count("decision"), count("spawn"), count("agent-commit")), (1, 1, 3));
    let branch = AgentBranch::here(stage.agent.clone());
    assert!(stage.space.log(&branch, Kind::parse("none").ok()).is_err());
    assert!(stage.space.log(&branch, Kind::parse("briefing").ok()).is_err(), "no kind of commits");
}

#[test]
fn a_decision_counts_where_its_record_is() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\").action");
    let other = stage.copied();
    other.answer(&draft(Action::Approve)).expect("it may");
    assert!(!log(&other, "alice", Some("decision"))[0].is_unverified);
    stage.take_branch_of(&other);
    let stage = stage.reopened();
    let decision = &log(&stage, "alice", Some("decision"))[0];
    assert!(decision.is_unverified, "here nothing says that it is one");
    assert!(decision.trace.is_none(), "its note did not come along");
}

#[test]
fn a_commit_that_was_copied_names_whose_it_was_and_claims_nothing() {
    let stage = Stage::new();
    stage.spawn("bob", &SpawnOrigin::Root);
    let message = stage.git(&["log", "-1", "--format=%B", "agents/alice"]);
    let tree = stage.git(&["rev-parse", "agents/bob^{tree}"]);
    let copy = stage.git(&["commit-tree", "-p", "agents/bob", "-m", &message, &tree]);
    stage.git(&["update-ref", "refs/heads/agents/bob", &copy]);
    let stage = stage.reopened();
    let copied = &log(&stage, "bob", None)[0];
    assert_eq!(
        (copied.copied_from.clone(), copied.kind.as_str()),
        (Some(name("alice")), "agent-commit")
    );
}

#[test]
fn an_id_names_an_agent_an_object_or_a_commit() {
    let stage = Stage::new();
    let commit = stage.commit(&stage.agent, "a", "1");
    let Ok(NamedRecord::Agent(agent)) = stage.space.show("alice") else { panic!("an agent") };
    assert_eq!(agent.head, commit);
    let briefing = agent.briefing.expect("it has one");
    let shown = stage.space.show(&briefing.to_string()[..20]);
    assert!(matches!(shown, Ok(NamedRecord::Object(cid, _)) if cid == briefing), "{shown:?}");
    let shown = stage.space.show(&commit.to_string()[..10]);
    let Ok(NamedRecord::Commit(shown)) = shown else { panic!("{shown:?}") };
    assert_eq!((shown.info.oid, shown.copied_from), (commit, None));
    for none in ["nobody", "0000000000", "bafyr4iaaaaaaaaaaaa", ""] {
        assert!(stage.space.show(none).is_err(), "{none}");
    }
}

#[test]
fn an_agent_that_is_archived_is_told_as_such() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\")");
    let busy = agentic_session::archive::archive(
        &stage.space,
        ArchiveWish::by_person(std::slice::from_ref(&stage.agent)),
    );
    assert!(busy.is_err(), "a session of it is not over");
    stage.answer(&draft(Action::Approve)).expect("it may");
    let head = stage.space.head(&stage.agent).expect("it is there");
    stage.space.attach_trace(&stage.agent, head).expect("what was said is bound");
    agentic_session::archive::archive(
        &stage.space,
        ArchiveWish::by_person(std::slice::from_ref(&stage.agent)),
    )
    .expect("it may go");
    let shown = stage.space.show("alice");
    assert!(matches!(shown, Err(Error::Space(_))), "{shown:?}");
    let id = stage.space.sessions().expect("readable");
    assert_eq!(id.len(), 1, "its session is still known here");
}
