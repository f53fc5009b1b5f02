//! What the library of behaviours has besides names: versions, and what is told about them.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{LibraryEdit, PointerEdit};
use agentic_model::commit::Claims;
use agentic_model::{AboutBehaviour, Cid, LibraryName, Object, Person};
use agentic_store::journal::KeptObject;

use super::writing::{LibraryWrite, write};
use super::{Library, LibraryState};
use crate::commit::RACES_MAX;
use crate::error::LibraryError;
use crate::written::WriteNotices;
use crate::{Error, Result, Space};

/// The folder of what is told about behaviours.
pub(super) const ABOUT: &str = "about";

/// A behaviour to be kept.
#[derive(Debug, Clone)]
pub struct BehaviourAddition {
    /// The name that it is added under.
    pub name: LibraryName,
    /// Its object.
    pub object: Object,
    /// The objects that it consists of besides.
    pub parts: Vec<Object>,
    /// What is told about it.
    pub about: AboutBehaviour,
    /// Who adds it, to git; whom git knows here without.
    pub author: Option<Person>,
}

/// A behaviour that is kept.
#[derive(Debug)]
pub struct KeptBehaviour {
    /// Its id.
    pub cid: Cid,
    /// Whether anything was written.
    pub is_changed: bool,
    /// Whether everything is visible.
    pub written: WriteNotices,
}

/// What is told about all behaviours of a library.
#[derive(Debug, Default)]
pub struct AboutAll {
    /// What can be read, by the behaviour.
    pub told: BTreeMap<Cid, AboutBehaviour>,
    /// What is wrong with the rest.
    pub damaged: Vec<String>,
}

/// Keeps a behaviour. No name means it by that.
///
/// # Errors
/// Fails when a parent is not in the library or was made from this behaviour itself, and when there is
/// more to tell about it than is kept.
pub fn keep_behaviour(space: &Space, addition: &BehaviourAddition) -> Result<KeptBehaviour> {
    let cid = addition.object.cid();
    let library = Library::Behaviours;
    for _ in 0..RACES_MAX {
        let state = space.library(library)?;
        let all = state.about_all()?.told;
        addition.check_parents(&state, &all)?;
        let before = all.get(&cid);
        let about = before.map_or(addition.about.clone(), |it| it.united(&addition.about));
        let objects: Vec<&Object> = addition.parts.iter().chain([&addition.object]).collect();
        let known: BTreeSet<Cid> = state.objects()?.into_iter().collect();
        if before == Some(&about) && objects.iter().all(|object| known.contains(&object.cid())) {
            let written = WriteNotices::default();
            return Ok(KeptBehaviour { cid, is_changed: false, written });
        }
        let text = about.to_text().map_err(|error| {
            Error::Library(LibraryError::BadAbout { cid, why: error.to_string() })
        })?;
        let pointer = PointerEdit { folder: ABOUT, name: cid.to_string(), text: Some(text) };
        let objects = objects.into_iter().map(KeptObject::from).collect();
        let writing = LibraryWrite {
            ref_name: library.ref_name(),
            verb: library.verb(),
            edit: LibraryEdit { objects, pointers: vec![pointer] },
            message: addition.message()?,
            author: addition.author.clone(),
            over: None,
        };
        if let Some(written) = write(space, &state.notes, &writing)? {
            return Ok(KeptBehaviour { cid, is_changed: true, written });
        }
    }
    Err(Error::Library(LibraryError::Busy { name: library.ref_name().to_owned() }))
}

impl BehaviourAddition {
    fn check_parents(
        &self,
        state: &LibraryState<'_>,
        all: &BTreeMap<Cid, AboutBehaviour>,
    ) -> Result<()> {
        let cid = self.object.cid();
        let mut todo: Vec<Cid> = self.about.parents.iter().copied().collect();
        for parent in &todo {
            state.object(*parent).map_err(|_| {
                Error::Library(LibraryError::BadAbout {
                    cid,
                    why: format!("its parent {parent} is not in the library"),
                })
            })?;
        }
        let mut seen = BTreeSet::new();
        while let Some(ancestor) = todo.pop() {
            if ancestor == cid {
                return Err(LibraryError::Cycle { cid }.into());
            }
            if seen.insert(ancestor) {
                todo.extend(all.get(&ancestor).into_iter().flat_map(|it| &it.parents));
            }
        }
        Ok(())
    }

    fn message(&self) -> Result<String> {
        let what = format!("{} add {}", Library::Behaviours.verb(), self.name);
        let text = match self.about.note.trim() {
            "" => what,
            note => format!("{what}\n\n{note}"),
        };
        Ok(Claims::default().write(&text)?)
    }
}

impl LibraryState<'_> {
    /// Reads what is told about a behaviour.
    ///
    /// # Errors
    /// Fails when it is damaged.
    pub fn about(&self, cid: Cid) -> Result<Option<AboutBehaviour>> {
        let Some(found) = self.notes.pointer(ABOUT, &cid.to_string())? else { return Ok(None) };
        let bytes = found.bytes.unwrap_or_default();
        let about = AboutBehaviour::parse(&bytes);
        about.map(Some).map_err(|error| self.damaged(format!("what it tells of {cid}: {error}")))
    }

    /// Reads what is told about all of them.
    ///
    /// # Errors
    /// Fails when the tree is damaged.
    pub fn about_all(&self) -> Result<AboutAll> {
        let mut all = AboutAll::default();
        for found in self.notes.pointers(ABOUT)? {
            let about = AboutBehaviour::parse(&found.bytes.unwrap_or_default());
            match (Cid::parse(&found.name), about) {
                (Ok(cid), Ok(about)) => _ = all.told.insert(cid, about),
                (Ok(cid), Err(error)) => {
                    all.damaged.push(format!("what it tells of {cid}: {error}"));
                }
                (Err(_), _) => {
                    let name = found.name.escape_debug();
                    all.damaged.push(format!("it tells of `{name}`, which is no id"));
                }
            }
        }
        Ok(all)
    }
}
