//! Whom a run runs as when nobody is named: an agent that is made for it.

use std::time::{SystemTime, UNIX_EPOCH};

use agentic_model::{AgentName, Briefing, InvalidName};
use agentic_space::spawn::{SpawnOrigin, spawn};
use agentic_store::file::unique_number;

use crate::{Error, KeySource, SessionSpace};

/// How much of a source the briefing of the agent of its run repeats, in bytes.
const BRIEFING_BYTES_MAX: usize = 256 << 10;

/// Why there is no agent for a run.
#[derive(Debug, thiserror::Error)]
pub enum AgentFailure {
    /// The key makes no name.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// It could not be made.
    #[error(transparent)]
    Spawn(#[from] Error),
}

/// Returns a key that no other start has: two starts without a key are two runs. A process may have
/// the id of one before it, and the clock of the space may stand still; that of the machine does not.
pub fn fresh_key(space: &SessionSpace) -> String {
    let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let n_made = unique_number();
    let (at, process) = (space.now().millis(), std::process::id());
    format!("{at}-{process}-{:x}-{n_made}", moment.as_nanos() as u64)
}

/// Returns the start key that was named, else a fresh one, and which of the two it is.
pub fn key_or_fresh(space: &SessionSpace, named: Option<String>) -> (String, KeySource) {
    match named {
        Some(key) => (key, KeySource::Named),
        None => (fresh_key(space), KeySource::Fresh),
    }
}

/// Returns the agent that is named after the start key; makes it if it is not there yet.
///
/// # Errors
/// Fails when the key makes no name, or the agent cannot be made.
pub fn own_agent(
    space: &SessionSpace,
    key: &str,
    briefing: &str,
) -> Result<AgentName, AgentFailure> {
    ensure_agent(space, &format!("run-{key}"), briefing, &SpawnOrigin::Root)
}

/// Returns the agent of a name; makes it if it is not there yet.
///
/// # Errors
/// Fails when the text is no name, or the agent cannot be made.
pub fn ensure_agent(
    space: &SessionSpace,
    name: &str,
    briefing: &str,
    origin: &SpawnOrigin,
) -> Result<AgentName, AgentFailure> {
    let name = AgentName::parse(name)?;
    if space.head(&name).is_err() {
        let briefing = Briefing::of_text(shortened(briefing)).to_object().map_err(Error::from)?;
        spawn(space, &name, &briefing, origin).map_err(Error::from)?;
    }
    Ok(name)
}

/// Cuts a text that is too long for a briefing. The whole stands with the run.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(BRIEFING_BYTES_MAX)]
}
