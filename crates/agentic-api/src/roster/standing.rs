//! How agents stand, as their sessions say.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::AgentName;
use agentic_replay::SessionId;
use agentic_session::{Result, SessionSpace};

use super::{KnownLedger, LedgerState, STANDINGS};

/// How agents stand, as their sessions that are not over do.
#[derive(Default)]
pub(super) struct Standings {
    /// The place of each one's standing among [`STANDINGS`].
    pub by_agent: BTreeMap<String, usize>,
    /// What cannot be read, so that sessions may be missing.
    pub left_out: BTreeSet<String>,
}

impl Standings {
    /// Reads them; of agents whose rows are known and do not differ, by these.
    ///
    /// # Errors
    /// Fails when the sessions cannot be listed.
    pub fn read(
        space: &SessionSpace,
        known: &KnownLedger,
        differing: &BTreeSet<AgentName>,
    ) -> Result<Standings> {
        let layout = space.repository().layout();
        // What came by fetch alone is found in notes, which an index has read where they are the same.
        let has_journal =
            |name: &AgentName| layout.journal(&agentic_store::Stream::Agent(name.clone())).exists();
        let is_unknown = known.state != LedgerState::Ready || !differing.iter().all(has_journal);
        let mut standings = Standings::default();
        let mut unread: BTreeSet<SessionId> = match is_unknown {
            true => {
                let tell = &mut |told| standings.left_out.extend([told]);
                space.open_sessions_telling(tell)?.into_iter().collect()
            }
            false => space.open_sessions_here()?.into_iter().collect(),
        };
        if !is_unknown {
            let rows = known.rows.rows();
            for (id, row) in rows.sessions.iter().filter(|(_, row)| !row.is_over) {
                let Some(id) = SessionId::parse(id) else { continue };
                // Whoever dies at work writes nothing.
                let is_same =
                    !row.depends_on_attendance && row.n_bytes == space.open_log_bytes(&id);
                match is_same {
                    true => {
                        unread.remove(&id);
                        standings.take(&row.agent, &row.state);
                    }
                    false => drop(unread.insert(id)),
                }
            }
        }
        for id in unread {
            // A damaged one is nobody's.
            let Ok(summary) = space.session(&id) else { continue };
            standings.take(summary.agent.as_str(), summary.state.as_str());
        }
        Ok(standings)
    }

    fn take(&mut self, agent: &str, state: &str) {
        let standing = STANDINGS.iter().position(|word| *word == state).unwrap_or_default();
        let known = self.by_agent.entry(agent.to_owned()).or_default();
        *known = standing.max(*known);
    }
}
