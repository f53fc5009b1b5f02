//! Uniting a library with that of the remote which shares it.
//!
//! A name that moved only there moves here, too. One that moved on both sides keeps what it means
//! here; what it means there stands beside it until somebody resolves it, and until then the library
//! is not pushed. Where a fetch changes nothing by itself, what was in force is kept before a name moves.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{LibraryEdit, LibraryTree, PointerEdit, RefMove};
use agentic_model::commit::CommitData;
use agentic_model::{LibraryName, LibraryPointer, Oid};
use agentic_store::Writer;
use agentic_store::journal::{BranchMove, KeptObject, Transaction};

use super::behaviour::ABOUT;
use super::force::{FetchedMove, hold_back, moved_between};
use super::{CONTESTED, Library, LibraryEntry, LibraryState, NAMES};
use crate::commit::RACES_MAX;
use crate::error::LibraryError;
use crate::signing::SigningChoice;
use crate::write::LockedStream;
use crate::{Error, Result, Space};

/// What uniting came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitedLibrary {
    /// Names that moved on both sides.
    pub contested: Vec<LibraryName>,
    /// What of the remote's was left out, and why.
    pub left_out: Vec<String>,
}

/// Takes in what a remote had.
pub(crate) fn unite(space: &Space, library: Library, remote: &str) -> Result<UnitedLibrary> {
    for _ in 0..RACES_MAX {
        let (ours, theirs) = (space.library(library)?, space.library_of(library, remote)?);
        let Some(their_tip) = theirs.tip() else { return Ok(UnitedLibrary::default()) };
        let is_done = match ours.tip() {
            Some(tip) if space.repository().is_ancestor(their_tip, tip)? => true,
            Some(tip) if !space.repository().is_ancestor(tip, their_tip)? => {
                let union = union(space, &ours, &theirs)?;
                hold_back(space, library, &ours, &union.moved)?;
                if merge(space, library, [tip, their_tip], union.tree)? {
                    return Ok(union.united);
                }
                false
            }
            before => {
                let (here, there) = (by_name(&ours)?.0, by_name(&theirs)?.0);
                hold_back(space, library, &ours, &moved_between(&here, &there))?;
                go_forward(space, library, before, their_tip)?
            }
        };
        if is_done {
            let contested = space.library(library)?.entries()?.entries.into_iter();
            let contested = contested.filter(|entry| entry.contested.is_some());
            let contested = contested.map(|entry| entry.name).collect();
            return Ok(UnitedLibrary { contested, left_out: Vec::new() });
        }
    }
    Err(Error::Library(LibraryError::Busy { name: library.ref_name().to_owned() }))
}

/// Moves the library on to where the remote has it.
fn go_forward(space: &Space, library: Library, expect: Option<Oid>, new: Oid) -> Result<bool> {
    let committer = space.own_signatures()?.committer;
    let name = library.ref_name();
    let mut writer = Writer::open(space.repository(), &library.stream(), space.now())?;
    let step = BranchMove { name: name.to_owned(), expect, new };
    let forward = || space.repository().move_ref(&step, &committer, "agentic: fetch");
    Ok(writer.with_refs(&[name], forward)? == RefMove::Moved)
}

/// What two states give together.
struct LibraryUnion {
    tree: LibraryTree,
    moved: Vec<FetchedMove>,
    united: UnitedLibrary,
}

fn union(
    space: &Space,
    ours: &LibraryState<'_>,
    theirs: &LibraryState<'_>,
) -> Result<LibraryUnion> {
    let (our_tip, their_tip) = (ours.tip(), theirs.tip());
    let base = match (our_tip, their_tip) {
        (Some(ours), Some(theirs)) => space.repository().fork_point(ours, theirs)?,
        _ => None,
    };
    let base = by_name(&space.library_at(ours.library, base)?)?.0;
    let (here, _) = by_name(ours)?;
    let (there, mut left_out) = by_name(theirs)?;
    let mut edit = LibraryEdit::default();
    // What is damaged there comes not here: whoever has it sound gives it to us later.
    let mut sound = BTreeSet::new();
    let known: BTreeSet<_> = ours.objects()?.into_iter().collect();
    for cid in theirs.objects()? {
        if known.contains(&cid) {
            sound.insert(cid);
            continue;
        }
        match theirs.object(cid) {
            Ok(object) => {
                sound.insert(cid);
                edit.objects.push(KeptObject::from(&object));
            }
            Err(why) => left_out.push(why.to_string()),
        }
    }
    left_out.extend(unite_about(ours, theirs, &mut edit)?);
    let (mut contested, mut moved) = (BTreeSet::new(), Vec::new());
    let names: BTreeSet<&LibraryName> = here.keys().chain(there.keys()).collect();
    for name in names {
        let side = |side: &BTreeMap<LibraryName, LibraryEntry>| {
            side.get(name).and_then(|entry| entry.pointer.clone())
        };
        let (base, ours, theirs) = (side(&base), side(&here), side(&there));
        let beside = here.get(name).and_then(|entry| entry.contested.clone());
        let is_sound = theirs.as_ref().is_none_or(|pointer| sound.contains(&pointer.cid));
        let joined = JoinedName { base, ours, theirs: theirs.filter(|_| is_sound), beside };
        let (pointer, beside) = if is_sound { joined.join() } else { joined.kept() };
        if beside.is_some() {
            contested.insert(name.clone());
        }
        let mut set = |folder, found: &Option<LibraryPointer>, wanted: &Option<LibraryPointer>| {
            if found != wanted {
                let text = wanted.as_ref().map(LibraryPointer::to_text);
                edit.pointers.push(PointerEdit { folder, name: name.to_string(), text });
            }
        };
        set(NAMES, &joined.ours, &pointer);
        if joined.ours != pointer {
            let (name, before) = (name.clone(), joined.ours.clone());
            moved.push(FetchedMove { name, before, after: pointer.clone() });
        }
        set(CONTESTED, &joined.beside, &beside);
    }
    let tree = match space.repository().library_tree(&ours.notes, &edit)? {
        Some(tree) => tree,
        None => {
            let tip = our_tip.expect("BUG: two states that went apart have commits");
            LibraryTree { tree: space.read_commit(tip)?.tree, objects: Vec::new() }
        }
    };
    let contested = contested.into_iter().collect();
    Ok(LibraryUnion { tree, moved, united: UnitedLibrary { contested, left_out } })
}

/// Unites what both tell about their objects; returns what is damaged there.
fn unite_about(
    ours: &LibraryState<'_>,
    theirs: &LibraryState<'_>,
    edit: &mut LibraryEdit,
) -> Result<Vec<String>> {
    let (here, there) = (ours.about_all()?.told, theirs.about_all()?);
    for (cid, about) in there.told {
        let before = here.get(&cid);
        let united = before.map_or(about.clone(), |before| before.united(&about));
        if before == Some(&united) {
            continue;
        }
        // Where there is more to tell than is kept, what was told here stays.
        if let Ok(text) = united.to_text() {
            let name = cid.to_string();
            edit.pointers.push(PointerEdit { folder: ABOUT, name, text: Some(text) });
        }
    }
    Ok(there.damaged)
}

type EntriesByName = BTreeMap<LibraryName, LibraryEntry>;

fn by_name(state: &LibraryState<'_>) -> Result<(EntriesByName, Vec<String>)> {
    let all = state.entries()?;
    let entries = all.entries.into_iter().map(|entry| (entry.name.clone(), entry));
    Ok((entries.collect(), all.damaged))
}

/// One name as three states have it.
struct JoinedName {
    base: Option<LibraryPointer>,
    ours: Option<LibraryPointer>,
    theirs: Option<LibraryPointer>,
    /// What stands beside ours already.
    beside: Option<LibraryPointer>,
}

/// What a name means from now on, and what stands beside that.
type JoinedPointers = (Option<LibraryPointer>, Option<LibraryPointer>);

impl JoinedName {
    fn kept(&self) -> JoinedPointers {
        (self.ours.clone(), self.beside.clone())
    }

    fn join(&self) -> JoinedPointers {
        let cid = |pointer: &Option<LibraryPointer>| pointer.as_ref().map(|pointer| pointer.cid);
        if cid(&self.ours) == cid(&self.theirs) {
            return (self.ours.clone(), None);
        }
        if self.theirs == self.base {
            return self.kept();
        }
        if self.ours == self.base && self.beside.is_none() {
            return (self.theirs.clone(), None);
        }
        match &self.theirs {
            // It was removed there and moved here: there is nothing to choose from.
            None => (self.ours.clone(), None),
            Some(theirs) => (self.ours.clone(), Some(theirs.clone())),
        }
    }
}

/// Brings the union in, by a commit with two parents. Tells whether nobody else came first.
fn merge(space: &Space, library: Library, parents: [Oid; 2], tree: LibraryTree) -> Result<bool> {
    let (repository, name) = (space.repository(), library.ref_name());
    let signatures = space.own_signatures()?;
    let data = CommitData {
        tree: tree.tree,
        parents: parents.to_vec(),
        author: signatures.author.clone(),
        committer: signatures.committer.clone(),
        message: format!("{} fetch\n", library.verb()),
    };
    let (new, commit) = SigningChoice::Plain.make(repository, &data)?;
    let mut locked = LockedStream::stream(space, &library.stream())?;
    if repository.find_ref(name)? != Some(parents[0]) {
        return Ok(false);
    }
    locked.begin(None, Some(parents[0]))?;
    // What came from the remote is in no journal.
    locked.settle_parents(false)?;
    let mut objects = tree.objects;
    objects.push(commit);
    let step = BranchMove { name: name.to_owned(), expect: Some(parents[0]), new };
    let transaction =
        Transaction { objects, branch: Some(step), ..signatures.transaction("fetch") };
    locked.decide(transaction, None, space.durability())?.follow().written.visible()?;
    Ok(true)
}
