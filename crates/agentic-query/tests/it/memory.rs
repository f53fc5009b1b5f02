//! Facts in memory, and how tests ask about them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use agentic_diag::SourceText;
use agentic_query::{
    AnswerSet, ConstantPushing, FactBase, FactCell, FactFailure, FactPredicate, FactRange,
    FactRequest, FactSink, FactSource, IdMatch, QueryError, QueryInput, QueryLimits, QueryReport,
    QueryRun, QueryType, QueryValue, QueryWatch, compile,
};

/// What `now` is in tests: 2026-05-31T12:00:00Z.
pub const NOW: i64 = 1_780_228_800_000;

/// Predicates with their rows.
#[derive(Clone, Default)]
pub struct MemoryFacts {
    pub predicates: Vec<FactPredicate>,
    pub rows: Vec<Vec<Vec<QueryValue>>>,
}

impl MemoryFacts {
    pub fn add(
        &mut self,
        name: &'static str,
        columns: &[(&'static str, QueryType)],
        rows: Vec<Vec<QueryValue>>,
    ) {
        self.predicates.push(FactPredicate::new(name, columns));
        self.rows.push(rows);
    }
}

impl FactSource for MemoryFacts {
    fn predicates(&self) -> &[FactPredicate] {
        &self.predicates
    }

    fn read(&self, request: &FactRequest, sink: &mut FactSink<'_>) -> Result<(), FactFailure> {
        for row in &self.rows[request.predicate] {
            if request.bound.iter().any(|bound| !bound.values.contains(&row[bound.column])) {
                continue;
            }
            let is_inside = |range: &FactRange| matches!(&row[range.column], QueryValue::Int(n) if range.admits(*n));
            if !request.ranges.iter().all(is_inside) {
                continue;
            }
            let cells: Vec<FactCell<'_>> = request.columns.iter().map(|c| cell(&row[*c])).collect();
            if sink.row(&cells).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn resolve(&self, _: QueryType, text: &str) -> IdMatch {
        match text {
            "abcd" | "abcdabcdab" | "0123abcd" | "0123abcd.1" => IdMatch::Found(format!("{text}!")),
            "aaaa" => IdMatch::Ambiguous,
            _ => IdMatch::Unknown,
        }
    }
}

fn cell(value: &QueryValue) -> FactCell<'_> {
    match value {
        QueryValue::Null => FactCell::Null,
        QueryValue::Bool(truth) => FactCell::Bool(*truth),
        QueryValue::Int(number) => FactCell::Int(*number),
        QueryValue::Float(number) => FactCell::Float(*number),
        QueryValue::Text(text) => FactCell::Text(text),
    }
}

pub fn text(text: &str) -> QueryValue {
    QueryValue::text(text)
}

pub fn int(number: i64) -> QueryValue {
    QueryValue::Int(number)
}

/// The facts of the hand-written cases.
pub fn house() -> MemoryFacts {
    use QueryType::{Commit, Duration, Float, Instant, Int, Text};
    let mut facts = MemoryFacts::default();
    let pairs =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| vec![text(a), text(b)]).collect();
    facts.add(
        "sub_agent_of",
        &[("agent", Text), ("parent", Text)],
        pairs(&[("b", "a"), ("c", "b"), ("d", "b"), ("x", "y"), ("y", "x")]),
    );
    let commit = |id: &str, agent: &str, kind: &str, n: i64, age: i64| {
        vec![text(id), text(agent), text(kind), int(n), int(NOW - age * 3_600_000)]
    };
    facts.add(
        "commit",
        &[("id", Commit), ("agent", Text), ("kind", Text), ("n", Int), ("at", Instant)],
        vec![
            commit("abcd!", "a", "work", 0, 5),
            commit("c2", "b", "finding", 1, 3),
            commit("c3", "b", "work", 2, 1),
            commit("c4", "d", "session-merge", 3, 0),
        ],
    );
    let usage = |agent: &str, tokens: Option<i64>, cost: Option<f64>, millis: Option<i64>| {
        let tokens = tokens.map_or(QueryValue::Null, int);
        let cost = cost.and_then(QueryValue::float).unwrap_or(QueryValue::Null);
        vec![text(agent), tokens, cost, millis.map_or(QueryValue::Null, int)]
    };
    facts.add(
        "usage",
        &[("agent", Text), ("tokens", Int), ("cost", Float), ("took", Duration)],
        vec![
            usage("a", Some(10), Some(0.5), Some(1_000)),
            usage("a", Some(10), Some(0.25), Some(2_001)),
            usage("b", Some(7), None, None),
            usage("c", None, None, None),
        ],
    );
    facts.add(
        "entry",
        &[("n", Int), ("text", Text)],
        vec![
            vec![int(1), text("Hello World")],
            vec![int(2), text("src/lib.rs")],
            vec![int(3), text(r#"{"in":{"tokens":42},"s":"é"}"#)],
            vec![int(4), QueryValue::Null],
            vec![int(5), text("12.5")],
        ],
    );
    facts
}

/// Asks one program.
pub fn ask(
    facts: &dyn FactSource,
    program: &str,
    pushing: ConstantPushing,
    limits: QueryLimits,
) -> Result<QueryReport, QueryError> {
    let source = SourceText::new("q", program);
    let (files, params) = (BTreeMap::new(), BTreeMap::new());
    let input = QueryInput { source: &source, files: &files, params: &params, now: NOW };
    let compiled =
        compile(&input, facts).unwrap_or_else(|findings| panic!("{program}\n{findings:#?}"));
    let (cancel, elapsed_ms) = (AtomicBool::new(false), || 0);
    let watch = QueryWatch { cancel: &cancel, elapsed_ms: &elapsed_ms, time_ms_max: 1 };
    let run = QueryRun { facts, limits, watch, pushing };
    compiled.answer(&mut FactBase::default(), &run)
}

/// Prints the rows of an answer: cells by blanks, rows by semicolons.
pub fn shown(answer: &AnswerSet) -> String {
    let row = |row: &Vec<QueryValue>| {
        let cells = row.iter().zip(&answer.columns).map(|(value, (_, kind))| value.to_json(*kind));
        cells.collect::<Vec<_>>().join(" ").replace('"', "")
    };
    answer.rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// Checks the rows of the last query of a program, with and without pushing.
pub fn check(program: &str, expected: &str) {
    for pushing in [ConstantPushing::On, ConstantPushing::Off] {
        let report = ask(&house(), program, pushing, QueryLimits::default());
        let report = report.unwrap_or_else(|error| panic!("{program}\n{error}"));
        let last = report.answers.last().map(shown);
        assert_eq!(last.as_deref(), Some(expected), "{program} {pushing:?}");
    }
}
