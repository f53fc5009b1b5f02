//! What is wrong with a library.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_model::{Cid, LibraryName};

use crate::library::Library;

/// What is wrong with a library, or keeps a name of it from being moved.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// Nothing has the name.
    #[error("there are no {} named `{name}` here", library.word())]
    UnknownName {
        /// The library.
        library: Library,
        /// The name.
        name: LibraryName,
    },
    /// Somebody moved the name meanwhile.
    #[error("the {} `{name}` were moved meanwhile", library.word())]
    NameMoved {
        /// The library.
        library: Library,
        /// The name.
        name: LibraryName,
        /// What it means now.
        found: Option<Cid>,
    },
    /// Another clone moved the name, too.
    #[error("the {} `{name}` were changed here and in another clone", library.word())]
    Contested {
        /// The library.
        library: Library,
        /// The name.
        name: LibraryName,
    },
    /// A person set the name, and an agent would move it.
    #[error("a person set the {} `{name}`, and an agent may not change that", library.word())]
    PersonsName {
        /// The library.
        library: Library,
        /// The name.
        name: LibraryName,
    },
    /// Something in it cannot be read.
    #[error("the library of {} is damaged: {why}", library.word())]
    Damaged {
        /// The library.
        library: Library,
        /// What is wrong.
        why: String,
    },
    /// A behaviour would be made from itself.
    #[error("behaviour {cid} would be made from itself")]
    Cycle {
        /// The behaviour.
        cid: Cid,
    },
    /// What is to be told about a behaviour cannot be.
    #[error("what is told about behaviour {cid} cannot be kept: {why}")]
    BadAbout {
        /// The behaviour.
        cid: Cid,
        /// What is wrong.
        why: String,
    },
    /// Others move it all the time.
    #[error("others move `{name}` all the time")]
    Busy {
        /// The ref.
        name: String,
    },
}

impl Guidance for LibraryError {
    fn class(&self) -> ErrorClass {
        match self {
            LibraryError::UnknownName { .. }
            | LibraryError::Cycle { .. }
            | LibraryError::BadAbout { .. } => ErrorClass::Refused,
            LibraryError::NameMoved { .. }
            | LibraryError::Contested { .. }
            | LibraryError::Busy { .. } => ErrorClass::Conflict,
            LibraryError::PersonsName { .. } => ErrorClass::NotAllowed,
            LibraryError::Damaged { .. } => ErrorClass::Corrupt,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            LibraryError::UnknownName { library, .. } => {
                format!("`agentic {} list` shows the names", library.verb()).into()
            }
            LibraryError::NameMoved { library, name, .. } => {
                let verb = library.verb();
                format!("look at it with `agentic {verb} show {name}` and try again").into()
            }
            LibraryError::Contested { library, name } => contest_hint(*library, name).into(),
            LibraryError::Cycle { .. } => "name other parents".into(),
            LibraryError::BadAbout { .. } => {
                "give a shorter note, and parents that `agentic behaviour list` shows".into()
            }
            LibraryError::PersonsName { .. } => {
                "store it under another name, or ask a person to change it".into()
            }
            LibraryError::Damaged { .. } => {
                "`agentic doctor` writes again what journals have; else fetch it from a clone"
                    .into()
            }
            LibraryError::Busy { .. } => "try again".into(),
        }
    }

    fn because(&self) -> Option<String> {
        match self {
            LibraryError::NameMoved { found, .. } => Some(match found {
                Some(cid) => format!("it is {cid} now"),
                None => "the name was removed".to_owned(),
            }),
            LibraryError::UnknownName { .. }
            | LibraryError::Contested { .. }
            | LibraryError::PersonsName { .. }
            | LibraryError::Damaged { .. }
            | LibraryError::Cycle { .. }
            | LibraryError::BadAbout { .. }
            | LibraryError::Busy { .. } => None,
        }
    }
}

/// Says how to choose where a name was moved here and in another clone.
pub fn contest_hint(library: Library, name: &LibraryName) -> String {
    let verb = library.verb();
    let choose = match library {
        Library::Rules => format!("`agentic rule add {name} FILE --resolve`"),
        Library::Behaviours => format!("`agentic behaviour adopt {name} CID --over OID -m WHY`"),
    };
    format!("`agentic {verb} show {name}` shows both; choose with {choose}")
}
