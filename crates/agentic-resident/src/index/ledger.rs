//! The index of agents and sessions: what is new of them, from refs and records.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use agentic_api::roster::{agents_now, read_agent, read_session};
use agentic_git::KeptLeaf;
use agentic_index::{
    IndexError, KeptMark, MainIndex, ReadAgent, SeenAgent, SharedLedger, SweptRefs, Tables,
};
use agentic_model::AgentName;
use agentic_replay::SessionId;
use agentic_session::SessionSpace;
use agentic_session::hold::book::HoldBook;

use super::kept::{
    AgentToRead, FoldOutcome, InFlight, KeptIndex, ListedAgent, ReadFailure, SeenArchive,
};

/// What of how many sessions is written down at once, each time that the index is put on the disk.
const HOLDS_AT_ONCE: usize = 512;

/// What others look at of it.
#[derive(Debug, Clone, Default)]
pub struct LedgerShelf {
    /// What agents and sessions are.
    pub rows: SharedLedger,
    /// What was read of open holds.
    pub holds: Arc<HoldBook>,
}

/// What an earlier process knew of the objects that notes keep.
#[derive(Debug)]
pub struct KnownObjects;

impl KeptIndex for MainIndex {
    type Shared = LedgerShelf;
    type Opening = KnownObjects;
    const NAME: &'static str = "main";
    /// 8 MiB.
    const CACHE_BYTES: u64 = 8 << 20;
    const IN_FLIGHT: InFlight = InFlight::Left;
    /// It is looked at without being asked.
    const GATHERED: Duration = Duration::ZERO;

    fn open(
        tables: Box<dyn Tables>,
        of: &str,
        shared: &LedgerShelf,
    ) -> Result<MainIndex, IndexError> {
        MainIndex::open(tables, of, &shared.rows)
    }

    /// What an earlier process knew of open holds.
    fn recall(&mut self, shared: &LedgerShelf) -> Result<(), IndexError> {
        self.holds(|session, written| {
            if let Some(session) = SessionId::parse(session) {
                // What another version wrote is read anew.
                shared.holds.recall(&session, written);
            }
        })
    }

    fn swept_before(&self) -> Option<SweptRefs> {
        self.rows().swept
    }

    fn note_swept(&mut self, swept: SweptRefs) -> Result<(), IndexError> {
        self.note_swept(swept)
    }

    fn openings(&mut self) -> Result<Vec<KnownObjects>, IndexError> {
        Ok(vec![KnownObjects])
    }

    fn finish_opening(&mut self, _: &SessionSpace, _: &KnownObjects) -> FoldOutcome<()> {
        Ok(self.recall_objects()?)
    }

    fn agents(&self) -> Result<Vec<String>, IndexError> {
        Ok(self.rows().agents.names().map(str::to_owned).collect())
    }

    fn seen(&self, agent: &str) -> Result<Option<SeenAgent>, IndexError> {
        Ok(self.rows().agents.get(agent).map(|row| row.seen()))
    }

    /// Those that have a branch here: lists of others are read where they are kept.
    fn agents_there(space: &SessionSpace, _: &mut SeenArchive) -> FoldOutcome<Vec<ListedAgent>> {
        let listed = |(agent, seen): (AgentName, SeenAgent)| ListedAgent {
            name: agent.to_string(),
            seen,
            is_here: true,
        };
        Ok(agents_now(space)?.into_iter().map(listed).collect())
    }

    fn read_agents(
        &mut self,
        space: &SessionSpace,
        wanted: &[AgentToRead],
    ) -> FoldOutcome<Vec<String>> {
        let (mut done, mut read) = (Vec::with_capacity(wanted.len()), Vec::new());
        for agent in wanted {
            match read_wanted(self, space, agent) {
                Ok(AgentReading::Same) => {}
                Ok(AgentReading::Other(other)) => read.push(*other),
                Ok(AgentReading::Gone) => self.forget_agent(agent.name())?,
                // The next look tries again; the others are read now.
                Err(ReadFailure::Ground) => continue,
                Err(failure @ ReadFailure::Index(_)) => return Err(failure),
            }
            done.push(agent.name().to_owned());
        }
        self.put_agents(read)?;
        Ok(done)
    }

    fn read_session(
        &mut self,
        space: &SessionSpace,
        shared: &LedgerShelf,
        id: &SessionId,
    ) -> FoldOutcome<bool> {
        let (row, session) = (read_session(space, id)?, id.to_string());
        let is_over = row.is_over;
        let known = self.rows().sessions.get(&session).cloned();
        if known.is_none_or(|known| *known != row) {
            self.put_session(&session, row)?;
        }
        if !is_over {
            // Whoever lists what waits for people finds it read.
            shared.holds.look(space, id);
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

    fn flush(&mut self, shared: &LedgerShelf) -> Result<(), IndexError> {
        let news = shared.holds.take_news(HOLDS_AT_ONCE).into_iter();
        let news: Vec<_> = news.map(|(session, holds)| (session.to_string(), holds)).collect();
        if !news.is_empty() {
            self.put_holds(news)?;
        }
        self.flush()
    }
}

/// What became of reading an agent.
enum AgentReading {
    /// It is as it was.
    Same,
    /// It is otherwise.
    Other(Box<ReadAgent>),
    /// There is none.
    Gone,
}

fn read_wanted(
    index: &MainIndex,
    space: &SessionSpace,
    wanted: &AgentToRead,
) -> FoldOutcome<AgentReading> {
    let Ok(agent) = AgentName::parse(wanted.name()) else { return Ok(AgentReading::Gone) };
    let seen = match wanted {
        AgentToRead::Listed(listed) => listed.seen.clone(),
        AgentToRead::Named(_) => {
            let repository = space.repository();
            let Some(head) = repository.find_ref(&agent.branch_ref())? else {
                return Ok(AgentReading::Gone);
            };
            SeenAgent { head, notes: repository.find_ref(&agent.notes_ref())? }
        }
    };
    let known = index.rows().agents.get(agent.as_str());
    if known.as_ref().is_some_and(|known| known.seen() == seen) {
        return Ok(AgentReading::Same);
    }
    let known = known.map(|known| known.row());
    let before = known.as_ref().and_then(|known| known.seen.notes);
    let kept = space.repository().kept_since(before, seen.notes)?.iter().map(mark_of).collect();
    let row = read_agent(space, &agent, seen, known.as_ref())?;
    Ok(AgentReading::Other(Box::new(ReadAgent { row, kept })))
}

/// Marks what notes keep.
pub(super) fn mark_of(leaf: &KeptLeaf) -> KeptMark {
    match leaf {
        KeptLeaf::Object(cid) => KeptMark::of_object(cid),
        KeptLeaf::Note(commit) => KeptMark::of_note(commit),
    }
}
