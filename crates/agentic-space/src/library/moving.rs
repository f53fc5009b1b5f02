//! Moving a name of a library to another object, or removing it.

use agentic_git::{LibraryEdit, PointerEdit};
use agentic_model::behaviour::ADOPTION;
use agentic_model::commit::{Claims, OpenFields};
use agentic_model::edge::Party;
use agentic_model::{Cid, Kind, LibraryPointer, Map, Object, Oid, Person, Value};
use agentic_store::journal::KeptObject;

use super::writing::{LibraryWrite, write};
use super::{CONTESTED, Library, LibraryEntry, LibraryState, NAMES};
use crate::commit::{Asker, RACES_MAX};
use crate::error::LibraryError;
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

/// What a move is an occasion of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoveOccasion {
    /// Somebody stores what a name means, or removes it.
    Storing,
    /// Somebody adopts what the library has.
    Adoption(Box<AdoptionRecord>),
}

/// What the commit of an adoption says besides who made it, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdoptionRecord {
    /// What was in force before.
    pub from: Option<Cid>,
    /// The adoption that it takes the place of: the last one of the name here.
    pub prior: Option<Oid>,
    /// The adoption of another clone that it passes over.
    pub over: Option<Oid>,
    /// What speaks for it.
    pub evidence: Vec<Cid>,
    /// The request of a session that adopts, where one does.
    pub asker: Option<Asker>,
    /// Who decided, where that is not who moves the name.
    pub decided_by: Option<String>,
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
    /// What it is an occasion of.
    pub occasion: MoveOccasion,
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
        let writing = moving.writing(after.as_ref())?;
        let Some(written) = write(space, &state.notes, &writing)? else { continue };
        return Ok(MovedName { before, after, written });
    }
    Err(moving.lost(None))
}

impl NameMove {
    /// Checks that the name is as it was found, and that it may be moved.
    pub(super) fn check(&self, state: &LibraryState<'_>) -> Result<()> {
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
            return Err(LibraryError::UnknownName { library, name }.into());
        }
        if now.contested.is_some() && self.contest == ContestEnd::Refused {
            return Err(LibraryError::Contested { library, name }.into());
        }
        let is_persons = |pointer: &Option<LibraryPointer>| {
            pointer.as_ref().is_some_and(|pointer| pointer.agent().is_none())
        };
        if is_agent && (is_persons(&now.pointer) || is_persons(&now.contested)) {
            return Err(LibraryError::PersonsName { library, name }.into());
        }
        Ok(())
    }

    fn is_settled(&self) -> bool {
        let means = self.found.pointer.as_ref().map(|pointer| pointer.cid);
        means == self.to && self.found.contested.is_none()
    }

    fn lost(&self, found: Option<LibraryPointer>) -> Error {
        let (library, name) = (self.library, self.found.name.clone());
        Error::Library(LibraryError::NameMoved { library, name, found: found.map(|it| it.cid) })
    }

    fn writing(&self, after: Option<&LibraryPointer>) -> Result<LibraryWrite> {
        let over = match &self.occasion {
            MoveOccasion::Storing => None,
            MoveOccasion::Adoption(record) => record.over,
        };
        Ok(LibraryWrite {
            ref_name: self.library.ref_name(),
            verb: self.library.verb(),
            edit: self.edit(after),
            message: self.message()?,
            author: self.author.clone(),
            over,
        })
    }

    pub(super) fn message(&self) -> Result<String> {
        let (verb, name) = (self.library.verb(), &self.found.name);
        let (what, claims) = match (&self.occasion, self.to) {
            (MoveOccasion::Storing, Some(_)) => (format!("{verb} add {name}"), Claims::default()),
            (MoveOccasion::Storing, None) => (format!("{verb} remove {name}"), Claims::default()),
            (MoveOccasion::Adoption(record), to) => {
                (format!("{verb} adopt {name}"), self.adoption(record, to))
            }
        };
        let text = match self.why.trim() {
            "" => what,
            why => format!("{what}\n\n{why}"),
        };
        Ok(claims.write(&text)?)
    }

    fn adoption(&self, record: &AdoptionRecord, to: Option<Cid>) -> Claims {
        let cid = |cid: Option<Cid>| cid.map_or(Value::Null, |cid| Value::text(cid.to_string()));
        let oid = |oid: Option<Oid>| oid.map_or(Value::Null, |oid| Value::text(oid.to_string()));
        let evidence = record.evidence.iter().map(|found| cid(Some(*found))).collect();
        let decided_by = record.decided_by.clone().unwrap_or_else(|| self.by.to_string());
        let mut fields = Map::from([
            ("decided_by".to_owned(), Value::text(decided_by)),
            ("evidence".to_owned(), Value::List(evidence)),
            ("from".to_owned(), cid(record.from)),
            ("name".to_owned(), Value::text(self.found.name.as_str())),
            ("prior".to_owned(), oid(record.prior)),
            ("reason".to_owned(), Value::text(self.why.trim())),
            ("to".to_owned(), cid(to)),
        ]);
        if record.over.is_some() {
            fields.insert("over".to_owned(), oid(record.over));
        }
        let kind = Kind::parse(ADOPTION).ok();
        let session = record.asker.as_ref().map(|asker| asker.session.clone());
        let request = record.asker.as_ref().and_then(|asker| asker.request.clone());
        let fields = OpenFields::Inline(fields);
        Claims { kind, fields, session, request, ..Claims::default() }
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
