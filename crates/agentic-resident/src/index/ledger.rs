//! The index of agents and sessions: what is new of them, from refs and records.

use std::collections::BTreeSet;

use agentic_api::roster::{agents_now, read_agent, read_session};
use agentic_index::{AgentRow, IndexError, MainIndex, SeenAgent, SharedLedger, Tables};
use agentic_model::AgentName;
use agentic_replay::SessionId;
use agentic_session::SessionSpace;

use super::kept::{FoldOutcome, InFlight, KeptIndex, ReadFailure, SeenAgents, SeenArchive};

/// What has to be done when it was opened: nothing.
#[derive(Debug)]
pub enum NoOpening {}

impl KeptIndex for MainIndex {
    type Shared = SharedLedger;
    type Opening = NoOpening;
    const NAME: &'static str = "main";
    /// 8 MiB.
    const CACHE_BYTES: u64 = 8 << 20;
    const IN_FLIGHT: InFlight = InFlight::Left;

    fn open(
        tables: Box<dyn Tables>,
        of: &str,
        shared: &SharedLedger,
    ) -> Result<MainIndex, IndexError> {
        MainIndex::open(tables, of, shared)
    }

    fn openings(&mut self) -> Result<Vec<NoOpening>, IndexError> {
        Ok(Vec::new())
    }

    fn finish_opening(&mut self, _: &SessionSpace, part: &NoOpening) -> FoldOutcome<()> {
        match *part {}
    }

    fn agents(&self) -> Result<Vec<String>, IndexError> {
        Ok(self.rows().agents.keys().cloned().collect())
    }

    fn seen(&self, agent: &str) -> Result<Option<SeenAgent>, IndexError> {
        Ok(self.rows().agents.get(agent).map(|row| row.seen.clone()))
    }

    /// Those that have a branch here: lists of others are read where they are kept.
    fn agents_there(space: &SessionSpace, _: &mut SeenArchive) -> FoldOutcome<SeenAgents> {
        let now = agents_now(space)?.into_iter();
        Ok(now.map(|(agent, seen)| (agent.to_string(), seen)).collect())
    }

    fn read_agents(&mut self, space: &SessionSpace, names: &[String]) -> FoldOutcome<Vec<String>> {
        let (mut done, mut rows) = (Vec::with_capacity(names.len()), Vec::new());
        for name in names {
            let Ok(agent) = AgentName::parse(name) else { continue };
            match read_row(self, space, &agent) {
                Ok(AgentReading::Same) => {}
                Ok(AgentReading::Row(row)) => rows.push(*row),
                Ok(AgentReading::Gone) => self.forget_agent(name)?,
                // The next look tries again; the others are read now.
                Err(ReadFailure::Ground) => continue,
                Err(failure @ ReadFailure::Index(_)) => return Err(failure),
            }
            done.push(name.clone());
        }
        self.put_agents(rows)?;
        Ok(done)
    }

    fn read_session(&mut self, space: &SessionSpace, id: &SessionId) -> FoldOutcome<bool> {
        let (row, session) = (read_session(space, id)?, id.to_string());
        let is_over = row.is_over;
        let known = self.rows().sessions.get(&session).cloned();
        if known.is_none_or(|known| *known != row) {
            self.put_session(&session, row)?;
        }
        Ok(is_over)
    }

    fn keep_sessions(
        &mut self,
        there: &BTreeSet<SessionId>,
    ) -> Result<BTreeSet<SessionId>, IndexError> {
        self.keep_sessions(&there.iter().map(ToString::to_string).collect())?;
        let rows = self.rows();
        let over = rows.sessions.iter().filter(|(_, row)| row.is_over);
        Ok(over.filter_map(|(id, _)| SessionId::parse(id)).collect())
    }

    fn flush(&mut self) -> Result<(), IndexError> {
        self.flush()
    }
}

/// What became of reading an agent.
enum AgentReading {
    /// It is as it was.
    Same,
    /// It is otherwise.
    Row(Box<AgentRow>),
    /// There is none.
    Gone,
}

fn read_row(
    index: &MainIndex,
    space: &SessionSpace,
    agent: &AgentName,
) -> FoldOutcome<AgentReading> {
    let repository = space.repository();
    let Some(head) = repository.find_ref(&agent.branch_ref())? else {
        return Ok(AgentReading::Gone);
    };
    let seen = SeenAgent { head, notes: repository.find_ref(&agent.notes_ref())? };
    if index.seen(agent.as_str())?.as_ref() == Some(&seen) {
        return Ok(AgentReading::Same);
    }
    Ok(AgentReading::Row(Box::new(read_agent(space, agent, seen)?)))
}
