use agentic_model::guidance::ErrorClass;

use super::ForeignQueries;
use crate::verb::QueryAllowance;

#[test]
fn an_asker_has_one_turn_at_a_time_and_others_have_theirs() {
    let queries = ForeignQueries::default();
    let turn = queries.begin("page").expect("nobody asks");
    let refusal = queries.begin("page").expect_err("the first is being answered");
    assert_eq!(refusal.class, ErrorClass::Conflict);
    assert!(queries.begin("model").is_ok());
    drop(turn);
    assert!(queries.begin("page").is_ok());
}

#[test]
fn a_turn_ends_where_its_query_panics() {
    let queries = ForeignQueries::default();
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _turn = queries.begin("page").expect("nobody asks");
        panic!("while it is answered");
    }));
    assert!(asked.is_err());
    assert!(queries.begin("page").is_ok());
}

#[test]
fn what_others_ask_may_take_less_than_usual_and_never_more() {
    let usual = QueryAllowance::default().of_others();
    assert_eq!(usual.millis, Some(5_000));
    let much = QueryAllowance {
        facts: Some(usize::MAX),
        rows: Some(usize::MAX),
        millis: Some(u64::MAX),
        bytes: Some(usize::MAX),
    };
    let allowed = much.of_others();
    assert_eq!(
        (allowed.facts, allowed.rows, allowed.millis, allowed.bytes),
        (usual.facts, usual.rows, usual.millis, usual.bytes)
    );
    let little = QueryAllowance { facts: Some(3), millis: Some(7), ..QueryAllowance::default() };
    assert_eq!((little.of_others().facts, little.of_others().millis), (Some(3), Some(7)));
}
