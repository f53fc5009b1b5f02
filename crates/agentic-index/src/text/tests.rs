use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Instant, Oid};
use proptest::prelude::*;

use super::{BLOCK, SeenAgent, TextChange, TextIndex, UnreadTexts};
use crate::document::{DocumentPlace, DocumentSource, SearchDocument};
use crate::error::IndexError;
use crate::search::{SearchQuery, SearchScope};
use crate::tables::failing::FailingTables;
use crate::tables::{MemoryTables, SledTables};

const OF: &str = "a repository";
const WORDS: [&str; 14] = [
    "token",
    "Refresh",
    "RefreshToken",
    "src/a.rs",
    "retry_count",
    "没有空格",
    "空",
    "Retry",
    "x",
    "two  workers",
    "a.rs",
    "TOKEN!",
    "Οδυσσεύς",
    "ΟΔΥΣΣΕΎΣ",
];
const QUERIES: [&str; 25] = [
    "token",
    "token refresh",
    "\"two workers\"",
    "\"refresh token\"",
    "-token",
    "token -refresh",
    "re*",
    "src/a.rs",
    "a.rs",
    "retry_count",
    "retry count",
    "空格",
    "空",
    "agent:alice",
    "agent:alice agent:bob x",
    "kind:log token",
    "in:commit",
    "in:trace by:alice",
    "by:ada",
    "after:1970-01-01T00:00:00.005Z before:1970-01-01T00:00:00.020Z",
    "-\"two workers\" x",
    "under:alice token",
    "οδυσσεύς",
    "ΟΔΥΣΣΕΎΣ*",
    "\"οδυσσεύς token\"",
];

fn oid(number: u8) -> Oid {
    Oid::from_bytes(&[number; 20]).expect("an id")
}

fn scope(query: &str) -> SearchScope {
    let query = SearchQuery::parse(query, Instant::from_millis(0)).expect(query);
    let under = |agent: &str| BTreeSet::from([agent.to_owned(), "bob".to_owned()]);
    SearchScope::new(query, under, |kind| BTreeSet::from([kind.to_owned()]))
}

/// Reads what an index finds, as whoever asks it does.
fn found(
    index: &TextIndex,
    all: &[SearchDocument],
    query: &str,
    limit: usize,
) -> Vec<SearchDocument> {
    let scope = scope(query);
    let found = index.find(&scope, 2_000).expect("readable");
    let document = |place: &super::TextPlace| {
        let is_it = |it: &&SearchDocument| {
            it.agent == place.agent && it.source == place.source && it.position == place.position
        };
        all.iter().find(is_it).cloned()
    };
    let documents: Vec<SearchDocument> = found.texts.iter().filter_map(document).collect();
    assert!(documents.is_sorted_by_key(SearchDocument::order), "{query}");
    documents.into_iter().filter(|it| scope.fits(it)).take(limit).collect()
}

fn scanned(all: &[SearchDocument], query: &str, limit: usize) -> Vec<SearchDocument> {
    let scope = scope(query);
    let fitting = all.iter().filter(|it| scope.fits(it)).map(|it| (it.order(), it.clone()));
    fitting.collect::<BTreeMap<_, _>>().into_values().take(limit).collect()
}

fn document() -> impl Strategy<Value = (u8, u64, usize, usize, i64, Vec<usize>)> {
    let words = prop::collection::vec(0..WORDS.len(), 0..6);
    (0..6_u8, 0..4_u64, 0..3_usize, 0..5_usize, 0..30_i64, words)
}

fn documents() -> impl Strategy<Value = Vec<SearchDocument>> {
    prop::collection::vec(document(), 0..40).prop_map(|all| {
        let mut documents = BTreeMap::new();
        for (source, position, agent, place, at, words) in all {
            let words: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
            let agent = ["alice", "bob", "eve"][agent].to_owned();
            let place = DocumentPlace::ALL[place];
            let document = SearchDocument {
                source: DocumentSource::Commit(oid(source + 1)),
                position,
                place,
                by: if place == DocumentPlace::Decision {
                    "user:ada".into()
                } else {
                    agent.clone()
                },
                agent: agent.clone(),
                kind: ["log", "finding"][usize::from(source % 2)].to_owned(),
                at: Instant::from_millis(at),
                text: words.join(" "),
            };
            documents.insert((agent, source, position), document);
        }
        documents.into_values().collect()
    })
}

/// Puts documents into an index, those of an agent together.
fn fill(index: &mut TextIndex, all: &[SearchDocument]) -> Result<(), IndexError> {
    let change = |texts: &[SearchDocument]| {
        let seen = Some(SeenAgent { head: oid(9), notes: None });
        let (agent, new) = (texts[0].agent.clone(), texts.to_vec());
        TextChange { agent, new, seen, ..TextChange::default() }
    };
    let changes = all.chunk_by(|one, next| one.agent == next.agent).map(change);
    index.apply(&changes.collect::<Vec<TextChange>>())
}

fn read_again(index: &mut TextIndex, all: &[SearchDocument]) {
    let unread: Vec<UnreadTexts> = index.unread().expect("readable");
    for texts in &unread {
        let of = all.iter().filter(|it| it.agent == texts.agent && it.source == texts.source);
        let of = of.map(|it| (it.position, it.clone())).collect();
        index.read_again(texts, &of).expect("writable");
    }
    index.end_reading_again().expect("writable");
}

fn check(index: &TextIndex, all: &[SearchDocument]) {
    for query in QUERIES {
        for limit in [3, 100] {
            assert_eq!(found(index, all, query, limit), scanned(all, query, limit), "{query}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn an_index_finds_what_reading_everything_finds(all in documents()) {
        let mut index = TextIndex::open(Box::<MemoryTables>::default(), OF).expect("a new one");
        fill(&mut index, &all).expect("writable");
        check(&index, &all);
    }

    #[test]
    fn what_goes_away_is_not_found(all in documents(), gone in 0..6_u8) {
        let mut index = TextIndex::open(Box::<MemoryTables>::default(), OF).expect("a new one");
        fill(&mut index, &all).expect("writable");
        let source = DocumentSource::Commit(oid(gone + 1));
        let change = |agent: &str| {
            let (agent, gone) = (agent.to_owned(), vec![source.clone()]);
            TextChange { agent, gone, ..TextChange::default() }
        };
        // Texts of both may stand in one row.
        index.apply(&["alice", "bob"].map(change)).expect("writable");
        index.forget_agent("eve").expect("writable");
        let is_left = |it: &&SearchDocument| it.agent != "eve" && it.source != source;
        let left: Vec<SearchDocument> = all.iter().filter(is_left).cloned().collect();
        prop_assert_eq!(index.n_texts(), left.len());
        check(&index, &left);
    }

    #[test]
    fn an_index_that_was_closed_finds_the_same(all in documents(), later in documents()) {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || {
            let tables = SledTables::open(folder.path(), 1 << 20).expect("free");
            TextIndex::open(Box::new(tables), OF).expect("sound")
        };
        let mut index = open();
        fill(&mut index, &all).expect("writable");
        drop(index);
        let mut index = open();
        read_again(&mut index, &all);
        check(&index, &all);
        // Later texts of the same places under other names, so that no two are one.
        let mut later = later;
        later.iter_mut().for_each(|it| it.position += 100);
        fill(&mut index, &later).expect("writable");
        let all = [all, later].concat();
        check(&index, &all);
    }
}

#[test]
fn full_blocks_are_on_the_disk() {
    let text = |number: u64, word: &str| SearchDocument {
        source: DocumentSource::Session(format!("s{}", number / 1_000)),
        position: number,
        place: DocumentPlace::Session,
        agent: "alice".to_owned(),
        kind: "exec".to_owned(),
        by: "alice".to_owned(),
        at: Instant::from_millis(i64::try_from(number).expect("small")),
        text: format!("common {word}"),
    };
    let all: Vec<SearchDocument> = (0..140_000)
        .map(|number| text(number, if number % 20_000 == 7 { "needle" } else { "hay" }))
        .collect();
    let mut index = TextIndex::open(Box::<MemoryTables>::default(), OF).expect("a new one");
    for new in all.chunks(30_000) {
        let change =
            TextChange { agent: "alice".into(), new: new.to_vec(), ..TextChange::default() };
        index.apply(&[change]).expect("writable");
    }
    assert_eq!((index.n_blocks, index.n_texts()), (2, all.len()));
    let positions = |query: &str, most: usize| -> Vec<u64> {
        let found = index.find(&scope(query), most).expect("readable");
        found.texts.iter().map(|text| text.position).collect()
    };
    assert_eq!(positions("needle common", 3), [120_007, 100_007, 80_007]);
    assert_eq!(positions("need* -hay", 100).len(), 7);
    assert_eq!(positions("common", 2), [139_999, 139_998]);
    assert_eq!(
        index.unread().expect("readable").iter().map(|it| it.numbers.len()).sum::<usize>(),
        140_000 - 131_072
    );
}

/// Makes short texts of one agent that came one after the other, with a rare word here and there; so many
/// stand together.
fn many(n_texts: u64, n_together: u64) -> Vec<SearchDocument> {
    let text = |number: u64| SearchDocument {
        source: DocumentSource::Session(format!("s{}", number / n_together)),
        position: number,
        place: DocumentPlace::Session,
        agent: "alice".to_owned(),
        kind: "exec".to_owned(),
        by: "alice".to_owned(),
        at: Instant::from_millis(i64::try_from(number).expect("small")),
        text: if number % 20_000 == 7 { "needle" } else { "hay" }.to_owned(),
    };
    (0..n_texts).map(text).collect()
}

fn change(texts: &[SearchDocument]) -> TextChange {
    TextChange { agent: "alice".to_owned(), new: texts.to_vec(), ..TextChange::default() }
}

#[test]
fn texts_that_came_a_few_at_a_time_are_packed_when_their_block_is_full() {
    let all = many(u64::from(BLOCK) + 10, 3);
    let mut index = TextIndex::open(Box::<MemoryTables>::default(), OF).expect("a new one");
    for texts in all.chunks(50) {
        index.apply(&[change(texts)]).expect("writable");
    }
    let mut n_rows = 0;
    let counted = index.each_row(0, |_, _, _| {
        n_rows += 1;
        Ok(())
    });
    counted.expect("readable");
    assert!(n_rows < 300, "{n_rows} rows");
    let found = index.find(&scope("needle"), 10).expect("readable").texts;
    let positions: Vec<u64> = found.iter().map(|text| text.position).collect();
    assert_eq!(positions, [60_007, 40_007, 20_007, 7]);
    let gone = vec![DocumentSource::Session("s2".to_owned())];
    let gone = TextChange { gone, ..change(&[]) };
    index.apply(&[gone]).expect("writable");
    assert_eq!(index.find(&scope("needle"), 10).expect("readable").texts.len(), 3);
    assert_eq!(index.n_texts(), all.len() - 3);
}

#[test]
fn a_block_whose_writing_fails_is_written_again() {
    let all = many(u64::from(BLOCK), 5_000);
    // What it is of, the texts; then what is written of the block.
    for n_left in 2..5 {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || SledTables::open(folder.path(), 1 << 20).expect("free");
        let tables = FailingTables { inner: open(), n_left };
        let mut index = TextIndex::open(Box::new(tables), OF).expect("a new one");
        assert!(index.apply(&[change(&all)]).is_err(), "{n_left}");
        drop(index);
        let mut index = TextIndex::open(Box::new(open()), OF).expect("sound");
        assert_eq!(index.n_blocks, 0);
        // Some were gone meanwhile: what was written of the block says otherwise.
        read_again(&mut index, &all[..50_000]);
        assert_eq!(index.n_blocks, 1);
        let found = index.find(&scope("needle"), 10).expect("readable").texts;
        let positions: Vec<u64> = found.iter().map(|text| text.position).collect();
        assert_eq!(positions, [40_007, 20_007, 7], "{n_left}");
        assert_eq!(index.find(&scope("hay"), 60_000).expect("readable").texts.len(), 49_997);
    }
}

#[test]
fn what_was_written_of_an_agent_in_part_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || {
        let tables = SledTables::open(folder.path(), 1 << 20).expect("free");
        TextIndex::open(Box::new(tables), OF).expect("sound")
    };
    let all = many(6, 3);
    let mut index = open();
    index.apply(&[change(&all[..3])]).expect("writable");
    assert!(index.is_partial("alice"));
    drop(index);
    let mut index = open();
    assert!(index.is_partial("alice"));
    let first = BTreeSet::from([DocumentSource::Session("s0".to_owned())]);
    assert_eq!(index.sources("alice").expect("readable"), first);
    let seen = Some(SeenAgent { head: oid(9), notes: None });
    index.apply(&[TextChange { seen, ..change(&all[3..]) }]).expect("writable");
    assert!(!index.is_partial("alice"));
    drop(index);
    assert!(!open().is_partial("alice"));
}

#[test]
fn a_change_that_fails_leaves_what_was_before_or_nothing_unsound() {
    let texts = |position: u64| SearchDocument {
        source: DocumentSource::Commit(oid(1)),
        position,
        place: DocumentPlace::Commit,
        agent: "alice".to_owned(),
        kind: "finding".to_owned(),
        by: "alice".to_owned(),
        at: Instant::from_millis(1),
        text: "token".to_owned(),
    };
    let all = [texts(0), texts(1), texts(2)];
    for n_left in 0..6 {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || SledTables::open(folder.path(), 1 << 20).expect("free");
        let made = TextIndex::open(Box::new(FailingTables { inner: open(), n_left }), OF);
        let n_done = match made {
            Ok(mut index) => all
                .iter()
                .take_while(|it| fill(&mut index, std::slice::from_ref(it)).is_ok())
                .count(),
            Err(error) => {
                assert!(matches!(error, IndexError::Storage { .. }), "{error}");
                0
            }
        };
        assert_eq!(n_done, n_left.saturating_sub(1).min(3));
        let mut index = TextIndex::open(Box::new(open()), OF).expect("sound");
        read_again(&mut index, &all);
        assert_eq!(found(&index, &all, "token", 10).len(), n_done);
    }
}

#[test]
fn an_index_of_something_else_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |of: &str| {
        let tables = SledTables::open(folder.path(), 1 << 20).expect("free");
        TextIndex::open(Box::new(tables), of).map(drop)
    };
    assert!(open(OF).is_ok());
    assert!(matches!(open("another repository"), Err(IndexError::Foreign)));
    assert!(open(OF).is_ok());
}

#[test]
fn the_sigma_that_ends_a_word_is_found_by_its_capital_and_the_other_way_round() {
    let text = |position: u64, text: &str| SearchDocument {
        source: DocumentSource::Commit(oid(1)),
        position,
        place: DocumentPlace::Commit,
        by: "alice".to_owned(),
        agent: "alice".to_owned(),
        kind: "log".to_owned(),
        at: Instant::from_millis(0),
        text: text.to_owned(),
    };
    let all = ["ο Οδυσσεύς ήρθε", "Ο ΟΔΥΣΣΕΎΣ ΉΡΘΕ", "a siesta"].map(str::to_owned);
    let all: Vec<SearchDocument> = (0..).zip(&all).map(|(n, it)| text(n, it)).collect();
    let mut index = TextIndex::open(Box::<MemoryTables>::default(), OF).expect("a new one");
    fill(&mut index, &all).expect("writable");
    for query in ["Οδυσσεύς", "ΟΔΥΣΣΕΎΣ", "οδυσσεύσ", "οδυσσεύς*", "\"Οδυσσεύς ήρθε\"", "-siesta"]
    {
        assert_eq!(scanned(&all, query, 9).len(), 2, "{query}");
        assert_eq!(found(&index, &all, query, 9), scanned(&all, query, 9), "{query}");
    }
}

#[test]
fn an_index_whose_words_became_terms_otherwise_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || SledTables::open(folder.path(), 1 << 20).expect("free");
    crate::identity::identify(&mut open(), super::FORMAT - 1, OF).expect("a new one");
    assert!(matches!(TextIndex::open(Box::new(open()), OF), Err(IndexError::Foreign)));
}
