//! Which sessions can go further, for workers that look again and again.
//!
//! To look at a session costs its records. So of each it is remembered how it was: until its
//! records, the branch of its agent or the time have moved there is nothing to do for it.

use std::collections::BTreeMap;

use agentic_model::{Instant, Oid};
use agentic_replay::{OpenHold, SessionId, Summary};

use crate::folder::Folder;
use crate::listing::list_open;
use crate::own::read_journal;
use crate::policy::Policy;
use crate::summary;
use crate::{Result, SessionSpace};

/// How a session was when somebody was told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionLook {
    n_records: usize,
    /// Where the branch of its agent stood: a decision moves it.
    head: Option<Oid>,
    /// When it has to be looked at again.
    next: Option<Instant>,
    /// When what nobody could answer is asked again. Each time makes a record, so that further
    /// records are no reason to look before.
    again_at: Option<Instant>,
}

/// Lists the sessions that can go further and that nobody drives. One that is damaged is listed
/// once, so that whoever drives it finds out.
pub(super) fn list(
    space: &SessionSpace,
    looked: &mut BTreeMap<SessionId, SessionLook>,
) -> Result<Vec<SessionId>> {
    let open = list_open(space)?;
    looked.retain(|id, _| open.binary_search(id).is_ok());
    let mut due = Vec::new();
    for id in open {
        let seen = SessionLook::at(space, &id, looked.get(&id));
        let is_due = match looked.get(&id) {
            Some(before) => {
                let is_left = seen.again_at.is_some_and(|at| at > space.now());
                (before.n_records != seen.n_records && !is_left)
                    || before.head != seen.head
                    || before.next.is_some_and(|next| next <= space.now())
            }
            None => true,
        };
        if is_due && !Folder::of(space, &id).is_driven(space)? {
            due.push((seen.next, id));
            // What was due at an instant is told once.
            let next = seen.next.filter(|next| *next > space.now());
            looked.insert(id, SessionLook { next, ..seen });
        }
    }
    due.sort();
    Ok(due.into_iter().map(|(_, id)| id).collect())
}

impl SessionLook {
    /// Looks at a session; as long as it has no further records, when it is due is known.
    fn at(space: &SessionSpace, id: &SessionId, before: Option<&SessionLook>) -> SessionLook {
        let Ok(journal) = read_journal(space, id) else {
            return SessionLook { n_records: 0, head: None, next: None, again_at: None };
        };
        let n_records = journal.records().len();
        let head = space.head(&journal.start().agent).ok();
        if let Some(before) = before.filter(|before| before.n_records == n_records) {
            let SessionLook { next, again_at, .. } = *before;
            return SessionLook { n_records, head, next, again_at };
        }
        let summary = summary::read(space, id).ok();
        let next = summary.as_ref().and_then(|summary| next_of(space, summary));
        let again_at = summary.and_then(|summary| summary.again_at);
        SessionLook { n_records, head, next, again_at }
    }
}

/// Returns the earliest instant at which something happens to a session by itself: a pause is over,
/// a hold expires or goes on to other people.
fn next_of(space: &SessionSpace, summary: &Summary) -> Option<Instant> {
    let deadline = |hold: &OpenHold| {
        let policy = Policy::of_payload(hold.reason, &hold.payload);
        policy.at(hold.n_escalations, space.now()).deadline
    };
    let deadlines = summary.holds.iter().filter_map(deadline);
    summary.until.into_iter().chain(summary.again_at).chain(deadlines).min()
}
