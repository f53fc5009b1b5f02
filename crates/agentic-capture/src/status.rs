//! How capture stands: what was heard of each coding agent, what is still to be read, what went wrong.
//!
//! All of it is counted or looked up when somebody asks, but for two things that nobody could find
//! again: when a hook last told something, and how many secrets were taken out. Both are small files
//! below `agentic/capture/` that may be deleted, and what is damaged in them says nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agentic_model::{AgentName, Instant};
use agentic_session::SessionSpace;

use crate::conversation::{BindReason, ConversationRecord, QUIET_MS, conversations};
use crate::cursor::{CursorOwner, TranscriptCursor};
use crate::error_log::faults;
use crate::heard::last_heard;
use crate::hook::end;
use crate::import::endangered;
use crate::tally::redactions;
use crate::{
    CaptureError, ConversationId, HookEnvironment, Source, TranscriptForm, VendorFile,
    VendorFileRefusal, VendorRoots, left, live,
};

/// How capture stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaptureStanding {
    /// Each coding agent that something is known of.
    pub sources: BTreeMap<Source, SourceStanding>,
    /// How often what went wrong where nobody knows in whose hook, by its code.
    pub errors: BTreeMap<String, u64>,
}

/// How it stands with the conversations of one coding agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceStanding {
    /// When its hook last told something.
    pub last: Option<Instant>,
    /// How many conversations are known.
    pub n_conversations: u64,
    /// How many of them have no agent any more.
    pub n_unbound: u64,
    /// How many bytes of their transcripts are not read yet.
    pub n_unread: u64,
    /// How many transcripts are gone; what was read of them stays.
    pub n_gone: u64,
    /// How many transcripts of this repository their vendor is about to delete, not wholly read.
    pub n_endangered: u64,
    /// How many secrets of each rule were taken out of what was captured.
    pub redactions: BTreeMap<String, u64>,
    /// How often what went wrong, by its code.
    pub errors: BTreeMap<String, u64>,
}

/// Looks how it stands, each coding agent for itself.
///
/// # Errors
/// Fails when the repository cannot be read.
pub fn standing(
    space: &SessionSpace,
    environment: &HookEnvironment,
) -> Result<CaptureStanding, CaptureError> {
    let layout = space.repository().layout();
    let configured = space.repository().config("agentic.captureRoots");
    let roots = VendorRoots::of(environment, configured.as_deref());
    let mut found = CaptureStanding::default();
    for record in conversations(layout).iter().filter(|it| it.reason != BindReason::Parent) {
        let Some(id) = record.id() else { continue };
        found.sources.entry(id.source).or_default().add(space, &roots, (record, &id))?;
    }
    for source in Source::ALL {
        let (last, found_redactions) = (last_heard(layout, source), redactions(layout, source));
        if last.is_some() || !found_redactions.is_empty() {
            let standing = found.sources.entry(source).or_default();
            (standing.last, standing.redactions) = (last, found_redactions);
        }
    }
    for fault in faults(layout) {
        let errors = match fault.source {
            Some(source) => &mut found.sources.entry(source).or_default().errors,
            None => &mut found.errors,
        };
        *errors.entry(fault.code).or_default() += 1;
    }
    let n_endangered = endangered(space, environment)?.len() as u64;
    if n_endangered > 0 {
        found.sources.entry(Source::Claude).or_default().n_endangered = n_endangered;
    }
    Ok(found)
}

impl SourceStanding {
    fn add(
        &mut self,
        space: &SessionSpace,
        roots: &VendorRoots,
        (record, id): (&ConversationRecord, &ConversationId),
    ) -> Result<(), CaptureError> {
        self.n_conversations += 1;
        let is_bound = match record.agent() {
            Some(agent) => is_there(space, &agent)?,
            None => false,
        };
        if !is_bound {
            self.n_unbound += 1;
        }
        let Some(path) = &record.transcript else { return Ok(()) };
        match roots.open_transcript(path, id, space.now()) {
            Ok(file) => self.n_unread += unread(space, id, &file).unwrap_or(0),
            Err(VendorFileRefusal::Missing) => self.n_gone += 1,
            // Somebody named a file elsewhere once, and nothing says that it may be read now.
            Err(
                VendorFileRefusal::Relative
                | VendorFileRefusal::Outside
                | VendorFileRefusal::NotRegular
                | VendorFileRefusal::Foreign
                | VendorFileRefusal::Closed
                | VendorFileRefusal::Busy
                | VendorFileRefusal::Damaged,
            ) => {}
        }
        Ok(())
    }
}

/// Counts the bytes of a transcript that nobody has read yet.
fn unread(space: &SessionSpace, id: &ConversationId, file: &VendorFile) -> std::io::Result<u64> {
    let owner = CursorOwner { conversation: id, subagent: None };
    let cursor = TranscriptCursor::load(&space.repository().layout().capture(), owner);
    let stamp = file.stamp()?;
    if cursor.as_ref().is_some_and(|cursor| cursor.is_at_rest(stamp)) {
        return Ok(0);
    }
    let read = cursor.map_or(0, |cursor| cursor.place.offset);
    match file.form {
        TranscriptForm::Lines => Ok(stamp.length.saturating_sub(read)),
        TranscriptForm::Messages | TranscriptForm::Rows(_) => {
            std::io::copy(&mut file.text_at(read)?, &mut std::io::sink())
        }
    }
}

/// Archives the agents that were made for conversations which are over, and on which nobody works.
///
/// # Errors
/// Fails when the archive cannot be written.
pub fn archive_ended(space: &SessionSpace) -> Result<(), CaptureError> {
    left::take_in(space)?;
    let all = conversations(space.repository().layout());
    let named: BTreeMap<ConversationId, &ConversationRecord> =
        all.iter().filter_map(|record| Some((record.id()?, record))).collect();
    let now = space.now();
    let mut over: Vec<AgentName> = Vec::new();
    for (id, record) in &named {
        let Some(agent) = record.agent() else { continue };
        let is_child = record.reason == BindReason::Parent;
        if !is_child && !end::is_own_agent(&agent, id) {
            continue;
        }
        let above = record.parent.as_ref().filter(|_| is_child).and_then(|native| {
            named.get(&ConversationId { source: id.source, native: native.clone() })
        });
        if is_over(above.unwrap_or(record), now) {
            over.push(agent);
        }
    }
    end::archive_closed(space, over)
}

/// Tells whether a conversation is over: it says so, its program is gone, or, where nobody knows the
/// program, nobody has said a word for a day.
fn is_over(record: &ConversationRecord, now: Instant) -> bool {
    if record.ended.is_some() {
        return true;
    }
    if let Some(program) = &record.program {
        return !live::is_alive(program);
    }
    let modified = |path: &PathBuf| {
        let at = std::fs::metadata(path).and_then(|file| file.modified()).ok()?;
        i64::try_from(at.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis()).ok()
    };
    let spoke = record.transcript.as_ref().and_then(modified).unwrap_or(record.began);
    now.millis() - spoke.max(record.began) >= QUIET_MS
}

fn is_there(space: &SessionSpace, agent: &AgentName) -> Result<bool, CaptureError> {
    let repository = space.repository();
    Ok(repository.find_ref(&agent.branch_ref())?.is_some()
        || repository.archive_entry(agent)?.is_some())
}
