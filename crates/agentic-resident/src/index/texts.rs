//! The index of texts: what is new of an agent or a session, from refs and records.

mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

use agentic_api::search::{GroundTexts, TextAgent, visit_session};
use agentic_index::{
    IndexError, SearchDocument, SeenAgent, Tables, TextChange, TextIndex, UnreadTexts,
};
use agentic_replay::SessionId;
use agentic_session::SessionSpace;
use agentic_store::layout::ARCHIVE_REF;

use self::reading::TextReading;
use super::kept::{
    AgentToRead, FoldOutcome, InFlight, KeptIndex, ListedAgent, ReadFailure, SeenArchive,
};

/// Texts that were numbered by an earlier process, and are read again.
#[derive(Debug)]
pub enum NumberedTexts {
    /// Some of them.
    Unread(UnreadTexts),
    /// All were read.
    End,
}

impl KeptIndex for TextIndex {
    type Shared = ();
    type Opening = NumberedTexts;
    const NAME: &'static str = "text";
    /// 16 MiB.
    const CACHE_BYTES: u64 = 16 << 20;
    const IN_FLIGHT: InFlight = InFlight::Kept;
    const GATHERED: Duration = Duration::from_secs(1);

    fn open(tables: Box<dyn Tables>, of: &str, (): &()) -> Result<TextIndex, IndexError> {
        TextIndex::open(tables, of)
    }

    fn openings(&mut self) -> Result<Vec<NumberedTexts>, IndexError> {
        let unread = self.unread()?.into_iter().map(NumberedTexts::Unread);
        Ok(unread.chain([NumberedTexts::End]).collect())
    }

    fn finish_opening(&mut self, space: &SessionSpace, part: &NumberedTexts) -> FoldOutcome<()> {
        match part {
            NumberedTexts::Unread(unread) => read_again(self, space, unread),
            NumberedTexts::End => Ok(self.end_reading_again()?),
        }
    }

    fn agents(&self) -> Result<Vec<String>, IndexError> {
        self.agents()
    }

    fn seen(&self, agent: &str) -> Result<Option<SeenAgent>, IndexError> {
        self.seen(agent)
    }

    fn agents_there(
        space: &SessionSpace,
        archive: &mut SeenArchive,
    ) -> FoldOutcome<Vec<ListedAgent>> {
        let ground = GroundTexts { space };
        let seen = |agents: Vec<TextAgent>| {
            agents.into_iter().map(|TextAgent { name, seen, is_here, .. }| ListedAgent {
                name,
                seen,
                is_here,
            })
        };
        let mut there: Vec<ListedAgent> = seen(ground.agents_on_branches()?).collect();
        // What the archive has counts as long as there is no branch of that name.
        let mut mark = blake3::Hasher::new();
        for listed in &there {
            mark.update(listed.name.as_bytes()).update(b"\n");
        }
        let of = (space.repository().find_ref(ARCHIVE_REF)?, mark.finalize());
        if archive.of != Some(of) {
            archive.agents = seen(ground.archived_agents()?).collect();
            archive.of = Some(of);
        }
        there.extend(archive.agents.iter().cloned());
        Ok(there)
    }

    fn read_agents(
        &mut self,
        space: &SessionSpace,
        wanted: &[AgentToRead],
    ) -> FoldOutcome<Vec<String>> {
        let mut reading = TextReading { space, index: self, changes: Vec::new(), n_texts: 0 };
        let mut read = Vec::with_capacity(wanted.len());
        for agent in wanted {
            match reading.read(agent) {
                Ok(()) => read.push(agent.name().to_owned()),
                // The next look tries again; the others are read now.
                Err(ReadFailure::Ground) => {}
                Err(failure @ ReadFailure::Index(_)) => return Err(failure),
            }
        }
        reading.write()?;
        Ok(read)
    }

    fn read_session(&mut self, space: &SessionSpace, (): &(), id: &SessionId) -> FoldOutcome<bool> {
        read_session(space, self, id)
    }

    /// What of a session is gone is found out when a hit is read.
    fn keep_sessions(
        &mut self,
        _there: &BTreeSet<SessionId>,
    ) -> Result<BTreeSet<SessionId>, IndexError> {
        Ok(BTreeSet::new())
    }

    fn flush(&mut self, (): &()) -> Result<(), IndexError> {
        self.flush()
    }
}

/// Reads texts again that an earlier process numbered.
fn read_again(
    index: &mut TextIndex,
    space: &SessionSpace,
    unread: &UnreadTexts,
) -> FoldOutcome<()> {
    let mut texts = BTreeMap::new();
    let ground = GroundTexts { space };
    if let Some(agent) = ground.agent(&unread.agent)? {
        // What cannot be read is gone.
        let _ = ground.of_source(&agent, &unread.source, &mut |document| {
            texts.insert(document.position, document);
            ControlFlow::Continue(())
        });
    }
    Ok(index.read_again(unread, &texts)?)
}

/// Reads what is new of a session. Says whether there will never be more.
fn read_session(space: &SessionSpace, index: &mut TextIndex, id: &SessionId) -> FoldOutcome<bool> {
    let session = id.to_string();
    let from = index.seen_session(&session)?.unwrap_or(0);
    let summary = space.session(id)?;
    let is_over = summary.state.is_over();
    if summary.n_records == from {
        return Ok(is_over);
    }
    let mut new: Vec<SearchDocument> = Vec::new();
    let _ = visit_session(&summary, from, &mut |document| {
        new.push(document);
        ControlFlow::Continue(())
    });
    let seen_session = Some((session, summary.n_records));
    let agent = summary.agent.to_string();
    index.apply(&[TextChange { agent, new, seen_session, ..TextChange::default() }])?;
    Ok(is_over)
}
