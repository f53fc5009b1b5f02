//! When a run is sealed, and with what.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use agentic_replay::{Hold, RequestId, SessionProgress};
use agentic_session::hosted::ToldLine;
use temporalio_sdk::{TimerOptions, WorkflowCancellationToken};

use crate::activity::SealActivity;
use crate::error::whole;
use crate::seal::{SealAsk, WireLine, WirePiece};
use crate::wire::packed;
use crate::workflow::event::Event;
use crate::workflow::hosting::Hosting;
use crate::workflow::launch::of_upkeep;

/// How long records and values of one seal are together, in bytes.
const SEAL_BYTES_MAX: usize = 700 << 10;
/// After how long something is sealed that has happened.
const SEAL_AFTER: Duration = Duration::from_secs(300);
/// After how many records a run is sealed that nobody waits for.
const RECORDS_MAX: usize = 1000;

/// Records that are not sealed, with their long values.
pub struct UnsealedTail {
    n_sealed: usize,
    records: VecDeque<Vec<u8>>,
    /// The long values that the records name, in pieces.
    pieces: VecDeque<WirePiece>,
    /// How many pieces are on their way.
    n_sent_pieces: usize,
    /// What the trace is told with the records.
    told: VecDeque<WireLine>,
    /// How many lines of that are on their way.
    n_sent_lines: usize,
    /// The holds that the trace has been told of.
    told_holds: BTreeSet<RequestId>,
    /// Which requests the records ask people, by position.
    holds: VecDeque<(usize, String)>,
    is_wanted: bool,
    /// Whether a timer runs that has them sealed.
    is_timed: bool,
}

/// What goes with a seal.
struct NextSeal {
    records: Vec<String>,
    pieces: Vec<WirePiece>,
    told: Vec<WireLine>,
}

impl UnsealedTail {
    /// Begins behind so many sealed records.
    pub fn behind(n_sealed: usize) -> UnsealedTail {
        UnsealedTail {
            n_sealed,
            records: VecDeque::new(),
            pieces: VecDeque::new(),
            n_sent_pieces: 0,
            told: VecDeque::new(),
            n_sent_lines: 0,
            told_holds: BTreeSet::new(),
            holds: VecDeque::new(),
            is_wanted: false,
            is_timed: false,
        }
    }

    /// Takes up what is new.
    pub fn extend(&mut self, progress: &SessionProgress) {
        self.records.extend(progress.links.iter().map(|link| link.bytes.clone()));
        for (cid, bytes) in &progress.objects {
            let length = bytes.len() as u64;
            let pieces = bytes.chunks(SEAL_BYTES_MAX).enumerate();
            self.pieces.extend(pieces.map(|(n, piece)| WirePiece {
                cid: cid.to_string(),
                at: (n * SEAL_BYTES_MAX) as u64,
                length,
                bytes: packed(piece),
            }));
        }
    }

    /// Returns how many records are sealed.
    pub fn n_sealed(&self) -> usize {
        self.n_sealed
    }

    /// Notes that the record at a position asks people.
    pub fn asks_people(&mut self, position: usize, request: String) {
        self.holds.push_back((position, request));
    }

    /// Takes the first request that records between two positions ask people.
    fn take_hold(&mut self, from: usize, end: usize) -> Option<String> {
        let mut first = None;
        while self.holds.front().is_some_and(|(at, _)| *at < end) {
            let asked = self.holds.pop_front().filter(|(at, _)| *at >= from);
            first = first.or(asked.map(|(_, request)| request));
        }
        first
    }

    /// Returns how many records there are, sealed ones included.
    pub fn n_records(&self) -> usize {
        self.n_sealed + self.records.len()
    }

    /// Says whether everything is sealed.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.pieces.is_empty() && self.told.is_empty()
    }

    /// Notes that so many records are sealed.
    pub fn sealed(&mut self, n_sealed: usize) {
        let n_new = n_sealed.saturating_sub(self.n_sealed).min(self.records.len());
        self.records.drain(..n_new);
        self.n_sealed += n_new;
        self.pieces.drain(..std::mem::take(&mut self.n_sent_pieces));
        self.told.drain(..std::mem::take(&mut self.n_sent_lines));
    }

    /// Notes that something has not been sealed for a while.
    pub fn is_due(&mut self) {
        self.is_timed = false;
        self.is_wanted = true;
    }

    /// Has the trace told something with the next records that are sealed.
    pub fn tell(&mut self, line: ToldLine) {
        self.told.push_back(WireLine::of(line));
    }

    /// Notes that the trace has been told of a hold; says whether that is new.
    pub fn tells_of(&mut self, hold: &Hold) -> bool {
        self.told_holds.insert(hold.id)
    }

    /// Returns what goes with the next seal: values first, then the records that name them, then
    /// what the trace is told.
    fn next(&mut self) -> NextSeal {
        let mut n_bytes = 0;
        let mut fits = |length: usize| {
            let is_first = n_bytes == 0;
            n_bytes += length;
            is_first || n_bytes <= SEAL_BYTES_MAX
        };
        let pieces: Vec<WirePiece> =
            self.pieces.iter().take_while(|piece| fits(piece.bytes.len())).cloned().collect();
        self.n_sent_pieces = pieces.len();
        let records: Vec<String> = match pieces.len() == self.pieces.len() {
            true => {
                let records = self.records.iter().take_while(|bytes| fits(bytes.len()));
                records.map(|bytes| packed(bytes)).collect()
            }
            false => Vec::new(),
        };
        let told: Vec<WireLine> = match records.len() == self.records.len() {
            true => self.told.iter().take_while(|line| fits(line.text.len())).cloned().collect(),
            false => Vec::new(),
        };
        self.n_sent_lines = told.len();
        NextSeal { records, pieces, told }
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
            return self.seal_later();
        }
        let from = self.unsealed.n_sealed;
        let NextSeal { records, pieces, told } = self.unsealed.next();
        let is_whole = records.len() == self.unsealed.records.len()
            && pieces.len() == self.unsealed.pieces.len()
            && told.len() == self.unsealed.told.len();
        self.unsealed.is_wanted = !is_whole;
        self.is_sealing = true;
        let run = self.input.start.clone();
        let is_last = is_whole && self.session.end().is_some();
        let ask = SealAsk { run, from, records, pieces, told, is_last };
        let n_sealed = from + ask.records.len();
        // A hold is published by its seal, under its own id: the SDK notices another one.
        let hold = self.unsealed.take_hold(from, n_sealed);
        let mut options = of_upkeep(hold.unwrap_or_else(|| format!("seal-{n_sealed}")));
        options.summary = Some(format!("records {from} to {n_sealed}"));
        let done = self.ctx.execute_activity(SealActivity, ask, options);
        let sealed = async move {
            match done.await {
                Ok(_) => Event::Sealed(n_sealed),
                Err(error) => Event::Broken(whole(&error)),
            }
        };
        self.flight.begin(sealed);
    }

    /// Has the trace told what the program said, where it is held, and how it ended.
    pub(super) fn tell(&mut self, progress: &SessionProgress) {
        let (id, at) = (self.session.started().session, self.now());
        progress.events.iter().for_each(|event| self.unsealed.tell(ToldLine::said(event, at)));
        for hold in &progress.holds {
            if self.unsealed.tells_of(hold) {
                self.unsealed.tell(ToldLine::held(&id, hold, at));
            }
        }
        if let Some(end) = &progress.end {
            self.unsealed.tell(ToldLine::ended(&id, end, at));
        }
    }

    /// Has what there is sealed after a while.
    fn seal_later(&mut self) {
        if self.unsealed.is_empty() || self.unsealed.is_timed || self.end.is_some() {
            return;
        }
        self.unsealed.is_timed = true;
        let after = self.input.seal_after_ms.map_or(SEAL_AFTER, Duration::from_millis);
        let later = TimerOptions::builder(after)
            .cancellation_token(WorkflowCancellationToken::new())
            .summary("seal".to_owned());
        let due = self.ctx.timer(later.build());
        self.flight.begin(async move {
            due.await;
            Event::SealDue
        });
    }
}
