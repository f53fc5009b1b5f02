//! The facts that queries ask for: those of the repository, and of whatever else is beside it.

use agentic_query::{FactSource, JoinedFacts};
use agentic_session::{SessionFacts, SessionSpace};
use agentic_space::facts::SpaceFacts;

/// Does something with the facts of a space. What it has seen of them stays as it is until it ends.
pub(crate) fn with_facts<T>(space: &SessionSpace, ask: impl FnOnce(&dyn FactSource) -> T) -> T {
    let (repository, sessions) = (SpaceFacts::new(space), SessionFacts::new(space));
    // Each noun that has facts adds its source here; no two may give predicates of one name.
    let sources: Vec<&dyn FactSource> = vec![&repository, &sessions];
    ask(&JoinedFacts::new(sources))
}
