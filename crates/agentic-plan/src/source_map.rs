//! Where the nodes of a plan come from. Kept beside the plan, never in it: whoever indents a file
//! anew keeps its plans.

use std::collections::BTreeMap;

use agentic_model::object::ObjectError;
use agentic_model::{Cid, Map, Object, Place, Value};

use crate::node::NodeId;

/// The type of the objects that keep source maps.
pub const SOURCE_MAP_KIND: &str = "source-map";

/// The places of the nodes of one plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanSourceMap {
    places: BTreeMap<NodeId, Place>,
}

impl PlanSourceMap {
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
    pub fn from_object(object: &Object) -> Option<(Cid, PlanSourceMap)> {
        if object.kind().as_str() != SOURCE_MAP_KIND {
            return None;
        }
        let plan = object.map().get("plan")?.as_link()?;
        let nodes = object.map().get("nodes")?.as_map()?;
        let place = |(node, place): (&String, &Value)| {
            Some((NodeId::parse(node).ok()?, Place::from_value(place)?))
        };
        let places = nodes.iter().map(place).collect::<Option<_>>()?;
        Some((plan, PlanSourceMap { places }))
    }
}
