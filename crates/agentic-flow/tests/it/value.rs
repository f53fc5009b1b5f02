//! Values go through a script and come back the same.

use agentic_flow::Flow;
use agentic_model::{Cid, Instant, Value, canonical};
use agentic_replay::{End, NOT_DATA, ProgramFailure, RequestAnswer, Seed, Start, run_to_end};
use proptest::prelude::*;

fn run(source: &str, input: Value, answer: Value) -> End {
    let flow = Flow::parse(source).unwrap_or_else(|findings| panic!("{findings:?}"));
    let start = Start { input, seed: Seed([7; 32]), at: Instant::from_millis(5) };
    run_to_end(flow.program(), &start, |_| RequestAnswer::Ok(answer.clone())).end
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        prop::num::f64::NORMAL.prop_map(Value::Float),
        (-5_i32..5).prop_map(|whole| Value::Float(f64::from(whole))),
        ".{0,12}".prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(Value::Bytes),
        any::<[u8; 4]>().prop_map(|seed| Value::Link(Cid::of(&seed))),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
            prop::collection::btree_map(".{0,6}", inner, 0..6).prop_map(Value::Map),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_value_passes_through_a_script_unchanged(value in any_value()) {
        let bytes = canonical::encode(&value).expect("finite and shallow");
        let settled = canonical::decode(&bytes).expect("canonical");
        let end = run("[input, request(\"k\", 1)]", settled.clone(), value.clone());
        let both = Value::List(vec![settled.clone(), settled]);
        let End::Done(found) = end else { panic!("{end:?}") };
        prop_assert_eq!(canonical::encode(&found).expect("data"), canonical::encode(&both).expect("data"));
    }
}

/// A value that is no data ends a run when it is the result, and can be caught when it is asked.
fn refuse(expression: &str) {
    let end = run(expression, Value::Null, Value::Null);
    assert!(
        matches!(&end, End::Failed(ProgramFailure { code, .. }) if code == NOT_DATA),
        "{end:?}"
    );
    let source = format!("try {{ request(\"k\", [{expression}]) }} catch (e) {{ return e.code; }}");
    assert_eq!(run(&source, Value::Null, Value::Null), End::Done(Value::text(NOT_DATA)));
}

#[test]
fn what_is_no_data_never_leaves_a_script() {
    refuse("|x| x");
    refuse("Fn(\"f\")");
    refuse("1..3");
    refuse("'c'");
    refuse("1.0e308 * 10.0");
    refuse("0.0 / 0.0");
}

#[test]
fn an_answer_that_no_script_can_hold_is_an_error_it_can_catch() {
    let source = "try { request(\"k\", 1) } catch (e) { return e.code; }";
    for large in [
        Value::text("x".repeat((1 << 20) + 1)),
        Value::List(vec![Value::Null; 4_097]),
        Value::List(vec![Value::List(vec![Value::Null; 2_100]); 2]),
    ] {
        assert_eq!(run(source, Value::Null, large), End::Done(Value::text("too-large")));
    }
}
