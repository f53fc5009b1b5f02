//! What was accepted of peers, as a purge sees it.

use std::collections::BTreeSet;

use agentic_capture::purge::{AcceptedReach, AcceptedRecords, RecordsCut};
use agentic_federation::receive::{begin_records_anew, reaching_records};
use agentic_session::SessionSpace;

/// The records of what was accepted of peers.
pub(super) struct PurgedRecords<'s>(pub &'s SessionSpace);

impl AcceptedRecords for PurgedRecords<'_> {
    fn reaching(&self, ids: &BTreeSet<String>) -> Vec<AcceptedReach> {
        let found = reaching_records(self.0, ids).unwrap_or_default().into_iter();
        found.map(|it| AcceptedReach { record: it.record, reached: it.reached }).collect()
    }

    fn begin_anew(&self) -> RecordsCut {
        match begin_records_anew(self.0) {
            Ok(spaces) => RecordsCut::Done(spaces),
            Err(why) => RecordsCut::Refused(why.to_string()),
        }
    }
}
