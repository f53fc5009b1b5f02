//! Behaviours of peers: read under the name of a peer or by their ids alone, and used where that was granted.
//!
//! What is used is kept here first, so that it can be read wherever its id is.

use agentic_federation::capability::TriggerForce;
use agentic_federation::peer_behaviour::{PeerLibrary, peer_libraries, peer_library};
use agentic_model::{AboutBehaviour, BehaviourForm, LibraryName, Object};
use agentic_space::library::{BehaviourAddition, keep_behaviour};
use agentic_space::object::PREFIX_CHARS_MIN;

use super::{BehaviourShelf, FoundBehaviour};
use crate::{Caller, Refusal};

/// A behaviour that may be adopted or started.
#[derive(Debug, Clone)]
pub(crate) struct UsableBehaviour {
    /// The behaviour.
    pub found: FoundBehaviour,
    /// What is kept of a peer before it is used; nothing where it is here.
    addition: Option<BehaviourAddition>,
}

impl BehaviourShelf<'_> {
    /// Finds what a peer means by a name.
    pub(super) fn of_peer(
        &self,
        label: &str,
        bare: &str,
    ) -> Result<Option<FoundBehaviour>, Refusal> {
        let Ok(name) = LibraryName::parse(bare) else { return Ok(None) };
        let Some(library) = peer_library(self.space, label)? else { return Ok(None) };
        let Some(pointer) = library.state.entry(&name)?.pointer else { return Ok(None) };
        let found = FoundBehaviour::of(library.state.object(pointer.cid)?)?;
        Ok(Some(FoundBehaviour { peers: vec![label.to_owned()], ..found }))
    }

    /// Finds a behaviour that peers alone have, by its id or the beginning of that.
    pub(super) fn only_of_peers(&self, text: &str) -> Result<Option<FoundBehaviour>, Refusal> {
        if text.len() < PREFIX_CHARS_MIN {
            return Ok(None);
        }
        let mut found: Option<FoundBehaviour> = None;
        for library in peer_libraries(self.space)? {
            let cids = library.state.objects()?.into_iter();
            for cid in cids.filter(|cid| cid.to_string().starts_with(text)) {
                let label = library.label().to_owned();
                match &mut found {
                    Some(known) if known.cid() == cid => known.peers.push(label),
                    Some(_) => return Err(ambiguous(text)),
                    None => {
                        let read = FoundBehaviour::of(library.state.object(cid)?)?;
                        found = Some(FoundBehaviour { peers: vec![label], ..read });
                    }
                }
            }
        }
        Ok(found)
    }

    /// Finds a behaviour that a caller names to adopt or to start it. One of a peer needs that this was granted.
    pub fn find_to_use(&self, caller: &Caller<'_>, text: &str) -> Result<UsableBehaviour, Refusal> {
        let found = self.find(text)?;
        let force = match caller.require_person("use a behaviour of a peer") {
            Ok(()) => TriggerForce::Shown,
            Err(_) => TriggerForce::Runs,
        };
        let mut refused = None;
        for label in &found.peers {
            let Some(library) = peer_library(self.space, label)? else { continue };
            match library.require_grant(self.space, text, force) {
                Ok(()) => {
                    let addition = Some(self.addition(&library, &found)?);
                    return Ok(UsableBehaviour { found, addition });
                }
                Err(error) => _ = refused.get_or_insert(error),
            }
        }
        match refused {
            Some(error) => Err(error.into()),
            None => Ok(UsableBehaviour::here(found)),
        }
    }

    /// Says what is kept of a behaviour of a peer, once it is sure that it can run here.
    fn addition(
        &self,
        library: &PeerLibrary<'_>,
        found: &FoundBehaviour,
    ) -> Result<BehaviourAddition, Refusal> {
        let parts = found.check(self.space, |cid| library.state.object(*cid).ok())?;
        // What the peer is called here stays here: the library travels.
        let name = LibraryName::parse(&found.cid().to_string())
            .expect("an id has lower-case letters and digits alone");
        let about = AboutBehaviour::default();
        Ok(BehaviourAddition { name, object: found.object.clone(), parts, about, author: None })
    }
}

impl UsableBehaviour {
    /// Says that a behaviour of this space may be used.
    pub fn here(found: FoundBehaviour) -> UsableBehaviour {
        UsableBehaviour { found, addition: None }
    }

    /// Keeps what is of a peer. Its name there means nothing here.
    pub fn keep(&self, caller: &Caller<'_>) -> Result<(), Refusal> {
        match &self.addition {
            Some(addition) => Ok(keep_behaviour(caller.space, addition)?.written.visible()?),
            None => Ok(()),
        }
    }

    /// Lists the objects that a peer's behaviour consists of besides its own; nothing for one that is here.
    pub fn parts(&self) -> Option<&[Object]> {
        self.addition.as_ref().map(|addition| addition.parts.as_slice())
    }

    /// Says whether a peer has it, and this space did not.
    pub fn is_of_peer(&self) -> bool {
        self.addition.is_some()
    }
}

fn ambiguous(text: &str) -> Refusal {
    Refusal::refused(
        &format!("`{text}` is the beginning of several behaviours"),
        "write more of it",
    )
}

/// Finds a behaviour that a session can run, and keeps it where it is a peer's: whoever runs it finds it by its id. Says
/// what else to do with one that no session runs.
pub(crate) fn behaviour_to_run(
    caller: &Caller<'_>,
    named: &str,
    else_hint: &str,
) -> Result<FoundBehaviour, Refusal> {
    let usable = behaviour_to_use(caller, named)?;
    if usable.found.read.form == BehaviourForm::Prompt {
        let message = format!("`{named}` is a prompt, and no session runs one");
        return Err(Refusal::usage(&message, else_hint));
    }
    usable.keep(caller)?;
    Ok(usable.found)
}

/// Finds the behaviour that a caller names to adopt or to start it.
pub(crate) fn behaviour_to_use(
    caller: &Caller<'_>,
    text: &str,
) -> Result<UsableBehaviour, Refusal> {
    BehaviourShelf::new(caller.space).find_to_use(caller, text)
}
