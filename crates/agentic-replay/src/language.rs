//! Languages, as whoever runs their programs durably sees one.
//!
//! A durable program is pinned as an object of type `behaviour`. Its field `language` names the
//! language, which alone reads the rest: which source, what its calls mean, where it begins. A
//! front end implements [`Language`] beside its compiler; hosts keep a list of languages and know
//! none of them by name.

use std::fmt::Debug;

use agentic_model::object::ObjectError;
use agentic_model::{Cid, Map, Object, Place, Value};

use crate::{Engine, Kinds, Path, Program};

/// The field of a pinned program that names its language.
const LANGUAGE_FIELD: &str = "language";
/// The field of a pinned program that has its source.
const SOURCE_FIELD: &str = "source";

/// A language that durable programs are written in.
pub trait Language: Debug + Send + Sync {
    /// Returns its name, as programs are pinned with it.
    fn name(&self) -> &'static str;

    /// Says in a line what its programs are, for people; nothing where there is nothing to say.
    fn summary(&self) -> &'static str {
        ""
    }

    /// Returns the version of its meaning. Every change that can alter a request raises it.
    fn semantics(&self) -> u32;

    /// Returns the oldest version that programs can still be held to.
    fn semantics_oldest(&self) -> u32 {
        self.semantics()
    }

    /// Says whether a file is a program of the language, by how its name ends and how its text begins.
    /// Of several languages that say so the first of a list has it.
    fn claims(&self, _extension: &str, _text: &[u8]) -> bool {
        false
    }

    /// Tells which kinds of requests a program makes, and what a crash may do to their effects.
    ///
    /// # Errors
    /// Fails when the object is no program.
    fn add_kinds(&self, flow: &Object, kinds: &mut Kinds) -> Result<(), ProgramFault>;

    /// Makes a run of a program.
    ///
    /// # Errors
    /// Fails when the object is no program, or one that does not compile.
    fn program(&self, pinned: &PinnedProgram<'_>) -> Result<Box<dyn Program>, ProgramFault>;

    /// Names the objects that the program consists of besides its own.
    fn parts(&self, _flow: &Object) -> Vec<Cid> {
        Vec::new()
    }

    /// Returns what is kept beside a program: its parts, and what people may want to look at.
    ///
    /// # Errors
    /// Fails as [`Language::program`] does.
    fn beside(&self, _pinned: &PinnedProgram<'_>) -> Result<Vec<Object>, ProgramFault> {
        Ok(Vec::new())
    }

    /// Says whether its programs tell how far they came, by [`Program::progress`].
    fn reports_progress(&self) -> bool {
        false
    }

    /// Returns what finds the place in the source that a request was made at.
    ///
    /// # Errors
    /// Fails as [`Language::program`] does.
    fn places(&self, _pinned: &PinnedProgram<'_>) -> Result<Places, ProgramFault> {
        Ok(Box::new(|_| None))
    }

    /// Returns what a program of the language is given of the result of a child session.
    fn child_result(&self, result: Value) -> Value {
        result
    }
}

/// Finds the place in the source of the node that a path stands in.
pub type Places = Box<dyn Fn(&Path) -> Option<Place>>;

impl dyn Language {
    /// Says whether this is a language, which its name tells.
    pub fn is(&self, other: &dyn Language) -> bool {
        self.name() == other.name()
    }

    /// Returns what runs programs that begin now.
    pub fn engine(&self) -> Engine {
        Engine { language: self.name().to_owned(), semantics: self.semantics() }
    }

    /// Returns what goes on with a run that began with an engine: that one where programs of the
    /// language can still mean what they meant to it, else the one of today, which then refuses.
    pub fn engine_since(&self, began: &Engine) -> Engine {
        let today = self.engine();
        let is_known = (self.semantics_oldest()..=today.semantics).contains(&began.semantics);
        if is_known && began.language == today.language { began.clone() } else { today }
    }
}

/// A program as it is pinned, with what its language needs to make a run of it.
#[derive(Clone, Copy)]
pub struct PinnedProgram<'a> {
    /// Its object.
    pub flow: &'a Object,
    /// Finds the objects that it names.
    pub objects: &'a dyn Fn(&Cid) -> Option<Object>,
    /// The version of the language that it is held to.
    pub semantics: u32,
    /// How much of what it does it tells, where the language leaves that open.
    pub detail: TraceDetail,
}

/// How much of what a program does it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceDetail {
    /// What people are told.
    Told,
    /// Every event of the language's own trace, too.
    Everything,
}

/// Why an object is no program that can run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramFault {
    /// It is no program at all.
    #[error("it is no program")]
    NotAProgram,
    /// It does not compile, or nobody knows what it means.
    #[error("{reason}")]
    Broken {
        /// The first finding.
        reason: String,
    },
    /// It consists of more than its language allows.
    #[error("{reason}")]
    TooLarge {
        /// What there is too much of.
        reason: String,
    },
    /// The answers that agents are to give instead of being called cannot be read.
    #[error("{reason}")]
    BadScript {
        /// What is wrong with them.
        reason: String,
    },
    /// An object that it consists of is not found.
    #[error("{id} is missing, which it consists of")]
    MissingPart {
        /// Its id.
        id: Cid,
    },
}

impl ProgramFault {
    /// Says why a program does not compile.
    pub fn broken(reason: impl Into<String>) -> ProgramFault {
        ProgramFault::Broken { reason: reason.into() }
    }

    /// Says the first of what was found in a program.
    pub fn found(first: Option<&str>) -> ProgramFault {
        ProgramFault::broken(first.unwrap_or_default())
    }
}

/// Makes the object of a program: its source, and what its language needs besides.
///
/// # Errors
/// Fails when it is too long for an object.
pub fn behaviour<'k>(
    language: &str,
    source: &str,
    further: impl IntoIterator<Item = (&'k str, Value)>,
) -> Result<Object, ObjectError> {
    let mut map = Map::from([
        ("type".to_owned(), Value::text("behaviour")),
        (LANGUAGE_FIELD.to_owned(), Value::text(language)),
        (SOURCE_FIELD.to_owned(), Value::text(source)),
    ]);
    let further = further.into_iter();
    map.extend(further.map(|(key, value)| (key.to_owned(), value)));
    Object::new(map)
}

/// Returns the name of the language that a program is pinned with.
pub fn language_name(flow: &Object) -> Option<&str> {
    flow.map().get(LANGUAGE_FIELD).and_then(Value::as_text)
}

/// Returns the source that a program is pinned with, where the object itself has it.
///
/// # Errors
/// Fails where it has none.
pub fn source_of(flow: &Object) -> Result<&str, ProgramFault> {
    flow.map().get(SOURCE_FIELD).and_then(Value::as_text).ok_or(ProgramFault::NotAProgram)
}
