//! Forks: shared up to the cut, apart beyond it.

use agentic_model::{AgentName, Cid, Instant};
use agentic_replay::{
    ForkDraft, ForkError, HOLD, Kinds, RecordChain, Session, SessionProgress, SessionSetting,
};
use proptest::prelude::*;

use crate::session::{Kept, begin, engine, finish};
use crate::tree::{Node, Tree, any_tree};

/// How much a fork may add to a journal, in bytes, while it has fewer than ten open requests.
const FORK_BYTES_MAX: usize = 4 << 10;

fn fork(kept: &Kept, cut: u64, node: &Node) -> Result<(Session<Tree>, SessionProgress), ForkError> {
    let (kinds, engine) = (Kinds::built_in(), engine());
    let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &kept.objects };
    let draft = ForkDraft {
        agent: AgentName::parse("alice-fork").expect("a valid name"),
        flow: Cid::of(b"flow"),
        engine: engine.clone(),
        key: "f".to_owned(),
        allow: vec!["*".to_owned()],
        head: None,
        configuration: None,
    };
    let at = Instant::from_millis(9_000_000);
    Session::fork(&kept.journal(), cut, draft, at, Tree::new(node), setting)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_fork_at_any_record_runs_to_its_own_end_and_replays(node in any_tree(), salt: u64) {
        let (mut session, mut kept) = begin(&node);
        finish(&mut session, &mut kept, salt);
        for cut in 1..kept.frames.len() {
            let (mut forked, mut progress) = fork(&kept, cut as u64, &node).expect("it can be cut");
            let mut own = kept.up_to(cut);
            own.keep(&mut progress);
            prop_assert!(forked.started().session != session.started().session);
            let bytes: usize = own.frames[cut..].iter().map(Vec::len).sum();
            prop_assert!(bytes < FORK_BYTES_MAX, "{bytes}");
            finish(&mut forked, &mut own, salt + 1);
            let loaded = own.load(&node);
            prop_assert!(loaded.is_ok(), "{:?}", loaded.err());
        }
        prop_assert!(matches!(fork(&kept, u64::MAX, &node), Err(ForkError::Over)));
    }
}

#[test]
fn a_hold_that_is_open_at_the_cut_is_asked_under_the_forks_own_id() {
    let node = Node::Ask(HOLD, 1);
    let (session, kept) = begin(&node);
    let (forked, _progress) = fork(&kept, 2, &node).expect("it can be cut");
    let (ours, theirs) = (&session.pending()[0], &forked.pending()[0]);
    assert_eq!((ours.hash, &ours.request), (theirs.hash, &theirs.request));
    assert_ne!(ours.id, theirs.id);
}

#[test]
fn randomness_is_shared_up_to_the_cut_only() {
    let node = Node::Seq(vec![Node::Random, Node::Ask("exec", 1), Node::Random]);
    let (mut session, mut kept) = begin(&node);
    finish(&mut session, &mut kept, 1);
    let (mut forked, mut progress) = fork(&kept, 4, &node).expect("it can be cut");
    let mut own = kept.up_to(4);
    own.keep(&mut progress);
    finish(&mut forked, &mut own, 1);
    let (before, after) = (random(&kept.journal()), random(&own.journal()));
    assert_eq!(before.first(), after.first());
    assert_ne!(before.last(), after.last());
}

/// The hashes of all requests with a random payload.
fn random(journal: &RecordChain) -> Vec<String> {
    let asks = journal.records().iter().filter_map(|record| {
        let ask = record.body.as_ask()?;
        (ask.kind == "model").then(|| ask.hash.to_string())
    });
    asks.collect()
}

#[test]
fn forks_of_forks_load_fifty_deep() {
    let node = Node::Seq((0..60).map(|n| Node::Ask("exec", n)).collect());
    let (mut session, mut kept) = begin(&node);
    finish(&mut session, &mut kept, 1);
    let mut own = kept.up_to(3);
    for _ in 0..50 {
        let cut = own.frames.len() as u64;
        let (_forked, mut progress) = fork(&own, cut, &node).expect("it can be cut");
        own.keep(&mut progress);
        assert!(own.load(&node).is_ok());
    }
    let (mut forked, mut progress) = own.load(&node).expect("nothing changed");
    own.keep(&mut progress);
    finish(&mut forked, &mut own, 2);
    assert!(own.load(&node).is_ok());
}
