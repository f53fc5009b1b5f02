//! Finding out what vanished from a notes ref since our own last move of it.
//!
//! Git's writers of notes commit a tree that they read earlier upon whatever the tip is by then, so an
//! edit of ours can vanish with our own commit as its ancestor. As long as the ref is where we left
//! it there is nothing to look for; else the two trees are compared.

use std::collections::BTreeSet;

use agentic_model::{Cid, Kind, Oid, trace};

use super::NotesState;
use super::difference::{LeafChange, LeafName};
use crate::Repository;
use agentic_store::Result;
use agentic_store::ground::{NotesGap, Upkeep};
use agentic_store::journal::{Content, KeptObject};

/// What can be told from two trees.
struct TreeGap {
    gap: NotesGap,
    /// Whether something vanished that the older tree cannot give back.
    is_open: bool,
}

impl Repository {
    /// Lists what vanished from a notes ref.
    ///
    /// # Errors
    /// Fails when neither the older state nor the log can be read.
    pub fn vanished(
        &self,
        name: &str,
        now: &NotesState<'_>,
        upkeep: &Upkeep<'_>,
    ) -> Result<NotesGap> {
        let by_trees = match upkeep.compared {
            Some(compared) if now.tip == Some(compared) => return Ok(NotesGap::none(name)),
            Some(compared) => self.tree_gap(name, compared, now).ok(),
            None => None,
        };
        if let Some(TreeGap { gap, is_open: false }) = by_trees {
            return Ok(gap);
        }
        let Some(edits) = (upkeep.log)()? else {
            return Ok(by_trees.map_or(NotesGap::none(name), |found| found.gap));
        };
        let by_log = self.notes_gap(name, now.tip, &edits)?;
        Ok(match by_trees {
            Some(TreeGap { mut gap, .. }) => {
                // What the log says is the newer.
                gap.edit.notes.extend(by_log.edit.notes);
                gap.edit.objects.extend(by_log.edit.objects);
                gap.removed.extend(by_log.removed);
                gap
            }
            None => by_log,
        })
    }

    fn tree_gap(&self, name: &str, compared: Oid, now: &NotesState<'_>) -> Result<TreeGap> {
        let before = self.notes_at(Some(compared))?;
        let mut gap = TreeGap { gap: NotesGap::none(name), is_open: false };
        let mut absent = BTreeSet::new();
        let changes = self.leaf_changes(before.tree, now.tree)?;
        for LeafChange { name, old, new } in changes {
            let Some(old) = old else { continue };
            match name {
                LeafName::Note(commit) => {
                    self.note_gap(&mut gap, &before, commit, old, new)?;
                    absent.extend(new.is_none().then_some(commit));
                }
                LeafName::Object(kind, cid) => self.object_gap(&mut gap, kind, cid, old, new),
                LeafName::Other(_) => {}
            }
        }
        let removed = self.removed_by_themselves(now.tip, absent, Some(compared));
        gap.gap.edit.notes.retain(|(commit, _)| !removed.contains(commit));
        gap.gap.removed = removed.into_iter().collect();
        Ok(gap)
    }

    /// Looks what became of a note that has changed. Only the part of it that is ours is ours to keep.
    fn note_gap(
        &self,
        gap: &mut TreeGap,
        before: &NotesState<'_>,
        commit: Oid,
        old: Oid,
        new: Option<Oid>,
    ) -> Result<()> {
        let Ok(text) = self.read_blob(old) else {
            gap.is_open = true;
            return Ok(());
        };
        let Some(ours) = trace::ours_in_note(&String::from_utf8_lossy(&text)) else {
            return Ok(());
        };
        if let Some(text) = new.and_then(|new| self.read_blob(new).ok()) {
            let text = String::from_utf8_lossy(&text);
            let is_later = match trace::cid_in_note(&text) {
                // Somebody elsewhere bound another trace: the older state does not know it.
                Some(theirs) => before.object(theirs)?.is_none(),
                None => false,
            };
            if is_later || trace::holds_note(&text, &ours) {
                return Ok(());
            }
        }
        gap.gap.edit.notes.push((commit, ours));
        Ok(())
    }

    fn object_gap(&self, gap: &mut TreeGap, kind: Kind, cid: Cid, old: Oid, new: Option<Oid>) {
        let is_it = |bytes: &Vec<u8>| Cid::of(bytes) == cid;
        if new.is_some_and(|new| self.read_blob(new).is_ok_and(|bytes| is_it(&bytes))) {
            return;
        }
        match self.read_blob(old) {
            Ok(bytes) if is_it(&bytes) => {
                gap.gap.edit.objects.push(KeptObject {
                    kind,
                    cid,
                    content: Content::Inline(bytes),
                });
            }
            Ok(_) | Err(_) => gap.is_open = true,
        }
    }
}
