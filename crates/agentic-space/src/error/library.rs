//! What is wrong with a library.

use std::borrow::Cow;

use agentic_model::guidance::{ErrorClass, Guidance};
use agentic_model::{Cid, LibraryName};

/// What is wrong with a library, or keeps a name of it from being moved.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// Nothing has the name.
    #[error("there are no {library} named `{name}` here")]
    UnknownName {
        /// What the library has.
        library: &'static str,
        /// The name.
        name: LibraryName,
    },
    /// Somebody moved the name meanwhile.
    #[error("the {library} `{name}` were moved meanwhile")]
    NameMoved {
        /// What the library has.
        library: &'static str,
        /// The name.
        name: LibraryName,
        /// What it means now.
        found: Option<Cid>,
    },
    /// Another clone moved the name, too.
    #[error("the {library} `{name}` were changed here and in another clone")]
    Contested {
        /// What the library has.
        library: &'static str,
        /// The name.
        name: LibraryName,
    },
    /// A person set the name, and an agent would move it.
    #[error("a person set the {library} `{name}`, and an agent may not change that")]
    PersonsName {
        /// What the library has.
        library: &'static str,
        /// The name.
        name: LibraryName,
    },
    /// Something in it cannot be read.
    #[error("the library of {library} is damaged: {why}")]
    Damaged {
        /// What the library has.
        library: &'static str,
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
            LibraryError::UnknownName { .. } => ErrorClass::Refused,
            LibraryError::NameMoved { .. }
            | LibraryError::Contested { .. }
            | LibraryError::Busy { .. } => ErrorClass::Conflict,
            LibraryError::PersonsName { .. } => ErrorClass::NotAllowed,
            LibraryError::Damaged { .. } => ErrorClass::Corrupt,
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            LibraryError::UnknownName { .. } => "`agentic rule list` shows the names".into(),
            LibraryError::NameMoved { name, .. } => {
                format!("look at it with `agentic rule show {name}` and try again").into()
            }
            LibraryError::Contested { name, .. } => format!(
                "`agentic rule show {name}` shows both; choose with `agentic rule add {name} FILE --resolve`"
            )
            .into(),
            LibraryError::PersonsName { .. } => {
                "store it under another name, or ask a person to change it".into()
            }
            LibraryError::Damaged { .. } => {
                "`agentic doctor` writes again what journals have; else fetch it from a clone".into()
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
            | LibraryError::Busy { .. } => None,
        }
    }
}
