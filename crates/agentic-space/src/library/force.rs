//! Which behaviours are in force here. No fetch changes that: a name that it moved means what it meant,
//! until somebody takes over what it means elsewhere.
//!
//! What is in force so stands in a ref of its own, which no push takes along, with the pointer that it
//! is held against. It is written before the name is moved, and counts only while the name is there:
//! a crash in between, and a later adoption, end it by themselves.

use std::collections::BTreeMap;

use agentic_git::{LibraryEdit, NotesState, PointerEdit};
use agentic_model::{LibraryName, LibraryPointer, Value, json};
use agentic_store::layout::HELD_BEHAVIOURS_REF;

use super::writing::{LibraryWrite, write};
use super::{Library, LibraryEntry, LibraryState, NAMES};
use crate::commit::RACES_MAX;
use crate::error::LibraryError;
use crate::{Error, Result, Space};

/// The switch in the user's own configuration of git: what a fetch moved takes effect at once.
const FOLLOW_KEY: &str = "agentic.behaviours";
/// What it says then.
const FOLLOW: &str = "follow";

/// A name of the library of behaviours, and what is in force by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameInForce {
    /// What counts here; nothing if nothing was adopted here.
    pub pointer: Option<LibraryPointer>,
    /// What another clone adopted meanwhile, if nobody here has taken that over.
    pub offered: Option<LibraryPointer>,
    /// Whether what counts was adopted here alone, and no push says so.
    pub is_here_alone: bool,
    /// The name as the library has it.
    pub shared: LibraryEntry,
}

/// All names, and what is in force by them.
#[derive(Debug, Default)]
pub struct NamesInForce {
    /// Those that can be read, by name.
    pub names: Vec<NameInForce>,
    /// What is wrong with the others.
    pub damaged: Vec<String>,
}

/// A name that a fetch moves.
pub(super) struct FetchedMove {
    pub name: LibraryName,
    pub before: Option<LibraryPointer>,
    pub after: Option<LibraryPointer>,
}

/// What is in force by a name, where the library says something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeldName {
    /// What the library says.
    pub against: Option<LibraryPointer>,
    /// What is in force.
    pub pointer: Option<LibraryPointer>,
    /// Why.
    pub reason: HoldingReason,
}

/// Why something else is in force than the library says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HoldingReason {
    /// A fetch moved the name, and nobody took that over.
    Fetched,
    /// It was adopted here alone.
    HereAlone,
}

impl Space {
    /// Finds what is in force by a name of the library of behaviours.
    ///
    /// # Errors
    /// Fails when the library is damaged.
    pub fn behaviour_in_force(&self, name: &LibraryName) -> Result<NameInForce> {
        let shared = self.library(Library::Behaviours)?.entry(name)?;
        let held = held_name(&self.repository().notes(HELD_BEHAVIOURS_REF)?, name)?;
        Ok(in_force(shared, held))
    }

    /// Does the same for all names.
    ///
    /// # Errors
    /// Fails when the tree of the library is damaged.
    pub fn behaviours_in_force(&self) -> Result<NamesInForce> {
        let all = self.library(Library::Behaviours)?.entries()?;
        let held = self.repository().notes(HELD_BEHAVIOURS_REF)?;
        let mut found = NamesInForce { names: Vec::new(), damaged: all.damaged };
        let mut entries = all.entries;
        // A name that was adopted here alone the library may not have.
        for pointer in held.pointers(NAMES)? {
            let Ok(name) = LibraryName::parse(&pointer.name) else { continue };
            if !entries.iter().any(|entry| entry.name == name) {
                entries.push(LibraryEntry { name, pointer: None, contested: None });
            }
        }
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        for shared in entries {
            match held_name(&held, &shared.name) {
                Ok(held) => {
                    let is_known = shared.pointer.is_some() || shared.contested.is_some();
                    let name = in_force(shared, held);
                    if is_known || name.pointer.is_some() {
                        found.names.push(name);
                    }
                }
                Err(error) => found.damaged.push(error.to_string()),
            }
        }
        Ok(found)
    }

    /// Says whether what a fetch moves takes effect at once.
    fn follows_fetched(&self) -> Result<bool> {
        let arguments = ["config", "--global", "--get", FOLLOW_KEY];
        Ok(self.repository().git(&arguments)?.stdout.trim() == FOLLOW)
    }
}

fn in_force(shared: LibraryEntry, held: Option<HeldName>) -> NameInForce {
    match held.filter(|held| held.against == shared.pointer) {
        Some(held) => {
            let is_here_alone = held.reason == HoldingReason::HereAlone;
            let offered = if is_here_alone { None } else { shared.pointer.clone() };
            NameInForce { pointer: held.pointer, offered, is_here_alone, shared }
        }
        None => NameInForce {
            pointer: shared.pointer.clone(),
            offered: None,
            is_here_alone: false,
            shared,
        },
    }
}

/// Keeps what is in force by names that a fetch is about to move.
pub(super) fn hold_back(
    space: &Space,
    library: Library,
    state: &LibraryState<'_>,
    moves: &[FetchedMove],
) -> Result<()> {
    let is_held = match library.fetch_effect() {
        super::FetchEffect::AtOnce => false,
        super::FetchEffect::WhenTakenOver => !moves.is_empty() && !space.follows_fetched()?,
    };
    if !is_held {
        return Ok(());
    }
    change_held(space, |held| {
        let mut edits = Vec::new();
        for moved in moves {
            let shared = state.entry(&moved.name)?;
            let now = in_force(shared, held_name(held, &moved.name)?);
            // Another adoption of what is in force changes nothing.
            let cid = |pointer: &Option<LibraryPointer>| pointer.as_ref().map(|it| it.cid);
            let text = (cid(&now.pointer) != cid(&moved.after)).then(|| {
                let (against, pointer) = (moved.after.clone(), now.pointer);
                let next = HeldName { against, pointer, reason: HoldingReason::Fetched };
                next.to_text()
            });
            edits.push((moved.name.clone(), text));
        }
        Ok(edits)
    })
}

/// Lets what a name was moved to by a fetch be in force.
///
/// # Errors
/// Fails when somebody changes that all the time.
pub fn take_over(space: &Space, name: &LibraryName) -> Result<()> {
    change_held(space, |held| {
        Ok(held_name(held, name)?.map(|_| (name.clone(), None)).into_iter().collect())
    })
}

/// Names, with what is to be said of each.
type HeldEdits = Vec<(LibraryName, Option<String>)>;

fn change_held(space: &Space, edits: impl Fn(&NotesState<'_>) -> Result<HeldEdits>) -> Result<()> {
    for _ in 0..RACES_MAX {
        let held = space.repository().notes(HELD_BEHAVIOURS_REF)?;
        let edits = edits(&held)?;
        if edits.is_empty() {
            return Ok(());
        }
        let edit = |(name, text): (LibraryName, Option<String>)| PointerEdit {
            folder: NAMES,
            name: name.to_string(),
            text,
        };
        let writing = LibraryWrite {
            ref_name: HELD_BEHAVIOURS_REF,
            verb: Library::Behaviours.verb(),
            edit: LibraryEdit {
                objects: Vec::new(),
                pointers: edits.into_iter().map(edit).collect(),
            },
            message: "behaviours in force\n".to_owned(),
            author: None,
            over: None,
        };
        if write(space, &held, &writing)?.is_some() {
            return Ok(());
        }
    }
    Err(Error::Library(LibraryError::Busy { name: HELD_BEHAVIOURS_REF.to_owned() }))
}

/// Lists the names that differ between two states.
pub(super) fn moved_between(
    before: &BTreeMap<LibraryName, LibraryEntry>,
    after: &BTreeMap<LibraryName, LibraryEntry>,
) -> Vec<FetchedMove> {
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let pointer = |side: &BTreeMap<LibraryName, LibraryEntry>, name: &LibraryName| {
        side.get(name).and_then(|entry| entry.pointer.clone())
    };
    let moved = names.into_iter().map(|name| FetchedMove {
        name: name.clone(),
        before: pointer(before, name),
        after: pointer(after, name),
    });
    moved.filter(|moved| moved.before != moved.after).collect()
}

pub(super) fn held_name(held: &NotesState<'_>, name: &LibraryName) -> Result<Option<HeldName>> {
    let Some(found) = held.pointer(NAMES, name.as_str())? else { return Ok(None) };
    // What cannot be read holds nothing back that anybody could name.
    Ok(found.bytes.as_deref().and_then(HeldName::parse))
}

impl HeldName {
    pub fn to_text(&self) -> String {
        let text = |pointer: &Option<LibraryPointer>| {
            pointer.as_ref().map_or(Value::Null, |it| Value::text(it.to_text()))
        };
        let (against, pointer) = (text(&self.against), text(&self.pointer));
        let mut fields = vec![("against", against), ("pointer", pointer)];
        match self.reason {
            HoldingReason::Fetched => {}
            HoldingReason::HereAlone => fields.push(("here_alone", Value::Bool(true))),
        }
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        format!("{}\n", json::to_text(&Value::Map(fields)))
    }

    fn parse(bytes: &[u8]) -> Option<HeldName> {
        let value = json::from_text(std::str::from_utf8(bytes).ok()?).ok()?;
        let pointer = |field: &str| {
            let found = value.get(field)?;
            if *found == Value::Null {
                return Some(None);
            }
            LibraryPointer::parse(found.as_text()?.as_bytes()).ok().map(Some)
        };
        let reason = match value.get("here_alone").and_then(Value::as_bool) {
            Some(true) => HoldingReason::HereAlone,
            Some(false) | None => HoldingReason::Fetched,
        };
        Some(HeldName { against: pointer("against")?, pointer: pointer("pointer")?, reason })
    }
}
