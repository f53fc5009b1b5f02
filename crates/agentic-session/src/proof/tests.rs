//! Records that were forged with care: chained anew, and without a seal that could tell.

use agentic_git::run_git;
use agentic_model::{AgentName, Cid, Value, canonical};
use agentic_replay::record::{Outcome, PermitScope};
use agentic_replay::{AnswerSource, Body, Chain, HoldReason, RecordChain, SessionId, StoredValue};

use super::prove;
use crate::action::Action;
use crate::decide::{ApprovalScope, decide};
use crate::folder::Folder;
use crate::hold::{Filter, pending};
use crate::tests::{
    anew, decide_open, draft_of, is_damage, oid, replace_log, space_with_an_agent, started,
};
use crate::{SessionSpace, resume};

/// A session that is over, in a space of its own.
struct Proven {
    _folder: tempfile::TempDir,
    space: SessionSpace,
    agent: AgentName,
    id: SessionId,
}

/// Runs a script whose only hold is decided so.
fn decided(source: &str, action: Action) -> Proven {
    let (folder, space, agent) = space_with_an_agent();
    let id = started(&space, &agent, source);
    decide_open(&space, &id, action);
    resume(&space, &id).expect("it goes on");
    Proven { _folder: folder, space, agent, id }
}

impl Proven {
    /// Puts forged records in the place of those that there are, and takes their witness away.
    fn forge(&self, forge: impl Fn(&mut Body)) -> SessionSpace {
        let (frames, _) = Folder::of(&self.space, &self.id).frames(&self.space).expect("readable");
        let journal = RecordChain::read(&frames).expect("sound");
        let mut chain = Chain::empty();
        let forged = journal.records().iter().map(|record| {
            let mut body = record.body.clone();
            forge(&mut body);
            chain.append(record.at, body).bytes
        });
        let forged: Vec<Vec<u8>> = forged.collect();
        let delete = ["update-ref", "-d", &self.agent.notes_ref()];
        let folder = self.space.repository().common_dir();
        run_git(folder, &delete).expect("git runs").checked(&delete).expect("it is there");
        replace_log(&self.space, &self.id, &forged);
        anew(&self.space)
    }

    /// Checks that forged records are found out.
    fn check_found_out(&self, what: &str, forge: impl Fn(&mut Body)) {
        let space = self.forge(forge);
        let proof = prove(&space, &self.id);
        assert!(proof.as_ref().is_err_and(is_damage), "{what}: {proof:?}");
    }
}

fn inline(value: &Value) -> StoredValue {
    StoredValue::Inline(canonical::encode(value).expect("it is data"))
}

#[test]
fn records_that_were_only_chained_anew_say_the_same() {
    let proven = decided("hold(\"Go on?\").action", Action::Approve);
    let before = prove(&proven.space, &proven.id).expect("sound");
    assert!(before.n_sealed > 0 && before.uncompared.is_empty(), "{before:?}");
    let space = proven.forge(|_| ());
    let after = prove(&space, &proven.id).expect("sound");
    assert_eq!((after.n_decisions, after.n_sealed), (before.n_decisions, 0));
    assert_eq!(after.uncompared.len(), 1, "that nothing is sealed is told: {after:?}");
}

#[test]
fn an_answer_that_its_decision_does_not_give_is_found_out() {
    let source = "hold(\"Go on?\").action";
    for (what, value) in [
        ("another action", Value::map([("action", Value::text("approve"))])),
        ("no map at all", Value::Int(1)),
    ] {
        decided(source, Action::Reject).check_found_out(what, |body| {
            if let Body::Answer(answer) = body {
                answer.outcome = Outcome::Ok(inline(&value));
            }
        });
    }
    decided(source, Action::Reject).check_found_out("a failure", |body| {
        if let Body::Answer(answer) = body {
            let (code, message) = ("x".to_owned(), "y".to_owned());
            answer.outcome = Outcome::Failed { code, message, details: inline(&Value::Null) };
        }
    });
    decided(source, Action::Reject).check_found_out("a time-out", |body| {
        if let Body::Answer(answer) = body {
            answer.outcome = Outcome::TimedOut;
        }
    });
}

#[test]
fn an_answer_by_a_commit_that_is_no_decision_of_it_is_found_out() {
    let source = "hold(\"Go on?\").action";
    let proven = decided(source, Action::Approve);
    let genesis = proven.space.agent(&proven.agent).expect("sound").genesis.expect("it has one");
    proven.check_found_out("its genesis", |body| {
        if let Body::Answer(answer) = body {
            answer.by = AnswerSource::Decision(genesis.to_string());
        }
    });
    for commit in [oid(5).to_string(), "no commit".to_owned()] {
        decided(source, Action::Approve).check_found_out(&commit, |body| {
            if let Body::Answer(answer) = body {
                answer.by = AnswerSource::Decision(commit.clone());
            }
        });
    }
}

#[test]
fn an_answer_that_hides_its_decision_is_found_out() {
    let proven = decided("hold(\"Go on?\").action", Action::Reject);
    proven.check_found_out("by the executor", |body| {
        if let Body::Answer(answer) = body {
            answer.by = AnswerSource::Executor;
            answer.outcome = Outcome::Ok(inline(&Value::Int(1)));
        }
    });
}

/// Runs an effect that a person allowed, once or for the rest of the session.
fn permitted(scope: ApprovalScope) -> Proven {
    let (folder, space, agent) = space_with_an_agent();
    let flow = crate::flow_object("exec([\"true\"]); exec([\"true\"]).status").expect("short");
    let begin = crate::Begin {
        agent: agent.clone(),
        flow,
        parts: Vec::new(),
        input: Value::Null,
        key: "key".to_owned(),
        key_source: crate::KeySource::Named,
        allow: Vec::new(),
    };
    let id = crate::start(&space, begin).expect("it starts");
    for _ in 0..2 {
        for hold in pending(&space, &Filter::default()).expect("readable") {
            assert_eq!(hold.hold.reason, HoldReason::NotAllowed);
            let draft = crate::decide::DecisionDraft { scope, ..draft_of(Action::Approve) };
            decide(&space, &hold, &draft).expect("it may");
            resume(&space, &id).expect("it goes on");
        }
    }
    Proven { _folder: folder, space, agent, id }
}

#[test]
fn a_permission_that_nobody_gave_is_found_out() {
    let lasting = permitted(ApprovalScope::RestOfSession);
    let proof = prove(&lasting.space, &lasting.id).expect("sound");
    assert_eq!(proof.n_decisions, 2, "the second effect is covered by the first decision");
    permitted(ApprovalScope::Once).check_found_out("it was for once", |body| {
        if let Body::Permit(permit) = body {
            permit.scope = PermitScope::RestOfSession;
        }
    });
    permitted(ApprovalScope::Once).check_found_out("something else was allowed", |body| {
        if let Body::Permit(permit) = body {
            permit.edited = Some(inline(&Value::map([("argv", Value::List(vec![]))])));
        }
    });
    lasting.check_found_out("it is covered by nothing", |body| {
        if let Body::Permit(permit) = body
            && let PermitScope::Under(_) = permit.scope
        {
            permit.scope = PermitScope::Under(0);
        }
    });
}

#[test]
fn a_vote_in_another_name_is_found_out() {
    let (folder, space, agent) = space_with_an_agent();
    let source = "hold(\"Go on?\", #{quorum: #{need: 2}}).action";
    let id = started(&space, &agent, source);
    decide_open(&space, &id, Action::Approve);
    resume(&space, &id).expect("the vote is noted");
    let proven = Proven { _folder: folder, space, agent, id };
    assert_eq!(prove(&proven.space, &id).expect("sound").n_decisions, 1);
    proven.check_found_out("who voted", |body| {
        if let Body::Vote(vote) = body {
            vote.principal = "user:eve".to_owned();
        }
    });
}

#[test]
fn a_head_or_a_value_that_is_nowhere_is_found_out() {
    let source = "hold(\"Go on?\").action";
    decided(source, Action::Approve).check_found_out("the head of its start", |body| {
        if let Body::Start(start) = body {
            start.head = Some(oid(9).to_string());
        }
    });
    decided(source, Action::Approve).check_found_out("the head of its publication", |body| {
        if let Body::Publish(publish) = body {
            publish.head = oid(9).to_string();
        }
    });
    decided(source, Action::Approve).check_found_out("a long value", |body| {
        if let Body::Ask(ask) = body {
            ask.payload = StoredValue::Object(Cid::of(b"gone"));
        }
    });
}

#[test]
fn a_commit_that_a_session_made_is_looked_at() {
    let (folder, space, agent) = space_with_an_agent();
    let source = "commit(#{message: \"Work\", files: #{a: \"1\"}}).commit";
    let id = started(&space, &agent, source);
    let proven = Proven { _folder: folder, space, agent, id };
    assert!(prove(&proven.space, &id).expect("sound").n_commits >= 2);
    proven.check_found_out("another commit", |body| {
        if let Body::Answer(answer) = body {
            let value = Value::map([("commit", Value::text(oid(9).to_string()))]);
            answer.outcome = Outcome::Ok(inline(&value));
        }
    });
}

#[test]
fn without_its_branch_a_session_says_what_could_not_be_compared() {
    let proven = decided("hold(\"Go on?\").action", Action::Approve);
    let delete = ["update-ref", "-d", "refs/heads/agents/alice"];
    let folder = proven.space.repository().common_dir();
    run_git(folder, &delete).expect("git runs").checked(&delete).expect("it is there");
    let proof = prove(&anew(&proven.space), &proven.id).expect("what is here is sound");
    assert!(proof.uncompared.iter().any(|what| what.contains("no branch")), "{proof:?}");
}
