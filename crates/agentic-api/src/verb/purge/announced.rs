//! The chain of announcements of this space, as a purge sees it.

use agentic_capture::purge::{AnnouncedChain, ChainCut};
use agentic_federation::announce::{AnnounceRequest, announce, own_announcement};
use agentic_federation::leaving::LeavingRules;
use agentic_federation::own::{OwnIdentity, read_own};
use agentic_federation::receive::reaches_purged;
use agentic_model::Oid;
use agentic_redact::SecretRedactor;

use crate::redaction::redactor;
use crate::{Caller, Refusal};

/// The chain, and what may leave with a new announcement.
pub(super) struct PurgedChain<'c> {
    caller: &'c Caller<'c>,
    /// Who we are; nothing before `peer init`.
    own: agentic_federation::Result<Option<OwnIdentity>>,
    redactor: SecretRedactor,
}

impl<'c> PurgedChain<'c> {
    /// Reads who we are. Where that cannot be said, such as in a copy of a space, nothing is announced, and it is said.
    pub fn of(caller: &'c Caller<'c>) -> Result<PurgedChain<'c>, Refusal> {
        Ok(PurgedChain { caller, own: read_own(caller.space), redactor: redactor(caller)? })
    }

    fn begin_anew(&self, reason: &str) -> agentic_federation::Result<ChainCut> {
        let space = self.caller.space;
        let Some(tip) = self.tip() else { return Ok(ChainCut::Needless) };
        if reaches_purged(space, tip)?.is_none() {
            return Ok(ChainCut::Needless);
        }
        let request =
            AnnounceRequest { cut: Some(reason.to_owned()), ..AnnounceRequest::default() };
        let rules = LeavingRules { redactor: &self.redactor, allow: &[], remote: None };
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
        match &self.own {
            Err(why) => ChainCut::Refused(why.to_string()),
            Ok(_) => {
                let done = self.begin_anew(reason);
                done.unwrap_or_else(|error| ChainCut::Refused(error.to_string()))
            }
        }
    }
}
