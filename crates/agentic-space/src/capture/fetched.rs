//! Agents of which entries may have come by fetch: who takes in conversations that others took in too
//! looks the entries of these up.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use agentic_model::AgentName;
use agentic_store::{Layout, file};

use crate::{Error, Result};

/// The longest list of agents that is read, in bytes.
const FETCHED_BYTES_MAX: u64 = 64 << 20;

/// Agents that were noted, until they are forgotten.
#[must_use = "they are noted until they are forgotten"]
pub struct FetchedAgents {
    /// The agents.
    pub agents: Vec<AgentName>,
    place: PathBuf,
}

impl FetchedAgents {
    /// Takes the agents that were noted, so that what is noted from now on is another list.
    ///
    /// # Errors
    /// Fails when they cannot be read.
    pub fn take(layout: &Layout) -> Result<Option<FetchedAgents>> {
        let (noted, place) = (noted(layout), taken(layout));
        // What somebody took who died comes first.
        if !place.exists() {
            match std::fs::rename(&noted, &place) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(agentic_store::Error::io("move", &noted)(error).into()),
            }
        }
        let text = file::read_whole(&place, FETCHED_BYTES_MAX);
        let text = text.map_err(agentic_store::Error::io("read", &place))?;
        let text = String::from_utf8_lossy(&text);
        let mut agents: Vec<AgentName> =
            text.lines().filter_map(|name| AgentName::parse(name).ok()).collect();
        agents.sort();
        agents.dedup();
        Ok(Some(FetchedAgents { agents, place }))
    }

    /// Forgets them: whoever asks looks at them now.
    ///
    /// # Errors
    /// Fails when the list cannot be taken away.
    pub fn forget(self) -> Result<()> {
        Ok(file::remove(&self.place)?)
    }
}

/// Notes agents before something of theirs is taken in; nothing where nobody captures.
///
/// # Errors
/// Fails when the disk is full.
pub(crate) fn note_fetched(layout: &Layout, agents: &[AgentName]) -> Result<()> {
    if agents.is_empty() || !layout.capture().exists() {
        return Ok(());
    }
    let text: String = agents.iter().map(|agent| format!("{agent}\n")).collect();
    let place = noted(layout);
    let write = || {
        let mut options = OpenOptions::new();
        let mut file = file::open_regular(&place, options.create(true).append(true))?;
        file.write_all(text.as_bytes())?;
        file.sync_data()
    };
    write().map_err(|error| Error::from(agentic_store::Error::io("write", &place)(error)))
}

fn noted(layout: &Layout) -> PathBuf {
    layout.capture().join("fetched")
}

fn taken(layout: &Layout) -> PathBuf {
    layout.capture().join("fetched-taken")
}
