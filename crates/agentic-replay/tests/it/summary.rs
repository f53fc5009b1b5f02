//! The reader of records and the session that runs its program: two ways to one meaning.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{AgentName, Cid, Instant, Value};
use agentic_replay::record::{
    CancelMode, CancelRecord, EscalateRecord, PermitScope, PublishRecord, VoteRecord,
};
use agentic_replay::{
    AnswerSource, Attendance, Body, Delivery, End, ForkDraft, HOLD, HoldReason, Kinds, Note, Path,
    Program, RecordChain, RecordLink, Request, RequestAnswer, RequestId, Seed, Session,
    SessionProgress, SessionSetting, SessionState, Signal, Start, Summary, SummaryReader, Turn,
    Upgrade, child_key, parent_of,
};
use proptest::prelude::*;

use crate::session::{Kept, answer, engine, opening};
use crate::tree::{Node, Tree, any_tree};

/// A tree that asks once more when it is told to stop.
struct TidyTree {
    tree: Tree,
    open: BTreeSet<Path>,
    tidies: bool,
}

impl TidyTree {
    fn new(node: &Node) -> TidyTree {
        TidyTree { tree: Tree::new(node), open: BTreeSet::new(), tidies: false }
    }

    fn note(&mut self, turn: Turn) -> Turn {
        self.open.extend(turn.opened.iter().map(|request| request.path.clone()));
        turn.withdrawn.iter().for_each(|path| _ = self.open.remove(path));
        turn
    }
}

impl Program for TidyTree {
    fn start(&mut self, start: &Start) -> Turn {
        let turn = self.tree.start(start);
        self.note(turn)
    }

    fn deliver(&mut self, delivery: Delivery) -> Turn {
        if self.tidies {
            return Turn { end: Some(End::Cancelled), ..Turn::default() };
        }
        self.open.remove(&delivery.path);
        let turn = self.tree.deliver(delivery);
        self.note(turn)
    }

    fn cancel(&mut self, _reason: &str, _at: Instant) -> Turn {
        self.tidies = true;
        let tidy = Request::new(Path::root().child("tidy"), "exec", Value::Null);
        let withdrawn = std::mem::take(&mut self.open).into_iter().collect();
        Turn { opened: vec![tidy], withdrawn, ..Turn::default() }
    }

    fn reseed(&mut self, seed: Seed) {
        self.tree.reseed(seed);
    }
}

/// A session, its journal and the reader that follows it.
struct Life {
    node: Node,
    session: Session<TidyTree>,
    kept: Kept,
    reader: SummaryReader,
}

/// A loaded session, what it wants done and every answer that its program got.
struct Revived {
    session: Session<TidyTree>,
    progress: SessionProgress,
    answers: Vec<(Path, RequestAnswer)>,
}

impl Life {
    fn begin(node: &Node) -> Life {
        let at = Instant::from_millis(1_000_000);
        let started = Session::start(opening(), at, TidyTree::new(node), &Kinds::built_in());
        let (session, progress) = started.expect("the input is data");
        let (kept, reader) = (Kept::default(), SummaryReader::default());
        let mut life = Life { node: node.clone(), session, kept, reader };
        life.keep(progress);
        life
    }

    fn keep(&mut self, mut progress: SessionProgress) {
        let links: Vec<RecordLink> = progress.links.clone();
        self.kept.keep(&mut progress);
        for link in links {
            self.reader.read(&link.record, link.hash, &self.kept.objects).expect("all is kept");
        }
    }

    /// Does the thing that a number stands for, as a host would; nothing where it would not.
    fn step(&mut self, number: u64) {
        let open: Vec<Path> = self.session.unanswered().map(|open| open.path.clone()).collect();
        if self.session.end().is_some() || open.is_empty() {
            return;
        }
        let path = &open[(number / 64) as usize % open.len()];
        let at = self.session.chain().at().plus_millis(7);
        let reason = self.session.pending().into_iter().find(|hold| hold.request.path == *path);
        let reason = reason.map(|hold| hold.reason);
        let session = &mut self.session;
        let done = match (number % 32, reason) {
            (0..8, _) => session.answered(path, answer(path, number), AnswerSource::Executor, at),
            (8 | 9, None) => session.attempted(path, "refused", Some(at.plus_millis(60_000)), at),
            (10, None) => session.attempted(path, "no key", None, at),
            (11, None) => session.retried(path, at),
            (12, None) => session.found(path, Value::Int(1), at),
            (13, Some(HoldReason::InDoubt)) => session.cleared(path, "it never began", at),
            (13..17, Some(_)) => {
                session.permit(path, "c0ffee", Some(Value::Int(9)), PermitScope::Once, at)
            }
            (17 | 18, Some(_)) => {
                session.permit(path, "beef", None, PermitScope::RestOfSession, at)
            }
            (19..22, Some(_)) => session.note(note(path, number), at),
            (22, _) => {
                let (id, name) = (number.to_string(), "n".to_owned());
                session.signal(Signal { id, name, value: Value::Null }, at)
            }
            (23, _) => session.cancel(cancel(number), at),
            (24..27, _) => return self.crash(),
            (27, _) => return self.upgrade(number),
            _ => return,
        };
        // What a session refuses changes nothing.
        if let Ok(progress) = done {
            self.keep(progress);
        }
    }

    fn crash(&mut self) {
        let revived = revive(&self.kept, &self.node);
        self.session = revived.session;
        self.keep(revived.progress);
    }

    fn upgrade(&mut self, number: u64) {
        let (kinds, engine) = (Kinds::built_in(), engine());
        let setting =
            SessionSetting { engine: &engine, kinds: &kinds, objects: &self.kept.objects };
        let to = Cid::of(&number.to_be_bytes());
        let upgrade = Upgrade { to, at: self.session.chain().at() };
        let (journal, program) = (self.kept.journal(), TidyTree::new(&self.node));
        let upgraded = Session::upgrade(&journal, program, setting, upgrade, &mut |_, _| {});
        let (session, progress) = upgraded.expect("it is the same program");
        self.session = session;
        self.keep(progress);
    }

    /// Goes on as a fork that leaves after so many records.
    fn fork(&mut self, cut: usize) {
        let (kinds, engine) = (Kinds::built_in(), engine());
        let setting =
            SessionSetting { engine: &engine, kinds: &kinds, objects: &self.kept.objects };
        let draft = ForkDraft {
            agent: AgentName::parse("alice-fork").expect("a valid name"),
            flow: Cid::of(b"other flow"),
            engine: engine.clone(),
            key: child_key(&self.session.started().session, &Path::root()),
            allow: vec!["exec".to_owned()],
            head: None,
            configuration: None,
        };
        let (journal, program) = (self.kept.journal(), TidyTree::new(&self.node));
        let at = self.session.chain().at();
        let Ok((session, progress)) =
            Session::fork(&journal, cut as u64, draft, at, program, setting)
        else {
            return;
        };
        self.kept = self.kept.up_to(cut);
        self.reader = SummaryReader::of(&self.kept.journal(), &self.kept.objects).expect("kept");
        self.session = session;
        self.keep(progress);
    }

    /// Compares the reader that followed with the session under way.
    fn check(&self) {
        let journal = self.kept.journal();
        let anew = SummaryReader::of(&journal, &self.kept.objects).expect("all is kept");
        for attendance in [Attendance::Attended, Attendance::AtRest] {
            let followed = summary(&self.reader, attendance);
            assert_eq!(followed, summary(&anew, attendance), "read on, and read anew");
        }
        check_holds(&self.session, &anew);
        check_rest(&self.session, &summary(&anew, Attendance::Attended));
    }
}

fn note(path: &Path, number: u64) -> Note {
    let (path, text) = (path.clone(), number.to_string());
    match number % 3 {
        0 => Note::Publish(PublishRecord { path, head: text }),
        1 => Note::Escalate(EscalateRecord { path, to: vec![text], why: "late".to_owned() }),
        _ => {
            let (principal, action) = ("bob".to_owned(), "approve".to_owned());
            Note::Vote(VoteRecord { path, decision: text, principal, action })
        }
    }
}

fn cancel(number: u64) -> CancelRecord {
    let is_kill = number.is_multiple_of(5);
    let mode = if is_kill { CancelMode::Kill } else { CancelMode::Cooperative };
    CancelRecord { who: "bob".to_owned(), why: "enough".to_owned(), mode }
}

fn revive(kept: &Kept, node: &Node) -> Revived {
    let (kinds, engine) = (Kinds::built_in(), engine());
    let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &kept.objects };
    let mut answers = Vec::new();
    let mut fold = |request: &Request, answer: &RequestAnswer| {
        answers.push((request.path.clone(), answer.clone()))
    };
    let loaded = Session::load(&kept.journal(), TidyTree::new(node), setting, &mut fold);
    let (session, progress) = loaded.expect("nothing changed");
    Revived { session, progress, answers }
}

fn summary(reader: &SummaryReader, attendance: Attendance) -> Summary {
    reader.clone().into_summary(attendance).expect("it has a start")
}

type HoldsByPath = BTreeMap<Path, (RequestId, HoldReason, Value)>;

fn holds_of(reader: &SummaryReader, attendance: Attendance) -> HoldsByPath {
    let holds = reader.holds(attendance).into_iter();
    holds.map(|hold| (hold.ask.path, (hold.id, hold.reason, hold.payload))).collect()
}

/// Compares what waits for a human. What a session took over from a crash is in doubt, what it has
/// begun itself is not.
fn check_holds(session: &Session<TidyTree>, reader: &SummaryReader) {
    let doubted = session.doubted();
    let doubted: BTreeSet<&Path> = doubted.iter().map(|doubt| &doubt.request.path).collect();
    let mut holds = holds_of(reader, Attendance::Attended);
    let at_rest = holds_of(reader, Attendance::AtRest).into_iter();
    holds.extend(at_rest.filter(|(path, _)| doubted.contains(path)));
    let pending = session.pending().into_iter().map(|hold| {
        let payload = hold.request.payload.clone();
        (hold.request.path.clone(), (hold.id, hold.reason, payload))
    });
    assert_eq!(holds, pending.collect::<HoldsByPath>());
}

/// Compares everything else that both tell.
fn check_rest(session: &Session<TidyTree>, summary: &Summary) {
    let start = session.started();
    assert_eq!((summary.id, &summary.agent), (start.session, &start.agent));
    assert_eq!(summary.child_of, parent_of(&start.key));
    assert_eq!(summary.flow, session.flow());
    assert_eq!(summary.n_records, session.chain().length());
    assert_eq!(summary.chain, session.chain().head());
    let open = summary.asked.iter().filter(|asked| asked.answer.is_none());
    let open: BTreeMap<&Path, (&str, &Value)> =
        open.map(|asked| (&asked.path, (asked.kind.as_str(), &asked.payload))).collect();
    let unanswered = session.unanswered();
    let unanswered: BTreeMap<&Path, (&str, &Value)> = unanswered
        .map(|request| (&request.path, (request.kind.as_str(), &request.payload)))
        .collect();
    assert_eq!(open, unanswered);
    match session.end() {
        None => assert!(!summary.state.is_over(), "{:?}", summary.state),
        Some(End::Done(value)) => {
            assert_eq!((summary.state, summary.result.as_ref()), (SessionState::Done, Some(value)));
        }
        Some(End::Failed(why)) => {
            assert_eq!(
                (summary.state, summary.failure.as_ref()),
                (SessionState::Failed, Some(why))
            );
        }
        Some(End::Cancelled) => assert_eq!(summary.state, SessionState::Cancelled),
    }
}

/// Compares a journal at rest with the session that is loaded from it.
fn check_at_rest(kept: &Kept, node: &Node) {
    let journal = kept.journal();
    let reader = SummaryReader::of(&journal, &kept.objects).expect("all is kept");
    check_open_alone(&journal, kept, &reader);
    let Revived { session, progress, answers } = revive(kept, node);
    let told = summary(&reader, Attendance::AtRest);
    let mut answered: Vec<_> =
        told.asked.iter().filter_map(|asked| asked.answer.as_ref()).collect();
    answered.sort_by_key(|(seq, ..)| *seq);
    let heard: Vec<&RequestAnswer> = answered.iter().map(|(_, answer, _)| answer).collect();
    // A fork has the answers of what its parent dropped last, too: they reach no program.
    let told_program: Vec<&RequestAnswer> = answers.iter().map(|(_, answer)| answer).collect();
    assert_eq!(heard, told_program, "every answer, in order");
    check_attempts(&told, &progress);
    if progress.links.is_empty() {
        assert_eq!(told.state, state_of(&session, &progress));
        assert_eq!(told.until, until_of(&told, &progress));
        check_rest(&session, &told);
    }
    let before = in_doubt(&reader);
    let mut after = reader;
    let mut objects = kept.objects.clone();
    objects.extend(progress.objects);
    for link in &progress.links {
        after.read(&link.record, link.hash, &objects).expect("all is kept");
    }
    check_holds(&session, &after);
    check_rest(&session, &summary(&after, Attendance::Attended));
    // What was in doubt is, unless its record of withdrawal was still missing.
    let lost = progress.links.iter().filter(|link| matches!(link.record.body, Body::Withdraw(_)));
    let lost: BTreeSet<&Path> = lost.filter_map(|link| link.record.body.path()).collect();
    let doubted = session.doubted();
    let doubted: BTreeSet<&Path> = doubted.iter().map(|doubt| &doubt.request.path).collect();
    assert_eq!(before.iter().filter(|path| !lost.contains(path)).collect::<BTreeSet<_>>(), doubted);
}

fn in_doubt(reader: &SummaryReader) -> BTreeSet<Path> {
    let holds = reader.holds(Attendance::AtRest).into_iter();
    let doubts = holds.filter(|hold| hold.reason == HoldReason::InDoubt);
    doubts.map(|hold| hold.ask.path).collect()
}

/// Compares the reader that looks at open requests alone.
fn check_open_alone(journal: &RecordChain, kept: &Kept, reader: &SummaryReader) {
    let open = SummaryReader::of_open(journal, &kept.objects).expect("all is kept");
    for attendance in [Attendance::Attended, Attendance::AtRest] {
        let holds = open.as_ref().map_or_else(Vec::new, |open| open.holds(attendance));
        assert_eq!(holds, reader.holds(attendance));
    }
    let depends = open.as_ref().is_some_and(SummaryReader::depends_on_attendance);
    assert_eq!(depends, reader.depends_on_attendance());
    assert_eq!(depends, !in_doubt(reader).is_empty());
}

fn check_attempts(told: &Summary, progress: &SessionProgress) {
    for performance in &progress.perform {
        let path = &performance.request.path;
        let asked = told.asked.iter().rfind(|asked| asked.path == *path);
        // What is asked only now has no record yet.
        let n_failed = asked.and_then(|asked| asked.attempts.last()).map_or(0, |last| last.n);
        assert_eq!(performance.attempt, n_failed + 1);
    }
}

/// Tells the state of a session that was loaded just now.
fn state_of(session: &Session<TidyTree>, progress: &SessionProgress) -> SessionState {
    match session.end() {
        Some(End::Done(_)) => return SessionState::Done,
        Some(End::Failed(_)) => return SessionState::Failed,
        Some(End::Cancelled) => return SessionState::Cancelled,
        None => {}
    }
    let held: BTreeSet<Path> =
        session.pending().iter().map(|hold| hold.request.path.clone()).collect();
    let waits = progress.perform.iter().any(|performance| performance.not_before.is_some());
    let is_child = |request: &Request| request.kind == "spawn";
    if !held.is_empty() {
        SessionState::Held
    } else if waits
        || !progress.timers.is_empty()
        || session.unanswered().all(|request| is_child(request))
    {
        SessionState::Waiting
    } else {
        SessionState::Running
    }
}

/// Tells the earliest instant that a session waits for that was loaded just now.
fn until_of(told: &Summary, progress: &SessionProgress) -> Option<Instant> {
    let next_at = |path: &Path| {
        let asked = told.asked.iter().rfind(|asked| asked.path == *path)?;
        asked.attempts.last()?.next_at
    };
    let again = progress.perform.iter().filter(|performance| performance.not_before.is_some());
    let again = again.filter_map(|performance| next_at(&performance.request.path));
    progress.timers.iter().map(|(at, _)| *at).chain(again).min()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn reader_and_session_agree_on_every_journal_and_wherever_it_is_broken_off(
        node in any_tree(),
        numbers in prop::collection::vec(any::<u64>(), 0..40),
        more in prop::collection::vec(any::<u64>(), 0..12),
        cut: usize,
    ) {
        let mut life = Life::begin(&node);
        life.check();
        for number in numbers {
            life.step(number);
            life.check();
        }
        check_every_beginning(&life, 1);
        let cut = 1 + cut % life.kept.frames.len();
        life.fork(cut);
        for number in more {
            life.check();
            life.step(number);
        }
        check_every_beginning(&life, cut);
    }
}

/// Breaks a journal off after each record from one on.
fn check_every_beginning(life: &Life, from: usize) {
    for n_records in from..=life.kept.frames.len() {
        check_at_rest(&life.kept.up_to(n_records), &life.node);
    }
}

#[test]
fn no_hold_is_open_once_its_session_was_told_to_stop() {
    let mut life = Life::begin(&Node::All(vec![Node::Ask(HOLD, 1), Node::Ask("model", 2)]));
    let at = life.session.chain().at();
    let mut progress = life.session.cancel(cancel(1), at).expect("it runs");
    // The process died right after it had written this.
    progress.links.truncate(1);
    life.keep(progress);
    let alone = SummaryReader::of_open(&life.kept.journal(), &life.kept.objects);
    let alone = alone.expect("all is kept").expect("two are open");
    for reader in [&alone, &life.reader] {
        assert!(reader.holds(Attendance::AtRest).is_empty());
    }
}

#[test]
fn a_fork_that_was_upgraded_goes_on_with_its_newer_program() {
    let mut life = Life::begin(&Node::Ask("exec", 1));
    life.fork(2);
    life.upgrade(7);
    life.crash();
    assert_eq!(life.session.flow(), Cid::of(&7_u64.to_be_bytes()));
    life.check();
}

#[test]
fn a_fork_that_ends_at_once_has_its_long_result() {
    let race = Node::Any(vec![Node::Ask("model", 1), Node::Ask(HOLD, 2)]);
    let mut life = Life::begin(&Node::Seq(vec![race]));
    let at = life.session.chain().at();
    let (path, long) = (life.session.unanswered().next().expect("two are open").path.clone(), 300);
    let answer = RequestAnswer::Ok(Value::Bytes(vec![7; long << 10]));
    let progress =
        life.session.answered(&path, answer, AnswerSource::Executor, at).expect("it is open");
    life.keep(progress);
    // What has lost the race has no answer yet: the fork gives it one, and is over.
    life.fork(life.kept.frames.len());
    assert_eq!(summary(&life.reader, Attendance::AtRest).state, SessionState::Done);
    life.check();
}
