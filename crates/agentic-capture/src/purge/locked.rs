//! The locks of a purge: it holds those of all whom it concerns.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{ARCHIVE_REF, GitWriter, PRIVATE_REF};
use agentic_replay::SessionId;
use agentic_session::SessionSpace;
use agentic_session::purge::{self, PurgedSession};
use agentic_store::{Lock, Stream, recovery};

use super::plan::{PurgeFindings, gather};
use super::unfinished::UnfinishedPurge;
use super::{PurgeAim, PurgeError};

/// How often the locks are taken again because a look under them found others concerned.
const LOOKS_MAX: usize = 5;

/// All that is held while a purge is carried out.
pub(super) struct LockedPurge<'s> {
    /// Who writes to the streams concerned.
    pub writers: BTreeMap<Stream, GitWriter<'s>>,
    /// What was found under the locks.
    pub found: PurgeFindings,
    /// The locks of the sessions concerned.
    pub sessions: Vec<Lock>,
}

impl<'s> LockedPurge<'s> {
    /// Takes the locks of all sessions and streams concerned, and looks again under them.
    ///
    /// # Errors
    /// Fails when somebody drives a session that is concerned, when one is not over, and when others come all the time.
    pub fn take(
        space: &'s SessionSpace,
        aim: &PurgeAim,
        unfinished: &UnfinishedPurge,
    ) -> Result<LockedPurge<'s>, PurgeError> {
        let repository = space.repository();
        let before = gather(space, aim, unfinished)?;
        let (mut wanted, mut sessions) = (before.streams, ids_of(&before.sessions));
        for _ in 0..LOOKS_MAX {
            // Whoever drives a session takes its lock before those of agents.
            let mut locks = Vec::new();
            for id in &sessions {
                let lock = purge::lock(space, id)?;
                let driven = || PurgeError::Driven { session: id.to_string() };
                locks.push(lock.ok_or_else(driven)?);
            }
            let mut ordered: Vec<&Stream> = wanted.iter().collect();
            ordered.sort_by_key(|stream| rank(stream));
            let mut writers = BTreeMap::new();
            for stream in ordered {
                let writer = GitWriter::open(repository, stream, space.now())?;
                recovery::ready_for_purge(repository, &writer, space.now())?;
                writers.insert(stream.clone(), writer);
            }
            let found = gather(space, aim, unfinished)?;
            let open = found.open_sessions();
            if !open.is_empty() {
                return Err(PurgeError::Sessions { sessions: open });
            }
            let now = ids_of(&found.sessions);
            if found.streams.is_subset(&wanted) && now.is_subset(&sessions) {
                return Ok(LockedPurge { writers, found, sessions: locks });
            }
            wanted.extend(found.streams);
            sessions.extend(now);
        }
        Err(PurgeError::Moving)
    }
}

fn ids_of(sessions: &[PurgedSession]) -> BTreeSet<SessionId> {
    sessions.iter().map(|session| session.id).collect()
}

/// Orders streams as their locks are taken: archives, agents by name, other refs, the space.
fn rank(stream: &Stream) -> (u8, String) {
    let archives = [ARCHIVE_REF, PRIVATE_REF].map(Stream::of_branch);
    let rank = match stream {
        Stream::Branch(_) if archives.contains(stream) => 0,
        Stream::Agent(_) => 1,
        Stream::Branch(_) => 2,
        Stream::Space => 3,
    };
    (rank, stream.to_string())
}
