//! The facts that queries ask for: those of the repository, and of whatever else is beside it.

use agentic_federation::facts::{PeerFacts, relating_agents};
use agentic_federation::tracking::tracked_spaces;
use agentic_query::{CompiledQuery, ConstantPushing, FactSource, JoinedFacts, ReadTeller};
use agentic_session::{SessionFacts, SessionSpace, StandingFacts};
use agentic_space::facts::{PeerNames, SpaceFacts};

/// The predicate whose source has to be looked at before all others.
const PENDING: &str = "pending_entry";

/// The facts of a space. What a query has seen of them stays as it is until it ends.
pub(crate) struct CallerFacts<'a> {
    repository: &'a SpaceFacts<'a>,
    /// All of them.
    pub joined: &'a JoinedFacts<'a>,
}

/// Does something with the facts of a space; somebody is told how far reading them is.
pub(crate) fn with_facts<T>(
    space: &SessionSpace,
    teller: &ReadTeller<'_>,
    ask: impl FnOnce(&CallerFacts<'_>) -> T,
) -> T {
    let repository = SpaceFacts::new(space).told_to(teller).with_peer_names(peer_names(space));
    let sessions = SessionFacts::new(space).told_to(teller);
    let standing = StandingFacts::new(space);
    let peers = PeerFacts::new(space);
    // Each noun that has facts adds its source here; no two may give predicates of one name.
    let sources: Vec<&dyn FactSource> = vec![&repository, &standing, &sessions, &peers];
    let joined = JoinedFacts::new(sources);
    ask(&CallerFacts { repository: &repository, joined: &joined })
}

/// Returns what the spaces of peers are called here. Where records of peers are damaged none has a name;
/// `agentic verify` tells.
fn peer_names(space: &SessionSpace) -> PeerNames {
    let tracked = tracked_spaces(space).unwrap_or_default();
    let named = tracked.into_iter().map(|tracked| (tracked.origin(), tracked.label));
    let relating = relating_agents(space).unwrap_or_default();
    PeerNames { labels: named.collect(), relating }
}

impl CallerFacts<'_> {
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
