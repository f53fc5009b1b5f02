//! Libraries: objects that people share by name, each in one ref that travels by push and fetch.
//!
//! The tree of a library has `objects/<type>/…/<cid>` as notes trees do, `names/<name>`, a pointer to
//! one of these objects, and `contested/<name>`, the pointer that another clone gave a name which was
//! moved here, too. Every change is a commit of the ref, moved by compare-and-swap and journalled as
//! that of a branch; so the history of a name is the history of its file. The library of behaviours
//! has `about/<cid>` besides, and what a fetch moves in it is not in force before somebody says so.

mod behaviour;
mod force;
mod history;
mod local;
mod moving;
mod uniting;
mod writing;

use agentic_git::{FoundPointer, NotesState};
use agentic_model::behaviour::{BEHAVIOUR, BEHAVIOUR_PART};
use agentic_model::{Cid, Kind, LibraryName, LibraryPointer, Object, Oid};
use agentic_store::Stream;
use agentic_store::layout::{BEHAVIOURS_REF, RULES_REF};

use crate::error::LibraryError;
use crate::{Error, Result, Space};

pub use self::behaviour::{AboutAll, BehaviourAddition, KeptBehaviour, keep_behaviour};
pub use self::force::{NameInForce, NamesInForce, take_over};
pub use self::history::{HISTORY_COMMITS_MAX, NameChange};
pub use self::local::{move_name_here, private_objects};
pub use self::moving::{AdoptionRecord, ContestEnd, MoveOccasion, MovedName, NameMove, move_name};
pub use self::uniting::UnitedLibrary;
pub(crate) use self::uniting::unite;

/// The longest object of a library that is read, in bytes.
const OBJECT_BYTES_MAX: usize = agentic_model::object::OBJECT_BYTES_MAX;
/// The folder of the pointers.
const NAMES: &str = "names";
/// The folder of the pointers that other clones gave.
const CONTESTED: &str = "contested";

/// The libraries that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// Rule files of queries.
    Rules,
    /// What agents can do, and which of it is adopted.
    Behaviours,
}

/// When a name that a fetch moved means the other thing here, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchEffect {
    /// At once.
    AtOnce,
    /// When somebody takes it over.
    WhenTakenOver,
}

impl Library {
    /// All of them.
    pub const ALL: [Library; 2] = [Library::Rules, Library::Behaviours];

    /// Returns the ref that keeps it.
    pub fn ref_name(self) -> &'static str {
        match self {
            Library::Rules => RULES_REF,
            Library::Behaviours => BEHAVIOURS_REF,
        }
    }

    /// Returns the ref that says where a remote had it.
    pub fn tracking_ref(self, remote: &str) -> String {
        format!("refs/agentic/remotes/{remote}/{}", self.word())
    }

    /// Returns the types of its objects: first that of what names mean, then those of pieces.
    pub fn kinds(self) -> Vec<Kind> {
        let names: &[&str] = match self {
            Library::Rules => &[agentic_model::rules::RULES],
            Library::Behaviours => &[BEHAVIOUR, BEHAVIOUR_PART],
        };
        names.iter().map(|name| Kind::parse(name).expect("a valid name")).collect()
    }

    /// Returns the word that people use for what is in it.
    pub fn word(self) -> &'static str {
        match self {
            Library::Rules => "rules",
            Library::Behaviours => "behaviours",
        }
    }

    /// Says what becomes of names that a fetch moved.
    pub fn fetch_effect(self) -> FetchEffect {
        match self {
            Library::Rules => FetchEffect::AtOnce,
            Library::Behaviours => FetchEffect::WhenTakenOver,
        }
    }

    pub(crate) fn stream(self) -> Stream {
        Stream::of_branch(self.ref_name())
    }

    /// Returns the verb of the command line that is about it.
    pub fn verb(self) -> &'static str {
        match self {
            Library::Rules => "rule",
            Library::Behaviours => "behaviour",
        }
    }
}

/// One state of a library.
pub struct LibraryState<'s> {
    library: Library,
    notes: NotesState<'s>,
}

/// A name with what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryEntry {
    /// The name.
    pub name: LibraryName,
    /// What it means here; nothing if it was removed here.
    pub pointer: Option<LibraryPointer>,
    /// What it means in another clone that moved it, too.
    pub contested: Option<LibraryPointer>,
}

/// All names of a library.
#[derive(Debug, Default)]
pub struct LibraryEntries {
    /// Those that can be read, by name.
    pub entries: Vec<LibraryEntry>,
    /// What is wrong with the others.
    pub damaged: Vec<String>,
}

impl Space {
    /// Opens a library as it is now.
    ///
    /// # Errors
    /// Fails when its ref is damaged.
    pub fn library(&self, library: Library) -> Result<LibraryState<'_>> {
        Ok(LibraryState { library, notes: self.repository().notes(library.ref_name())? })
    }

    /// Opens a library as a remote had it.
    ///
    /// # Errors
    /// Fails when its ref is damaged.
    pub fn library_of(&self, library: Library, remote: &str) -> Result<LibraryState<'_>> {
        Ok(LibraryState { library, notes: self.repository().notes(&library.tracking_ref(remote))? })
    }

    /// Opens a library as a commit of it has it.
    ///
    /// # Errors
    /// Fails when the commit is damaged.
    pub fn library_at(&self, library: Library, tip: Option<Oid>) -> Result<LibraryState<'_>> {
        Ok(LibraryState { library, notes: self.repository().notes_at(tip)? })
    }

    /// Returns the remote that this space shares its libraries with: the only one, else `origin`. What
    /// other remotes mean by a name is told by `REMOTE/NAME` alone.
    pub fn home_remote(&self) -> Option<String> {
        let remotes = self.repository().remotes();
        match remotes.as_slice() {
            [only] => Some(only.clone()),
            several => several.iter().find(|remote| *remote == "origin").cloned(),
        }
    }
}

impl LibraryState<'_> {
    /// Returns the commit of this state; nothing if there is no library yet.
    pub fn tip(&self) -> Option<Oid> {
        self.notes.tip()
    }

    /// Finds what a name means.
    ///
    /// # Errors
    /// Fails when the tree or the pointer is damaged.
    pub fn entry(&self, name: &LibraryName) -> Result<LibraryEntry> {
        let read = |folder| -> Result<Option<LibraryPointer>> {
            let found = self.notes.pointer(folder, name.as_str())?;
            found.map(|found| pointer_of(&found).map_err(|why| self.damaged(why))).transpose()
        };
        let (pointer, contested) = (read(NAMES)?, read(CONTESTED)?);
        Ok(LibraryEntry { name: name.clone(), pointer, contested })
    }

    /// Does the same for whoever is about to set the name anew: a pointer that is damaged means
    /// nothing to them.
    ///
    /// # Errors
    /// Fails when the tree is damaged.
    pub fn entry_past_damage(&self, name: &LibraryName) -> Result<LibraryEntry> {
        let read = |folder| -> Result<Option<LibraryPointer>> {
            let found = self.notes.pointer(folder, name.as_str())?;
            Ok(found.and_then(|found| pointer_of(&found).ok()))
        };
        let (pointer, contested) = (read(NAMES)?, read(CONTESTED)?);
        Ok(LibraryEntry { name: name.clone(), pointer, contested })
    }

    /// Lists all names.
    ///
    /// # Errors
    /// Fails when the tree is damaged.
    pub fn entries(&self) -> Result<LibraryEntries> {
        let mut all = LibraryEntries::default();
        let mut found = std::collections::BTreeMap::new();
        for folder in [NAMES, CONTESTED] {
            for pointer in self.notes.pointers(folder)? {
                match (LibraryName::parse(&pointer.name), pointer_of(&pointer)) {
                    (Err(invalid), _) => all.damaged.push(invalid.to_string()),
                    (Ok(_), Err(why)) => all.damaged.push(why),
                    (Ok(name), Ok(read)) => {
                        let (here, there): &mut (_, _) = found.entry(name).or_default();
                        *(if folder == NAMES { here } else { there }) = Some(read);
                    }
                }
            }
        }
        let entry = |(name, (pointer, contested))| LibraryEntry { name, pointer, contested };
        all.entries = found.into_iter().map(entry).collect();
        Ok(all)
    }

    /// Reads an object of the library.
    ///
    /// # Errors
    /// Fails when it is missing, damaged, too long, or of another type.
    pub fn object(&self, cid: Cid) -> Result<Object> {
        for kind in self.library.kinds() {
            let found = self.notes.bounded_object(&kind, cid, OBJECT_BYTES_MAX)?;
            let Some(bytes) = found else { continue };
            let object = Object::decode(&bytes)?;
            if object.kind() != &kind {
                let why = format!("object {cid} is of type `{}` and not `{kind}`", object.kind());
                return Err(self.damaged(why));
            }
            return Ok(object);
        }
        Err(self.damaged(format!("it lacks object {cid}")))
    }

    /// Lists the objects, those that are pieces last.
    ///
    /// # Errors
    /// Fails when the tree is damaged.
    pub fn objects(&self) -> Result<Vec<Cid>> {
        let mut found = Vec::new();
        for kind in self.library.kinds() {
            found.extend(self.notes.objects(Some(&kind))?);
        }
        Ok(found)
    }

    fn damaged(&self, why: String) -> Error {
        Error::Library(LibraryError::Damaged { library: self.library, why })
    }
}

fn pointer_of(found: &FoundPointer) -> std::result::Result<LibraryPointer, String> {
    let name = found.name.escape_debug();
    let Some(bytes) = &found.bytes else {
        return Err(format!("the pointer `{name}` is no file that can be read"));
    };
    LibraryPointer::parse(bytes).map_err(|why| format!("the pointer `{name}` is damaged: {why}"))
}
