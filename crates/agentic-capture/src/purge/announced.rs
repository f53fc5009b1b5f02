//! What this space has announced. Somebody signed it, so it is not made again: the chain begins anew.

use agentic_model::Oid;

/// The chain of announcements of this space. Who signs and how is known above.
pub trait AnnouncedChain {
    /// Returns where it is; nothing where this space has announced nothing.
    fn tip(&self) -> Option<Oid>;

    /// Begins it anew, durably, if it reaches what tombstones name. Nothing is pushed. Safe to repeat.
    fn cut(&self, reason: &str) -> ChainCut;
}

/// What became of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainCut {
    /// It reaches nothing that was purged.
    Needless,
    /// It begins anew with this announcement.
    Done(String),
    /// It stays as it is, and goes on reaching it.
    Refused(String),
}
