//! A session whose records were made by another version of its language.

use agentic_model::{AgentName, Briefing, Value};
use agentic_replay::{Engine, Kinds, Opening, Session};
use agentic_store::Durability;
use agentic_store::git::run_git;
use agentic_store::journal::Log;

use super::folder::Folder;
use super::{Language, State, flow_object, program_of, resume};
use crate::spawn::{Origin, spawn};
use crate::{Error, Options, Space};

const SOURCE: &str = "hold(\"Go on?\")";

/// Makes a session by hand, as a later version would have made it.
fn session_of_a_later_version(space: &Space, agent: &AgentName) -> agentic_replay::SessionId {
    let flow = flow_object(SOURCE).expect("it is short");
    let here = Language::Rhai.engine();
    let opening = Opening {
        agent: agent.clone(),
        flow: flow.cid(),
        engine: Engine { semantics: here.semantics + 1, ..here },
        input: Value::Null,
        key: "later".to_owned(),
        allow: Vec::new(),
        head: Some(space.head(agent).expect("it was spawned").to_string()),
    };
    let id = opening.session().expect("the input is data");
    let (folder, _lock) = Folder::lock(space, &id).expect("nobody drives it");
    let program = program_of(space, &folder, &flow).expect("it parses");
    let started = Session::start(opening, space.now(), program, &Kinds::built_in());
    let (_, progress) = started.expect("the input is data");
    folder.keep_object(&flow.cid(), flow.bytes()).expect("writable");
    let (mut log, _) = Log::open(&folder.log()).expect("writable");
    let frames: Vec<&[u8]> = progress.links.iter().map(|link| link.bytes.as_slice()).collect();
    log.append(&frames, Durability::Full).expect("writable");
    id
}

#[test]
fn a_session_of_another_version_is_diverged_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for arguments in [
        &["init", "--quiet", "."][..],
        &["config", "user.name", "Alice"],
        &["config", "user.email", "alice@example.com"],
    ] {
        run_git(folder.path(), arguments).expect("git runs").checked(arguments).expect("it works");
    }
    let space = Space::open(folder.path(), Options::default()).expect("it is a repository");
    let agent = AgentName::parse("alice").expect("a valid name");
    let briefing = Briefing::of_text("x").to_object().expect("it is short");
    spawn(&space, &agent, &briefing, &Origin::Root).expect("the name is free");
    let id = session_of_a_later_version(&space, &agent);

    let before = space.session(&id).expect("its records are sound");
    assert_eq!(before.state, State::Diverged);
    assert!(before.failure.is_some_and(|failure| failure.message.contains("`rhai`")));
    assert!(matches!(resume(&space, &id), Err(Error::Diverged { .. })));
    let after = space.session(&id).expect("its records are sound");
    assert_eq!((after.state, after.chain), (State::Diverged, before.chain));
}
