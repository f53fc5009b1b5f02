//! What waits for a barrier, and when it must not grow any more.

use agentic_model::Cid;
use agentic_replay::record::CancelRecord;
use agentic_replay::{Body, Chain, RecordLink};

use super::{BYTES_MAX, RECORDS_MAX, UnsyncedRecords};
use crate::tests::at;

/// Makes a record whose bytes are at least so long.
fn link(chain: &mut Chain, n_bytes: usize) -> RecordLink {
    let mode = agentic_replay::record::CancelMode::Kill;
    let cancel = CancelRecord { who: String::new(), why: "x".repeat(n_bytes), mode };
    chain.append(at(0), Body::Cancel(cancel))
}

#[test]
fn so_many_records_wait_and_no_more() {
    let (mut waiting, mut chain) = (UnsyncedRecords::default(), Chain::empty());
    for _ in 1..RECORDS_MAX {
        waiting.add(vec![], vec![link(&mut chain, 0)], vec![]);
        assert!(!waiting.is_full());
    }
    waiting.add(vec![], vec![link(&mut chain, 0)], vec![]);
    assert!(waiting.is_full());
    assert_eq!(waiting.links.len(), RECORDS_MAX);
}

#[test]
fn so_many_bytes_of_records_and_values_wait_and_no_more() {
    let (mut waiting, mut chain) = (UnsyncedRecords::default(), Chain::empty());
    waiting.add(vec![], vec![link(&mut chain, BYTES_MAX / 2)], vec![]);
    assert!(!waiting.is_full());
    let value = vec![0; BYTES_MAX / 2];
    waiting.add(vec![(Cid::of(&value), value)], vec![], vec![]);
    assert!(waiting.is_full());
}

#[test]
fn what_waits_stays_in_order() {
    let (mut waiting, mut chain) = (UnsyncedRecords::default(), Chain::empty());
    let links: Vec<_> = (0..4).map(|_| link(&mut chain, 0)).collect();
    waiting.add(vec![], links[..1].to_vec(), vec![]);
    waiting.add(vec![], links[1..].to_vec(), vec![]);
    assert_eq!(waiting.links, links);
}
