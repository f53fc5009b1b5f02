//! Where the way down may end: at an announcement that is the first of its chain, and not only says so.

use std::collections::BTreeSet;

use agentic_git::Repository;
use agentic_model::Cid;

use super::{WalkNode, WalkSubject, is_backed};
use crate::folder::TreeNode;
use crate::id::PeerId;
use crate::known::KnownPeer;
use crate::own::{IDENTITY, read_documents};
use crate::wrapping::body_of;

/// The documents of a peer that come along with announcements.
pub struct DocumentsOnTheWay<'r> {
    repository: &'r Repository,
    peer: PeerId,
    /// The folders that were read.
    read: BTreeSet<Option<TreeNode>>,
}

impl<'r> DocumentsOnTheWay<'r> {
    /// Begins with none that was read.
    pub fn new(repository: &'r Repository, peer: PeerId) -> DocumentsOnTheWay<'r> {
        DocumentsOnTheWay { repository, peer, read: BTreeSet::new() }
    }

    /// Takes in what a part of the way has, the oldest first.
    pub fn hear(&mut self, nodes: &[WalkNode], known: &mut KnownPeer) {
        for node in nodes.iter().rev() {
            let WalkNode::Announced(wrapped) = node else { continue };
            if wrapped.signed.announcement.peer != self.peer {
                continue;
            }
            let Ok(body) = body_of(self.repository, wrapped) else { continue };
            if self.read.insert(body.get(IDENTITY).copied())
                && let Ok(documents) = read_documents(self.repository, &body)
            {
                known.hear_documents(self.peer, documents);
            }
        }
    }
}

/// Tells which announcements may end the way, of those that say they are the first.
pub struct ChainBeginning<'r> {
    subject: WalkSubject,
    /// What is known of the peer, with what the way has down to where it was asked last.
    known: KnownPeer,
    documents: DocumentsOnTheWay<'r>,
    n_heard: usize,
    /// The document by which the way was looked through for one that counts, how far, and whether there is one.
    looked: (Option<Cid>, usize, bool),
}

impl<'r> ChainBeginning<'r> {
    /// Begins with what is known of a peer.
    pub fn new(
        repository: &'r Repository,
        subject: WalkSubject,
        known: &KnownPeer,
    ) -> ChainBeginning<'r> {
        ChainBeginning {
            subject,
            known: known.clone(),
            documents: DocumentsOnTheWay::new(repository, subject.peer),
            n_heard: 0,
            looked: (None, 0, false),
        }
    }

    /// Where the way is.
    pub(super) fn repository(&self) -> &'r Repository {
        self.documents.repository
    }

    /// Tells whether the way may end with its last announcement: that is valid, and the way down to it has one whose
    /// key counts now. So neither a stranger nor a thief whose key was taken away hides what lies below.
    pub(super) fn counts(&mut self, nodes: &[WalkNode]) -> bool {
        self.documents.hear(&nodes[self.n_heard..], &mut self.known);
        self.n_heard = nodes.len();
        let (Some(identity), Some(first)) = (&self.known.chain, nodes.last()) else { return false };
        if first.valid(identity, self.subject).is_none() {
            return false;
        }
        let newest = Some(identity.last().cid());
        let (by, n_looked, was_found) = self.looked;
        let (from, was_found) = if by == newest { (n_looked, was_found) } else { (0, false) };
        let mut valid = nodes[from..].iter().filter_map(|node| node.valid(identity, self.subject));
        let is_found = was_found || valid.any(|wrapped| is_backed(identity, wrapped));
        self.looked = (newest, nodes.len(), is_found);
        is_found
    }
}
