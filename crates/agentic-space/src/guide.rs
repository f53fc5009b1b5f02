//! Looking for something in the notes of all agents: first where it should be, then where somebody knows
//! it may be, then everywhere else.

use std::fmt;
use std::sync::Arc;

use agentic_git::{KeptLeaf, RefName};
use agentic_model::AgentName;

use crate::{Result, Space};

/// Names agents whose notes may keep something.
type FirstKeepers = dyn Fn(&KeptLeaf) -> Vec<AgentName> + Send + Sync;
/// Leaves out notes, by name and state, that do not keep something.
type PossibleKeepers = dyn Fn(&KeptLeaf, Vec<RefName>) -> Vec<RefName> + Send + Sync;

/// Somebody who knows which notes keep what.
#[derive(Clone)]
pub struct NotesGuide {
    /// Names agents that may, soon. What is answered is looked up, so a wrong answer costs time alone.
    pub first: Arc<FirstKeepers>,
    /// Leaves out notes, where they are in the state that is given, that do not. This one is believed.
    pub possible: Arc<PossibleKeepers>,
}

impl fmt::Debug for NotesGuide {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("NotesGuide")
    }
}

impl Space {
    /// Finds something in notes: `find` looks into one ref. The notes of `likely` come first. Nobody is
    /// asked which notes may keep it where it is no leaf of theirs.
    ///
    /// # Errors
    /// Fails as `find` does, and when refs cannot be listed.
    pub(crate) fn find_in_notes<T>(
        &self,
        leaf: Option<&KeptLeaf>,
        likely: Option<&AgentName>,
        find: impl Fn(&str) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let guided = leaf.and_then(|leaf| Some((leaf, self.guide()?)));
        let first = guided.as_ref().map_or_else(Vec::new, |(leaf, guide)| (guide.first)(leaf));
        for agent in likely.into_iter().chain(&first) {
            // What is wrong there is found below.
            if let Ok(Some(found)) = find(&agent.notes_ref()) {
                return Ok(Some(found));
            }
        }
        let all = self.repository().list_refs(AgentName::NOTES_REFS)?;
        let possible = match guided {
            Some((leaf, guide)) => (guide.possible)(leaf, all),
            None => all,
        };
        for notes in possible {
            if let Some(found) = find(&notes.name)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
