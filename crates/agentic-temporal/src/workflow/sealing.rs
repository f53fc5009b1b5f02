//! When a run is sealed, and with what.

use std::collections::VecDeque;
use std::time::Duration;

use agentic_replay::SessionProgress;
use temporalio_sdk::{ActivityOptions, WorkflowCancellationToken};

use crate::activity::SealActivity;
use crate::error::whole;
use crate::seal::SealAsk;
use crate::wire::packed;
use crate::workflow::event::Event;
use crate::workflow::hosting::Hosting;
use crate::workflow::launch::{BEAT_WITHIN, retries};

/// How long an activity may take that only writes into the repository.
pub const SHORT: Duration = Duration::from_secs(600);
/// How long records and values of one seal are together, in bytes.
const SEAL_BYTES_MAX: usize = 700 << 10;
/// After how many records a run is sealed that nobody waits for.
const RECORDS_MAX: usize = 1000;

/// Records that are not sealed, with their long values.
pub struct UnsealedTail {
    n_sealed: usize,
    records: VecDeque<Vec<u8>>,
    objects: VecDeque<Vec<u8>>,
    /// How many values are on their way.
    n_sent_objects: usize,
    is_wanted: bool,
}

impl UnsealedTail {
    /// Begins behind so many sealed records.
    pub fn behind(n_sealed: usize) -> UnsealedTail {
        let (records, objects) = (VecDeque::new(), VecDeque::new());
        UnsealedTail { n_sealed, records, objects, n_sent_objects: 0, is_wanted: false }
    }

    /// Takes up what is new.
    pub fn extend(&mut self, progress: &SessionProgress) {
        self.records.extend(progress.links.iter().map(|link| link.bytes.clone()));
        self.objects.extend(progress.objects.iter().map(|(_, bytes)| bytes.clone()));
    }

    /// Returns how many records there are, sealed ones included.
    pub fn n_records(&self) -> usize {
        self.n_sealed + self.records.len()
    }

    /// Says whether everything is sealed.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.objects.is_empty()
    }

    /// Notes that so many records are sealed.
    pub fn sealed(&mut self, n_sealed: usize) {
        let n_new = n_sealed.saturating_sub(self.n_sealed).min(self.records.len());
        self.records.drain(..n_new);
        self.n_sealed += n_new;
        self.objects.drain(..std::mem::take(&mut self.n_sent_objects));
    }

    /// Returns what goes with the next seal: values first, then the records that name them.
    fn next(&mut self) -> (Vec<String>, Vec<String>) {
        let mut n_bytes = 0;
        let mut fits = |bytes: &&Vec<u8>| {
            let is_first = n_bytes == 0;
            n_bytes += bytes.len();
            is_first || n_bytes <= SEAL_BYTES_MAX
        };
        let objects: Vec<String> =
            self.objects.iter().take_while(&mut fits).map(|bytes| packed(bytes)).collect();
        self.n_sent_objects = objects.len();
        let records = match objects.len() == self.objects.len() {
            true => self.records.iter().take_while(&mut fits).map(|bytes| packed(bytes)).collect(),
            false => Vec::new(),
        };
        (records, objects)
    }
}

impl Hosting<'_> {
    /// Has what there is sealed as soon as nothing else is being sealed.
    pub(super) fn want_seal(&mut self) {
        self.unsealed.is_wanted = true;
    }

    /// Begins to seal, if somebody wants it.
    pub(super) fn seal_if_wanted(&mut self) {
        let is_asked = self.ctx.state_mut(|run| std::mem::take(&mut run.desk.is_seal_wanted));
        let is_wanted =
            self.unsealed.is_wanted || is_asked || self.unsealed.records.len() >= RECORDS_MAX;
        if self.is_sealing {
            self.unsealed.is_wanted = is_wanted;
            return;
        }
        if !is_wanted || self.unsealed.is_empty() {
            return;
        }
        let from = self.unsealed.n_sealed;
        let (records, objects) = self.unsealed.next();
        let is_whole = records.len() == self.unsealed.records.len();
        self.unsealed.is_wanted = !is_whole;
        self.is_sealing = true;
        let run = self.input.start.clone();
        let is_last = is_whole && self.session.end().is_some();
        let ask = SealAsk { run, from, records, objects, is_last };
        let n_sealed = from + ask.records.len();
        let options = ActivityOptions::with_start_to_close_timeout(SHORT)
            .activity_id(format!("seal-{n_sealed}"))
            .heartbeat_timeout(BEAT_WITHIN)
            .cancellation_token(WorkflowCancellationToken::new())
            .retry_policy(retries())
            .summary(format!("records {from} to {n_sealed}"))
            .build();
        let done = self.ctx.execute_activity(SealActivity, ask, options);
        let sealed = async move {
            match done.await {
                Ok(_) => Event::Sealed(n_sealed),
                Err(error) => Event::Broken(whole(&error)),
            }
        };
        self.flight.begin(sealed);
    }
}
