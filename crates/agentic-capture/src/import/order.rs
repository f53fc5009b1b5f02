//! In which order conversations are taken: each after those that it goes on from.

use std::collections::BTreeMap;

use agentic_model::Instant;
use agentic_session::SessionSpace;

use super::find::FoundTranscript;
use super::head::{KnownHead, TranscriptHead};
use crate::conversation::ConversationRecord;
use crate::{CaptureError, ConversationId, VendorRoots};

/// A conversation with its files: its own first, then those of its subagents.
pub(super) struct ConversationTask {
    pub id: ConversationId,
    pub files: Vec<KnownHead>,
    /// Conversations with whose lines its own may begin.
    pub copied: Vec<ConversationId>,
    /// Whether it is to be taken: it is young enough, or one that goes on from it is.
    pub is_wanted: bool,
    /// Its place among all.
    pub number: usize,
    /// Files that could not be read, with why.
    pub failed: Option<&'static str>,
}

impl ConversationTask {
    /// The conversations that have to be taken before.
    pub fn earlier(&self) -> impl Iterator<Item = ConversationId> {
        let said = self.files.iter().flat_map(|file| [file.forked_from(), file.parent()]);
        let source = self.id.source;
        let said =
            said.flatten().map(move |native| ConversationId { source, native: native.to_owned() });
        said.chain(self.copied.iter().cloned())
    }
}

/// Reads the heads of transcripts, and brings their conversations into order.
pub(super) fn tasks(
    space: &SessionSpace,
    roots: &VendorRoots,
    found: Vec<FoundTranscript>,
    since: Option<Instant>,
) -> Result<Vec<ConversationTask>, CaptureError> {
    let mut tasks: BTreeMap<ConversationId, ConversationTask> = BTreeMap::new();
    for found in found {
        let (id, task) = read(roots, found, (since, space.now()));
        match tasks.get_mut(&id) {
            Some(known) => {
                known.files.extend(task.files);
                known.is_wanted |= task.is_wanted;
                known.failed = known.failed.or(task.failed);
            }
            None => drop(tasks.insert(id, task)),
        }
    }
    for task in tasks.values_mut() {
        task.files.sort_by(|left, right| left.found.cmp_kind(&right.found));
    }
    note_copies(space, &mut tasks);
    Ok(ordered(tasks))
}

fn read(
    roots: &VendorRoots,
    found: FoundTranscript,
    (since, now): (Option<Instant>, Instant),
) -> (ConversationId, ConversationTask) {
    let opened = roots.open_found(&found, now);
    let modified = opened.as_ref().ok().and_then(|file| file.modified().ok());
    let is_wanted = since.is_none_or(|since| modified.is_none_or(|at| at >= since));
    let id = found.id.clone();
    let head = match &opened {
        Ok(file) => TranscriptHead::read(found, file).map_err(|error| error.code()),
        Err(refusal) => Err(refusal.code().unwrap_or("missing")),
    };
    let id = head.as_ref().map_or(id, |head| head.found.id.clone());
    let (files, failed) = match head {
        Ok(head) => (vec![KnownHead::of(head)], None),
        Err(code) => (Vec::new(), Some(code)),
    };
    let (copied, number) = (Vec::new(), 0);
    (id.clone(), ConversationTask { id, files, copied, is_wanted, number, failed })
}

impl FoundTranscript {
    /// A conversation's own words come before those of its subagents.
    fn cmp_kind(&self, other: &FoundTranscript) -> std::cmp::Ordering {
        (self.subagent.is_some(), &self.subagent, &self.path).cmp(&(
            other.subagent.is_some(),
            &other.subagent,
            &other.path,
        ))
    }
}

/// Finds conversations that begin with the same entry: the later ones begin with copies of the first.
/// Which is the first, time tells: who has copied ends later.
fn note_copies(space: &SessionSpace, tasks: &mut BTreeMap<ConversationId, ConversationTask>) {
    let mut by_first: BTreeMap<String, Vec<(i64, ConversationId)>> = BTreeMap::new();
    for task in tasks.values() {
        let own = task.files.first().filter(|file| file.found.subagent.is_none());
        let Some(own) = own.filter(|own| own.forked_from().is_none()) else { continue };
        if let Some(first) = &own.first {
            let modified = std::fs::metadata(&own.found.path).and_then(|found| found.modified());
            let since = modified.ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            let at = since.map_or(0, |it| i64::try_from(it.as_millis()).unwrap_or(i64::MAX));
            // Who was taken before stays the first.
            let layout = space.repository().layout();
            let at = if ConversationRecord::load(layout, &task.id).is_some() { 0 } else { at };
            by_first.entry(first.clone()).or_default().push((at, task.id.clone()));
        }
    }
    for mut group in by_first.into_values().filter(|group| group.len() > 1) {
        group.sort();
        for (place, (_, id)) in group.iter().enumerate() {
            let earlier = group[..place].iter().map(|(_, id)| id.clone()).collect();
            if let Some(task) = tasks.get_mut(id) {
                task.copied = earlier;
            }
        }
    }
}

/// Puts each after those that it goes on from; these are wanted where it is.
fn ordered(tasks: BTreeMap<ConversationId, ConversationTask>) -> Vec<ConversationTask> {
    let ids: Vec<ConversationId> = tasks.keys().cloned().collect();
    let mut rest = tasks;
    let mut done: Vec<ConversationTask> = Vec::new();
    let mut places: BTreeMap<ConversationId, usize> = BTreeMap::new();
    for id in ids {
        // Depth first, by hand: chains of forks may be long.
        let mut ahead = vec![(id, false)];
        while let Some((id, is_ready)) = ahead.pop() {
            let Some(task) = rest.get(&id) else { continue };
            if is_ready {
                let Some(mut task) = rest.remove(&id) else { continue };
                task.number = done.len();
                places.insert(id, task.number);
                done.push(task);
                continue;
            }
            let earlier: Vec<ConversationId> = task.earlier().filter(|it| *it != id).collect();
            let is_open =
                |other: &ConversationId| ahead.iter().any(|(id, ready)| *ready && id == other);
            let earlier: Vec<_> = earlier.into_iter().filter(|other| !is_open(other)).collect();
            ahead.push((id, true));
            ahead.extend(earlier.into_iter().map(|id| (id, false)));
        }
    }
    for at in (0..done.len()).rev().filter(|at| done[*at].is_wanted).collect::<Vec<_>>() {
        want_earlier(&mut done, &places, at);
    }
    done
}

fn want_earlier(
    done: &mut [ConversationTask],
    places: &BTreeMap<ConversationId, usize>,
    at: usize,
) {
    let mut ahead = vec![at];
    while let Some(at) = ahead.pop() {
        let earlier: Vec<usize> =
            done[at].earlier().filter_map(|id| places.get(&id).copied()).collect();
        for other in earlier {
            if !done[other].is_wanted {
                done[other].is_wanted = true;
                ahead.push(other);
            }
        }
    }
}
