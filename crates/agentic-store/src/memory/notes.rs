//! Notes in memory: each state as two maps, under the id of the commit that describes it.

use std::collections::BTreeMap;

use agentic_model::commit::CommitData;
use agentic_model::{Cid, Kind, Oid, trace};

use super::MemoryRepository;
use crate::error::RefError;
use crate::ground::{Notes, NotesGap, ObjectStore as _, RefMove, Refs as _, Upkeep, unite_lines};
use crate::journal::{
    BranchMove, ComparedNotes, Content, GitKind, GitObject, LoggedEdits, NotesEdit, Transaction,
};
use crate::{Error, Result};

/// One state of a notes ref.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MemoryNotes {
    texts: BTreeMap<Oid, String>,
    objects: BTreeMap<(Kind, Cid), Vec<u8>>,
}

impl Notes for MemoryRepository {
    fn read_note(&self, name: &str, commit: Oid) -> Result<Option<String>> {
        let state = self.notes_at(self.find_ref(name)?)?.unwrap_or_default();
        Ok(state.texts.get(&commit).cloned())
    }

    fn read_noted(&self, name: &str, cid: Cid) -> Result<Option<Vec<u8>>> {
        let state = self.notes_at(self.find_ref(name)?)?.unwrap_or_default();
        let found = state.objects.into_iter().find(|((_, key), _)| *key == cid);
        Ok(found.map(|(_, bytes)| bytes))
    }

    /// Nobody else edits these notes, so nothing has vanished from them.
    fn apply_notes(
        &self,
        edit: &NotesEdit,
        write: &Transaction,
        _upkeep: &Upkeep<'_>,
    ) -> Result<ComparedNotes> {
        let tip = self.find_ref(&edit.name)?;
        let before = self.notes_at(tip)?;
        let after = self.edited(before.clone().unwrap_or_default(), edit)?;
        if before.as_ref() == Some(&after) {
            return Ok(ComparedNotes { tip, removed: Vec::new() });
        }
        let parents = tip.into_iter().collect();
        let new = self.commit_notes(&edit.name, after, parents, write)?;
        Ok(ComparedNotes { tip: Some(new), removed: Vec::new() })
    }

    fn unite_notes(&self, name: &str, theirs: Oid, write: &Transaction) -> Result<bool> {
        let Some(tip) = self.find_ref(name)? else {
            self.move_notes(name, theirs, write)?;
            return Ok(true);
        };
        if self.is_ancestor(theirs, tip)? {
            return Ok(false);
        }
        if self.is_ancestor(tip, theirs)? {
            self.move_notes(name, theirs, write)?;
            return Ok(true);
        }
        let mut state = self.notes_at(Some(tip))?.unwrap_or_default();
        let other = self.notes_at(Some(theirs))?.unwrap_or_default();
        for (commit, text) in other.texts {
            let ours = state.texts.entry(commit).or_default();
            if *ours != text {
                *ours = unite_lines(ours, &text);
            }
        }
        state.objects.extend(other.objects);
        self.commit_notes(name, state, vec![tip, theirs], write)?;
        Ok(true)
    }

    fn restore_notes_ref(&self, name: &str, tips: &[Oid], _known: Option<Oid>) -> Result<()> {
        let tip = self.find_ref(name)?;
        if self.notes_at(tip).is_ok() && (tip.is_some() || tips.is_empty()) {
            return Ok(());
        }
        let whole = tips.iter().rev().find(|tip| self.notes_at(Some(**tip)).is_ok());
        let mut refs = self.refs.borrow_mut();
        match whole {
            Some(whole) => refs.insert(name.to_owned(), *whole),
            None => refs.remove(name),
        };
        Ok(())
    }

    fn has_whole_notes(&self, tip: Oid, _known: Option<Oid>) -> bool {
        self.notes_at(Some(tip)).is_ok()
    }

    /// Who removed a note is not known here: it is put back.
    fn notes_gap(&self, name: &str, tip: Option<Oid>, edits: &LoggedEdits) -> Result<NotesGap> {
        let state = self.notes_at(tip)?.unwrap_or_default();
        let mut gap = NotesGap::none(name);
        for (commit, note) in &edits.notes {
            let is_kept = state.texts.get(commit).is_some_and(|text| {
                trace::holds_note(text, &note.text) || self.is_later(text, note.before)
            });
            if !is_kept {
                gap.edit.notes.push((*commit, note.text.clone()));
            }
        }
        let lacking = edits
            .objects
            .values()
            .filter(|object| !state.objects.contains_key(&(object.kind.clone(), object.cid)));
        gap.edit.objects.extend(lacking.cloned());
        Ok(gap)
    }

    fn vanished_notes(
        &self,
        name: &str,
        tip: Option<Oid>,
        upkeep: &Upkeep<'_>,
    ) -> Result<NotesGap> {
        if upkeep.compared.is_some() && upkeep.compared == tip {
            return Ok(NotesGap::none(name));
        }
        match (upkeep.log)()? {
            Some(edits) => self.notes_gap(name, tip, &edits),
            None => Ok(NotesGap::none(name)),
        }
    }
}

impl MemoryRepository {
    /// Tells whether a note is one that somebody elsewhere bound later: the state before ours does not
    /// know its trace.
    fn is_later(&self, text: &str, before: Option<Oid>) -> bool {
        let Some(theirs) = trace::cid_in_note(text) else { return false };
        let before = self.notes_at(before).map(Option::unwrap_or_default);
        before.is_ok_and(|before| !before.objects.keys().any(|(_, cid)| *cid == theirs))
    }

    /// Returns a state of notes; nothing where there is no ref.
    fn notes_at(&self, tip: Option<Oid>) -> Result<Option<MemoryNotes>> {
        let Some(tip) = tip else { return Ok(None) };
        let state = self.notes.borrow().get(&tip).filter(|_| self.has_object(tip)).cloned();
        let damaged = || Error::corrupt(format!("the notes commit {tip}"), "it is not there");
        state.map(Some).ok_or_else(damaged)
    }

    /// Sets notes and adds objects. A text that somebody changed is kept, and ours replaced in it.
    fn edited(&self, mut state: MemoryNotes, edit: &NotesEdit) -> Result<MemoryNotes> {
        for (commit, ours) in &edit.notes {
            let text = match state.texts.get(commit) {
                Some(theirs) => trace::replace_in_note(theirs, ours),
                None => ours.clone(),
            };
            state.texts.insert(*commit, text);
        }
        for object in &edit.objects {
            let bytes = match &object.content {
                Content::Inline(bytes) => bytes.clone(),
                Content::Stored(oid) => self.verify_object(*oid)?.bytes,
            };
            state.objects.insert((object.kind.clone(), object.cid), bytes);
        }
        Ok(state)
    }

    /// Makes a notes commit of a state upon its parents, and moves the ref there.
    fn commit_notes(
        &self,
        name: &str,
        state: MemoryNotes,
        parents: Vec<Oid>,
        write: &Transaction,
    ) -> Result<Oid> {
        // What stands in for the tree: like one it has another name whenever the state differs.
        let content = GitObject { kind: GitKind::Blob, bytes: format!("{state:?}").into_bytes() };
        let commit = CommitData {
            tree: self.name_object(&content),
            parents,
            author: write.author.clone(),
            committer: write.committer.clone(),
            message: format!("agentic {}\n", write.verb),
        };
        let commit = GitObject { kind: GitKind::Commit, bytes: commit.to_bytes() };
        let new = self.name_object(&commit);
        self.notes.borrow_mut().insert(new, state);
        let _written = self.write_objects(&[content, commit])?;
        self.move_notes(name, new, write)?;
        Ok(new)
    }

    /// Moves a notes ref from where it is: no other thread can move it meanwhile.
    fn move_notes(&self, name: &str, new: Oid, write: &Transaction) -> Result<()> {
        let step = BranchMove { name: name.to_owned(), expect: self.find_ref(name)?, new };
        match self.move_ref(&step, &write.committer, &write.verb)? {
            RefMove::Moved => Ok(()),
            RefMove::Lost { .. } => Err(Error::Ref(RefError::Locked { name: name.to_owned() })),
        }
    }
}
