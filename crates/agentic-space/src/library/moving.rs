//! Moving a name of a library to another object, or removing it.

use agentic_git::{LibraryEdit, PointerEdit};
use agentic_model::commit::{Claims, CommitData};
use agentic_model::edge::Party;
use agentic_model::{Cid, LibraryPointer, Object, Person};
use agentic_store::journal::{BranchMove, KeptObject, Transaction};

use super::{CONTESTED, Library, LibraryEntry, LibraryState, NAMES};
use crate::commit::RACES_MAX;
use crate::error::LibraryError;
use crate::signing::SigningChoice;
use crate::write::LockedStream;
use crate::written::WriteNotices;
use crate::{Error, Result, Space};

/// Whether a move ends that another clone moved the name, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContestEnd {
    /// It does.
    Resolved,
    /// It is refused where there is such a thing.
    Refused,
}

/// A name on its way to another object.
#[derive(Debug, Clone)]
pub struct NameMove {
    /// The library.
    pub library: Library,
    /// The name, as whoever moves it has found it.
    pub found: LibraryEntry,
    /// The object that it means from now on; nothing if it goes.
    pub to: Option<Cid>,
    /// Objects that the library has to keep for it.
    pub objects: Vec<Object>,
    /// Who moves it.
    pub by: Party,
    /// Who that is to git; whom git knows here without.
    pub author: Option<Person>,
    /// Why; may be empty.
    pub why: String,
    /// Whether it ends that another clone moved the name, too.
    pub contest: ContestEnd,
}

/// A name that was moved.
#[derive(Debug)]
pub struct MovedName {
    /// What it meant before.
    pub before: Option<LibraryPointer>,
    /// What it means now.
    pub after: Option<LibraryPointer>,
    /// Whether everything is visible.
    pub written: WriteNotices,
}

/// Moves a name from where it was found. A name that means this object already stays as it is.
///
/// # Errors
/// Fails when somebody moved it meanwhile, when it is contested and that does not end by this, when a
/// person set it and an agent moves it, and when there is nothing to remove.
pub fn move_name(space: &Space, moving: &NameMove) -> Result<MovedName> {
    for _ in 0..RACES_MAX {
        let state = space.library(moving.library)?;
        moving.check(&state)?;
        let before = moving.found.pointer.clone();
        if moving.is_settled() {
            return Ok(MovedName {
                after: before.clone(),
                before,
                written: WriteNotices::default(),
            });
        }
        let after = moving.to.map(|cid| LibraryPointer {
            cid,
            by: moving.by.clone(),
            at: space.now(),
            on: state.tip(),
        });
        let Some(written) = write(space, moving, &state, after.as_ref())? else { continue };
        return Ok(MovedName { before, after, written });
    }
    Err(moving.lost(None))
}

impl NameMove {
    /// Checks that the name is as it was found, and that it may be moved.
    fn check(&self, state: &LibraryState<'_>) -> Result<()> {
        let (name, library) = (self.found.name.clone(), self.library);
        let is_agent = matches!(self.by, Party::Agent(_));
        let now = match self.contest {
            // Nobody knows any more who set a name whose pointer is damaged: that ends a person.
            ContestEnd::Resolved if !is_agent => state.entry_past_damage(&name)?,
            ContestEnd::Resolved | ContestEnd::Refused => state.entry(&name)?,
        };
        if now != self.found {
            return Err(self.lost(now.pointer));
        }
        if now.pointer.is_none() && now.contested.is_none() && self.to.is_none() {
            return Err(LibraryError::UnknownName { library: library.word(), name }.into());
        }
        if now.contested.is_some() && self.contest == ContestEnd::Refused {
            return Err(LibraryError::Contested { library: library.word(), name }.into());
        }
        let is_persons = |pointer: &Option<LibraryPointer>| {
            pointer.as_ref().is_some_and(|pointer| pointer.agent().is_none())
        };
        if is_agent && (is_persons(&now.pointer) || is_persons(&now.contested)) {
            return Err(LibraryError::PersonsName { library: library.word(), name }.into());
        }
        Ok(())
    }

    fn is_settled(&self) -> bool {
        let means = self.found.pointer.as_ref().map(|pointer| pointer.cid);
        means == self.to && self.found.contested.is_none()
    }

    fn lost(&self, found: Option<LibraryPointer>) -> Error {
        let (library, name) = (self.library.word(), self.found.name.clone());
        Error::Library(LibraryError::NameMoved { library, name, found: found.map(|it| it.cid) })
    }

    fn message(&self) -> Result<String> {
        let verb = if self.to.is_some() { "add" } else { "remove" };
        let what = format!("{} {verb} {}", self.library.verb(), self.found.name);
        let text = match self.why.trim() {
            "" => what,
            why => format!("{what}\n\n{why}"),
        };
        Ok(Claims::default().write(&text)?)
    }

    fn edit(&self, after: Option<&LibraryPointer>) -> LibraryEdit {
        let name = self.found.name.to_string();
        let text = after.map(LibraryPointer::to_text);
        let mut pointers = vec![PointerEdit { folder: NAMES, name: name.clone(), text }];
        if self.found.contested.is_some() {
            pointers.push(PointerEdit { folder: CONTESTED, name, text: None });
        }
        LibraryEdit { objects: self.objects.iter().map(KeptObject::from).collect(), pointers }
    }
}

/// Writes the next state; nothing if somebody else's came first.
fn write(
    space: &Space,
    moving: &NameMove,
    state: &LibraryState<'_>,
    after: Option<&LibraryPointer>,
) -> Result<Option<WriteNotices>> {
    let (repository, tip) = (space.repository(), state.tip());
    let Some(tree) = repository.library_tree(&state.notes, &moving.edit(after))? else {
        return Ok(Some(WriteNotices::default()));
    };
    let signatures = match &moving.author {
        Some(author) => space.signatures_of(author.clone())?,
        None => space.own_signatures()?,
    };
    let data = CommitData {
        tree: tree.tree,
        parents: tip.into_iter().collect(),
        author: signatures.author.clone(),
        committer: signatures.committer.clone(),
        message: moving.message()?,
    };
    // Where it is signed a program of the user's runs: not under the lock.
    let (new, commit) = SigningChoice::of_people(space)?.make(repository, &data)?;
    let name = moving.library.ref_name();
    let mut locked = LockedStream::stream(space, &moving.library.stream())?;
    if repository.find_ref(name)? != tip {
        return Ok(None);
    }
    locked.begin(None, tip)?;
    locked.settle_parents(true)?;
    let mut objects = tree.objects;
    objects.push(commit);
    let transaction = Transaction {
        objects,
        branch: Some(BranchMove { name: name.to_owned(), expect: tip, new }),
        ..signatures.transaction(moving.library.verb())
    };
    Ok(Some(locked.decide(transaction, None, space.durability())?.follow().written))
}
