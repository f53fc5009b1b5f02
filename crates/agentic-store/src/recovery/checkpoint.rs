//! Checkpoints: journals are cut once git itself holds durably what they recorded.
//!
//! A journal at rest is cut whole; one in use loses its oldest segments. Looking at the objects and
//! syncing happen outside any lock; only the cut itself holds the stream's lock, for as long as one
//! small append takes. The sync is one for all journals of a round, and a round is bounded, so that
//! nobody pays for what all have written. Whatever breaks off leaves a log that is too long.

use agentic_model::{Instant, Oid};

use super::keep::{keep, lacks};
use super::{replay, sync_stamp};
use crate::file::{self, Persistence};
use crate::ground::GroundStore;
use crate::journal::{
    self, CarriedState, Journal, JournalBody, JournalRecord, JournalRecordHash, KEEP_MILLIS,
    Segment,
};
use crate::layout::{Stream, streams_in};
use crate::lock::Lock;
use crate::writer::Writer;
use crate::{Error, Result, fault};

/// How many journals one round looks at.
const STREAMS_MAX: usize = 32;
/// How many bytes of journals one round reads: 4 MiB, or one segment if that is longer.
const BYTES_MAX: u64 = 4 << 20;

/// What a checkpoint did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoint {
    /// Git itself holds durably what was dropped from the log.
    Cut,
    /// Nothing could be cut yet: records are too young, or a collection is running.
    TooEarly,
    /// There is nothing to cut.
    Nothing,
}

/// How much of a log may be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutExtent {
    /// All of it, as long as this is still the last record.
    Whole(JournalRecordHash),
    /// What stands before this segment.
    Before(u64),
}

/// What is to be cut once it is durable.
struct CutPlan {
    stream: Stream,
    extent: CutExtent,
    /// The number of the first record that stays.
    before: u64,
    carried: CarriedState,
}

/// Checkpoints journals as far as that is possible now, with one sync for all.
///
/// # Errors
/// Fails when the disk does. What is wrong with one journal is in its own answer.
pub fn checkpoint<G: GroundStore>(
    repository: &G,
    streams: &[Stream],
    now: Instant,
) -> Result<Vec<(Stream, Result<Checkpoint>)>> {
    let mut budget = u64::MAX;
    cut_all(repository, streams, now, &mut budget)
}

/// Does a bounded part of what [`checkpoint`] does, if nobody did within ten minutes. Successive
/// rounds come to all journals. Somebody who does it at the same time is not waited for.
///
/// # Errors
/// Fails when the disk does.
pub fn rest<G: GroundStore>(repository: &G, now: Instant) -> Result<()> {
    let layout = repository.layout();
    let stamp = layout.last_round();
    let (at, last) = read_stamp(&std::fs::read_to_string(&stamp).unwrap_or_default());
    if at.is_some_and(|at| now.millis().abs_diff(at) < KEEP_MILLIS.unsigned_abs())
        || repository.keeps_logs()
    {
        return Ok(());
    }
    let lock = Lock::try_take(&layout.space_lock("rest"), repository.common_dir())?;
    let Some(_lock) = lock else { return Ok(()) };
    let streams = streams_in(&layout.dirty_marks())?;
    let begin = streams.partition_point(|stream| stream.to_string() <= last);
    let turn = streams[begin..].iter().chain(&streams[..begin]).take(STREAMS_MAX);
    let turn: Vec<Stream> = turn.cloned().collect();
    let mut budget = BYTES_MAX;
    let done = cut_all(repository, &turn, now, &mut budget)?;
    repository.sweep_replaced_packs()?;
    let last = done.last().map(|(stream, _)| stream.to_string()).unwrap_or_default();
    let text = format!("{} {last}\n", now.millis());
    file::replace(&stamp, text.as_bytes(), Persistence::Lazy)
}

/// Reads when the last round was, and which journal it came to last.
fn read_stamp(text: &str) -> (Option<i64>, String) {
    let (at, last) = text.trim_end().split_once(' ').unwrap_or((text.trim_end(), ""));
    (at.parse().ok(), last.to_owned())
}

/// Cuts one journal after the other until the budget of bytes is spent; returns how far it came.
fn cut_all<G: GroundStore>(
    repository: &G,
    streams: &[Stream],
    now: Instant,
    budget: &mut u64,
) -> Result<Vec<(Stream, Result<Checkpoint>)>> {
    let mut done = Vec::new();
    let mut plans = Vec::new();
    for stream in streams {
        if *budget == 0 {
            break;
        }
        let answer = match plan(repository, stream, now, budget) {
            Ok(PlannedCut::Now(plan)) => {
                plans.push((done.len(), plan));
                Ok(Checkpoint::Cut)
            }
            Ok(PlannedCut::Not(why)) => Ok(why),
            Err(error) => Err(error),
        };
        done.push((stream.clone(), answer));
    }
    if plans.is_empty() {
        return Ok(done);
    }
    fault::point("before-checkpoint")?;
    sync_stamp::counted(repository.layout(), || repository.sync_filesystem())?;
    for (at, plan) in plans {
        tracing::debug!(stream = %plan.stream, before = plan.before, "cutting a journal");
        done[at].1 = cut(repository, plan, now);
    }
    Ok(done)
}

/// What is to become of a journal.
enum PlannedCut {
    Now(CutPlan),
    Not(Checkpoint),
}

/// Decides how much of a journal can be dropped, and makes sure that git has all of it.
fn plan<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    now: Instant,
    budget: &mut u64,
) -> Result<PlannedCut> {
    let layout = repository.layout();
    let segments = journal::segments(layout, stream)?;
    let Some(current) = segments.last() else { return Ok(PlannedCut::Not(Checkpoint::Nothing)) };
    let Some((tail, last)) = journal::tail_with_hash(layout, stream)? else {
        return Ok(PlannedCut::Not(Checkpoint::Nothing));
    };
    if repository.keeps_logs() || matches!(tail.body, JournalBody::Transaction(_)) {
        return Ok(PlannedCut::Not(Checkpoint::TooEarly));
    }
    let length: u64 = segments.iter().map(|segment| segment.length).sum();
    let older = &segments[..segments.len() - 1];
    let found = if is_old(&tail, now) && length <= (*budget).max(current.length) {
        *budget = budget.saturating_sub(length);
        let records = journal::records(layout, stream)?;
        Some(DroppableRecords { records, extent: CutExtent::Whole(last), before: tail.seq + 1 })
    } else {
        oldest(repository, stream, older, now, budget)?
    };
    let Some(found) = found.filter(|found| found.records.iter().all(|one| is_old(one, now))) else {
        return Ok(PlannedCut::Not(Checkpoint::TooEarly));
    };
    if !found.records.iter().any(|record| matches!(record.body, JournalBody::Transaction(_))) {
        return Ok(PlannedCut::Not(Checkpoint::Nothing));
    }
    match verify(repository, stream, &found.records, now)? {
        GitHolding::Durably => {}
        GitHolding::Unknown => return Ok(PlannedCut::Not(Checkpoint::TooEarly)),
    }
    let notes = notes_tip(repository, &found.records)?;
    let carried = CarriedState::from_records(&found.records, notes);
    let DroppableRecords { extent, before, .. } = found;
    Ok(PlannedCut::Now(CutPlan { stream: stream.clone(), extent, before, carried }))
}

/// Records that may be dropped as far as their age goes.
struct DroppableRecords {
    records: Vec<JournalRecord>,
    extent: CutExtent,
    /// The number of the first record behind them.
    before: u64,
}

fn is_old(record: &JournalRecord, now: Instant) -> bool {
    now.millis().saturating_sub(record.at.millis()) >= KEEP_MILLIS
}

/// Reads the oldest segments, as far as their records are old enough and the budget goes.
fn oldest<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    segments: &[Segment],
    now: Instant,
    budget: &mut u64,
) -> Result<Option<DroppableRecords>> {
    let mut found: Option<DroppableRecords> = None;
    for segment in segments {
        if found.is_some() && segment.length > *budget {
            break;
        }
        *budget = budget.saturating_sub(segment.length);
        let records = journal::records_of(repository.layout(), stream, segment.number)?;
        let Some(last) = records.last().filter(|_| records.iter().all(|one| is_old(one, now)))
        else {
            break;
        };
        let (extent, before) = (CutExtent::Before(segment.number + 1), last.seq + 1);
        let mut all = found.map_or(Vec::new(), |found| found.records);
        all.extend(records);
        found = Some(DroppableRecords { records: all, extent, before });
    }
    Ok(found)
}

/// Opens and hashes every object of some records, and looks for every notes edit. What git lacks is
/// written again first, from all records of the log: of several edits of a note the last counts.
/// Tells whether git has everything now.
fn verify<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    records: &[JournalRecord],
    now: Instant,
) -> Result<GitHolding> {
    if lacks(repository, stream, records)?.is_empty() {
        return Ok(GitHolding::Durably);
    }
    let Some(_writer) = Writer::try_open(repository, stream, now)? else {
        return Ok(GitHolding::Unknown);
    };
    keep(repository, stream, now)?;
    match lacks(repository, stream, &journal::records(repository.layout(), stream)?)?.pop() {
        None => Ok(GitHolding::Durably),
        Some(lacking) => Err(Error::corrupt(lacking, "it cannot be read, and the log stays")),
    }
}

/// Whether git has what a log says.
enum GitHolding {
    /// It has, once everything is synced.
    Durably,
    /// It lacks something, and somebody else holds the lock under which that is put right.
    Unknown,
}

/// Reads the state of the notes, before the sync that is to cover it.
fn notes_tip<G: GroundStore>(repository: &G, records: &[JournalRecord]) -> Result<Option<Oid>> {
    let edits = replay::decided(records.to_vec());
    let name = edits.iter().rev().find_map(|one| one.transaction.notes.as_ref());
    name.map(|edit| repository.find_ref(&edit.name)).transpose().map(Option::flatten)
}

/// Cuts a log under the stream's lock, unless it is in use or has changed meanwhile.
fn cut<G: GroundStore>(repository: &G, plan: CutPlan, now: Instant) -> Result<Checkpoint> {
    let layout = repository.layout();
    let Some(mut writer) = Writer::try_open(repository, &plan.stream, now)? else {
        return Ok(Checkpoint::TooEarly);
    };
    if repository.keeps_logs() || writer.standing().is_none() {
        return Ok(Checkpoint::TooEarly);
    }
    match plan.extent {
        CutExtent::Whole(last) if writer.journal().last_hash() == last => {
            let pending = writer.pending_entries()?;
            let journal = writer.journal();
            journal.restart(pending, plan.carried, now)?;
            journal.drop_segments_before(journal.segment())?;
            repository.release_packs(&plan.stream)?;
            file::remove(&layout.dirty(&plan.stream))?;
            file::remove(&layout.missing(&plan.stream))?;
            Ok(Checkpoint::Cut)
        }
        CutExtent::Before(next)
            if keeps_pending(repository, &plan.stream, writer.journal(), next)? =>
        {
            let journal = writer.journal();
            journal.append_cut(plan.before, plan.carried, now)?;
            journal.drop_segments_before(next)?;
            Ok(Checkpoint::Cut)
        }
        CutExtent::Whole(_) | CutExtent::Before(_) => Ok(Checkpoint::TooEarly),
    }
}

/// Tells whether all pending entries stand in a segment that stays.
fn keeps_pending<G: GroundStore>(
    repository: &G,
    stream: &Stream,
    journal: &Journal,
    next: u64,
) -> Result<bool> {
    let standing = journal.standing();
    let mut n_found = 0;
    for segment in journal::segments(repository.layout(), stream)? {
        if n_found == standing.n_pending || segment.number < next {
            continue;
        }
        let records = journal::records_of(repository.layout(), stream, segment.number)?;
        let is_pending = |record: &&JournalRecord| {
            record.seq >= standing.taken_before && matches!(record.body, JournalBody::Entry(_))
        };
        n_found += records.iter().filter(is_pending).count() as u64;
    }
    Ok(n_found == standing.n_pending)
}
