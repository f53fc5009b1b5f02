//! Adoptions that hold here alone: what speaks for them is of a private agent, and no push takes them
//! along. They stand in the ref of what is in force here, as commits of their own.

use std::collections::BTreeSet;

use agentic_git::{LibraryEdit, PointerEdit};
use agentic_model::behaviour::ADOPTION;
use agentic_model::commit::{Claims, OpenFields};
use agentic_model::{Cid, LibraryName, LibraryPointer, Oid, Value, trailer};
use agentic_store::layout::HELD_BEHAVIOURS_REF;

use super::force::{HeldName, HoldingReason, held_name};
use super::history::{NameChange, history_of};
use super::moving::{MovedName, NameMove};
use super::writing::{LibraryWrite, write};
use super::{Library, NAMES};
use crate::commit::RACES_MAX;
use crate::error::LibraryError;
use crate::{Error, Result, Space};

/// Lets a name mean something here alone; what the library says of it stays as it is.
///
/// # Errors
/// Fails as [`super::move_name`] does.
pub fn move_name_here(space: &Space, moving: &NameMove) -> Result<MovedName> {
    for _ in 0..RACES_MAX {
        moving.check(&space.library(Library::Behaviours)?)?;
        let held = space.repository().notes(HELD_BEHAVIOURS_REF)?;
        let before = held_name(&held, &moving.found.name)?.and_then(|held| held.pointer);
        let before = before.or_else(|| moving.found.pointer.clone());
        let after = moving.to.map(|cid| LibraryPointer {
            cid,
            by: moving.by.clone(),
            at: space.now(),
            on: held.tip(),
        });
        let now = HeldName {
            against: moving.found.pointer.clone(),
            pointer: after.clone(),
            reason: HoldingReason::HereAlone,
        };
        let name = moving.found.name.to_string();
        let pointer = PointerEdit { folder: NAMES, name, text: Some(now.to_text()) };
        let writing = LibraryWrite {
            ref_name: HELD_BEHAVIOURS_REF,
            verb: Library::Behaviours.verb(),
            edit: LibraryEdit { objects: Vec::new(), pointers: vec![pointer] },
            message: moving.message()?,
            author: moving.author.clone(),
            over: None,
        };
        if let Some(written) = write(space, &held, &writing)? {
            return Ok(MovedName { before, after, written });
        }
    }
    Err(Error::Library(LibraryError::Busy { name: HELD_BEHAVIOURS_REF.to_owned() }))
}

impl Space {
    /// Finds the adoption that made a name mean what it does here: one of the library, or one that holds
    /// here alone.
    ///
    /// # Errors
    /// Fails when the history cannot be read.
    pub fn adoption_of(&self, name: &LibraryName, pointer: &LibraryPointer) -> Result<Option<Oid>> {
        let library = self.library(Library::Behaviours)?;
        match library.adoption_of(self, name, pointer)? {
            Some(found) => Ok(Some(found)),
            None => self.adoption_here(name, pointer),
        }
    }

    fn adoption_here(&self, name: &LibraryName, pointer: &LibraryPointer) -> Result<Option<Oid>> {
        let Some(tip) = self.repository().find_ref(HELD_BEHAVIOURS_REF)? else { return Ok(None) };
        for commit in history_of(self, tip)? {
            let first = self.read_commit(commit)?.parents.first().copied();
            if first != pointer.on {
                continue;
            }
            let held = held_name(&self.repository().notes_at(Some(commit))?, name)?;
            if held.and_then(|held| held.pointer).as_ref() == Some(pointer) {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    /// Lists the changes of what a name means here: those of the library, newest first, then the adoptions that
    /// held here alone, newest first.
    ///
    /// # Errors
    /// Fails when the history cannot be read.
    pub fn behaviour_changes(&self, name: &LibraryName) -> Result<Vec<NameChange>> {
        let mut changes = self.library(Library::Behaviours)?.changes(self, name)?;
        changes.extend(self.changes_here(name)?);
        Ok(changes)
    }

    fn changes_here(&self, name: &LibraryName) -> Result<Vec<NameChange>> {
        let Some(tip) = self.repository().find_ref(HELD_BEHAVIOURS_REF)? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for commit in history_of(self, tip)? {
            let (info, is_signed) = self.repository().read_commit_and_signing(commit)?;
            let claims = Claims::read(&info.message);
            let OpenFields::Inline(fields) = claims.fields else { continue };
            let is_adoption = claims.kind.as_ref().is_some_and(|kind| kind.as_str() == ADOPTION);
            let named = fields.get("name").and_then(Value::as_text);
            if !is_adoption || named != Some(name.as_str()) {
                continue;
            }
            let held = held_name(&self.repository().notes_at(Some(commit))?, name)?;
            let pointer = held.and_then(|held| held.pointer);
            let said = trailer::strip(&info.message);
            let why = said.split_once("\n\n").map_or("", |(_, why)| why.trim()).to_owned();
            found.push(NameChange {
                commit,
                at: pointer.as_ref().map_or(info.at, |pointer| pointer.at),
                by: pointer.as_ref().map(|pointer| pointer.by.clone()),
                author: info.author,
                why,
                cid: pointer.map(|pointer| pointer.cid),
                is_signed,
                fields,
                request: claims.request,
            });
        }
        Ok(found)
    }

    /// Says whether an object is kept by private agents alone: neither a library nor any other agent here
    /// has it.
    ///
    /// # Errors
    /// Fails when the list of private agents is damaged.
    pub fn is_private_object(&self, cid: Cid) -> Result<bool> {
        let private = self.repository().private_agents()?;
        if private.is_empty() || self.library(Library::Behaviours)?.object(cid).is_ok() {
            return Ok(false);
        }
        let mut is_there = false;
        for (agent, _) in self.agent_names()? {
            let notes = self.repository().notes(&agent.notes_ref())?;
            if notes.object(cid)?.is_some() {
                if !private.contains(&agent) {
                    return Ok(false);
                }
                is_there = true;
            }
        }
        for entry in self.archived_agents()? {
            let notes = self.repository().notes_at(entry.archived.notes)?;
            if notes.object(cid)?.is_some() {
                if !private.contains(&entry.archived.agent) {
                    return Ok(false);
                }
                is_there = true;
            }
        }
        Ok(is_there)
    }
}

/// Lists which of some objects are kept by private agents alone.
///
/// # Errors
/// Fails as [`Space::is_private_object`] does.
pub fn private_objects(space: &Space, cids: &[Cid]) -> Result<BTreeSet<Cid>> {
    let mut found = BTreeSet::new();
    for cid in cids {
        if space.is_private_object(*cid)? {
            found.insert(*cid);
        }
    }
    Ok(found)
}
