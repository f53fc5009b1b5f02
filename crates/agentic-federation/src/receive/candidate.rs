//! Which announcement of those that are served may be believed, and how it stands to what was accepted.

use std::collections::BTreeSet;

use agentic_git::Repository;
use agentic_model::Cid;

use super::SpaceResult;
use crate::accepted::{AcceptedChain, AcceptedOutline};
use crate::announcement::SignedAnnouncement;
use crate::identity::IdentityChain;
use crate::steps::check_step;
use crate::walk::{Walk, WalkEnd, WalkNode, WalkSubject, is_backed, is_expired, why_invalid};
use crate::wrapping::{WrappedAnnouncement, read_wrapped};
use crate::{Error, MalformedInput, Result};

/// What a look at a space came to.
pub(super) enum SpaceDecision {
    /// Nothing new is believed.
    Nothing(SpaceResult),
    /// This may be.
    Accept(Box<CandidateSpace>),
}

/// An announcement that may be believed.
pub(super) struct CandidateSpace {
    /// The announcement.
    pub wrapped: WrappedAnnouncement,
    /// The newest document that was known of the identity.
    pub identity: Cid,
    /// How it stands to what was accepted.
    pub result: SpaceResult,
    /// Whether it came with something that counts for nothing.
    pub has_junk: bool,
}

/// What a candidate is looked for with.
pub(super) struct CandidateSearch<'a> {
    /// What is in quarantine, and what is here.
    pub repository: &'a Repository,
    /// Whose announcements count.
    pub subject: WalkSubject,
    /// The newest that is known of the peer's identity.
    pub identity: &'a IdentityChain,
    /// The sides that a person picked.
    pub chosen: &'a BTreeSet<Cid>,
    /// What was accepted.
    pub accepted: Option<&'a AcceptedOutline>,
}

/// Finds the candidate, its position and whether every step to it counts.
pub(super) fn decide(search: &CandidateSearch<'_>, walk: &Walk) -> Result<SpaceDecision> {
    let CandidateSearch { repository, subject, identity, accepted, .. } = *search;
    if identity.newest().space(subject.space).is_none() {
        let why = "its newest identity does not list that space".to_owned();
        return Ok(SpaceDecision::Nothing(SpaceResult::Refused(why)));
    }
    let is_candidate = |node: &WalkNode| {
        node.valid(identity, subject).is_some_and(|wrapped| is_backed(identity, wrapped))
    };
    let Some(at) = walk.nodes.iter().position(is_candidate) else {
        let is_expired = |node: &WalkNode| {
            node.valid(identity, subject).is_some_and(|wrapped| is_expired(identity, wrapped))
        };
        if walk.nodes.iter().any(is_expired) {
            let why = "the key that signed it has expired, or was revoked".to_owned();
            return Ok(SpaceDecision::Nothing(SpaceResult::Refused(why)));
        }
        return Ok(SpaceDecision::Nothing(without_candidate(walk, accepted)));
    };
    let (path, has_junk) = (&walk.nodes[at..], at > 0);
    let WalkNode::Announced(candidate) = &path[0] else {
        return Err(MalformedInput::new("a candidate is an announcement").into());
    };
    if search.is_stale(&walk.end, candidate)? {
        return Ok(SpaceDecision::Nothing(SpaceResult::Stale));
    }
    let result = search.position(&walk.end, path)?;
    let mut before = match &walk.end {
        WalkEnd::Meets(met) => Some(met.as_ref().clone()),
        WalkEnd::Root | WalkEnd::Gap => None,
    };
    for node in path.iter().rev() {
        let WalkNode::Announced(this) = node else {
            return Err(MalformedInput::new("there is something else in the chain").into());
        };
        let number = this.signed.announcement.seq;
        let wrong = |why: String| MalformedInput(format!("announcement {number}: {why}"));
        if let Some(why) = why_invalid(identity, subject, this) {
            return Err(wrong(why.to_owned()).into());
        }
        let checked = check_step(repository, identity, before.as_ref(), this);
        checked.map_err(|error| match error {
            Error::Malformed(why) => wrong(why.0).into(),
            other @ (Error::Store(_) | Error::Space(_) | Error::Session(_) | Error::Refused(_)) => {
                other
            }
        })?;
        before = Some(this.as_ref().clone());
    }
    let (wrapped, identity) = (candidate.as_ref().clone(), identity.last().cid());
    Ok(SpaceDecision::Accept(Box::new(CandidateSpace { wrapped, identity, result, has_junk })))
}

impl CandidateSearch<'_> {
    fn is_chosen(&self, node: &WalkNode) -> bool {
        match node {
            WalkNode::Announced(wrapped) => self.chosen.contains(&wrapped.signed.cid()),
            WalkNode::Junk { .. } => false,
        }
    }

    /// Tells whether a candidate is from before what was accepted, and no ancestor of it: the chain was cut since, or
    /// goes on from before it in a later epoch.
    fn is_stale(&self, end: &WalkEnd, candidate: &WrappedAnnouncement) -> Result<bool> {
        let Some(accepted) = self.accepted else { return Ok(false) };
        if let WalkEnd::Meets(met) = end
            && met.signed.cid() == accepted.acceptance.announcement
        {
            return Ok(false);
        }
        let number = candidate.signed.announcement.number();
        let newest = read_wrapped(self.repository, accepted.acceptance.announced)?;
        let newest = &newest.signed.announcement;
        // What goes by a document that a person set aside makes nothing old.
        if self.identity.covers(newest) && number.epoch < newest.epoch {
            return Ok(true);
        }
        let mut chain = AcceptedChain::of_record(self.repository, Some(accepted.record))?;
        chain.is_cut_after(number)
    }

    /// Says how a candidate stands to what was accepted.
    fn position(&self, end: &WalkEnd, path: &[WalkNode]) -> Result<SpaceResult> {
        let CandidateSearch { identity, accepted, .. } = *self;
        let Some(accepted) = accepted else {
            return match end {
                WalkEnd::Root => Ok(SpaceResult::Accepted),
                WalkEnd::Gap | WalkEnd::Meets(_) => {
                    Err(MalformedInput::new("its chain has no beginning").into())
                }
            };
        };
        if let (WalkEnd::Root, Some(cut)) = (end, cut_of(path)) {
            // Like a rewind of everything, if it goes on from what was accepted.
            let before = read_wrapped(self.repository, accepted.acceptance.announced)?;
            let before = &before.signed.announcement;
            let goes_on = cut.announcement.previous == Some(accepted.acceptance.announcement)
                && Some(cut.announcement.seq) == before.seq.checked_add(1)
                && cut.announcement.epoch >= before.epoch
                && cut.announcement.time >= before.time;
            let is_chosen = path.iter().any(|node| self.is_chosen(node));
            return match (goes_on, is_chosen) {
                (true, _) => Ok(SpaceResult::Accepted),
                (false, true) => Ok(SpaceResult::Recovered),
                (false, false) => {
                    let cid = cut.cid();
                    Err(MalformedInput(format!(
                        "its chain was cut elsewhere than at what was accepted: \
                         `agentic peer resolve PEER --at {cid} -m WHY` takes it"
                    ))
                    .into())
                }
            };
        }
        let met = match end {
            WalkEnd::Meets(met) => met.signed.cid(),
            WalkEnd::Root | WalkEnd::Gap => {
                return Err(MalformedInput::new("it is no descendant of what was accepted").into());
            }
        };
        if met == accepted.acceptance.announcement {
            return Ok(SpaceResult::Accepted);
        }
        let WalkNode::Announced(candidate) = &path[0] else {
            return Err(MalformedInput::new("a candidate is an announcement").into());
        };
        let space = candidate.signed.announcement.space;
        let epoch = identity.epoch(space);
        let resume = identity.newest().space(space).and_then(|listed| listed.resume);
        let is_newest = |node: &WalkNode| match node {
            WalkNode::Announced(wrapped) => Some(wrapped.signed.announcement.epoch) == epoch,
            WalkNode::Junk { .. } => false,
        };
        let is_resumed = resume == Some(met) && path.iter().all(is_newest);
        match is_resumed || path.iter().any(|node| self.is_chosen(node)) {
            true => Ok(SpaceResult::Recovered),
            false => Err(MalformedInput::new("it is no descendant of what was accepted").into()),
        }
    }
}

/// Returns the announcement with which a chain begins anew, if it does.
fn cut_of(path: &[WalkNode]) -> Option<&SignedAnnouncement> {
    match path.last()? {
        WalkNode::Announced(root) if root.signed.announcement.cut.is_some() => Some(&root.signed),
        WalkNode::Announced(_) | WalkNode::Junk { .. } => None,
    }
}

/// Says what it is that a remote serves nothing which counts.
fn without_candidate(walk: &Walk, accepted: Option<&AcceptedOutline>) -> SpaceResult {
    match (&walk.end, accepted) {
        (WalkEnd::Meets(met), Some(accepted))
            if met.signed.cid() == accepted.acceptance.announcement =>
        {
            match walk.nodes.is_empty() {
                true => SpaceResult::Unchanged,
                false => {
                    let why = "nothing above what was accepted is an announcement that counts";
                    SpaceResult::Refused(why.to_owned())
                }
            }
        }
        (WalkEnd::Meets(_), _) => SpaceResult::Stale,
        (WalkEnd::Root | WalkEnd::Gap, _) => {
            let why = "nothing there is an announcement that counts".to_owned();
            SpaceResult::Refused(why)
        }
    }
}
