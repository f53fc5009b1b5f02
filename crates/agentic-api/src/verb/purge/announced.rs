//! The chain of announcements of this space, as a purge sees it.

use agentic_capture::purge::{AnnouncedChain, ChainCut};
use agentic_federation::announce::{AnnounceRequest, announce, own_announcement};
use agentic_federation::leaving::LeavingRules;
use agentic_federation::own::{OwnIdentity, read_own};
use agentic_federation::receive::reaches_purged;
use agentic_model::Oid;

use crate::redaction::redactor;
use crate::{Caller, Refusal};

/// The chain, and who would announce.
pub(super) struct PurgedChain<'c> {
    caller: &'c Caller<'c>,
    /// Who we are; nothing before `peer init`. Where that cannot be said, such as in a copy of a space, nothing is
    /// announced, and it is said.
    own: agentic_federation::Result<Option<OwnIdentity>>,
}

impl<'c> PurgedChain<'c> {
    /// Reads who we are.
    pub fn of(caller: &'c Caller<'c>) -> PurgedChain<'c> {
        PurgedChain { caller, own: read_own(caller.space) }
    }

    fn begin_anew(&self, tip: Oid, reason: &str) -> Result<ChainCut, Refusal> {
        let space = self.caller.space;
        if reaches_purged(space, tip)?.is_none() {
            return Ok(ChainCut::Needless);
        }
        let redactor = redactor(self.caller)?;
        let request =
            AnnounceRequest { cut: Some(reason.to_owned()), ..AnnounceRequest::default() };
        let rules = LeavingRules { redactor: &redactor, allow: &[], remote: None };
        let made = announce(space, &request, rules)?;
        Ok(ChainCut::Done(made.wrapped.signed.cid().to_string()))
    }
}

impl AnnouncedChain for PurgedChain<'_> {
    fn tip(&self) -> Option<Oid> {
        let own = self.own.as_ref().ok()?.as_ref()?;
        let newest = own_announcement(self.caller.space.repository(), own).ok()??;
        Some(newest.commit)
    }

    fn cut(&self, reason: &str) -> ChainCut {
        match (&self.own, self.tip()) {
            (Err(why), _) => ChainCut::Refused(why.to_string()),
            (Ok(_), None) => ChainCut::Needless,
            (Ok(_), Some(tip)) => self
                .begin_anew(tip, reason)
                .unwrap_or_else(|refusal| ChainCut::Refused(refusal.message)),
        }
    }
}
