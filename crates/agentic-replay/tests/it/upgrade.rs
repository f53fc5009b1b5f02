//! Upgrades: another program goes on, and every journal that a crash leaves of that loads.

use agentic_model::{Cid, Instant};
use agentic_replay::record::UpgradeRecord;
use agentic_replay::{Body, Kinds, ReplayError, Session, SessionProgress, SessionSetting, Upgrade};
use proptest::prelude::*;

use crate::session::{Kept, begin, engine, finish};
use crate::tree::{Node, Tree, any_tree};

fn at() -> Instant {
    Instant::from_millis(9_000_000)
}

fn next_flow() -> Cid {
    Cid::of(b"the next flow")
}

fn upgrade(kept: &Kept, node: &Node) -> Result<(Session<Tree>, SessionProgress), ReplayError> {
    let (kinds, engine) = (Kinds::built_in(), engine());
    let setting = SessionSetting { engine: &engine, kinds: &kinds, objects: &kept.objects };
    let upgrade = Upgrade { to: next_flow(), at: at() };
    Session::upgrade(&kept.journal(), Tree::new(node), setting, upgrade, &mut |_, _| {})
}

/// Loads every journal that a crash may leave, from `n_before` records on, with the program that it
/// names, and runs it to its end.
fn check_cuts(kept: &Kept, n_before: usize, [old, new]: [&Node; 2], salt: u64) {
    for n_records in n_before..=kept.frames.len() {
        let mut cut = kept.up_to(n_records);
        let node = if cut.journal().flow() == next_flow() { new } else { old };
        let loaded = cut.load(node);
        let (mut session, mut progress) =
            loaded.unwrap_or_else(|error| panic!("after {n_records} records: {error}"));
        cut.keep(&mut progress);
        finish(&mut session, &mut cut, salt);
        assert!(cut.load(node).is_ok(), "after {n_records} records and to the end");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn an_upgrade_that_is_broken_off_leaves_what_one_of_the_programs_replays(
        shared in any_tree(), salt: u64,
    ) {
        let old = Node::Seq(vec![shared.clone(), Node::Ask("exec", 101)]);
        let new = Node::Seq(vec![shared, Node::All(vec![Node::Ask("exec", 102), Node::Now])]);
        let (mut session, mut kept) = begin(&old);
        finish(&mut session, &mut kept, salt);
        for n_records in 1..kept.frames.len() {
            let mut own = kept.up_to(n_records);
            let Ok((mut session, mut progress)) = upgrade(&own, &new) else { continue };
            own.keep(&mut progress);
            finish(&mut session, &mut own, salt);
            check_cuts(&own, n_records, [&old, &new], salt);
        }
    }
}

#[test]
fn what_the_next_program_asks_stands_behind_the_record_that_names_it() {
    let old = Node::All(vec![Node::Ask("exec", 1)]);
    let new = Node::All(vec![Node::Ask("exec", 1), Node::Ask("exec", 2)]);
    let (_session, kept) = begin(&old);
    let (session, progress) = upgrade(&kept, &new).expect("it makes every recorded request");
    let bodies: Vec<&Body> = progress.links.iter().map(|link| &link.record.body).collect();
    assert!(matches!(bodies[..], [Body::Upgrade(_), Body::Ask(_)]), "{bodies:?}");
    assert_eq!(session.flow(), next_flow());
}

#[test]
fn a_program_that_ends_at_once_is_recorded_before_its_end() {
    let old = Node::Seq(vec![Node::Ask("exec", 1), Node::Ask("exec", 2)]);
    let new = Node::Seq(vec![Node::Ask("exec", 1)]);
    let (mut session, mut kept) = begin(&old);
    finish(&mut session, &mut kept, 1);
    // The start, the first request and its answer.
    let mut own = kept.up_to(3);
    let (session, mut progress) = upgrade(&own, &new).expect("it makes every recorded request");
    own.keep(&mut progress);
    assert!(session.end().is_some() && own.journal().is_over());
    check_cuts(&own, 3, [&old, &new], 1);
}

#[test]
fn a_journal_that_names_the_next_program_behind_what_it_asked_still_loads() {
    let old = Node::All(vec![Node::Ask("exec", 1)]);
    let new = Node::All(vec![Node::Ask("exec", 1), Node::Ask("exec", 2)]);
    let (_session, mut kept) = begin(&old);
    let (session, mut progress) = kept.load(&new).expect("it makes every recorded request");
    kept.keep(&mut progress);
    let mut chain = *session.chain();
    let from = session.flow();
    let record = UpgradeRecord { from, to: next_flow(), verified: chain.length() };
    kept.frames.push(chain.append(at(), Body::Upgrade(record)).bytes);
    check_cuts(&kept, kept.frames.len(), [&old, &new], 1);
}
