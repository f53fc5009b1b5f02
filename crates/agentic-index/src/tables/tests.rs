use std::fs::File;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use super::{IndexTable, MemoryTables, SledTables, TableBatch, Tables};
use crate::error::IndexError;

fn keys(tables: &dyn Tables, table: IndexTable, from: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut visit = |key: &[u8], _: &[u8]| {
        found.push(key.to_vec());
        ControlFlow::Continue(())
    };
    tables.visit(table, from, &mut visit).expect("readable");
    found
}

/// What holds of tables wherever they are.
fn check(tables: &mut dyn Tables) {
    let mut batch = TableBatch::default();
    for number in [1_u32, 5, 9] {
        batch.put(IndexTable::Entry, &number.to_be_bytes(), vec![number as u8]);
    }
    batch.put(IndexTable::Meta, b"format", b"1".to_vec());
    batch.put(IndexTable::Edge, b"", b"empty".to_vec());
    tables.apply(batch).expect("writable");
    tables.flush().expect("writable");
    assert_eq!(tables.get(IndexTable::Meta, b"format").expect("readable"), Some(b"1".to_vec()));
    assert_eq!(tables.get(IndexTable::Edge, b"").expect("readable"), Some(b"empty".to_vec()));
    assert_eq!(tables.get(IndexTable::Edge, b"format").expect("readable"), None);
    let all: Vec<Vec<u8>> = [1_u32, 5, 9].map(|number| number.to_be_bytes().to_vec()).to_vec();
    assert_eq!(keys(tables, IndexTable::Entry, b""), all);
    assert_eq!(keys(tables, IndexTable::Entry, &2_u32.to_be_bytes()), all[1..]);
    assert_eq!(keys(tables, IndexTable::Post, b""), Vec::<Vec<u8>>::new());
    let last = |key: u32| {
        let found = tables.last_up_to(IndexTable::Entry, &key.to_be_bytes()).expect("readable");
        found.map(|(_, value)| value[0])
    };
    assert_eq!((last(0), last(5), last(8), last(u32::MAX)), (None, Some(5), Some(5), Some(9)));
    let mut batch = TableBatch::default();
    batch.remove(IndexTable::Entry, &5_u32.to_be_bytes());
    batch.remove(IndexTable::Entry, &6_u32.to_be_bytes());
    tables.apply(batch).expect("writable");
    assert_eq!(keys(tables, IndexTable::Entry, b"").len(), 2);
}

#[test]
fn tables_in_memory() {
    check(&mut MemoryTables::default());
}

#[test]
fn tables_on_the_disk_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("text");
    let mut tables = SledTables::open(&path, 1 << 20).expect("a new one");
    check(&mut tables);
    let held = SledTables::open(&path, 1 << 20).map(drop);
    assert!(matches!(held, Err(IndexError::Held { .. })), "{held:?}");
    drop(tables);
    let tables = SledTables::open(&path, 1 << 20).expect("it is there");
    assert_eq!(keys(&tables, IndexTable::Entry, b"").len(), 2);
}

#[test]
fn a_lock_that_is_given_back_late_is_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(SledTables::open(folder.path(), 1 << 20).expect("a new one"));
    let lock = File::open(folder.path().join("db")).expect("its file");
    lock.lock().expect("free soon");
    thread::scope(|scope| {
        let opening = scope.spawn(|| SledTables::open(folder.path(), 1 << 20).map(drop));
        thread::sleep(Duration::from_millis(100));
        assert!(!opening.is_finished(), "it is locked");
        lock.unlock().expect("ours");
        opening.join().expect("no panic").expect("free again");
    });
}

#[test]
fn rows_are_copied_a_few_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |name: &str| SledTables::open(&folder.path().join(name), 1 << 20).expect("ours");
    let (mut first, mut second) = (open("first"), open("second"));
    let mut batch = TableBatch::default();
    for number in 0..10_u32 {
        batch.put(IndexTable::Entry, &number.to_be_bytes(), vec![1]);
        batch.put(IndexTable::Agent, &number.to_be_bytes(), vec![2]);
    }
    first.apply(batch).expect("writable");
    let (mut from, mut n_steps) = (Some(Vec::new()), 0);
    while let Some(key) = from {
        from = first.copy_rows(&key, 7, &mut second).expect("readable");
        n_steps += 1;
    }
    assert_eq!(n_steps, 3);
    for table in [IndexTable::Entry, IndexTable::Agent] {
        assert_eq!(keys(&second, table, b""), keys(&first, table, b""));
    }
}
