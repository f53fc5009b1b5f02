//! Sessions that another host drives: what they refuse, and how they are taken up between two executions.

use agentic_model::{Instant, Value};
use agentic_replay::{
    AnswerSource, End, HoldReason, Kinds, RequestAnswer, Session, SessionOpening, SessionSetting,
};

use crate::session::{Kept, engine, opening};
use crate::tree::{Node, Tree};

/// More than half of what a value may have.
const LONG_BYTES: usize = 600 << 10;

fn begin(node: &Node, host: Option<&str>) -> (Session<Tree>, Kept) {
    let opening = SessionOpening { host: host.map(str::to_owned), ..opening() };
    let at = Instant::from_millis(1_000_000);
    let started = Session::start(opening, at, Tree::new(node), &Kinds::built_in());
    let (session, mut progress) = started.expect("the input is data");
    let mut kept = Kept::default();
    kept.keep(&mut progress);
    (session, kept)
}

/// Answers everything with a long text; returns the code of the failure that it ends with.
fn ends_with(host: Option<&str>) -> Option<String> {
    let node = Node::All(vec![Node::Ask("exec", 1), Node::Ask("exec", 2)]);
    let (mut session, mut kept) = begin(&node, host);
    let open: Vec<_> = session.unanswered().map(|request| request.path.clone()).collect();
    for path in open {
        let answer = RequestAnswer::Ok(Value::text("x".repeat(LONG_BYTES)));
        let at = Instant::from_millis(1_000_001);
        let answered = session.answered(&path, answer, AnswerSource::Executor, at);
        kept.keep(&mut answered.expect("it is open"));
    }
    let end = session.end().expect("everything is answered");
    let (again, _) = kept.load(&node).expect("a replay refuses the same");
    assert_eq!(again.end(), Some(end));
    if let End::Failed(failure) = end { Some(failure.code.clone()) } else { None }
}

#[test]
fn a_result_that_another_host_cannot_take_is_refused_and_replays_so() {
    assert_eq!(ends_with(None), None);
    assert_eq!(ends_with(Some("temporal")).as_deref(), Some("ValueTooLarge"));
}

#[test]
fn between_two_executions_only_what_was_doubted_before_is_in_doubt() {
    let node = Node::All(vec![Node::Ask("exec", 1), Node::Ask("exec", 2)]);
    let (mut session, mut kept) = begin(&node, Some("temporal"));
    let first = session.unanswered().next().expect("both are open").path.clone();
    let doubted = session.doubt(&first, Instant::from_millis(1_000_001));
    kept.keep(&mut doubted.expect("it may happen once"));
    let (kinds, engine) = (Kinds::built_in(), engine());
    let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &kept.objects };
    let journal = kept.journal();
    let loaded = Session::resume_at_rest(&journal, Tree::new(&node), setting, &mut |_, _| {});
    let (_, progress) = loaded.expect("the program is the same");
    let held: Vec<_> = progress.holds.iter().map(|it| (&it.request.path, it.reason)).collect();
    assert_eq!(held, [(&first, HoldReason::InDoubt)]);
    assert_eq!(progress.perform.len(), 1, "the other one has not begun");
    let (_, progress) = kept.load(&node).expect("the program is the same");
    assert_eq!(progress.holds.len(), 2, "after a crash nobody knows");
}
