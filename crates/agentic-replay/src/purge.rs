//! Taking something out of records: what went is named by its id and by the purge, and the chain is
//! made again from there.
//!
//! Whoever is killed on the way has some records as they were and some as they will be. Made again from
//! either they come out the same, since what a record names of others follows from these alone.

use std::collections::BTreeSet;

use agentic_model::{Cid, canonical};

use crate::record::{AnswerRecord, AnswerSource, Outcome, PurgedValue};
use crate::{Body, Corrupt, Record, RecordHash, StoredValue, sub_chain_hash};

/// What is in every record out of which something was taken.
const MARK: &[u8] = b"purged";

/// What is taken out of records.
pub trait RecordScrub {
    /// Names the purge.
    fn id(&self) -> &str;

    /// Tells whether a value goes; one that is no text goes whole.
    fn takes(&mut self, value: &StoredValue) -> bool;

    /// Returns what a text becomes; nothing if it stays.
    fn text(&mut self, text: &str) -> Option<String>;

    /// Returns which commit stands in the place of one; nothing if it stays.
    fn commit(&mut self, id: &str) -> Option<String>;
}

/// Records that were made again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScrubbedRecords {
    /// Their bytes.
    pub frames: Vec<Vec<u8>>,
    /// The positions of those out of which something was taken.
    pub changed: Vec<u64>,
}

/// Takes something out of the records of a session, given their bytes in order; of a fork, behind
/// those that it shares. Nothing is changed where there is nothing to take out.
///
/// # Errors
/// Fails at what is no record, or not at its place.
pub fn scrub_records(
    frames: &[Vec<u8>],
    scrub: &mut dyn RecordScrub,
) -> Result<ScrubbedRecords, Corrupt> {
    let mut records = Vec::with_capacity(frames.len());
    let mut changed = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        let mut record = read(at as u64, frame)?;
        if scrub_body(&mut record.body, scrub) {
            changed.push(record.seq);
        }
        records.push(record);
    }
    if changed.is_empty() {
        return Ok(ScrubbedRecords { frames: frames.to_vec(), changed });
    }
    Ok(ScrubbedRecords { frames: chained(records)?, changed })
}

/// Chains the records of a session anew, as a purge that was broken off would have.
///
/// # Errors
/// Fails at what is no record, or not at its place.
pub fn chain_anew(frames: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Corrupt> {
    let records = frames.iter().enumerate().map(|(at, frame)| read(at as u64, frame));
    chained(records.collect::<Result<_, _>>()?)
}

/// Tells whether something may have been taken out of records before. Where nothing was, chaining them
/// anew changes nothing.
pub fn is_scrubbed(frames: &[Vec<u8>]) -> bool {
    frames.iter().any(|frame| frame.windows(MARK.len()).any(|part| part == MARK))
}

/// Lists the ids of the values that were taken out of records.
pub fn purged_in(frames: &[Vec<u8>]) -> BTreeSet<Cid> {
    let records = frames.iter().filter_map(|frame| Record::from_bytes(frame).ok());
    let cids = |record: Record| -> Vec<Cid> {
        record.body.values().into_iter().filter_map(|it| Some(it.purged()?.cid)).collect()
    };
    records.flat_map(cids).collect()
}

fn read(at: u64, frame: &[u8]) -> Result<Record, Corrupt> {
    let record = Record::from_bytes(frame)
        .map_err(|error| Corrupt { seq: at, reason: error.to_string() })?;
    match record.seq == at {
        true => Ok(record),
        false => {
            Err(Corrupt { seq: at, reason: format!("it says that it is record {}", record.seq) })
        }
    }
}

/// Names in each record the one before, and what else follows from others.
fn chained(mut records: Vec<Record>) -> Result<Vec<Vec<u8>>, Corrupt> {
    let (mut frames, mut hashes) = (Vec::with_capacity(records.len()), Vec::new());
    let mut head = RecordHash::NONE;
    for at in 0..records.len() {
        let (before, rest) = records.split_at_mut(at);
        let record = &mut rest[0];
        record.prev = head;
        if let Body::Start(start) = &mut record.body
            && let Some(point) = &mut start.parent
        {
            point.hash = head;
        }
        if let Body::ScopeEnd(scope) = &mut record.body {
            let path = scope.path.as_str();
            let is_inside = |(record, _): &(&Record, &RecordHash)| {
                (scope.from..scope.to).contains(&record.seq)
                    && record.body.path().is_some_and(|it| it.ancestors().any(|it| it == path))
            };
            let inside = before.iter().zip(&hashes).filter(is_inside);
            scope.hash = sub_chain_hash(inside.map(|(_, hash)| *hash));
        }
        let bytes = canonical::encode_entries(&record.to_entries())
            .map_err(|error| Corrupt { seq: at as u64, reason: error.to_string() })?;
        head = RecordHash::of_record(&bytes);
        hashes.push(head);
        frames.push(bytes);
    }
    Ok(frames)
}

/// Takes something out of what a record says; tells whether there was anything.
fn scrub_body(body: &mut Body, scrub: &mut dyn RecordScrub) -> bool {
    let mut scrub = BodyScrub { scrub, has_changed: false };
    match body {
        Body::Start(start) => {
            scrub.value(&mut start.input);
            start.head.iter_mut().for_each(|head| scrub.commit(head));
        }
        Body::Ask(ask) => scrub.value(&mut ask.payload),
        Body::Answer(AnswerRecord { outcome, by, .. }) => {
            scrub.outcome(outcome);
            if let AnswerSource::Edited(who) | AnswerSource::System(who) = by {
                scrub.text(who);
            } else if let AnswerSource::Decision(commit) = by {
                scrub.commit(commit);
            }
        }
        Body::End(outcome) => scrub.outcome(outcome),
        Body::Attempt(attempt) => scrub.text(&mut attempt.error),
        Body::Signal(signal) => {
            scrub.text(&mut signal.name);
            scrub.value(&mut signal.value);
        }
        Body::Escalate(escalate) => {
            scrub.text(&mut escalate.why);
            escalate.to.iter_mut().for_each(|who| scrub.text(who));
        }
        Body::Found(found) => scrub.value(&mut found.found),
        Body::Permit(permit) => {
            permit.edited.iter_mut().for_each(|value| scrub.value(value));
            scrub.commit(&mut permit.decision);
        }
        Body::Cancel(cancel) => {
            scrub.text(&mut cancel.who);
            scrub.text(&mut cancel.why);
        }
        Body::ScopeEnd(scope) => scrub.value(&mut scope.result),
        Body::Continue(next) => scrub.value(&mut next.state),
        Body::Vote(vote) => scrub.commit(&mut vote.decision),
        Body::Publish(publish) => scrub.commit(&mut publish.head),
        // What these name are programs and places in them.
        Body::Upgrade(_) | Body::Withdraw(_) => {}
    }
    scrub.has_changed
}

struct BodyScrub<'s> {
    scrub: &'s mut dyn RecordScrub,
    has_changed: bool,
}

impl BodyScrub<'_> {
    fn value(&mut self, value: &mut StoredValue) {
        if value.purged().is_none() && self.scrub.takes(value) {
            self.purge(value);
        }
    }

    fn purge(&mut self, value: &mut StoredValue) {
        let by = self.scrub.id().to_owned();
        *value = StoredValue::Purged(PurgedValue { cid: value.cid(), by });
        self.has_changed = true;
    }

    fn text(&mut self, text: &mut String) {
        if let Some(clean) = self.scrub.text(text) {
            *text = clean;
            self.has_changed = true;
        }
    }

    fn commit(&mut self, id: &mut String) {
        if let Some(new) = self.scrub.commit(id) {
            *id = new;
            self.has_changed = true;
        }
    }

    fn outcome(&mut self, outcome: &mut Outcome) {
        match outcome {
            Outcome::Ok(value) => self.value(value),
            Outcome::Failed { code, message, details } => {
                let had_changed = std::mem::take(&mut self.has_changed);
                self.text(code);
                self.text(message);
                self.value(details);
                // A program that was told something else would not do the same again.
                if self.has_changed && details.purged().is_none() {
                    self.purge(details);
                }
                self.has_changed |= had_changed;
            }
            Outcome::TimedOut | Outcome::Cancelled(_) => {}
        }
    }
}

#[cfg(test)]
mod tests;
