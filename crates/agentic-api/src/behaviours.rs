//! Behaviours by name and by id.
//!
//! A name means what is in force here, or, as `REMOTE/NAME` or `PEER/NAME`, what another space adopted. An id, or its
//! beginning, means itself wherever it is kept: the flow of a recorded session is a behaviour, too.

mod peer;

use std::collections::BTreeMap;

use agentic_diag::nearest;
use agentic_federation::peer_behaviour::{peer_libraries, peer_library};
use agentic_model::behaviour::check_prompt;
use agentic_model::{
    AboutBehaviour, BehaviourForm, Cid, LibraryName, LibraryPointer, Object, Oid, StoredBehaviour,
};
use agentic_session::SessionSpace;
use agentic_session::behaviour::{built_in_effects, check_flow_with, knows_effect};
use agentic_space::error::{Error as SpaceError, LookupError};
use agentic_space::library::{Library, LibraryState, NameInForce};

pub(crate) use self::peer::{UsableBehaviour, behaviour_to_run, behaviour_to_use};
use crate::view::BehaviourVersionView;
use crate::{Caller, Refusal};

/// The behaviours that can be named.
pub(crate) struct BehaviourShelf<'s> {
    space: &'s SessionSpace,
}

/// A behaviour that was found.
#[derive(Debug, Clone)]
pub(crate) struct FoundBehaviour {
    /// Its object.
    pub object: Object,
    /// What it says.
    pub read: StoredBehaviour,
    /// The spaces of peers that it was found in, as they are read here; none where it is here.
    pub peers: Vec<String>,
}

/// Refuses kinds of effects that none of some programs could ask for: they are mistyped.
///
/// # Errors
/// Fails at the first of them.
pub(crate) fn check_effects(kinds: &[String], programs: &[Object]) -> Result<(), Refusal> {
    for kind in kinds {
        let mut is_known = false;
        for program in programs {
            is_known |= knows_effect(program, kind)?;
        }
        if !is_known {
            let known = built_in_effects();
            let hint = match nearest(kind, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}, and `*` for all", known.join(", ")),
            };
            return Err(Refusal::usage(&format!("no effect is of the kind `{kind}`"), &hint));
        }
    }
    Ok(())
}

impl FoundBehaviour {
    /// Reads a behaviour from its object.
    pub fn of(object: Object) -> Result<FoundBehaviour, Refusal> {
        let read = StoredBehaviour::from_object(&object).map_err(|error| {
            let message = format!("{} is no behaviour", object.cid());
            let hint = "`agentic behaviour list` shows those that have a name";
            Refusal { because: Some(error.to_string()), ..Refusal::refused(&message, hint) }
        })?;
        Ok(FoundBehaviour { object, read, peers: Vec::new() })
    }

    /// Checks that it is sound, and returns the objects that it consists of besides its own. They may stand
    /// somewhere else than here.
    pub fn check(
        &self,
        space: &SessionSpace,
        elsewhere: impl Fn(&Cid) -> Option<Object>,
    ) -> Result<Vec<Object>, Refusal> {
        match self.read.form {
            BehaviourForm::Flow => Ok(check_flow_with(space, &self.object, elsewhere)?),
            BehaviourForm::Prompt => {
                let source = self.read.source.as_deref().unwrap_or_default();
                check_prompt(source).map_err(|fault| {
                    let hint = "write `{{` for a brace that is meant as one";
                    Refusal::schema(&fault.to_string(), hint)
                })?;
                Ok(Vec::new())
            }
        }
    }

    /// Returns its id.
    pub fn cid(&self) -> Cid {
        self.object.cid()
    }
}

impl<'s> BehaviourShelf<'s> {
    /// Looks at the behaviours of a space.
    pub fn new(space: &'s SessionSpace) -> BehaviourShelf<'s> {
        BehaviourShelf { space }
    }

    /// Opens the library.
    pub fn state(&self) -> Result<LibraryState<'s>, Refusal> {
        Ok(self.space.library(Library::Behaviours)?)
    }

    /// Finds a behaviour by a name, an id or the beginning of one.
    pub fn find(&self, text: &str) -> Result<FoundBehaviour, Refusal> {
        if text.starts_with(Cid::PREFIX) {
            return self.by_id(text);
        }
        if let Some((remote, bare)) = text.rsplit_once('/') {
            return match (self.foreign_pointer(remote, bare)?, self.of_peer(remote, bare)?) {
                (Some(pointer), _) => self.foreign(remote, pointer.cid),
                (None, Some(found)) => Ok(found),
                (None, None) => Err(self.unknown(text)?),
            };
        }
        let Ok(name) = LibraryName::parse(text) else { return Err(self.unknown(text)?) };
        let found = self.space.behaviour_in_force(&name)?;
        match (found.pointer, found.offered) {
            (Some(pointer), _) => FoundBehaviour::of(self.space.object(pointer.cid)?),
            (None, Some(_)) => Err(only_offered(&name)),
            (None, None) => Err(self.unknown(text)?),
        }
    }

    fn by_id(&self, text: &str) -> Result<FoundBehaviour, Refusal> {
        match self.space.find_object(text).and_then(|cid| self.space.object(cid)) {
            Ok(object) => FoundBehaviour::of(object),
            Err(unknown @ SpaceError::Lookup(LookupError::Unknown { .. })) => {
                self.only_of_peers(text)?.map_or_else(|| Err(unknown.into()), Ok)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn foreign_pointer(&self, remote: &str, bare: &str) -> Result<Option<LibraryPointer>, Refusal> {
        let is_known = self.space.repository().remotes().iter().any(|known| known == remote);
        let Some(name) = LibraryName::parse(bare).ok().filter(|_| is_known) else {
            return Ok(None);
        };
        Ok(self.space.library_of(Library::Behaviours, remote)?.entry(&name)?.pointer)
    }

    /// Reads a behaviour from the library of another space.
    pub fn foreign(&self, remote: &str, cid: Cid) -> Result<FoundBehaviour, Refusal> {
        self.read_from(&self.space.library_of(Library::Behaviours, remote)?, cid)
    }

    /// Reads a behaviour from a library.
    pub fn read_from(
        &self,
        library: &LibraryState<'_>,
        cid: Cid,
    ) -> Result<FoundBehaviour, Refusal> {
        match library.object(cid) {
            Ok(object) => FoundBehaviour::of(object),
            // What was taken over from somebody stands here, too.
            Err(_) => FoundBehaviour::of(self.space.object(cid)?),
        }
    }

    /// Reads what is told about a behaviour: here, else by the peer that has it.
    pub fn about(&self, found: &FoundBehaviour) -> Result<AboutBehaviour, Refusal> {
        let library = match found.peers.first() {
            Some(label) => peer_library(self.space, label)?.map(|library| library.state),
            None => Some(self.state()?),
        };
        let about = library.map(|library| library.about(found.cid())).transpose()?;
        Ok(about.flatten().unwrap_or_default())
    }

    /// Reads an object wherever it is kept here.
    pub fn kept(&self, cid: Cid) -> Result<Object, Refusal> {
        Ok(self.space.object(cid)?)
    }

    /// Lists the names by which something is in force, and those of other spaces.
    pub fn names(&self) -> Result<Vec<String>, Refusal> {
        let mut names = Vec::new();
        for name in self.space.behaviours_in_force()?.names {
            if name.pointer.is_some() {
                names.push(name.shared.name.to_string());
            }
        }
        for remote in self.space.repository().remotes() {
            let entries = self.space.library_of(Library::Behaviours, &remote)?.entries()?.entries;
            let named = entries.into_iter().filter(|entry| entry.pointer.is_some());
            names.extend(named.map(|entry| format!("{remote}/{}", entry.name)));
        }
        for library in peer_libraries(self.space)? {
            let named = library.state.entries()?.entries.into_iter();
            let named = named.filter(|entry| entry.pointer.is_some());
            names.extend(named.map(|entry| format!("{}/{}", library.label(), entry.name)));
        }
        Ok(names)
    }

    /// Says that nothing is in force by a name.
    pub fn unknown(&self, name: &str) -> Result<Refusal, Refusal> {
        let added = LibraryName::parse(name).ok().map(|name| self.added(&name)).transpose()?;
        let known = self.names()?;
        let near = nearest(name, known.iter().map(String::as_str));
        let hint = match (added.flatten(), near) {
            (Some(cid), _) => format!("adopt one: `agentic behaviour adopt {name} {cid} -m WHY`"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => "add one with `agentic behaviour add NAME FILE`, and adopt it".into(),
        };
        Ok(Refusal::refused(&format!("no behaviour `{name}` is in force here"), &hint))
    }

    /// Finds some version that was added under a name.
    fn added(&self, name: &LibraryName) -> Result<Option<Cid>, Refusal> {
        let told = self.state()?.about_all()?.told;
        let mut versions = told.into_iter().filter(|(_, about)| about.names.contains(name));
        Ok(versions.next().map(|(cid, _)| cid))
    }

    /// Describes what a name means.
    pub fn version(
        &self,
        state: &LibraryState<'_>,
        name: &LibraryName,
        pointer: &LibraryPointer,
    ) -> Result<BehaviourVersionView, Refusal> {
        let adoption = match state.adoption_of(self.space, name, pointer)? {
            Some(adoption) => Some(adoption),
            None => self.space.adoption_of(name, pointer)?,
        };
        Ok(BehaviourVersionView::of(pointer, adoption))
    }

    /// Finds the adoption that made a pointer.
    pub fn adoption(
        &self,
        name: &NameInForce,
        pointer: Option<&LibraryPointer>,
    ) -> Result<Option<Oid>, Refusal> {
        let Some(pointer) = pointer else { return Ok(None) };
        Ok(self.space.adoption_of(&name.shared.name, pointer)?)
    }

    /// Lists which names what is in force by, by what that is.
    pub fn in_force(&self) -> Result<BTreeMap<Cid, Vec<LibraryName>>, Refusal> {
        let mut found: BTreeMap<Cid, Vec<LibraryName>> = BTreeMap::new();
        for name in self.space.behaviours_in_force()?.names {
            if let Some(pointer) = name.pointer {
                found.entry(pointer.cid).or_default().push(name.shared.name);
            }
        }
        Ok(found)
    }
}

/// Reads the name of a behaviour.
pub(crate) fn behaviour_name(text: &str) -> Result<LibraryName, Refusal> {
    let hint = "a name has lower-case letters, digits, `.`, `_` and `-`";
    LibraryName::parse(text).map_err(|error| Refusal::usage(&error.to_string(), hint))
}

/// Says that a name was moved elsewhere and that nothing is in force by it here.
fn only_offered(name: &LibraryName) -> Refusal {
    let message = format!("`{name}` was adopted in another clone, and not here");
    let hint = format!(
        "look at it with `agentic behaviour show {name}`; `agentic behaviour adopt {name} --from REMOTE` takes it over"
    );
    Refusal::refused(&message, &hint)
}

/// Finds the behaviour that a caller names.
pub(crate) fn named_behaviour(caller: &Caller<'_>, text: &str) -> Result<FoundBehaviour, Refusal> {
    BehaviourShelf::new(caller.space).find(text)
}
