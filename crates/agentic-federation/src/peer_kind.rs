//! The kinds of a peer, as its snapshot has them: theirs, and no others here.

use std::cell::OnceCell;

use agentic_git::Repository;
use agentic_model::kind::AGENT_COMMIT;
use agentic_model::{Cid, Kind, KindEntry, KindTree, Object};

use crate::Result;
use crate::folder::TreeFolder;
use crate::steps::read_tip;

/// The file of a snapshot that names the tip of the registry.
const KINDS: &str = "kinds";
/// How many kinds of a peer are looked at.
const KINDS_MAX: usize = 10_000;

/// A kind that a peer registered.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerKind {
    /// Its object.
    pub cid: Cid,
    /// What it says.
    pub entry: KindEntry,
}

/// Lists the kinds that a snapshot has. What is none is left out.
///
/// # Errors
/// Fails when the registry of the snapshot cannot be read.
pub fn kinds_of(repository: &Repository, body: &TreeFolder) -> Result<Vec<PeerKind>> {
    let Some(tip) = read_tip(repository, body, KINDS)? else { return Ok(Vec::new()) };
    let of_type = Kind::parse("type").expect("a valid name");
    let mut objects = repository.notes_at(Some(tip))?.read_objects(&of_type)?;
    objects.sort();
    let read = |(cid, bytes): (Cid, Vec<u8>)| {
        let object = Object::decode(&bytes).ok().filter(|_| Cid::of(&bytes) == cid)?;
        Some(PeerKind { cid, entry: KindEntry::from_object(&object).ok()? })
    };
    Ok(objects.into_iter().take(KINDS_MAX).filter_map(read).collect())
}

/// What kinds of commits mean here that a peer gave them.
pub struct KindTranslation<'a> {
    repository: &'a Repository,
    ours: &'a KindTree,
    body: &'a TreeFolder,
    theirs: OnceCell<KindTree>,
}

impl KindTranslation<'_> {
    /// Begins with a snapshot, whose registry is read only if a kind is unknown here.
    pub fn new<'a>(
        repository: &'a Repository,
        ours: &'a KindTree,
        body: &'a TreeFolder,
    ) -> KindTranslation<'a> {
        KindTranslation { repository, ours, body, theirs: OnceCell::new() }
    }

    /// Returns the kind that a name means here. One that is ours means what our registry says; one that
    /// we lack means its nearest ancestor, by the peer's own definitions, that we have.
    pub fn here(&self, kind: Kind) -> Kind {
        if self.ours.get(&kind).is_some() {
            return kind;
        }
        let theirs = self.theirs.get_or_init(|| {
            let mut tree = KindTree::built_in();
            // A registry that cannot be read defines nothing.
            for found in kinds_of(self.repository, self.body).unwrap_or_default() {
                tree.adopt(found.entry);
            }
            tree
        });
        let commit = Kind::parse(AGENT_COMMIT).expect("a valid name");
        let mut known = theirs.ancestors(&kind).filter(|above| self.ours.get(above).is_some());
        let nearest = known.next().filter(|above| self.ours.is_a(above, &commit));
        nearest.cloned().unwrap_or(commit)
    }
}
