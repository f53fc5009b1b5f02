use std::collections::BTreeSet;

use agentic_model::{Cid, Oid};
use proptest::prelude::*;

use super::{AgentRow, EdgeRow, LedgerRows, MainIndex, SessionRow, SharedLedger};
use crate::error::IndexError;
use crate::tables::failing::FailingTables;
use crate::tables::{IndexTable, MemoryTables, SledTables, TableBatch, Tables};
use crate::text::SeenAgent;

const OF: &str = "a repository";

/// What happens to an index.
#[derive(Debug, Clone)]
enum LedgerAct {
    Agent(Box<AgentRow>),
    AgentGone(u8),
    Session(u8, SessionRow),
    SessionsLeft(BTreeSet<u8>),
}

fn name(number: u8) -> String {
    format!("agent-{number}")
}

fn oid(number: u8) -> Oid {
    Oid::from_bytes(&[number; 20]).expect("an id")
}

fn edge(number: u8, is_assertion: bool) -> EdgeRow {
    EdgeRow {
        source: "user:ada".to_owned(),
        relation: "reviews".to_owned(),
        target: name(number),
        cid: format!("b{number}{is_assertion}"),
        is_assertion,
        at: i64::from(number) - 3,
    }
}

fn agent(agent: u8, number: u8, edges: &BTreeSet<u8>) -> AgentRow {
    AgentRow {
        name: name(agent),
        seen: SeenAgent { head: oid(number), notes: (number > 2).then(|| oid(agent)) },
        genesis: (number > 1).then(|| oid(1)),
        parent: (number > 3).then(|| name(0)),
        briefing: (number > 4).then(|| Cid::of(b"briefing")),
        n_commits: u64::from(number),
        kinds: vec![("finding".to_owned(), u64::from(number)), (name(number), 1)],
        subject: "two\twords".repeat(usize::from(number)),
        at: i64::from(number) * 1_000 - 5_000,
        merges: vec![name(number)],
        merged: Vec::new(),
        edges: edges.iter().map(|number| edge(*number, number % 2 == 0)).collect(),
    }
}

fn session(number: u8) -> SessionRow {
    SessionRow {
        agent: name(number % 3),
        flow: "bafy".to_owned(),
        state: if number > 4 { "done" } else { "held" }.to_owned(),
        is_over: number > 4,
        n_records: u64::from(number),
        chain: "c".repeat(usize::from(number)),
        started_at: i64::from(number),
        until: (number > 2).then_some(-1),
        parent: (number > 3).then(|| "f".repeat(64)),
        n_bytes: (number < 4).then_some(77),
        depends_on_attendance: number % 2 == 1,
    }
}

fn act() -> impl Strategy<Value = LedgerAct> {
    let some = || prop::collection::btree_set(0..6_u8, 0..4);
    prop_oneof![
        (0..5_u8, 0..8_u8, some())
            .prop_map(|(one, n, edges)| LedgerAct::Agent(Box::new(agent(one, n, &edges)))),
        (0..5_u8).prop_map(LedgerAct::AgentGone),
        (0..6_u8, 0..8_u8).prop_map(|(one, n)| LedgerAct::Session(one, session(n))),
        some().prop_map(LedgerAct::SessionsLeft),
    ]
}

fn run(index: &mut MainIndex, act: &LedgerAct) -> crate::Result<()> {
    match act {
        LedgerAct::Agent(row) => index.put_agents(vec![(**row).clone()]),
        LedgerAct::AgentGone(agent) => index.forget_agent(&name(*agent)),
        LedgerAct::Session(session, row) => index.put_session(&name(*session), row.clone()),
        LedgerAct::SessionsLeft(left) => {
            index.keep_sessions(&left.iter().map(|number| name(*number)).collect())
        }
    }
}

/// Does the same to rows that nothing keeps.
fn expect(rows: &mut LedgerRows, act: &LedgerAct) {
    match act {
        LedgerAct::Agent(row) => drop(rows.agents.insert(row.name.clone(), (**row).clone().into())),
        LedgerAct::AgentGone(agent) => drop(rows.agents.remove(&name(*agent))),
        LedgerAct::Session(session, row) => {
            drop(rows.sessions.insert(name(*session), row.clone().into()));
        }
        LedgerAct::SessionsLeft(left) => {
            let left: BTreeSet<String> = left.iter().map(|number| name(*number)).collect();
            rows.sessions.retain(|session, _| left.contains(session));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_are_there_again_in_memory_and_on_the_disk(
        acts in prop::collection::vec(act(), 0..24),
        n_before_reopening in 0..24_usize,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("main");
        let sled = || SledTables::open(&path, 1 << 20).expect("ours");
        let shared = SharedLedger::default();
        let mut in_memory =
            MainIndex::open(Box::new(MemoryTables::default()), OF, &shared).expect("a new one");
        let mut on_disk =
            MainIndex::open(Box::new(sled()), OF, &SharedLedger::default()).expect("a new one");
        let mut expected = LedgerRows::default();
        for (at, act) in acts.iter().enumerate() {
            if at == n_before_reopening {
                on_disk.flush().expect("writable");
                drop(on_disk);
                on_disk = MainIndex::open(Box::new(sled()), OF, &SharedLedger::default()).expect("it is there");
            }
            run(&mut in_memory, act).expect("writable");
            run(&mut on_disk, act).expect("writable");
            expect(&mut expected, act);
        }
        prop_assert_eq!(&*shared.rows(), &expected);
        prop_assert_eq!(&*on_disk.rows(), &expected);
        on_disk.flush().expect("writable");
        drop(on_disk);
        let again = MainIndex::open(Box::new(sled()), OF, &SharedLedger::default()).expect("it is there");
        prop_assert_eq!(&*again.rows(), &expected);
        drop(in_memory);
        prop_assert_eq!(&*shared.rows(), &LedgerRows::default(), "one that is closed knows nothing");
    }

    #[test]
    fn a_failed_write_leaves_what_was_before(
        acts in prop::collection::vec(act(), 1..16),
        n_left in 1..16_usize,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("main");
        let inner = SledTables::open(&path, 1 << 20).expect("a new one");
        let tables = Box::new(FailingTables { inner, n_left });
        let mut index = MainIndex::open(tables, OF, &SharedLedger::default()).expect("one write");
        let mut expected = LedgerRows::default();
        for act in &acts {
            if run(&mut index, act).is_err() {
                break;
            }
            expect(&mut expected, act);
        }
        prop_assert_eq!(&*index.rows(), &expected);
        drop(index);
        let inner = SledTables::open(&path, 1 << 20).expect("it is there");
        let again = MainIndex::open(Box::new(inner), OF, &SharedLedger::default()).expect("sound");
        prop_assert_eq!(&*again.rows(), &expected);
    }
}

#[test]
fn another_repository_and_what_is_damaged_are_not_opened() {
    let open = |tables: MemoryTables, of: &str| {
        MainIndex::open(Box::new(tables), of, &SharedLedger::default()).map(drop)
    };
    let put = |change: &dyn Fn(&mut TableBatch)| {
        let mut tables = MemoryTables::default();
        let shared = SharedLedger::default();
        drop(MainIndex::open(Box::new(tables.clone()), OF, &shared).expect("a new one"));
        let identity = agentic_model::Value::map([
            ("format", agentic_model::Value::Int(super::FORMAT)),
            ("of", agentic_model::Value::text(OF)),
        ]);
        let mut batch = TableBatch::default();
        batch.put(IndexTable::Meta, b"identity", crate::value::seal(&identity));
        let row = agent(1, 5, &BTreeSet::from([2]));
        batch.put(IndexTable::Agent, b"agent-1", row.sealed());
        batch.put(IndexTable::Seen, b"agent-1", row.seen.sealed());
        change(&mut batch);
        tables.apply(batch).expect("writable");
        tables
    };
    assert!(open(put(&|_| {}), OF).is_ok());
    assert!(matches!(open(put(&|_| {}), "another"), Err(IndexError::Foreign)));
    let spoils: [&dyn Fn(&mut TableBatch); 5] = [
        &|batch| batch.remove(IndexTable::Seen, b"agent-1"),
        &|batch| batch.remove(IndexTable::Agent, b"agent-1"),
        &|batch| batch.put(IndexTable::Edge, b"agent-2\0a\0b\0c\0d", edge(1, true).sealed()),
        &|batch| batch.put(IndexTable::Session, b"s", b"nonsense".to_vec()),
        &|batch| batch.put(IndexTable::Agent, b"agent-1", session(1).sealed()),
    ];
    for spoil in spoils {
        assert!(matches!(open(put(spoil), OF), Err(IndexError::Damaged { .. })));
    }
}
