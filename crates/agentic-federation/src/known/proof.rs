//! Proofs that a peer said two things, and what people decided about them.

use std::collections::BTreeSet;

use agentic_model::Cid;

use super::{FLOOD, KnownPeer, OF_IDENTITY};
use crate::announcement::SignedAnnouncement;
use crate::identity::IdentityFork;
use crate::statement::Contradiction;

/// How the names of what a person chose begin where a chain was cut.
const OF_CUT: &str = "cut-";
/// How many sides a proof names; it is one whatever else was said.
const SIDES_MAX: usize = 100;

impl KnownPeer {
    /// Notes that an identity has two documents with one number.
    pub(super) fn prove_fork(&mut self, fork: IdentityFork) {
        let name = format!("{OF_IDENTITY}{}", fork.known.document.seq);
        self.note_sides(name, [fork.known.cid(), fork.other.cid()]);
        for document in [fork.known, fork.other] {
            self.documents.insert(document.cid(), document);
        }
    }

    /// Notes that two announcements have one number.
    pub(super) fn prove(&mut self, found: Contradiction, by: [Option<SignedAnnouncement>; 2]) {
        let Contradiction { space, number, known, other } = found;
        self.note_sides(format!("{space}-{}-{}", number.epoch, number.seq), [known, other]);
        for signed in by.into_iter().flatten() {
            self.said.insert(signed.cid(), signed);
        }
    }

    /// Notes the sides of a proof. One that is new to a proof which a person has dealt with opens it again.
    fn note_sides(&mut self, name: String, sides: [Cid; 2]) {
        let mut note = self.proofs.get(&name).cloned().unwrap_or_default();
        let sides = sides.map(|side| side.to_string());
        if sides.iter().all(|side| note.lines().any(|line| line == side)) {
            return;
        }
        let is_reopened = self.resolved.remove(&name).is_some();
        let is_full = note.lines().count() >= SIDES_MAX;
        if is_full && !is_reopened {
            return;
        }
        if is_full {
            note.clear();
        }
        for side in sides {
            if note.lines().all(|line| line != side) {
                note += &format!("{side}\n");
            }
        }
        self.proofs.insert(name, note);
    }

    /// Lists the sides that people chose.
    pub fn chosen(&self) -> BTreeSet<Cid> {
        let sides = self.resolved.values().filter_map(|note| note.lines().next());
        sides.filter_map(|side| Cid::parse(side).ok()).collect()
    }

    /// Notes which side a person chose, of every proof that has that side; or that they take a chain which was
    /// cut there, elsewhere than at what was accepted.
    pub fn resolve(&mut self, chosen: Cid, why: &str) -> usize {
        let is_cut = self.said.get(&chosen).is_some_and(|signed| signed.announcement.cut.is_some());
        let side = chosen.to_string();
        let mut open: Vec<String> = self
            .open_proofs()
            .filter(|(name, sides)| sides.contains(&side.as_str()) || *name == FLOOD)
            .map(|(name, _)| name.to_owned())
            .collect();
        if open.is_empty() && is_cut {
            open.push(format!("{OF_CUT}{side}"));
        }
        for name in &open {
            self.resolved.insert(name.clone(), format!("{side}\n{why}\n"));
        }
        self.turn_to(chosen);
        open.len()
    }

    /// Goes on with the document that a person chose. One that does not follow the others of the chain is of a side that
    /// was set aside before.
    fn turn_to(&mut self, chosen: Cid) {
        let (Some(chain), Some(document)) = (&self.chain, self.documents.get(&chosen)) else {
            return;
        };
        if chain.number_of(chosen).is_none()
            && let Ok(turned) = chain.turned(document.clone())
            && let Some(left) = self.chain.replace(turned)
        {
            self.left.insert(left.last().cid(), left);
        }
    }

    /// Names the documents of the identity that have one number, where nobody has chosen one yet.
    pub fn forked_documents(&self) -> Option<(u64, Vec<&str>)> {
        self.open_proofs().find_map(|(name, sides)| {
            let number = name.strip_prefix(OF_IDENTITY)?.parse().ok()?;
            Some((number, sides))
        })
    }
}
