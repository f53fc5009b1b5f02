//! The engine beside SQLite: the same facts and questions in one run, by processor time.
//!
//! `bench/query` runs this and compares with the targets. Each line is one measure as JSON: the least
//! of several rounds in milliseconds, ours and SQLite's, which have to find as many rows.

mod facts;
mod ours;
mod sqlite;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::facts::BenchFacts;
use crate::ours::{Resident, limit_of_memory};
use crate::sqlite::SqliteFacts;

/// A question, in both languages; both give one number of rows.
struct BenchQuestion {
    name: &'static str,
    query: &'static str,
    sql: &'static str,
    rounds: usize,
}

const QUESTIONS: [BenchQuestion; 7] = [
    BenchQuestion {
        name: "selective, three joins",
        query: "? sub(A, 300), commit(I, A, 3, _), entry(I, N, 5, _).",
        sql: "select count(*) from (select distinct s.a, m.id, e.n from sub s
              join commits m on m.agent = s.a and m.kind = 3
              join entry e on e.c = m.id and e.kind = 5 where s.p = 300)",
        rounds: 50,
    },
    BenchQuestion {
        name: "descendants in a forest, then three joins",
        query: "under(A, B) :- sub(A, B). under(A, C) :- sub(A, B), under(B, C).
                ? under(A, 300), commit(I, A, 3, _), entry(I, N, 5, _).",
        sql: "with recursive u(x) as (select a from sub where p = 300
              union select s.a from u join sub s on s.p = u.x)
              select count(*) from (select distinct u.x, m.id, e.n from u
              join commits m on m.agent = u.x and m.kind = 3
              join entry e on e.c = m.id and e.kind = 5)",
        rounds: 20,
    },
    BenchQuestion {
        name: "descendants in a chain of 100,000",
        query: "down(A, B) :- chain(A, B). down(A, C) :- chain(A, B), down(B, C).
                ? N = count { down(_, 0) }.",
        sql: "with recursive u(x) as (select a from chain where p = 0
              union select s.a from u join chain s on s.p = u.x) select count(*) from u",
        rounds: 5,
    },
    BenchQuestion {
        name: "all 711,280 pairs of a forest",
        query: "under(A, B) :- sub(A, B). under(A, C) :- sub(A, B), under(B, C).
                ? N = count { under(_, _) }.",
        sql: "with recursive u(x, y) as (select a, p from sub
              union select s.a, u.y from u join sub s on s.p = u.x) select count(*) from u",
        rounds: 3,
    },
    BenchQuestion {
        name: "not in, 1,000,000",
        query: "? N = count { commit(I, _, 3, _), !entry(I, _, 5, _) }.",
        sql: "select count(*) from commits m where m.kind = 3
              and not exists (select 1 from entry e where e.c = m.id and e.kind = 5)",
        rounds: 5,
    },
    BenchQuestion {
        name: "grouped count of 1,000,000",
        query: "tally(A, K, N) :- N = count { commit(_, A, K, _) }.
                ? N = count { tally(_, _, _) }.",
        sql: "select count(*) from (select agent, kind, count(*) from commits group by agent, kind)",
        rounds: 5,
    },
    BenchQuestion {
        name: "join that makes 1,000,000",
        query: "all(A, P, K) :- entry(C, _, K, _), commit(C, A, _, _), sub(A, P).
                ? N = count { all(_, _, _) }.",
        sql: "select count(*) from (select distinct m.agent, s.p, e.kind from entry e
              join commits m on m.id = e.c join sub s on s.a = m.agent)",
        rounds: 3,
    },
];

/// Reads the processor time of this process.
fn cpu() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec.try_into().unwrap_or(0), spent.tv_nsec.try_into().unwrap_or(0))
}

/// Returns the least time of some rounds, in milliseconds, and what the last one found.
fn least<T>(rounds: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut measured = || {
        let began = cpu();
        let found = work();
        ((cpu() - began).as_secs_f64() * 1e3, found)
    };
    let (mut best, mut found) = measured();
    for _ in 1..rounds {
        let (millis, again) = measured();
        best = best.min(millis);
        found = again;
    }
    (best, found)
}

fn line(name: &str, unit: &str, ours: f64, sqlite: Option<f64>, rows: u64) {
    let sqlite = sqlite.map_or("null".to_owned(), |figure| format!("{figure:.3}"));
    println!(
        r#"{{"name":"{name}","unit":"{unit}","ours":{ours:.3},"sqlite":{sqlite},"rows":{rows}}}"#
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--only") {
        return one(arguments.get(at + 1).map_or("", String::as_str));
    }
    // First, while this process has nothing else: what it holds at most is what this holds.
    let (millis, bytes) = limit_of_memory();
    line("all pairs of a chain of 100,000, until the limit", "ms", millis, None, 0);
    line("all pairs of a chain of 100,000, most memory", "MB", bytes / 1e6, None, 0);
    let facts = BenchFacts::make();
    let sqlite = SqliteFacts::new(&facts);
    let mut resident = Resident::new(&facts);
    line("an index of 1,000,000", "ms", resident.index_ms(), None, 0);
    line("a row of four with two indices", "bytes", resident.row_bytes, None, 0);
    for question in &QUESTIONS {
        let _ = resident.ask(question.query);
        let (ours, found) = least(question.rounds, || resident.ask(question.query));
        let (theirs, expected) = least(question.rounds, || sqlite.ask(question.sql));
        assert_eq!(found, expected, "{}", question.name);
        line(question.name, "ms", ours, Some(theirs), found);
    }
}

/// Asks the first question whose name has these words, twice, and says what was done; for profiles.
fn one(words: &str) {
    let facts = BenchFacts::make();
    let mut resident = Resident::new(&facts);
    if let Some(question) = QUESTIONS.iter().find(|question| question.name.contains(words)) {
        resident.ask(question.query);
        resident.explain(question.query);
    }
}
