//! How tests ask about facts.

use std::collections::BTreeMap;

use agentic_bench::{answer_rows, ask_facts, ask_facts_while};
use agentic_diag::SourceText;
use agentic_query::{FactSource, QueryInput, QueryReport, compile};
use agentic_space::Space;
use agentic_space::facts::SpaceFacts;

/// Asks one program.
pub fn ask(space: &Space, program: &str) -> QueryReport {
    ask_of(space, &SpaceFacts::new(space), program)
}

/// Asks one program of some facts.
pub fn ask_of(space: &Space, facts: &dyn FactSource, program: &str) -> QueryReport {
    ask_facts(facts, space.now().millis(), program)
}

/// Asks one program, and does something else before a predicate is read the first time.
pub fn ask_while(
    space: &Space,
    program: &str,
    predicate: &str,
    meanwhile: &dyn Fn(),
) -> QueryReport {
    let (facts, now) = (SpaceFacts::new(space), space.now().millis());
    ask_facts_while(&facts, now, program, predicate, meanwhile)
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
    answer_rows(report.answers.first().expect("there is a query"))
}
