//! What is damaged is left out, with a note.

use std::sync::atomic::{AtomicBool, Ordering};

use agentic_model::{Instant, Value};
use agentic_replay::record::{
    AnswerRecord, AttemptRecord, CancelMode, CancelRecord, EscalateRecord, Outcome, PermitRecord,
    PermitScope, SignalRecord, VoteRecord, Why, WithdrawRecord,
};
use agentic_replay::{AnswerSource, Body, CancelExtent, Path};
use agentic_session::{Begin, start};

use super::hand::{HandMade, gone, stored};
use super::question::{ask, check, check_noted, log_of, n_rows, read_all};
use crate::kit::Stage;

#[test]
fn a_session_whose_log_is_not_its_own_is_left_out_with_a_note() {
    let stage = Stage::new();
    let id = stage.start("hold(\"Go on?\").action");
    let begin = Begin { key: "two".to_owned(), ..stage.begin("hold(\"And this?\").action") };
    let other = start(&stage.space, begin).expect("it starts");
    let (log, taken) = (log_of(&stage.space, &id), log_of(&stage.space, &other));
    for entry in std::fs::read_dir(&taken).expect("it has a log").flatten() {
        std::fs::copy(entry.path(), log.join(entry.file_name())).expect("writable");
    }
    let stage = stage.reopened_at(agentic_session::Clock::System);
    check_noted(&stage.space, "? (Q) hold(question: Q, state: open).", "And this?", &id.short());
    check_noted(&stage.space, "? session(id: I).", &other.to_string(), &id.short());
    let report = read_all(&stage.space);
    let told = report.notes.iter().filter(|note| note.contains(&id.short())).count();
    assert_eq!(told, 1, "{:?}", report.notes);
}

#[test]
fn damaged_notes_are_left_out_with_a_note_and_sessions_that_are_here_are_not() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\").action");
    let git = |arguments: &[&str]| {
        let ran = stage.space.repository().git(arguments).expect("git runs");
        ran.stdout.trim().to_owned()
    };
    // A tree is no notes commit.
    let tree = git(&["mktree"]);
    git(&["update-ref", "refs/notes/agentic/bob", &tree]);
    check_noted(&stage.space, "? N = count { session(agent: A) }.", "1", "refs/notes/agentic/bob");
    check(&stage.space, "? (Q) hold(question: Q, state: open).", "Go on?");
}

/// Makes records that say everything that nobody would.
fn hostile(hand: &HandMade<'_>) -> Vec<Body> {
    let path = |name: &str| Path::root().child(name);
    let (one, two) = (path("one"), path("two"));
    let answer = |path: &Path, outcome: Outcome| {
        let (path, by) = (path.clone(), AnswerSource::Decision("no commit".to_owned()));
        Body::Answer(AnswerRecord { path, outcome, by, attempt: 0 })
    };
    let permit = |scope| {
        let (path, decision) = (one.clone(), "\u{1b}[31m".to_owned());
        Body::Permit(PermitRecord { path, decision, edited: Some(gone()), scope })
    };
    let vote = |path: &Path| {
        let text = || "x".repeat(1_000);
        Body::Vote(VoteRecord {
            path: path.clone(),
            decision: text(),
            principal: text(),
            action: text(),
        })
    };
    let cancel = |mode| Body::Cancel(CancelRecord { who: String::new(), why: String::new(), mode });
    vec![
        // Of what was never asked, and again of what has its answer.
        answer(&one, Outcome::TimedOut),
        vote(&one),
        hand.ask(&one, "model"),
        hand.ask(&one, "hold"),
        hand.ask(&two, ""),
        permit(PermitScope::Under(u64::MAX)),
        permit(PermitScope::RestOfSession),
        permit(PermitScope::Once),
        Body::Attempt(AttemptRecord {
            path: one.clone(),
            n: u32::MAX,
            error: "\0".to_owned(),
            next_at: Some(Instant::from_millis(i64::MAX)),
        }),
        Body::Escalate(EscalateRecord { path: two.clone(), to: vec![], why: String::new() }),
        vote(&two),
        answer(&one, Outcome::Ok(gone())),
        answer(&one, Outcome::Ok(stored(&Value::Null))),
        Body::Withdraw(WithdrawRecord { path: two.clone(), why: Why::Ended }),
        cancel(CancelMode::Cooperative),
        cancel(CancelMode::Kill),
        Body::Signal(SignalRecord { id: String::new(), name: String::new(), value: gone() }),
        answer(&two, Outcome::Cancelled(CancelExtent::Unknown)),
        Body::End(Outcome::Ok(gone())),
        hand.ask(&one, "exec"),
        Body::End(Outcome::TimedOut),
    ]
}

#[test]
fn hostile_journals_are_read_to_their_end() {
    let stage = Stage::new();
    let hand = HandMade::new(&stage, "hostile");
    let bodies = hostile(&hand);
    for n in 0..=bodies.len() {
        let stage = Stage::new();
        let hand = HandMade::new(&stage, "hostile");
        hand.write(bodies[..n].to_vec());
        let report = read_all(&stage.space);
        assert!(n_rows(&report) >= 1, "{n}: {:?}", report.notes);
    }
    hand.write(bodies);
    // What is gone is nothing, and said to be.
    check_noted(&stage.space, "? (V) signal(value: V).", "null", "cannot be read");
}

#[test]
fn a_text_that_begins_no_id_names_nothing() {
    let stage = Stage::new();
    stage.start("hold(\"Go on?\").action");
    for named in ["00000000", "00000000.0000", "0123456789abcdef.01234567"] {
        let column = if named.contains('.') { "request" } else { "session" };
        let program = format!("? hold({column}: #{named}).");
        let source = agentic_diag::SourceText::new("q", program.as_str());
        let facts = agentic_session::SessionFacts::new(&stage.space);
        let (files, params) = Default::default();
        let input =
            agentic_query::QueryInput { source: &source, files: &files, params: &params, now: 0 };
        assert!(agentic_query::compile(&input, &facts).is_err(), "{program}");
    }
}

#[test]
fn facts_are_read_while_sessions_begin_and_end() {
    let stage = Stage::new();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = || {
            let mut last = 0;
            while !is_over.load(Ordering::Relaxed) {
                let report = ask(&stage.space, "? session(id: I, state: done), result(I, V).");
                assert_eq!(report.notes, Vec::<String>::new());
                let n_rows = report.answers[0].rows.len();
                assert!(n_rows >= last, "{n_rows} after {last}");
                last = n_rows;
            }
        };
        let readers = [scope.spawn(asking), scope.spawn(asking)];
        for n in 0..20 {
            let begin = Begin { key: n.to_string(), ..stage.begin("exec([\"true\"]); 1") };
            start(&stage.space, begin).expect("it starts");
        }
        is_over.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().expect("it reads");
        }
    });
    check(&stage.space, "? N = count { session(state: done) }.", "20");
}
