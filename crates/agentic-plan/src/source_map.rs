//! Where the nodes of a plan come from. Kept beside the plan, never in it: whoever indents a file
//! anew keeps its plans.

use std::collections::BTreeMap;
use std::fmt;

use agentic_model::object::ObjectError;
use agentic_model::{Cid, Map, Object, Value};

use crate::node::NodeId;

/// The type of the objects that keep source maps.
pub const SOURCE_MAP_KIND: &str = "source-map";

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

    /// Returns the object that is kept beside the plan and names it.
    ///
    /// # Errors
    /// Fails when the plan has more nodes than fit an object; a valid plan has not.
    pub fn to_object(&self, plan: Cid) -> Result<Object, ObjectError> {
        let places = self.places.iter().map(|(node, place)| (node.as_str(), place.to_value()));
        Object::new(Map::from([
            ("type".to_owned(), Value::text(SOURCE_MAP_KIND)),
            ("plan".to_owned(), Value::Link(plan)),
            ("nodes".to_owned(), Value::map(places)),
        ]))
    }

    /// Reads the plan that an object belongs to, and the places of its nodes. Nothing if the object
    /// is no source map.
    pub fn from_object(object: &Object) -> Option<(Cid, SourceMap)> {
        if object.kind().as_str() != SOURCE_MAP_KIND {
            return None;
        }
        let plan = object.map().get("plan")?.as_link()?;
        let nodes = object.map().get("nodes")?.as_map()?;
        let place = |(node, place): (&String, &Value)| {
            Some((NodeId::parse(node).ok()?, Place::from_value(place)?))
        };
        let places = nodes.iter().map(place).collect::<Option<_>>()?;
        Some((plan, SourceMap { places }))
    }
}

impl Place {
    fn to_value(self) -> Value {
        let numbers = [self.line, self.column, self.end_line, self.end_column];
        Value::List(numbers.iter().map(|number| Value::Int(i64::from(*number))).collect())
    }

    fn from_value(value: &Value) -> Option<Place> {
        let [line, column, end_line, end_column] = value.as_list()? else { return None };
        let number = |value: &Value| u32::try_from(value.as_int()?).ok();
        Some(Place {
            line: number(line)?,
            column: number(column)?,
            end_line: number(end_line)?,
            end_column: number(end_column)?,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
