//! How tests ask.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use agentic_diag::SourceText;
use agentic_query::{
    AnswerSet, ConstantPushing, FactBase, FactSource as _, QueryInput, QueryLimits, QueryReport,
    QueryRun, QueryValue, QueryWatch, compile,
};
use agentic_replay::SessionId;
use agentic_session::{SessionFacts, SessionSpace};

/// Asks one program.
pub fn ask(space: &SessionSpace, program: &str) -> QueryReport {
    let facts = SessionFacts::new(space);
    let source = SourceText::new("q", program);
    let (files, params) = (BTreeMap::new(), BTreeMap::new());
    let now = space.now().millis();
    let input = QueryInput { source: &source, files: &files, params: &params, now };
    let compiled =
        compile(&input, &facts).unwrap_or_else(|findings| panic!("{program}\n{findings:#?}"));
    let (cancel, elapsed_ms) = (AtomicBool::new(false), || 0);
    let watch = QueryWatch { cancel: &cancel, elapsed_ms: &elapsed_ms, time_ms_max: 1 };
    let (limits, pushing) = (QueryLimits::default(), ConstantPushing::On);
    let run = QueryRun { facts: &facts, limits, watch, pushing };
    let report = compiled.answer(&mut FactBase::default(), &run);
    report.unwrap_or_else(|error| panic!("{program}\n{error}"))
}

/// Prints the rows of an answer: cells by blanks, rows by semicolons.
pub fn shown(answer: &AnswerSet) -> String {
    let row = |row: &Vec<QueryValue>| {
        let cells = row.iter().zip(&answer.columns).map(|(value, (_, kind))| value.to_json(*kind));
        cells.collect::<Vec<_>>().join(" ").replace('"', "")
    };
    answer.rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// Checks the rows of the last query of a program, and that nothing was left out.
pub fn check(space: &SessionSpace, program: &str, expected: &str) {
    let report = ask(space, program);
    assert_eq!(report.notes, Vec::<String>::new(), "{program}");
    assert_eq!(report.answers.last().map(shown).as_deref(), Some(expected), "{program}");
}

/// Checks the rows of the last query of a program, and what is said of what was left out.
pub fn check_noted(space: &SessionSpace, program: &str, expected: &str, noted: &str) {
    let report = ask(space, program);
    assert_eq!(report.answers.last().map(shown).as_deref(), Some(expected), "{program}");
    assert!(report.notes.iter().any(|note| note.contains(noted)), "{program}: {:?}", report.notes);
}

/// Checks that every predicate can be read with all its columns, and returns how many rows all have.
pub fn read_all(space: &SessionSpace) -> QueryReport {
    let facts = SessionFacts::new(space);
    let row = |predicate: &agentic_query::FactPredicate| {
        let variables: Vec<String> =
            (0..predicate.columns.len()).map(|n| format!("C{n}")).collect();
        format!("? {}({}).", predicate.name, variables.join(", "))
    };
    let queries: Vec<String> = facts.predicates().iter().map(row).collect();
    ask(space, &queries.join("\n"))
}

/// Counts the rows of all predicates.
pub fn n_rows(report: &QueryReport) -> usize {
    report.answers.iter().map(|answer| answer.rows.len()).sum()
}

/// Returns the folder of the log of a session that is not over.
pub fn log_of(space: &SessionSpace, id: &SessionId) -> std::path::PathBuf {
    let (root, id) = (space.repository().layout().open_sessions(), id.to_string());
    root.join(&id[..2]).join(&id).join("log")
}
