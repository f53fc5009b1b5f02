//! Our side: facts that stay resident, and questions that are compiled and planned each time.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use agentic_diag::SourceText;
use agentic_query::{
    ConstantPushing, FactBase, QueryError, QueryInput, QueryLimits, QueryReport, QueryRun,
    QueryValue, QueryWatch, compile,
};

use crate::facts::BenchFacts;
use crate::{cpu, least};

/// Facts that stay from one question to the next.
pub struct Resident<'a> {
    facts: &'a BenchFacts,
    base: FactBase,
    /// What a row of four columns takes, with two indices.
    pub row_bytes: f64,
}

fn ask(
    facts: &BenchFacts,
    base: &mut FactBase,
    text: &str,
    keep: &[&str],
) -> Result<QueryReport, QueryError> {
    let (cancel, elapsed_ms) = (AtomicBool::new(false), || 0);
    let watch = QueryWatch { cancel: &cancel, elapsed_ms: &elapsed_ms, time_ms_max: u64::MAX };
    let limits = QueryLimits::default();
    let run = QueryRun { facts, limits, watch, pushing: ConstantPushing::On };
    for name in keep {
        base.keep(name, &run)?;
    }
    let source = SourceText::new("bench", text);
    let (files, params) = (BTreeMap::new(), BTreeMap::new());
    let input = QueryInput { source: &source, files: &files, params: &params, now: 0 };
    let compiled = compile(&input, facts).unwrap_or_else(|found| panic!("{text}: {found:#?}"));
    compiled.answer(base, &run)
}

/// Asks for all pairs of a chain until the limit of rows ends it: processor time in milliseconds,
/// and the most memory that this process held, in bytes.
pub fn limit_of_memory() -> (f64, f64) {
    let facts = BenchFacts::chain();
    let text = "down(A, B) :- chain(A, B). down(A, C) :- chain(A, B), down(B, C).
                ? N = count { down(_, _) }.";
    let began = cpu();
    let ended = ask(&facts, &mut FactBase::default(), text, &[]);
    let millis = (cpu() - began).as_secs_f64() * 1e3;
    assert!(matches!(ended, Err(QueryError::Limit { .. })), "{ended:?}");
    (millis, most_memory())
}

fn most_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    let kilobytes = line.trim().trim_end_matches("kB").trim().parse::<f64>();
    kilobytes.unwrap_or(0.0) * 1024.0
}

impl<'a> Resident<'a> {
    /// Reads everything.
    pub fn new(facts: &'a BenchFacts) -> Resident<'a> {
        let mut base = FactBase::default();
        let read = ask(facts, &mut base, "? 1 < 2.", &["sub", "chain", "entry"]);
        read.expect("the facts are within the limits");
        let before = base.bytes();
        ask(facts, &mut base, "? 1 < 2.", &["commit"]).expect("the facts are within the limits");
        let rows = facts.tables[2].words.len() / 4;
        let two_indices = 8.0;
        let row_bytes = (base.bytes() - before) as f64 / rows as f64 + two_indices;
        Resident { facts, base, row_bytes }
    }

    /// Asks for rows by a column that has no index yet, and again when it has one: the difference.
    /// Checks on the way that an index takes what it should.
    pub fn index_ms(&mut self) -> f64 {
        let before = self.base.bytes();
        let text = "? commit(I, 300, _, _).";
        let (cold, _) = least(1, || self.ask(text));
        let rows = self.facts.tables[2].words.len() / 4;
        assert_eq!(self.base.bytes() - before, rows * 4, "an index is four bytes a row");
        let (warm, _) = least(20, || self.ask(text));
        cold - warm
    }

    /// Asks a question; the number of rows, or the count that it gives.
    pub fn ask(&mut self, text: &str) -> u64 {
        let report = ask(self.facts, &mut self.base, text, &[]);
        let report = report.unwrap_or_else(|error| panic!("{text}: {error}"));
        let answer = &report.answers[0];
        match answer.rows.as_slice() {
            [row] if row.len() == 1 => match row[0] {
                QueryValue::Int(n) => u64::try_from(n).unwrap_or(0),
                QueryValue::Null
                | QueryValue::Bool(_)
                | QueryValue::Float(_)
                | QueryValue::Text(_) => 1,
            },
            _ => answer.n_rows as u64,
        }
    }

    /// Prints what was done for a question.
    pub fn explain(&mut self, text: &str) {
        let report = ask(self.facts, &mut self.base, text, &[]).expect("it was asked before");
        report.explanation.lines().iter().for_each(|line| eprintln!("{line}"));
    }
}
