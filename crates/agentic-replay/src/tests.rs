//! What the tests of several modules share.

use agentic_model::{Cid, Value};
use proptest::prelude::*;

/// Any value, the ones without a canonical form included.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        (-300_i64..300).prop_map(Value::Int),
        prop::num::f64::ANY.prop_map(Value::Float),
        prop_oneof![Just(0.0), Just(-0.0)].prop_map(Value::Float),
        ".{0,40}".prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Value::Bytes),
        any::<[u8; 4]>().prop_map(|seed| Value::Link(Cid::of(&seed))),
    ];
    leaf.prop_recursive(4, 32, 30, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..30).prop_map(Value::List),
            prop::collection::btree_map("[a-z/]{0,4}", inner, 0..6).prop_map(Value::Map),
        ]
    })
}
