//! Sessions: run live in a random order of answers, broken off anywhere, replayed.

use std::collections::BTreeMap;

use agentic_model::{AgentName, Cid, Instant, Value};
use agentic_replay::record::{CancelMode, CancelRecord, PermitScope};
use agentic_replay::{
    AnswerSource, Attendance, Body, CancelExtent, End, Engine, HOLD, HoldReason, Kinds, Path,
    ProgramDifference, ProgramFailure, RecordChain, RecordLink, ReplayError, RequestAnswer,
    Session, SessionOpening, SessionProgress, SessionSetting, SummaryReader,
};
use proptest::prelude::*;

use crate::tree::{Node, Tree, any_tree, mutate};

/// A journal as a host would keep it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    pub frames: Vec<Vec<u8>>,
    pub objects: BTreeMap<Cid, Vec<u8>>,
}

impl Kept {
    pub fn keep(&mut self, progress: &mut SessionProgress) {
        self.objects.extend(std::mem::take(&mut progress.objects));
        self.frames.extend(progress.links.drain(..).map(|link: RecordLink| link.bytes));
    }

    pub fn journal(&self) -> RecordChain {
        RecordChain::read(self.frames.clone()).expect("what a session appended is a journal")
    }

    pub fn up_to(&self, n_records: usize) -> Kept {
        Kept { frames: self.frames[..n_records].to_vec(), objects: self.objects.clone() }
    }

    pub fn load(&self, node: &Node) -> Result<(Session<Tree>, SessionProgress), ReplayError> {
        let (kinds, engine) = (Kinds::built_in(), engine());
        let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &self.objects };
        Session::load(&self.journal(), Tree::new(node), setting, &mut |_, _| {})
    }
}

pub fn engine() -> Engine {
    Engine { language: "tree".to_owned(), semantics: 1 }
}

pub fn opening() -> SessionOpening {
    SessionOpening {
        stamp: false,
        agent: AgentName::parse("alice").expect("a valid name"),
        flow: Cid::of(b"flow"),
        engine: engine(),
        input: Value::Null,
        key: "k".to_owned(),
        allow: ["exec", "model", "commit", "spawn"].map(str::to_owned).to_vec(),
        head: None,
        configuration: None,
        host: None,
    }
}

pub fn begin(node: &Node) -> (Session<Tree>, Kept) {
    let at = Instant::from_millis(1_000_000);
    let started = Session::start(opening(), at, Tree::new(node), &Kinds::built_in());
    let (session, mut progress) = started.expect("the input is data");
    let mut kept = Kept::default();
    kept.keep(&mut progress);
    (session, kept)
}

/// Answers everything that is open, in an order and with values that only `salt` and what is open
/// decide, so that a run that was broken off goes on as it would have.
pub fn finish(session: &mut Session<Tree>, kept: &mut Kept, salt: u64) {
    while session.end().is_none() {
        let order = |path: &Path| Cid::of(format!("{salt} {path}").as_bytes());
        let open = session.unanswered().map(|request| request.path.clone());
        let path = open.min_by_key(order).expect("a session that is not over waits");
        let at = Instant::from_millis(1_000_000 + 7 * session.chain().length() as i64);
        let answered = session.answered(&path, answer(&path, salt), AnswerSource::Executor, at);
        kept.keep(&mut answered.expect("the request is open"));
    }
}

pub fn answer(path: &Path, salt: u64) -> RequestAnswer {
    match Cid::of(format!("{path} {salt}").as_bytes()).digest()[0] {
        0..30 => RequestAnswer::Failed(ProgramFailure::new("broken", "as the case has it")),
        30..40 => RequestAnswer::TimedOut,
        40..45 => RequestAnswer::Cancelled(CancelExtent::Unknown),
        45..50 => RequestAnswer::Ok(Value::Bytes(vec![7; 300 << 10])),
        _ => RequestAnswer::Ok(Value::text(format!("{path}{salt}"))),
    }
}

fn asked(kept: &Kept, payload: i64) -> Option<(u64, Path)> {
    let journal = kept.journal();
    journal.records().iter().find_map(|record| {
        if let Body::Ask(ask) = &record.body {
            let value = ask.payload.value(&kept.objects).expect("payloads are kept");
            (value == Value::Int(payload)).then(|| (record.seq, ask.path.clone()))
        } else {
            None
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_session_broken_off_after_any_record_goes_on_as_if_nothing_had_been(
        node in any_tree(), salt: u64,
    ) {
        let (mut session, mut kept) = begin(&node);
        finish(&mut session, &mut kept, salt);
        for n_records in 1..=kept.frames.len() {
            let mut again = kept.up_to(n_records);
            let (mut session, mut progress) = again.load(&node).expect("nothing changed");
            again.keep(&mut progress);
            finish(&mut session, &mut again, salt);
            prop_assert_eq!(&again.frames, &kept.frames, "broken off after {} records", n_records);
        }
    }

    #[test]
    fn a_changed_program_is_refused_at_the_changed_request(
        node in any_tree(), salt: u64, which in 0_i64..12,
    ) {
        let (mut session, mut kept) = begin(&node);
        finish(&mut session, &mut kept, salt);
        let mut changed = node.clone();
        mutate(&mut changed, which, 1_000);
        match (kept.load(&changed), asked(&kept, which)) {
            (Ok(_), None) => {}
            (Err(ReplayError::Diverged(divergence)), Some((seq, path))) => {
                prop_assert_eq!(divergence.difference, ProgramDifference::Payload);
                prop_assert_eq!((divergence.seq, divergence.path), (Some(seq), path));
                prop_assert_eq!(&divergence.changes[0].asked, &Some(Value::Int(1_000)));
            }
            (loaded, asked) => prop_assert!(false, "{:?} where {:?}", loaded.err(), asked),
        }
    }

    #[test]
    fn every_request_is_answered_exactly_once_before_the_end(node in any_tree(), salt: u64) {
        let (mut session, mut kept) = begin(&node);
        finish(&mut session, &mut kept, salt);
        let journal = kept.journal();
        let mut open = std::collections::BTreeSet::new();
        for record in journal.records() {
            if let Body::Ask(ask) = &record.body {
                prop_assert!(open.insert(ask.path.clone()));
            } else if let Body::Answer(answer) = &record.body {
                prop_assert!(open.remove(&answer.path));
            }
        }
        prop_assert!(open.is_empty() && journal.is_over());
    }

    #[test]
    fn no_damage_goes_unnoticed(node in any_tree(), salt: u64, at: usize, bit in 0_u8..8) {
        let (mut session, mut kept) = begin(&node);
        finish(&mut session, &mut kept, salt);
        let n = at % kept.frames.len();
        let byte = at / 7 % kept.frames[n].len();
        kept.frames[n][byte] ^= 1 << bit;
        let is_last = n + 1 == kept.frames.len();
        prop_assert!(is_last || RecordChain::read(kept.frames.clone()).is_err());
    }
}

/// Runs a program to its end, answering everything with its path, and loads another one on it.
fn check(recorded: Node, asked: Node, verdict: &str) {
    let (mut session, mut kept) = begin(&recorded);
    finish(&mut session, &mut kept, 3);
    let found = match kept.load(&asked) {
        Ok(_) => "same".to_owned(),
        Err(ReplayError::Diverged(divergence)) => divergence.to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(found, verdict);
}

fn exec(payload: i64) -> Node {
    Node::Ask("exec", payload)
}

#[test]
fn each_class_of_divergence_names_the_request() {
    let pair = |left, right| Node::Seq(vec![left, right]);
    check(pair(exec(1), exec(2)), pair(exec(1), exec(2)), "same");
    check(
        pair(exec(1), exec(2)),
        pair(exec(1), Node::Ask("model", 2)),
        "KIND: request `1` (record 3): recorded `exec`, now `model`",
    );
    check(
        pair(exec(1), exec(2)),
        pair(exec(1), exec(5)),
        "PAYLOAD: request `1` (record 3): `exec` now has other data; the whole: 2 became 5",
    );
    check(
        pair(exec(1), exec(2)),
        pair(exec(2), exec(1)),
        "PAYLOAD: request `0` (record 1): `exec` now has other data; the whole: 1 became 2; \
         ORDER: record 3 holds what is asked now",
    );
    check(
        pair(exec(1), exec(2)),
        Node::Seq(vec![exec(1)]),
        "LEFTOVER: request `1` (record 3): recorded `exec`, now nothing; \
         the program has come to its end",
    );
    check(
        Node::All(vec![exec(1), exec(2)]),
        Node::All(vec![exec(1), exec(2), exec(3)]),
        "EXTRA: request `b2/0` (record 3): recorded nothing, now `exec`",
    );
    check(
        Node::Any(vec![exec(1), exec(2)]),
        Node::All(vec![exec(1), exec(2)]),
        "LEFTOVER: request `b1/0` (record 4): recorded `withdraw`, now nothing; \
         the program waits for something else",
    );
}

#[test]
fn another_engine_is_refused() {
    let (_session, kept) = begin(&exec(1));
    let kinds = Kinds::built_in();
    let newer = Engine { semantics: 2, ..engine() };
    let setting = SessionSetting { engine: &newer, kinds: &kinds, objects: &kept.objects };
    let loaded = Session::load(&kept.journal(), Tree::new(&exec(1)), setting, &mut |_, _| {});
    let Err(ReplayError::Diverged(divergence)) = loaded else { panic!("it must be refused") };
    assert_eq!(divergence.difference, ProgramDifference::Engine);
}

#[test]
fn what_a_crash_leaves_open_is_handled_by_its_class() {
    let kinds = ["exec", "model", "commit", "mock", "forbidden", HOLD];
    let node = Node::All(kinds.iter().map(|kind| Node::Ask(kind, 1)).collect());
    let (session, kept) = begin(&node);
    let live: Vec<HoldReason> = session.pending().iter().map(|hold| hold.reason).collect();
    assert_eq!(live, [HoldReason::NotAllowed, HoldReason::Asked]);
    let (session, progress) = kept.load(&node).expect("nothing changed");
    let again: Vec<&str> =
        progress.perform.iter().map(|performance| performance.request.kind.as_str()).collect();
    assert_eq!(again, ["model", "commit", "mock"]);
    let holds: Vec<(&str, HoldReason)> =
        progress.holds.iter().map(|hold| (hold.request.kind.as_str(), hold.reason)).collect();
    assert_eq!(
        holds,
        [
            ("exec", HoldReason::InDoubt),
            ("forbidden", HoldReason::NotAllowed),
            (HOLD, HoldReason::Asked),
        ]
    );
    assert_eq!(session.pending(), progress.holds);
}

#[test]
fn a_permission_survives_a_crash_and_puts_the_edited_payload_in_place() {
    let node = Node::Ask("forbidden", 1);
    let (mut session, mut kept) = begin(&node);
    let path = Path::root().child("0");
    let at = session.chain().at();
    let mut progress = session
        .permit(&path, "c0ffee", Some(Value::Int(9)), PermitScope::Once, at)
        .expect("the request is held");
    assert_eq!(progress.perform[0].request.payload, Value::Int(9));
    assert!(
        session.permit(&path, "c0ffee", None, PermitScope::Once, at).is_err(),
        "permitted already"
    );
    kept.keep(&mut progress);
    let (mut session, progress) = kept.load(&node).expect("nothing changed");
    assert_eq!(progress.holds[0].reason, HoldReason::InDoubt);
    let progress = session
        .permit(&path, "c0ffee", Some(Value::Int(9)), PermitScope::Once, at)
        .expect("in doubt");
    assert_eq!(progress.perform[0].request.payload, Value::Int(9));
}

#[test]
fn a_permission_for_the_rest_of_the_session_asks_nobody_again_wherever_it_is_broken_off() {
    let node = Node::Seq(vec![Node::Ask("forbidden", 1), Node::Ask("forbidden", 2)]);
    let (mut session, mut kept) = begin(&node);
    let first = session.pending()[0].request.path.clone();
    let (at, scope) = (session.chain().at(), PermitScope::RestOfSession);
    kept.keep(&mut session.permit(&first, "c0ffee", None, scope, at).expect("it is held"));
    let mut progress = session
        .answered(&first, RequestAnswer::Ok(Value::Null), AnswerSource::Executor, at)
        .expect("it is open");
    assert_eq!((progress.perform.len(), progress.holds.len()), (1, 0));
    let n_before = kept.frames.len();
    kept.keep(&mut progress);
    let Body::Permit(permit) = &kept.journal().records()[kept.frames.len() - 1].body.clone() else {
        panic!("the second one is permitted by a record");
    };
    assert_eq!((permit.decision.as_str(), permit.scope), ("c0ffee", PermitScope::Under(2)));
    // With the answer alone, and with the second question but not its permission.
    for n_kept in [n_before + 1, n_before + 2] {
        let (_, progress) = kept.up_to(n_kept).load(&node).expect("nothing changed");
        assert_eq!((progress.perform.len(), progress.holds.len()), (1, 0));
        let last = progress.links.last().map(|link| link.record.body.clone());
        assert_eq!(last, Some(Body::Permit(permit.clone())));
    }
}

#[test]
fn attempts_are_counted_across_a_crash() {
    let node = Node::Ask("model", 1);
    let (mut session, mut kept) = begin(&node);
    let path = Path::root().child("0");
    let next_at = Instant::from_millis(2_000_000);
    for _ in 0..2 {
        let at = session.chain().at();
        let attempted = session.attempted(&path, "refused", Some(next_at), at);
        kept.keep(&mut attempted.expect("it is open"));
    }
    let (_session, progress) = kept.load(&node).expect("nothing changed");
    assert_eq!((progress.perform[0].attempt, progress.perform[0].not_before), (3, Some(next_at)));
}

#[test]
fn what_nobody_could_answer_is_performed_again_by_whoever_goes_on() {
    for node in [Node::Ask("model", 1), exec(1)] {
        let (mut session, mut kept) = begin(&node);
        let path = Path::root().child("0");
        let at = session.chain().at();
        let mut progress = session.attempted(&path, "no key", None, at).expect("it is open");
        assert!(progress.perform.is_empty(), "not now");
        kept.keep(&mut progress);
        let (_session, progress) = kept.load(&node).expect("nothing changed");
        // Nothing of it began, so there is no doubt about it either.
        assert!(progress.holds.is_empty());
        assert_eq!((progress.perform[0].attempt, progress.perform[0].not_before), (2, Some(at)));
    }
}

#[test]
fn cancelling_withdraws_and_waits_for_what_really_happened() {
    for mode in [CancelMode::Cooperative, CancelMode::Kill] {
        let node = Node::All(vec![exec(1), Node::Ask(HOLD, 2)]);
        let (mut session, mut kept) = begin(&node);
        let (who, why) = ("bob".to_owned(), "enough".to_owned());
        let cancel = CancelRecord { who, why, mode };
        let at = session.chain().at();
        let mut progress = session.cancel(cancel.clone(), at).expect("it runs");
        assert_eq!((progress.withdrawn.len(), &progress.end), (2, &None));
        kept.keep(&mut progress);
        assert!(session.cancel(cancel, at).is_err());
        assert!(session.pending().is_empty());
        let (mut session, progress) = kept.load(&node).expect("nothing changed");
        let stopped: Vec<CancelExtent> =
            progress.withdrawn.iter().map(|item| item.stopped).collect();
        assert_eq!(stopped, [CancelExtent::Unknown, CancelExtent::NotStarted]);
        finish(&mut session, &mut kept, 0);
        assert_eq!(session.end(), Some(&End::Cancelled));
        assert!(kept.load(&node).is_ok());
    }
}

#[test]
fn only_open_requests_can_be_answered() {
    let (mut session, _kept) = begin(&exec(1));
    let at = session.chain().at();
    for path in ["1", "b0/0", ""] {
        let path = Path::parse(path).expect("a valid path");
        let answered = session.answered(&path, RequestAnswer::TimedOut, AnswerSource::Executor, at);
        assert!(answered.is_err(), "{path}");
    }
}

#[test]
fn an_effect_whose_performer_was_lost_is_put_before_people_whoever_drives_the_session() {
    let node = Node::All(vec![Node::Ask("exec", 1), Node::Ask("model", 2)]);
    let (mut session, mut kept) = begin(&node);
    let path = |kind: &str| {
        let mut open = session.unanswered();
        open.find(|request| request.kind == kind).expect("it is asked").path.clone()
    };
    let (exec, model, at) = (path("exec"), path("model"), session.chain().at());
    assert!(session.doubt(&model, at).is_err(), "a model is asked again");
    let mut progress = session.doubt(&exec, at).expect("it is under way");
    assert_eq!(progress.holds[0].reason, HoldReason::InDoubt);
    assert!(session.doubt(&exec, at).is_err(), "it is in doubt already");
    kept.keep(&mut progress);
    let held = |kept: &Kept| {
        let reader = SummaryReader::of(&kept.journal(), &kept.objects).expect("all is kept");
        reader.holds(Attendance::Attended).iter().map(|hold| hold.reason).collect::<Vec<_>>()
    };
    assert_eq!(held(&kept), [HoldReason::InDoubt]);
    let (loaded, _) = kept.load(&node).expect("nothing changed");
    assert_eq!(loaded.pending(), session.pending());
    let again = session.permit(&exec, "c0ffee", None, PermitScope::Once, at);
    kept.keep(&mut again.expect("it is in doubt"));
    assert_eq!(held(&kept), [], "somebody is at work on it again");
}
