//! How tests ask about facts.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use agentic_diag::SourceText;
use agentic_query::{
    ConstantPushing, FactBase, FactFailure, FactPredicate, FactRequest, FactSink, FactSource,
    IdMatch, QueryInput, QueryLimits, QueryReport, QueryRun, QueryType, QueryValue, QueryWatch,
    compile,
};
use agentic_space::Space;
use agentic_space::facts::SpaceFacts;

/// Asks one program.
pub fn ask(space: &Space, program: &str) -> QueryReport {
    ask_of(space, &SpaceFacts::new(space), program)
}

/// Asks one program, and does something else before a predicate is read the first time.
pub fn ask_while(
    space: &Space,
    program: &str,
    predicate: &str,
    meanwhile: &dyn Fn(),
) -> QueryReport {
    let facts = SpaceFacts::new(space);
    let known = facts.predicates().iter().position(|known| known.name == predicate);
    let predicate = known.expect("there is such a predicate");
    let is_done = Cell::new(false);
    ask_of(space, &DisturbedFacts { facts, predicate, meanwhile, is_done }, program)
}

/// Facts of a repository to which something happens.
struct DisturbedFacts<'a> {
    facts: SpaceFacts<'a>,
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

/// Asks one program of some facts.
pub fn ask_of(space: &Space, facts: &dyn FactSource, program: &str) -> QueryReport {
    let source = SourceText::new("q", program);
    let (files, params) = (BTreeMap::new(), BTreeMap::new());
    let now = space.now().millis();
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

/// Returns the codes of what is wrong with a program.
pub fn codes(space: &Space, program: &str) -> Vec<&'static str> {
    let facts = SpaceFacts::new(space);
    let source = SourceText::new("q", program);
    let (files, params) = (BTreeMap::new(), BTreeMap::new());
    let input = QueryInput { source: &source, files: &files, params: &params, now: 0 };
    let found = compile(&input, &facts).err().unwrap_or_default();
    found.iter().map(|finding| finding.diagnostic.code).collect()
}

/// Prints the rows of the answer: cells by blanks, rows by semicolons.
pub fn rows(space: &Space, program: &str) -> String {
    let report = ask(space, program);
    assert_eq!(report.notes, Vec::<String>::new(), "{program}");
    said(&report)
}

/// Prints the rows of the first answer: cells by blanks, rows by semicolons.
pub fn said(report: &QueryReport) -> String {
    let answer = report.answers.first().expect("there is a query");
    let row = |row: &Vec<QueryValue>| {
        let cells = row.iter().zip(&answer.columns).map(|(value, (_, kind))| value.to_json(*kind));
        cells.collect::<Vec<_>>().join(" ").replace('"', "")
    };
    answer.rows.iter().map(row).collect::<Vec<_>>().join("; ")
}
