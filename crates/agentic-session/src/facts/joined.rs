//! The facts that queries ask for, of all nouns together: whoever knows of more adds its sources.

use agentic_query::{CompiledQuery, ConstantPushing, FactSource, JoinedFacts, ReadTeller};
use agentic_space::facts::{PeerNames, SpaceFacts};

use super::SessionFacts;
use crate::SessionSpace;
use crate::standing::StandingFacts;

/// The predicate whose source has to be looked at before all others.
const PENDING: &str = "pending_entry";

/// What a query is to read.
pub struct QueriedSpace<'a> {
    /// Where.
    pub space: &'a SessionSpace,
    /// Who is told how far it is, and may end it.
    pub teller: &'a ReadTeller<'a>,
    /// What the spaces of peers are called.
    pub peer_names: PeerNames,
    /// Sources of other predicates.
    pub more: &'a [&'a dyn FactSource],
}

/// The facts of a space. What a query has seen of them stays as it is until it ends.
pub struct QueriedFacts<'a> {
    repository: &'a SpaceFacts<'a>,
    /// All of them.
    pub joined: &'a JoinedFacts<'a>,
}

/// Does something with the facts of a space.
pub fn with_facts<T>(reading: QueriedSpace<'_>, ask: impl FnOnce(&QueriedFacts<'_>) -> T) -> T {
    let QueriedSpace { space, teller, peer_names, more } = reading;
    let repository = SpaceFacts::new(space).told_to(teller).with_peer_names(peer_names);
    let sessions = SessionFacts::new(space).told_to(teller);
    let standing = StandingFacts::new(space);
    // No two sources may give predicates of one name.
    let mut sources: Vec<&dyn FactSource> = vec![&repository, &standing, &sessions];
    sources.extend(more);
    let joined = JoinedFacts::new(sources);
    ask(&QueriedFacts { repository: &repository, joined: &joined })
}

impl QueriedFacts<'_> {
    /// Looks first at what would be seen wrongly later, of the predicates that a query asks for.
    pub fn begin(&self, query: &CompiledQuery, pushing: ConstantPushing) {
        let pending = self.joined.predicates().iter().position(|known| known.name == PENDING);
        // To list the requests takes as long as to compile, so that is for those who may ask.
        let Some(pending) = pending.filter(|number| query.mentions(*number)) else { return };
        if query.requests(pushing).iter().any(|request| request.predicate == pending) {
            self.repository.hold_pending();
        }
    }
}
