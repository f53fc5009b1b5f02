//! Sessions whose records were made by another version.

use std::path::Path;

use agentic_flow::Rhai;
use agentic_git::run_git;
use agentic_model::{AgentName, Briefing, Value};
use agentic_replay::{Engine, Kinds, Language, Session, SessionOpening};
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_store::Durability;
use agentic_store::journal::LogFile;

use super::folder::Folder;
use super::shelf::program_of;
use super::{SessionState, flow_object, resume};
use crate::decide::{Action, ApprovalScope, DecisionDraft, decide};
use crate::doctor::{Treatment, examine};
use crate::error::{RequestError, SessionError};
use crate::hold::{Filter, pending};
use crate::{Error, SessionOptions, SessionSpace};

/// The language of scripts.
fn rhai() -> &'static dyn Language {
    &Rhai
}

const SOURCE: &str = "hold(\"Go on?\")";

/// Makes a session by hand, as another version would have made it.
fn session_of(
    space: &SessionSpace,
    agent: &AgentName,
    source: &str,
    engine: Engine,
) -> agentic_replay::SessionId {
    let flow = flow_object(source).expect("it is short");
    let here = rhai().engine_since(&engine);
    let opening = SessionOpening {
        agent: agent.clone(),
        flow: flow.cid(),
        engine,
        input: Value::Null,
        key: "other".to_owned(),
        allow: Vec::new(),
        head: Some(space.head(agent).expect("it was spawned").to_string()),
        configuration: None,
    };
    let id = opening.session().expect("the input is data");
    let (folder, _lock) = Folder::lock(space, &id).expect("nobody drives it");
    let program = program_of(space, &folder, &flow, &here).expect("it parses");
    let started = Session::start(opening, space.now(), program, &Kinds::built_in());
    let (_, progress) = started.expect("the input is data");
    folder.keep_object(&flow.cid(), flow.bytes()).expect("writable");
    let (mut log, _) = LogFile::open(&folder.log()).expect("writable");
    let frames: Vec<&[u8]> = progress.links.iter().map(|link| link.bytes.as_slice()).collect();
    log.append(&frames, Durability::Full).expect("writable");
    id
}

/// Makes a repository in a folder.
pub(super) fn repository(folder: &Path) -> SessionSpace {
    for arguments in [
        &["init", "--quiet", "."][..],
        &["config", "user.name", "Alice"],
        &["config", "user.email", "alice@example.com"],
    ] {
        run_git(folder, arguments).expect("git runs").checked(arguments).expect("it works");
    }
    SessionSpace::open(folder, SessionOptions::default()).expect("it is a repository")
}

/// Makes an agent in it.
pub(super) fn agent_in(space: &SessionSpace, name: &str) -> AgentName {
    let agent = AgentName::parse(name).expect("a valid name");
    let briefing = Briefing::of_text("x").to_object().expect("it is short");
    spawn(space, &agent, &briefing, &SpawnOrigin::Root).expect("the name is free");
    agent
}

/// Makes a space with an agent.
pub(super) fn space_with_an_agent() -> (tempfile::TempDir, SessionSpace, AgentName) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let space = repository(folder.path());
    let agent = agent_in(&space, "alice");
    (folder, space, agent)
}

#[test]
fn a_session_of_a_later_version_is_diverged_and_stays_as_it_is() {
    let (_folder, space, agent) = space_with_an_agent();
    let here = rhai().engine();
    let later = Engine { semantics: here.semantics + 1, ..here };
    let id = session_of(&space, &agent, SOURCE, later);

    let before = space.session(&id).expect("its records are sound");
    assert_eq!(before.state, SessionState::Diverged);
    assert!(before.failure.is_some_and(|failure| failure.message.contains("`rhai`")));
    assert!(matches!(resume(&space, &id), Err(Error::Session(SessionError::Diverged { .. }))));
    let after = space.session(&id).expect("its records are sound");
    assert_eq!((after.state, after.chain), (SessionState::Diverged, before.chain));
}

#[test]
fn a_session_of_an_earlier_version_goes_on_as_it_did() {
    let (_folder, space, agent) = space_with_an_agent();
    let source = "let t = []; for p in [1, 2] { t.push(|| p) } hold(\"Go on?\"); all(t)";
    let earlier = Engine { semantics: 1, ..rhai().engine() };
    let id = session_of(&space, &agent, source, earlier);
    decide_open(&space, &id, Action::Approve);
    resume(&space, &id).expect("its version still runs");
    let summary = space.session(&id).expect("its records are sound");
    assert_eq!(summary.result, Some(Value::List(vec![Value::Int(2), Value::Int(2)])));
}

#[test]
fn an_open_hold_that_nobody_could_ask_any_more_keeps_its_meaning_and_is_named() {
    let (_folder, space, agent) = space_with_an_agent();
    let source = "hold(\"Go on?\", #{quorum: #{ned: 2}}).action";
    let id = session_of(&space, &agent, source, rhai().engine());
    resume(&space, &id).expect("what was asked is asked");
    let report = examine(&space, Treatment::default()).expect("the repository can be read");
    assert_eq!(report.questionable.len(), 1);
    assert!(report.questionable[0].contains("quorum.ned"), "{:?}", report.questionable);
    decide_open(&space, &id, Action::Approve);
    resume(&space, &id).expect("it goes on");
    let summary = space.session(&id).expect("its records are sound");
    assert_eq!(summary.result, Some(Value::text("approve")));
}

/// Makes the draft of a decision that says nothing else.
fn draft_of(action: Action) -> DecisionDraft {
    DecisionDraft {
        action,
        value: None,
        scope: ApprovalScope::Once,
        rationale: String::new(),
        expect: None,
        principal: "user:alice".to_owned(),
        client: "test",
        shown: None,
        accepts: None,
    }
}

/// Decides the one open hold of a session.
pub(super) fn decide_open(space: &SessionSpace, id: &agentic_replay::SessionId, action: Action) {
    let open = pending(space, &Filter::default()).expect("the sessions can be read");
    let of_it = open.iter().find(|pending| pending.hold.session == *id).expect("it is held");
    decide(space, of_it, &draft_of(action)).expect("nobody was faster");
}

#[test]
fn what_was_said_of_one_doubt_does_not_answer_the_next() {
    let (_folder, space, agent) = space_with_an_agent();
    let id = session_of(&space, &agent, SOURCE, rhai().engine());
    resume(&space, &id).expect("it asks");
    let open = pending(&space, &Filter::default()).expect("the sessions can be read");
    let mut stale = open[0].clone();
    // As it stood when the same request was asked about before.
    stale.hold.asked_at = stale.hold.asked_at.plus_millis(-1);
    let draft = draft_of(Action::Approve);
    let refused = decide(&space, &stale, &draft);
    assert!(matches!(refused, Err(Error::Request(RequestError::Stale { .. }))), "{refused:?}");
    decide(&space, &open[0], &draft).expect("this is what is asked");
}
