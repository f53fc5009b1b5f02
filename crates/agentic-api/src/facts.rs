//! The facts that queries ask for: those of the repository, and of whatever else is beside it.

use agentic_federation::facts::{PeerFacts, relating_agents};
use agentic_federation::tracking::tracked_spaces;
use agentic_query::ReadTeller;
use agentic_session::{QueriedFacts, QueriedSpace, SessionSpace};
use agentic_space::facts::PeerNames;

/// Does something with the facts of a space; somebody is told how far reading them is.
pub(crate) fn with_facts<T>(
    space: &SessionSpace,
    teller: &ReadTeller<'_>,
    ask: impl FnOnce(&QueriedFacts<'_>) -> T,
) -> T {
    let peers = PeerFacts::new(space);
    // Each noun above sessions that has facts adds its source here.
    let reading = QueriedSpace { space, teller, peer_names: peer_names(space), more: &[&peers] };
    agentic_session::with_facts(reading, ask)
}

/// Returns what the spaces of peers are called here. Where records of peers are damaged none has a name;
/// `agentic verify` tells.
fn peer_names(space: &SessionSpace) -> PeerNames {
    let tracked = tracked_spaces(space).unwrap_or_default();
    let named = tracked.into_iter().map(|tracked| (tracked.origin(), tracked.label));
    let relating = relating_agents(space).unwrap_or_default();
    PeerNames { labels: named.collect(), relating }
}
