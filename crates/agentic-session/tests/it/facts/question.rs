//! How tests ask.

use agentic_bench::{ask_facts, ask_facts_while};
use agentic_query::{FactSource as _, QueryReport};
use agentic_replay::SessionId;
use agentic_session::{SessionFacts, SessionSpace};

pub use agentic_bench::answer_rows as shown;

/// Asks one program.
pub fn ask(space: &SessionSpace, program: &str) -> QueryReport {
    ask_facts(&SessionFacts::new(space), space.now().millis(), program)
}

/// Asks one program, and does something else before a predicate is read the first time.
pub fn ask_while(
    space: &SessionSpace,
    program: &str,
    predicate: &str,
    meanwhile: &dyn Fn(),
) -> QueryReport {
    let (facts, now) = (SessionFacts::new(space), space.now().millis());
    ask_facts_while(&facts, now, program, predicate, meanwhile)
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
