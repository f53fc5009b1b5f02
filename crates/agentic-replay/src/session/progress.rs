//! What a session wants done.

use std::collections::BTreeSet;
use std::sync::Arc;

use agentic_model::{Cid, Instant, Value};

use crate::{
    CancelExtent, EffectClass, End, Path, ProgramEvent, RecordLink, Request, RequestHash, RequestId,
};

/// What to do next. First keep the objects, then append the records and make both durable, then
/// do the rest.
#[derive(Debug, Default)]
#[must_use = "records that are not appended are lost"]
pub struct SessionProgress {
    /// Long values to keep, by their id.
    pub objects: Vec<(Cid, Vec<u8>)>,
    /// Records to append, in order.
    pub links: Vec<RecordLink>,
    /// Effects to perform; the answer goes to [`Session::answered`](crate::Session::answered).
    pub perform: Vec<Performance>,
    /// Requests that wait for a human.
    pub holds: Vec<Hold>,
    /// Requests that wait for an instant, to be answered with `Null` by [`AnswerSource::Timer`](crate::By::Timer).
    pub timers: Vec<(Instant, Path)>,
    /// Requests that nobody waits for: stop their effects, then answer them all the same.
    pub withdrawn: Vec<WithdrawnRequest>,
    /// Things to show, in order.
    pub events: Vec<ProgramEvent>,
    /// How the session ended, once it has and every request is answered.
    pub end: Option<End>,
}

impl SessionProgress {
    /// Returns the paths of what the program has just asked: requests of which there was no record.
    pub fn asked(&self) -> BTreeSet<&Path> {
        let asked =
            self.links.iter().filter_map(|link| link.record.body.as_ask().map(|ask| &ask.path));
        asked.collect()
    }

    /// Joins what came of answering a request before anything of this was done.
    pub fn join(&mut self, answered: &Path, more: SessionProgress) {
        self.objects.extend(more.objects);
        self.links.extend(more.links);
        self.unlist(answered);
        self.perform.extend(more.perform);
        self.holds.extend(more.holds);
        self.timers.extend(more.timers);
        self.withdrawn.extend(more.withdrawn);
        self.events.extend(more.events);
        self.end = self.end.take().or(more.end);
    }

    /// Takes a request out that nothing is to be done about any more.
    pub(super) fn unlist(&mut self, path: &Path) {
        self.perform.retain(|performance| performance.request.path != *path);
        self.holds.retain(|hold| hold.request.path != *path);
        self.timers.retain(|(_, timer)| timer != path);
    }
}

/// An effect to perform.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// What to perform; a payload that a decision edited is in place already.
    pub request: Arc<Request>,
    /// The id of the request: the key of an idempotent effect.
    pub id: RequestId,
    /// What a crash may do to it.
    pub class: EffectClass,
    /// Which attempt it is, from 1.
    pub attempt: u32,
    /// When to begin, if an attempt failed before.
    pub not_before: Option<Instant>,
    /// What was found before it began for the first time, where that is recorded.
    pub found: Option<Value>,
}

/// A request that waits for a human.
#[derive(Debug, Clone, PartialEq)]
pub struct Hold {
    /// What is asked.
    pub request: Arc<Request>,
    /// The id of the request.
    pub id: RequestId,
    /// Its hash, to which a decision is bound.
    pub hash: RequestHash,
    /// Why a human is asked.
    pub reason: HoldReason,
}

/// Why a human is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HoldReason {
    /// The program asks one.
    Asked,
    /// The session may not perform the effect unasked: [`Session::permit`](crate::Session::permit) or answer it.
    NotAllowed,
    /// The effect may have happened before a crash: [`Session::permit`](crate::Session::permit) it again, or answer it
    /// with what happened.
    InDoubt,
}

impl HoldReason {
    /// Returns the name, as it is shown and recorded.
    pub fn name(self) -> &'static str {
        match self {
            HoldReason::Asked => "asked",
            HoldReason::NotAllowed => "not-allowed",
            HoldReason::InDoubt => "in-doubt",
        }
    }
}

/// A request that was withdrawn and has no answer yet.
#[derive(Debug, Clone, PartialEq)]
pub struct WithdrawnRequest {
    /// What was asked.
    pub request: Arc<Request>,
    /// The id of the request.
    pub id: RequestId,
    /// How it was cancelled, if no executor of this process knows better.
    pub stopped: CancelExtent,
}
