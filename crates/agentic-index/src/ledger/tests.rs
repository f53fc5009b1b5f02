use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Cid, Oid, Value};
use proptest::prelude::*;

use super::{
    AgentRow, EdgeRow, KeptMark, KnownAgent, LedgerRows, MainIndex, ReadAgent, SessionRow,
    SharedLedger, SweptRefs,
};
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
    Holds(Vec<(u8, Option<u8>)>),
    Swept(u8),
}

/// What an index is to have.
#[derive(Debug, Default)]
struct Expected {
    rows: LedgerRows,
    /// Who keeps which object, or did since it came.
    kept: BTreeSet<(u8, String)>,
    holds: BTreeMap<String, Value>,
}

impl Expected {
    fn check(&self, index: &mut MainIndex) -> Result<(), TestCaseError> {
        let rows = index.rows().clone();
        prop_assert_eq!(&rows.agents, &self.rows.agents);
        prop_assert_eq!(&rows.sessions, &self.rows.sessions);
        prop_assert_eq!(&rows.swept, &self.rows.swept);
        for number in 0..6 {
            let keepers = rows.objects.keepers(object(number));
            let known = self.kept.iter().filter(|(kept, _)| *kept == number);
            let known: Vec<&String> = known.map(|(_, agent)| agent).take(4).collect();
            prop_assert_eq!(keepers.iter().collect::<Vec<_>>(), known);
            for agent in 0..5 {
                let is_kept = self.kept.contains(&(number, name(agent)));
                prop_assert_eq!(rows.objects.may_keep(&name(agent), object(number)), is_kept);
            }
        }
        let mut holds = BTreeMap::new();
        index
            .holds(|session, written| drop(holds.insert(session.to_owned(), written.clone())))
            .expect("readable");
        prop_assert_eq!(&holds, &self.holds);
        Ok(())
    }
}

fn object(number: u8) -> KeptMark {
    KeptMark::of_object(&Cid::of(&[number]))
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
        prop::collection::vec((0..6_u8, prop::option::of(0..9_u8)), 0..3)
            .prop_map(LedgerAct::Holds),
        (0..3_u8).prop_map(LedgerAct::Swept),
    ]
}

fn run(index: &mut MainIndex, act: &LedgerAct) -> crate::Result<()> {
    match act {
        LedgerAct::Agent(row) => {
            let read = ReadAgent { row: (**row).clone(), kept: objects_of(row) };
            index.put_agents(vec![read])
        }
        LedgerAct::AgentGone(agent) => index.forget_agent(&name(*agent)),
        LedgerAct::Session(session, row) => index.put_session(&name(*session), row.clone()),
        LedgerAct::SessionsLeft(left) => {
            index.keep_sessions(&left.iter().map(|number| name(*number)).collect())
        }
        LedgerAct::Holds(news) => {
            let written = |n: &Option<u8>| n.map(|n| Value::Int(i64::from(n)));
            index.put_holds(news.iter().map(|(one, n)| (name(*one), written(n))).collect())
        }
        LedgerAct::Swept(number) => {
            let swept = swept(*number, &index.rows());
            index.note_swept(swept)
        }
    }
}

/// All agents that there are were compared with some refs.
fn swept(number: u8, rows: &LedgerRows) -> SweptRefs {
    SweptRefs { mark: [number; 32], n_agents: rows.agents.len() }
}

/// Which objects a row comes with: those of its edges, by number.
fn numbers_of(row: &AgentRow) -> impl Iterator<Item = u8> + '_ {
    (0..6).filter(|number| row.edges.iter().any(|edge| edge.target == name(*number)))
}

fn objects_of(row: &AgentRow) -> Vec<KeptMark> {
    numbers_of(row).map(object).collect()
}

/// Does the same to rows that nothing keeps.
fn expect(expected: &mut Expected, act: &LedgerAct) {
    let rows = &mut expected.rows;
    match act {
        LedgerAct::Agent(row) => {
            expected.kept.extend(numbers_of(row).map(|number| (number, row.name.clone())));
            rows.agents.put(KnownAgent::pack(row));
            rows.swept = None;
        }
        LedgerAct::AgentGone(agent) => {
            expected.kept.retain(|(_, keeper)| *keeper != name(*agent));
            rows.agents.remove(&name(*agent));
            rows.swept = None;
        }
        LedgerAct::Session(session, row) => {
            drop(rows.sessions.insert(name(*session), row.clone().into()));
        }
        LedgerAct::SessionsLeft(left) => {
            let left: BTreeSet<String> = left.iter().map(|number| name(*number)).collect();
            // What was written of one that it has no row of stays: whoever recalls it looks it up.
            let gone =
                |session: &String| rows.sessions.contains_key(session) && !left.contains(session);
            expected.holds.retain(|session, _| !gone(session));
            rows.sessions.retain(|session, _| left.contains(session));
        }
        LedgerAct::Swept(number) => rows.swept = Some(swept(*number, rows)),
        LedgerAct::Holds(news) => {
            for (one, n) in news {
                match n {
                    Some(n) => drop(expected.holds.insert(name(*one), Value::Int(i64::from(*n)))),
                    None => drop(expected.holds.remove(&name(*one))),
                }
            }
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
        let mut expected = Expected::default();
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
        in_memory.recall_objects().expect("sound");
        on_disk.recall_objects().expect("sound");
        expected.check(&mut in_memory)?;
        expected.check(&mut on_disk)?;
        on_disk.flush().expect("writable");
        drop(on_disk);
        let mut again = MainIndex::open(Box::new(sled()), OF, &SharedLedger::default()).expect("it is there");
        again.recall_objects().expect("sound");
        expected.check(&mut again)?;
        drop(in_memory);
        prop_assert_eq!(&*shared.rows(), &LedgerRows::default(), "one that is closed knows nothing");
    }

    #[test]
    fn a_failed_write_leaves_what_was_written_before(
        acts in prop::collection::vec(act(), 1..16),
        n_left in 1..16_usize,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("main");
        let inner = SledTables::open(&path, 1 << 20).expect("a new one");
        let tables = Box::new(FailingTables { inner, n_left });
        let mut index = MainIndex::open(tables, OF, &SharedLedger::default()).expect("one write");
        let mut expected = Expected::default();
        for act in &acts {
            if run(&mut index, act).and_then(|()| index.flush()).is_err() {
                break;
            }
            expect(&mut expected, act);
        }
        drop(index);
        let inner = SledTables::open(&path, 1 << 20).expect("it is there");
        let mut again =
            MainIndex::open(Box::new(inner), OF, &SharedLedger::default()).expect("sound");
        again.recall_objects().expect("sound");
        expected.check(&mut again)?;
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
        let swept = SweptRefs { mark: [1; 32], n_agents: 1 };
        batch.put(IndexTable::Meta, b"swept", swept.sealed());
        change(&mut batch);
        tables.apply(batch).expect("writable");
        tables
    };
    assert!(open(put(&|_| {}), OF).is_ok());
    assert!(matches!(open(put(&|_| {}), "another"), Err(IndexError::Foreign)));
    let spoils: [&dyn Fn(&mut TableBatch); 6] = [
        &|batch| batch.put(IndexTable::Meta, b"swept", session(1).sealed()),
        &|batch| batch.remove(IndexTable::Seen, b"agent-1"),
        &|batch| batch.remove(IndexTable::Agent, b"agent-1"),
        &|batch| batch.put(IndexTable::Edge, b"agent-2\0a\0b\0c\0d", edge(1, true).sealed()),
        &|batch| batch.put(IndexTable::Session, b"s", b"nonsense".to_vec()),
        &|batch| batch.put(IndexTable::Agent, b"agent-1", session(1).sealed()),
    ];
    // One that was lost is found by the comparison.
    let shared = SharedLedger::default();
    let lost = SweptRefs { mark: [1; 32], n_agents: 2 };
    let tables = put(&|batch| batch.put(IndexTable::Meta, b"swept", lost.sealed()));
    let index = MainIndex::open(Box::new(tables), OF, &shared).expect("it is ours");
    assert_eq!(shared.rows().swept, None);
    drop(index);
    for spoil in spoils {
        assert!(matches!(open(put(spoil), OF), Err(IndexError::Damaged { .. })));
    }
}
