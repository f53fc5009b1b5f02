//! The behaviours of a peer, as its snapshot has them. Anybody reads them under the name of the peer; whoever
//! adopts or starts one needs that it was granted, and keeps it here first.
//!
//! No fetch unites them with ours: neither their objects nor what they mean by a name.

use agentic_git::Repository;
use agentic_model::behaviour::BEHAVIOUR;
use agentic_model::{Kind, Oid};
use agentic_session::SessionSpace;
use agentic_space::library::{Library, LibraryState};

use crate::acceptance::announced_by;
use crate::capability::{PeerTrigger, TriggerForce, TriggerName};
use crate::freshness::require_fresh;
use crate::id::Petname;
use crate::in_force::{PolicyInForce, PolicySubject};
use crate::policy::{PolicyAnswer, PolicyQuestion, RefusedRight};
use crate::steps::read_tip;
use crate::tracking::{TrackedSpace, followed_peers, tracked_spaces};
use crate::wrapping::{body_of, read_wrapped};
use crate::{Error, Result};

/// The file of a snapshot that names the tip of the library.
const BEHAVIOURS: &str = "behaviours";

/// The library of a space of a peer.
pub struct PeerLibrary<'s> {
    tracked: TrackedSpace,
    /// What it has.
    pub state: LibraryState<'s>,
}

/// Lists the libraries that peers announced.
///
/// # Errors
/// Fails when the policy or a record is damaged.
pub fn peer_libraries(space: &SessionSpace) -> Result<Vec<PeerLibrary<'_>>> {
    let mut libraries = Vec::new();
    for tracked in tracked_spaces(space)? {
        libraries.extend(library_of(space, tracked)?);
    }
    Ok(libraries)
}

/// Finds the library of a space of a peer, as it is read here: `bob` or `bob+NICK`.
///
/// # Errors
/// Fails as [`peer_libraries`] does.
pub fn peer_library<'s>(space: &'s SessionSpace, label: &str) -> Result<Option<PeerLibrary<'s>>> {
    let tracked = tracked_spaces(space)?.into_iter().find(|tracked| tracked.label == label);
    tracked.map_or(Ok(None), |tracked| library_of(space, tracked))
}

fn library_of(space: &SessionSpace, tracked: TrackedSpace) -> Result<Option<PeerLibrary<'_>>> {
    let tip = behaviours_tip(space.repository(), &tracked)?;
    Ok(match tip {
        Some(_) => {
            Some(PeerLibrary { tracked, state: space.library_at(Library::Behaviours, tip)? })
        }
        None => None,
    })
}

fn behaviours_tip(repository: &Repository, tracked: &TrackedSpace) -> Result<Option<Oid>> {
    let announced = announced_by(repository, tracked.record)?;
    let body = body_of(repository, &read_wrapped(repository, announced)?)?;
    read_tip(repository, &body, BEHAVIOURS)
}

impl PeerLibrary<'_> {
    /// Returns the name by which the space is read here.
    pub fn label(&self) -> &str {
        &self.tracked.label
    }

    /// Refuses that a behaviour of the library is adopted or started, unless that was granted. Whatever is no
    /// person needs that something may run of it.
    ///
    /// # Errors
    /// Fails with what would have to be granted.
    pub fn require_grant(
        &self,
        space: &SessionSpace,
        named: &str,
        force: TriggerForce,
    ) -> Result<()> {
        self.tracked.require_listed()?;
        let TrackedSpace { label, petname, peer, space: of, .. } = &self.tracked;
        let trigger = PeerTrigger { name: TriggerName::BehaviourAdopt, force };
        let kind = Kind::parse(BEHAVIOUR).expect("a valid name");
        let in_force = PolicyInForce::read(space, PolicySubject::Peer(*peer))?;
        let question = PolicyQuestion { peer: *peer, kind: &kind, trigger, agent: None };
        if let PolicyAnswer::Refused(RefusedRight { why, hint }) = in_force.may(question)? {
            let message =
                format!("`{named}` is a behaviour of `{label}` and may not be used: {why}");
            let hint = match *petname == Petname::own() {
                // Nobody grants themselves anything.
                true => {
                    "keep it here: `agentic behaviour show` prints it, `behaviour add` takes it"
                        .to_owned()
                }
                false => hint,
            };
            return Err(Error::not_allowed(message, hint));
        }
        match (force, followed_peers(space)?.get(petname)) {
            (TriggerForce::Runs, Some(followed)) => {
                require_fresh(space, followed, (label.as_str(), *of))
            }
            (TriggerForce::Runs | TriggerForce::Shown, _) => Ok(()),
        }
    }
}
