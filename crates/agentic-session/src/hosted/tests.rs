//! What another host needs of a space, and what it keeps from everybody else.

use agentic_model::guidance::{ErrorClass, Guidance as _};
use agentic_model::{AgentName, Value};
use agentic_providers::host::CancelFlag;
use agentic_replay::{AnswerSource, Program, Session, SessionProgress};

use super::{
    HostClaim, HostedFate, HostedOpening, HostedOutcome, HostedRecords, HostedStart, claim,
    decide_hosted, host_of, perform_hosted, program_of_hosted, retire, seal_hosted,
};
use crate::decide::{Action, ApprovalScope, DecisionDraft, decide};
use crate::error::{DecisionError, SessionError};
use crate::hold::{Filter, pending};
use crate::tests::{space_with_an_agent, temporary_folder};
use crate::{
    Begin, Error, KeySource, SessionSpace, SessionState, flow_object, resume, start, tick,
};

const HOST: &str = "server.example:7233";
const SOURCE: &str = "let a = commit(#{message: \"one\", files: #{\"a\": \"1\"}});
    let who = hold(\"ship it?\");
    #{by: who.principal, made: a.commit}";

fn begin(agent: &AgentName) -> Begin {
    Begin {
        agent: agent.clone(),
        flow: flow_object(SOURCE).expect("it is short"),
        parts: Vec::new(),
        input: Value::Null,
        key: "k".to_owned(),
        key_source: KeySource::Named,
        allow: Vec::new(),
    }
}

fn draft(principal: &str) -> DecisionDraft {
    DecisionDraft {
        action: Action::Approve,
        value: None,
        scope: ApprovalScope::Once,
        rationale: String::new(),
        expect: None,
        principal: principal.to_owned(),
        client: crate::decide::COMMAND_LINE,
        authn: None,
        shown: None,
        accepts: None,
    }
}

/// A host that has its session in memory.
struct SmallHost<'s> {
    space: &'s SessionSpace,
    start: HostedStart,
    session: Session<Box<dyn Program>>,
    records: Vec<Vec<u8>>,
    progress: SessionProgress,
}

impl<'s> SmallHost<'s> {
    fn begin(space: &'s SessionSpace, opening: HostedOpening) -> SmallHost<'s> {
        let HostedOpening { opening, at } = opening;
        let start = HostedStart {
            stamp: opening.stamp,
            session: opening.session().expect("the input is data"),
            agent: opening.agent.clone(),
            flow: opening.flow,
            engine: opening.engine.clone(),
            key: opening.key.clone(),
            allow: opening.allow.clone(),
        };
        let hosted = program_of_hosted(space, &start, None).expect("it is pinned");
        let kinds = hosted.executor.kinds().clone();
        let begun = Session::start(opening, at, hosted.program, &kinds);
        let (session, progress) = begun.expect("the input is data");
        SmallHost { space, start, session, records: Vec::new(), progress }
    }

    /// Goes on as far as it goes without a human.
    fn run(&mut self) {
        loop {
            self.records.extend(self.progress.links.iter().map(|link| link.bytes.clone()));
            self.progress.links.clear();
            let Some(performance) = self.progress.perform.pop() else { return };
            let flag = CancelFlag::default();
            let done = perform_hosted(self.space, &self.start, &performance, &flag);
            let HostedOutcome::Answered(answer, by) = done.expect("the store works") else {
                panic!("it is answered at once")
            };
            let path = &performance.request.path;
            let progress = self.session.answered(path, answer, by, self.space.now());
            self.progress = progress.expect("it is open");
        }
    }

    fn sealed(&self, from: usize) -> HostedRecords {
        let records = self.records[from..].to_vec();
        HostedRecords {
            session: self.start.session,
            from,
            records,
            pieces: Vec::new(),
            told: Vec::new(),
        }
    }
}

#[test]
fn a_run_of_another_host_is_read_and_decided_here_and_driven_by_nobody_else() {
    let (_folder, space, agent) = space_with_an_agent();
    let claimed = claim(&space, begin(&agent), "temporal", HOST).expect("nobody has it");
    let HostClaim::Open(opening) = claimed.clone() else { panic!("it has not begun") };
    assert_eq!(claim(&space, begin(&agent), "temporal", HOST).expect("ours"), claimed);
    let refused = claim(&space, begin(&agent), "temporal", "other:1").map(drop);
    assert!(matches!(refused, Err(Error::Session(SessionError::Hosted { .. }))), "{refused:?}");
    let opened = (*opening).clone();
    let mut host = SmallHost::begin(&space, *opening);
    let id = host.start.session;
    assert_eq!(host_of(&space, &id).as_deref(), Some(HOST));
    let refused = start(&space, begin(&agent)).map(drop);
    assert!(matches!(refused, Err(Error::Session(SessionError::Hosted { .. }))), "{refused:?}");

    host.run();
    let n_sealed = seal_hosted(&space, &agent, &host.sealed(0)).expect("it fits");
    assert_eq!(n_sealed, host.records.len());
    assert_eq!(seal_hosted(&space, &agent, &host.sealed(1)).expect("the same"), n_sealed);
    let mut other = host.sealed(1);
    other.records[0] = b"other".to_vec();
    assert!(seal_hosted(&space, &agent, &other).is_err(), "something else is sealed there");
    let mut elsewhere =
        SmallHost::begin(&space, HostedOpening { at: opened.at.plus_millis(1), ..opened });
    elsewhere.run();
    let differs =
        seal_hosted(&space, &agent, &elsewhere.sealed(0)).expect_err("made at another time");
    assert_eq!(differs.class(), ErrorClass::Diverged, "{differs}");
    assert!(differs.because().is_some_and(|why| why.contains("/at: ")), "{differs:?}");
    let mut later = host.sealed(1);
    later.from = n_sealed + 1;
    assert!(seal_hosted(&space, &agent, &later).is_err(), "a record between is missing");
    assert_eq!(claim(&space, begin(&agent), "temporal", HOST).expect("ours"), HostClaim::Begun);

    assert_eq!(space.session(&id).expect("it is sealed").state, SessionState::Held);
    let holds = pending(&space, &Filter::default()).expect("readable");
    let hold = &holds.first().expect("one waits").hold;
    assert!(tick(&space).expect("readable").is_empty(), "it is not ours to drive");
    let refused = resume(&space, &id);
    assert!(matches!(refused, Err(Error::Session(SessionError::Hosted { .. }))), "{refused:?}");

    let refused = decide(&space, &holds[0], &draft("user:alice")).map(drop);
    assert!(matches!(refused, Err(Error::Session(SessionError::Hosted { .. }))), "{refused:?}");

    let decided = decide_hosted(&space, &id, &hold.id, &draft("user:alice")).expect("open");
    let again = decide_hosted(&space, &id, &hold.id, &draft("user:alice")).expect("the same");
    assert_eq!(again.commit, decided.commit);
    let late = decide_hosted(&space, &id, &hold.id, &draft("user:bob")).map(drop);
    assert!(matches!(late, Err(Error::Decision(DecisionError::AlreadyDecided { .. }))), "{late:?}");
    let HostedFate::Answer(answer) = decided.fate else { panic!("it is answered") };
    let by = AnswerSource::Decision(decided.commit.to_string());
    let progress = host.session.answered(&hold.ask.path, answer, by, space.now());
    host.progress = progress.expect("it is open");
    host.run();
    assert!(host.session.end().is_some());
    seal_hosted(&space, &agent, &host.sealed(n_sealed)).expect("they follow");
    retire(&space, &id).expect("it is over");
    let summary = space.session(&id).expect("it is sealed");
    assert_eq!(summary.state, SessionState::Done);
    let result = summary.result.expect("it has a result");
    assert_eq!(result.get("by").and_then(Value::as_text), Some("user:alice"));
    let folder = temporary_folder();
    let rebuilt =
        crate::rebuild(&space, &id, &folder.path().join("r")).expect("nothing is missing");
    assert_eq!(rebuilt.len(), 1, "what it committed");
}
