//! Whether what would be announced can be: from where it goes on, what it says, and whether anybody would accept it.

use agentic_git::Repository;
use agentic_model::Oid;

use super::{AnnounceDraft, AnnounceRequest};
use crate::accepted::AcceptedChain;
use crate::announcement::WHY_BYTES_MAX;
use crate::identity::IdentityChain;
use crate::known::KnownPeer;
use crate::leaving::LeavingText;
use crate::own::OwnIdentity;
use crate::steps::check_step;
use crate::walk::newest_covered;
use crate::wrapping::{WrappedAnnouncement, read_wrapped};
use crate::{Error, Result};

/// Finds the announcement from which the next one goes on: our newest one, and with the first of an epoch the one that
/// our identity names. One that goes by a document which was set aside is none to go on from, and its number may have
/// been read by others: then the space needs another key, and so another epoch.
pub(super) fn announced_before(
    repository: &Repository,
    own: &OwnIdentity,
    newest: Option<WrappedAnnouncement>,
) -> Result<Option<WrappedAnnouncement>> {
    let Some(newest) = newest else { return Ok(None) };
    let epoch = own.chain.epoch(own.space).unwrap_or_default();
    let said = &newest.signed.announcement;
    let is_left = !own.chain.covers(said)
        && KnownPeer::read(repository, own.peer())?.chain_with(said.identity).is_some();
    if !is_left && said.epoch >= epoch {
        return Ok(Some(newest));
    }
    if is_left {
        let counting = newest_covered(repository, &own.chain, newest.commit)?;
        if counting.is_none_or(|found| found.signed.announcement.epoch >= epoch) {
            return Err(Error::conflict(
                "the newest announcement of this space goes by a document of our identity that was set aside",
                "`agentic peer rotate --void KEY --add KEY` gives the space another key, with which it goes on from \
                 the last one that counts",
            ));
        }
    }
    let listed = own.chain.in_epoch(own.space, epoch);
    let Some(resume) = listed.and_then(|listed| listed.resume) else { return Ok(None) };
    let found = AcceptedChain::new(repository, Some(newest.commit)).find(resume)?.cloned();
    found.map(Some).ok_or_else(|| {
        Error::conflict(
            format!("our identity goes on from the announcement `{resume}`, which is not here"),
            "`agentic fetch --recover` takes over what a remote has of this space",
        )
    })
}

/// Refuses reasons that nobody reads, and those that say nothing.
pub(super) fn check_reasons(request: &AnnounceRequest) -> Result<()> {
    let reasons = [&request.rewind, &request.cut];
    if reasons.into_iter().flatten().any(|why| why.trim().is_empty()) {
        return Err(Error::usage("a reason says nothing", "write why, after `-m`"));
    }
    match reasons.into_iter().flatten().find(|why| why.len() > WHY_BYTES_MAX) {
        None => Ok(()),
        Some(why) => Err(Error::usage(
            format!("a reason has at most {WHY_BYTES_MAX} bytes, and this one has {}", why.len()),
            "write a shorter one",
        )),
    }
}

/// Lists what leaves as text in the announcement itself: reasons, and what new documents of our identity call
/// things.
pub(super) fn leaving_texts<'a>(
    draft: &'a AnnounceDraft,
    request: &'a AnnounceRequest,
) -> Vec<LeavingText<'a>> {
    let before = draft.before.as_ref().map(|before| before.signed.announcement.identity);
    let left = before.and_then(|identity| draft.own.chain.number_of(identity));
    let documents = draft.own.chain.documents().iter().map(|signed| &signed.document);
    let fresh = documents.filter(|document| left.is_none_or(|left| document.seq > left));
    let names = fresh.flat_map(|document| {
        let nicks = document.spaces.iter().map(|listed| ("the name of a space", &listed.nick));
        nicks.chain([("the name of our identity", &document.name)])
    });
    let cut = draft.cut.iter().map(|why| ("the reason of the cut", why));
    let rewind = request.rewind.iter().filter(|_| !draft.rewinds.is_empty());
    let rewind = rewind.map(|why| ("the reason of the rewind", why));
    cut.chain(rewind).chain(names).map(|(what, text)| LeavingText { what, text }).collect()
}

/// From what an announcement goes on, and by whose rules.
pub(super) struct AnnouncedStep {
    /// Our identity.
    pub chain: IdentityChain,
    /// The announcement before.
    pub before: Option<WrappedAnnouncement>,
}

impl AnnouncedStep {
    /// Refuses to announce what nobody would accept: it is read again, and judged by the rules of those who receive
    /// it.
    pub fn require_acceptable(&self, repository: &Repository, commit: Oid) -> Result<()> {
        let checked = read_wrapped(repository, commit).and_then(|wrapped| {
            let is_cut = wrapped.signed.announcement.cut.is_some();
            let before = self.before.as_ref().filter(|_| !is_cut);
            check_step(repository, &self.chain, before, &wrapped)
        });
        match checked {
            Ok(_) => Ok(()),
            Err(Error::Malformed(wrong)) => Err(Error::conflict(
                format!("nobody would accept this announcement: {}", wrong.0),
                "nothing was announced; `agentic announce --cut -m WHY` begins the chain anew",
            )),
            Err(error) => Err(error),
        }
    }
}
