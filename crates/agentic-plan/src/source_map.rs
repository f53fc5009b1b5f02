//! Where the nodes of a plan come from. Kept beside the plan, never in it: whoever indents a file
//! anew keeps its plans.

use std::collections::BTreeMap;

use agentic_model::{Cid, Value};

use crate::node::NodeId;

/// A range of a source text: lines and columns from 1, columns in Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The first line.
    pub line: u32,
    /// The first column.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column just after the end.
    pub end_column: u32,
}

/// The places of the nodes of one plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceMap {
    places: BTreeMap<NodeId, Place>,
}

impl SourceMap {
    /// Notes where a node comes from.
    pub fn insert(&mut self, node: NodeId, place: Place) {
        self.places.insert(node, place);
    }

    /// Returns where a node comes from; joins come from nowhere.
    pub fn place(&self, node: &NodeId) -> Option<Place> {
        self.places.get(node).copied()
    }

    /// Returns the map as data that names the plan it belongs to.
    pub fn to_value(&self, plan: Cid) -> Value {
        let places = self.places.iter().map(|(node, place)| {
            let numbers = [place.line, place.column, place.end_line, place.end_column];
            let numbers = numbers.iter().map(|number| Value::Int(i64::from(*number))).collect();
            (node.as_str(), Value::List(numbers))
        });
        Value::map([("plan", Value::text(plan.to_string())), ("source_map", Value::map(places))])
    }
}
