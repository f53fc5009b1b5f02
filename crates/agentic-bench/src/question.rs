//! Questions about facts, asked as tests ask them: one program, no files, no time limit that could be hit.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use agentic_diag::SourceText;
use agentic_query::{
    AnswerSet, ConstantPushing, FactBase, FactFailure, FactPredicate, FactRequest, FactSink,
    FactSource, IdMatch, QueryInput, QueryLimits, QueryReport, QueryRun, QueryType, QueryValue,
    QueryWatch, compile,
};

/// Asks one program of some facts, at a moment in milliseconds.
///
/// # Panics
/// Panics when the program is wrong or has no answer.
pub fn ask_facts(facts: &dyn FactSource, now: i64, program: &str) -> QueryReport {
    let source = SourceText::new("q", program);
    let (files, params) = (BTreeMap::new(), BTreeMap::new());
    let input = QueryInput { source: &source, files: &files, params: &params, now };
    let compiled =
        compile(&input, facts).unwrap_or_else(|findings| panic!("{program}\n{findings:#?}"));
    let (cancel, elapsed_ms) = (AtomicBool::new(false), || 0);
    let watch = QueryWatch { cancel: &cancel, elapsed_ms: &elapsed_ms, time_ms_max: 1 };
    let (limits, pushing) = (QueryLimits::default(), ConstantPushing::On);
    let run = QueryRun { facts, limits, watch, pushing };
    let report = compiled.answer(&mut FactBase::default(), &run);
    report.unwrap_or_else(|error| panic!("{program}\n{error}"))
}

/// Asks one program, and does something else before a predicate is read the first time.
///
/// # Panics
/// Panics as [`ask_facts`] does, and when there is no such predicate.
pub fn ask_facts_while(
    facts: &dyn FactSource,
    now: i64,
    program: &str,
    predicate: &str,
    meanwhile: &dyn Fn(),
) -> QueryReport {
    let known = facts.predicates().iter().position(|known| known.name == predicate);
    let predicate = known.expect("there is such a predicate");
    let is_done = Cell::new(false);
    ask_facts(&DisturbedFacts { facts, predicate, meanwhile, is_done }, now, program)
}

/// Prints the rows of an answer: cells by blanks, rows by semicolons.
pub fn answer_rows(answer: &AnswerSet) -> String {
    let row = |row: &Vec<QueryValue>| {
        let cells = row.iter().zip(&answer.columns).map(|(value, (_, kind))| value.to_json(*kind));
        cells.collect::<Vec<_>>().join(" ").replace('"', "")
    };
    answer.rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// Facts to which something happens.
struct DisturbedFacts<'a> {
    facts: &'a dyn FactSource,
    predicate: usize,
    meanwhile: &'a dyn Fn(),
    is_done: Cell<bool>,
}

impl FactSource for DisturbedFacts<'_> {
    fn predicates(&self) -> &[FactPredicate] {
        self.facts.predicates()
    }

    fn read(&self, request: &FactRequest, sink: &mut FactSink<'_>) -> Result<(), FactFailure> {
        if request.predicate == self.predicate && !self.is_done.replace(true) {
            (self.meanwhile)();
        }
        self.facts.read(request, sink)
    }

    fn resolve(&self, kind: QueryType, text: &str) -> IdMatch {
        self.facts.resolve(kind, text)
    }
}
