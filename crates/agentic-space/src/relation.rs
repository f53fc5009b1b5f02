//! Relations by name: which follow from commits, and which somebody asserts.

use agentic_model::{Cid, Edge, Kind, Object, Oid};

use crate::facts::{KnownMerges, SpaceFacts};
use crate::{Result, Space};

/// The relation of a forked agent to the one it was forked from.
pub const SUB_AGENT_OF: &str = "sub-agent-of";
/// The relation of an agent to what its work was merged into.
pub const MERGED_INTO: &str = "merged-into";
/// The relation of a reviewer to an agent.
pub const REVIEWS: &str = "reviews";
/// The relation of a kind to the kind it specialises.
pub const IS_A: &str = "is-a";

/// Tells whether a relation follows from commits, so that nobody may assert it.
pub fn is_derived(relation: &Kind) -> bool {
    matches!(relation.as_str(), SUB_AGENT_OF | MERGED_INTO | IS_A)
}

impl Space {
    /// Lists whose work was merged into which agent or branch, as open agents and their notes say.
    ///
    /// # Errors
    /// Fails when no refs can be read.
    pub fn merges(&self) -> Result<KnownMerges> {
        SpaceFacts::new(self).merges_of_open_agents()
    }

    /// Reads the events of edges that an agent's notes hold, each with the object that it is.
    ///
    /// # Errors
    /// Fails when the notes cannot be read.
    pub fn kept_edges(&self, notes_tip: Option<Oid>) -> Result<Vec<(Cid, Edge)>> {
        let edge = Kind::parse("edge").expect("a valid name");
        let objects = self.repository().notes_at(notes_tip)?.read_objects(&edge)?;
        // An edge that somebody wrote by hand and that says nothing is no fact.
        let event =
            |bytes: &[u8]| Object::decode(bytes).ok().and_then(|o| Edge::from_object(&o).ok());
        let event = |(cid, bytes): (Cid, Vec<u8>)| Some((cid, event(&bytes)?));
        Ok(objects.into_iter().filter_map(event).collect())
    }
}
