//! Sessions whose records were made by another version; and what the tests of single parts are made
//! of.

mod observer;

use std::path::Path as FolderPath;

use agentic_flow::Rhai;
use agentic_git::run_git;
use agentic_model::{AgentName, Briefing, Instant, Map, Oid, Value, canonical};
use agentic_replay::record::AskRecord;
use agentic_replay::{
    EffectClass, Engine, Handling, HoldReason, Kinds, Language, OpenHold, Path, Performance,
    Request, RequestId, Session, SessionId, SessionOpening, StoredValue,
};
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_store::Durability;
use agentic_store::journal::LogFile;

use super::folder::Folder;
use super::shelf::program_of;
use super::{Begin, KeySource, SessionState, flow_object, resume, start};
use crate::decide::{Action, ApprovalScope, Decision, DecisionDraft, decide};
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
        stamp: false,
        agent: agent.clone(),
        flow: flow.cid(),
        engine,
        input: Value::Null,
        key: "other".to_owned(),
        allow: Vec::new(),
        head: Some(space.head(agent).expect("it was spawned").to_string()),
        configuration: None,
        host: None,
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

/// Makes a folder that goes with its handle, in memory where there is such: no test waits for a disk.
pub(crate) fn temporary_folder() -> tempfile::TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

/// Makes a repository in a folder.
pub(crate) fn repository(folder: &FolderPath) -> SessionSpace {
    let arguments = ["init", "--quiet", "--template=", "."];
    run_git(folder, &arguments).expect("git runs").checked(&arguments).expect("it works");
    let config = folder.join(".git/config");
    let identity = "[user]\n\tname = Alice\n\temail = alice@example.com\n";
    let text = std::fs::read_to_string(&config).expect("it was just made");
    std::fs::write(&config, text + identity).expect("writable");
    SessionSpace::open(folder, SessionOptions::default()).expect("it is a repository")
}

/// Makes an agent in it.
pub(crate) fn agent_in(space: &SessionSpace, name: &str) -> AgentName {
    let agent = AgentName::parse(name).expect("a valid name");
    let briefing = Briefing::of_text("x").to_object().expect("it is short");
    spawn(space, &agent, &briefing, &SpawnOrigin::Root).expect("the name is free");
    agent
}

/// Makes a space with an agent.
pub(crate) fn space_with_an_agent() -> (tempfile::TempDir, SessionSpace, AgentName) {
    let folder = temporary_folder();
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
fn a_session_of_before_the_stamp_names_no_behaviour_and_is_rebuilt_as_it_was() {
    let (folder, space, agent) = space_with_an_agent();
    let source = "commit(#{message: \"One\", files: #{\"a\": \"1\"}}); hold(\"Go on?\"); \
                  commit(#{message: \"Two\", files: #{\"a\": \"2\"}}); 1";
    let id = session_of(&space, &agent, source, rhai().engine());
    // It is allowed nothing, so that each commit is asked for as well.
    for _ in 0..3 {
        resume(&space, &id).expect("it goes on to what is asked");
        decide_open(&space, &id, Action::Approve);
    }
    resume(&space, &id).expect("it goes on to the end");
    let head = space.head(&agent).expect("it was spawned");
    for commit in space.own_commits(&agent, head).expect("readable") {
        assert!(!commit.message.contains("Agentic-Behaviour"), "{}", commit.message);
    }
    let rebuilt = crate::rebuild(&space, &id, &folder.path().join("rebuilt"));
    assert_eq!(rebuilt.expect("byte for byte").len(), 2);
}

#[test]
fn a_session_of_before_is_not_told_who_decided() {
    let (_folder, space, agent) = space_with_an_agent();
    for (semantics, told) in [(2, false), (3, true)] {
        let source = format!("\"principal\" in hold(\"Go on?\") // {semantics}");
        let engine = Engine { semantics, ..rhai().engine() };
        let id = session_of(&space, &agent, &source, engine);
        decide_open(&space, &id, Action::Approve);
        resume(&space, &id).expect("its version still runs");
        let summary = space.session(&id).expect("its records are sound");
        assert_eq!(summary.result, Some(Value::Bool(told)), "{semantics}");
    }
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
pub(crate) fn draft_of(action: Action) -> DecisionDraft {
    DecisionDraft {
        action,
        value: None,
        scope: ApprovalScope::Once,
        rationale: String::new(),
        expect: None,
        principal: "user:alice".to_owned(),
        client: "test",
        authn: None,
        shown: None,
        accepts: None,
    }
}

/// Decides the one open hold of a session.
pub(crate) fn decide_open(space: &SessionSpace, id: &agentic_replay::SessionId, action: Action) {
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

/// Reads data from JSON.
pub(crate) fn data(text: &str) -> Value {
    agentic_model::json::from_text(text).expect("the case is JSON")
}

/// Returns an id of a commit, by a number.
pub(crate) fn oid(number: u64) -> Oid {
    Oid::parse(&format!("{number:040x}")).expect("40 digits")
}

/// Returns an instant, in milliseconds.
pub(crate) fn at(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

/// Makes an effect to perform.
pub(crate) fn performance(path: &str, kind: &str, payload: &str) -> Performance {
    let path = Path::parse(path).expect("a valid path");
    let request = Request::new(path, kind, data(payload));
    Performance {
        request: request.into(),
        id: RequestId::from_bytes([7; 32]),
        class: EffectClass::Once,
        attempt: 1,
        not_before: None,
        found: None,
    }
}

/// Makes a decision that records nothing else.
pub(crate) fn decision_of(principal: &str, action: Action, value: Option<Value>) -> Decision {
    Decision {
        action,
        value,
        principal: principal.to_owned(),
        rationale: String::new(),
        record: Map::new(),
        request: RequestId::from_bytes([7; 32]),
    }
}

/// Makes a hold that is open, asked at the beginning of time.
pub(crate) fn hold_of(kind: &str, reason: HoldReason, payload: &str) -> OpenHold {
    let payload = data(payload);
    let request = Request::new(Path::parse("3").expect("a valid path"), kind, payload.clone());
    let hash = request.hash().expect("the payload is data");
    let bytes = canonical::encode(&payload).expect("the payload is data");
    OpenHold {
        session: SessionId::from_bytes([1; 32]),
        agent: AgentName::parse("alice").expect("a valid name"),
        id: RequestId::from_bytes([7; 32]),
        ask: AskRecord {
            path: request.path,
            kind: kind.to_owned(),
            hash,
            payload: StoredValue::Inline(bytes),
            schema: None,
            handling: Handling::Decision,
            timeout_ms: None,
            position: None,
        },
        payload,
        reason,
        asked_at: at(0),
        votes: Vec::new(),
        n_escalations: 0,
        published: None,
    }
}

/// Starts a script that may perform everything unasked.
pub(crate) fn started(space: &SessionSpace, agent: &AgentName, source: &str) -> SessionId {
    let begin = Begin {
        agent: agent.clone(),
        flow: flow_object(source).expect("it is short"),
        parts: Vec::new(),
        input: Value::Null,
        key: source.to_owned(),
        key_source: KeySource::Named,
        allow: vec!["*".to_owned()],
    };
    start(space, begin).expect("it starts")
}

/// Opens a space as a new command does, which knows nothing yet.
pub(crate) fn anew(space: &SessionSpace) -> SessionSpace {
    let folder = space.repository().common_dir();
    SessionSpace::open(folder, SessionOptions::default()).expect("it is a repository")
}

/// Writes a log of these payloads in place of the one that a session has.
pub(crate) fn replace_log(space: &SessionSpace, id: &SessionId, payloads: &[Vec<u8>]) {
    let dir = Folder::of(space, id).log();
    std::fs::remove_dir_all(&dir).expect("it is there");
    let (mut log, _) = LogFile::open(&dir).expect("writable");
    let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
    log.append(&payloads, Durability::Full).expect("writable");
}

/// Tells whether something stored is damaged.
pub(crate) fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Space(agentic_space::Error::Store(agentic_store::Error::Damage(_))))
}
