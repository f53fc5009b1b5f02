//! What the loop of a run and its handlers tell each other: data alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::decision::{CancelAsk, ChildEnd, HoldNote, RunView, SettledHold, SignalAsk};

/// A decision that is durable, on its way to the program.
#[derive(Debug, Clone)]
pub struct DecidedHold {
    /// The id of the request.
    pub request: String,
    /// What it makes of the hold, if it settles that.
    pub settled: Option<SettledHold>,
    /// The commit of a vote that does not settle it.
    pub vote: Option<String>,
    /// Who decided.
    pub principal: String,
    /// What.
    pub action: String,
}

/// What the loop of a run and its handlers tell each other.
#[derive(Debug, Default)]
pub struct Desk {
    /// The requests that people have been asked, with the positions of their records.
    known: BTreeMap<String, usize>,
    /// What waits for a human now.
    pub holds: BTreeMap<String, HoldNote>,
    deciding: BTreeSet<String>,
    decided: VecDeque<DecidedHold>,
    /// How many decisions were put here, and how many were taken.
    n_decided: u64,
    n_taken: u64,
    /// How many handlers have asked whether all is taken in, and how many of them were told so.
    n_asked: u64,
    n_seen: u64,
    /// How many of them have answered.
    n_answered: u64,
    /// Requests to stop.
    pub cancels: VecDeque<CancelAsk>,
    /// What came for the program.
    pub signals: VecDeque<SignalAsk>,
    /// Children that say that they have ended.
    pub child_ends: VecDeque<ChildEnd>,
    /// Whether somebody wants to read what there is.
    pub is_seal_wanted: bool,
    /// How many records there are.
    pub n_records: usize,
    /// How many of them are sealed.
    pub n_sealed: usize,
    /// Whether the loop goes on as a new execution once the handlers have answered.
    awaits_answers: bool,
    /// Whether nothing but humans is waited for.
    pub rests: bool,
    /// Whether the program has ended.
    pub is_over: bool,
}

impl Desk {
    /// Asks to be told when the loop has taken in what there is.
    pub fn ask(&mut self) -> u64 {
        self.n_asked += 1;
        self.n_asked
    }

    /// Notes that one of the handlers has answered.
    pub fn answered(&mut self) {
        self.n_answered += 1;
    }

    /// Says whether a handler has not answered yet.
    pub fn is_asked(&self) -> bool {
        self.n_answered < self.n_asked
    }

    /// Has the loop looked again once the handlers that have not answered have done so.
    pub fn await_answers(&mut self) {
        self.awaits_answers = self.is_asked();
    }

    /// Says whether the loop waited for handlers that have answered now, once.
    pub fn have_answered(&mut self) -> bool {
        let have = self.awaits_answers && !self.is_asked();
        self.awaits_answers &= !have;
        have
    }

    /// Says whether the loop has, or takes nothing in any more.
    pub fn has_seen(&self, ticket: u64) -> bool {
        self.n_seen >= ticket || self.is_over
    }

    /// Says whether the loop has to look at something.
    pub fn has_mail(&self) -> bool {
        self.n_asked > self.n_seen
            || !self.decided.is_empty()
            || !self.cancels.is_empty()
            || !self.signals.is_empty()
            || !self.child_ends.is_empty()
            || (self.is_seal_wanted && self.n_sealed < self.n_records)
            || (self.awaits_answers && !self.is_asked())
    }

    /// Tells the handlers that everything is taken in.
    pub fn all_seen(&mut self) {
        self.n_seen = self.n_asked;
    }

    /// Notes a request that people are asked, whose record stands at this position.
    pub fn put_before_people(&mut self, hold: HoldNote, position: usize) {
        self.known.insert(hold.id.clone(), position);
        self.holds.insert(hold.id.clone(), hold);
    }

    /// Says whether nothing lies here that the loop has to take in.
    pub fn is_clear(&self) -> bool {
        !self.is_asked()
            && self.cancels.is_empty()
            && self.signals.is_empty()
            && self.child_ends.is_empty()
    }

    /// Notes that people were asked this before, by a record that is sealed.
    pub fn was_put_before_people(&mut self, request: String) {
        self.known.entry(request).or_insert(0);
    }

    /// Says whether people were asked this.
    pub fn knows(&self, request: &str) -> bool {
        self.known.contains_key(request)
    }

    /// Says whether a decision of the request may be looked at now.
    pub fn may_decide(&self, request: &str) -> bool {
        self.is_sealed(request) && !self.deciding.contains(request)
    }

    /// Says whether the question of a request is sealed.
    pub fn is_sealed(&self, request: &str) -> bool {
        self.known.get(request).is_some_and(|at| *at < self.n_sealed)
    }

    /// Begins with a decision; returns a number that no other has.
    pub fn begin_deciding(&mut self, request: &str) -> u64 {
        self.deciding.insert(request.to_owned());
        self.n_asked
    }

    /// Ends with it.
    pub fn end_deciding(&mut self, request: &str) {
        self.deciding.remove(request);
    }

    /// Puts a decision before the loop.
    pub fn decided(&mut self, decided: DecidedHold) -> u64 {
        self.decided.push_back(decided);
        self.n_decided += 1;
        self.n_decided
    }

    /// Takes the next one.
    pub fn take_decided(&mut self) -> Option<DecidedHold> {
        let next = self.decided.pop_front();
        self.n_taken += u64::from(next.is_some());
        next
    }

    /// Says whether the loop has taken a decision, or takes none any more.
    pub fn has_taken(&self, number: u64) -> bool {
        self.n_taken >= number || self.is_over
    }

    /// Tells how the run stands.
    pub fn view(&self) -> RunView {
        RunView {
            records: self.n_records,
            sealed: self.n_sealed,
            holds: self.holds.keys().cloned().collect(),
            rests: self.rests,
            over: self.is_over,
        }
    }
}
