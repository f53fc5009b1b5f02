//! Queries that are compiled and answered within tiny limits.
//!
//! Answers are the same with and without pushing, wherever both stay within the limits; their rows
//! are in order and none is there twice; and each has a reason that leads down to facts.

use std::sync::atomic::AtomicBool;

use agentic_query::{
    CompiledQuery, ConstantPushing, FactBase, QueryError, QueryLimits, QueryReport, QueryRun,
    QueryWatch, ReasonGround, WhyRow,
};

use crate::query::{QueryFacts, compiled};
use crate::text_of;

const LIMITS: QueryLimits =
    QueryLimits { facts_max: 200, rows_max: 5_000, time_ms_max: 1_000, bytes_max: 4 << 20 };

/// Checks one text.
pub fn check(data: &[u8]) {
    let Some(text) = text_of(data) else { return };
    let facts = QueryFacts::new();
    let Ok(query) = compiled(text, &facts) else { return };
    let with = answered(&query, &facts, ConstantPushing::On);
    let without = answered(&query, &facts, ConstantPushing::Off);
    for report in [&with, &without].into_iter().flatten() {
        check_report(report);
    }
    if let (Ok(with), Ok(without)) = (with, without) {
        assert_eq!(with.answers, without.answers, "{text}");
        assert_eq!(with.reasons, without.reasons, "{text}");
    }
}

fn answered(
    query: &CompiledQuery,
    facts: &QueryFacts,
    pushing: ConstantPushing,
) -> Result<QueryReport, QueryError> {
    let (cancel, elapsed_ms) = (AtomicBool::new(false), || 0);
    let watch = QueryWatch { cancel: &cancel, elapsed_ms: &elapsed_ms, time_ms_max: 1 };
    let run = QueryRun { facts, limits: LIMITS, watch, pushing };
    let first: Vec<WhyRow> =
        (0..query.asks_why().len()).map(|query| WhyRow { query, row: 0 }).collect();
    query.answer_why(&mut FactBase::default(), &run, &first)
}

fn check_report(report: &QueryReport) {
    for answer in &report.answers {
        assert!(answer.rows.len() <= answer.n_rows);
        let mut rows = answer.rows.clone();
        rows.sort_unstable();
        assert!(rows.windows(2).all(|pair| pair[0] != pair[1]), "a row is there twice");
        let is_typed = |row: &Vec<_>| row.len() == answer.columns.len();
        assert!(answer.rows.iter().all(is_typed));
        answer.to_json();
    }
    for reasons in &report.reasons {
        reasons.lines();
        for node in &reasons.nodes {
            let goals = node.rule.iter().flat_map(|rule| &rule.goals);
            for goal in goals {
                if let ReasonGround::Row(Some(below)) = goal.ground {
                    let below = &reasons.nodes[below];
                    assert!(below.height < node.height || node.height == 0, "{node:?}");
                }
            }
        }
    }
    report.explanation.lines();
}
