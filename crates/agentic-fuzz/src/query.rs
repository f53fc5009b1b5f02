//! Texts of the query language.
//!
//! Whatever a text says, its findings come in the order of their places, which lie within it, and
//! they are the same a second time. What has none that forbids it can say what it will read.

use std::collections::BTreeMap;

use agentic_diag::SourceText;
use agentic_query::{
    CompiledQuery, ConstantPushing, FactCell, FactFailure, FactPredicate, FactRequest, FactSink,
    FactSource, IdMatch, QueryFinding, QueryInput, QueryType, compile,
};

use crate::text_of;

/// A few facts of every type.
pub(crate) struct QueryFacts(Vec<FactPredicate>);

impl QueryFacts {
    pub(crate) fn new() -> QueryFacts {
        use QueryType::{Bool, Commit, Duration, Float, Instant, Int, Text};
        QueryFacts(vec![
            FactPredicate::new("e", &[("a", Int), ("b", Int)]),
            FactPredicate::new("t", &[("n", Int), ("text", Text), ("at", Instant)]),
            FactPredicate::new("u", &[("cost", Float), ("took", Duration), ("good", Bool)]),
            FactPredicate::new("c", &[("id", Commit), ("n", Int)]),
        ])
    }
}

impl FactSource for QueryFacts {
    fn predicates(&self) -> &[FactPredicate] {
        &self.0
    }

    fn read(&self, request: &FactRequest, sink: &mut FactSink<'_>) -> Result<(), FactFailure> {
        let texts = ["x", "Hello World", r#"{"a":[1,"é"]}"#, "src/lib.rs", "-1.5e3"];
        for n in 0..8_i64 {
            let text = texts[n as usize % texts.len()];
            let row = match request.predicate {
                0 => vec![FactCell::Int(n), FactCell::Int((n * 3 + 1) % 8)],
                1 => vec![FactCell::Int(n % 3), FactCell::Text(text), FactCell::Int(n << 40)],
                2 if n == 3 => vec![FactCell::Null; 3],
                2 => vec![FactCell::Float(n as f64), FactCell::Int(n), FactCell::Bool(n > 2)],
                _ => vec![FactCell::Text(text), FactCell::Int(i64::MAX - n)],
            };
            let cells: Vec<FactCell<'_>> = request.columns.iter().map(|c| row[*c]).collect();
            if sink.row(&cells).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn resolve(&self, _: QueryType, text: &str) -> IdMatch {
        match text.len() % 3 {
            0 => IdMatch::Unknown,
            1 => IdMatch::Ambiguous,
            _ => IdMatch::Found(text.to_owned()),
        }
    }
}

/// Compiles a text.
pub(crate) fn compiled(text: &str, facts: &QueryFacts) -> Result<CompiledQuery, Vec<QueryFinding>> {
    let source = SourceText::new("query", text);
    let used = SourceText::new("used", "shared(A, B) :- e(A, B). shared(A, A) :- e(A, _).");
    let files = BTreeMap::from([("shared".to_owned(), used)]);
    let params = BTreeMap::from([("p".to_owned(), "7".to_owned())]);
    let has_param = text.contains("$p");
    let none = BTreeMap::new();
    let params = if has_param { &params } else { &none };
    compile(&QueryInput { source: &source, files: &files, params, now: 1_780_228_800_000 }, facts)
}

/// Checks one text.
pub fn check(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let facts = QueryFacts::new();
    let findings = match compiled(text, &facts) {
        Ok(query) => {
            let requests = query.requests(ConstantPushing::Off);
            assert!(requests.iter().all(|request| request.predicate < facts.0.len()));
            query.warnings().to_vec()
        }
        Err(findings) => {
            assert!(!findings.is_empty(), "refused without a finding");
            findings
        }
    };
    let place = |finding: &QueryFinding| (finding.file, finding.diagnostic.span.start);
    assert!(findings.is_sorted_by_key(place), "findings stand in the order of their places");
    for finding in findings.iter().filter(|finding| finding.file == 0) {
        let span = finding.diagnostic.span;
        assert!(text.get(span.start..span.end).is_some(), "{finding:?} lies outside");
    }
    let again = compiled(text, &facts).map_or_else(|found| found, |q| q.warnings().to_vec());
    assert_eq!(again, findings, "a second time");
}
