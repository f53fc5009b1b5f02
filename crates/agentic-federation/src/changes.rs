//! Changes of our own identity: rotation, and which spaces it lists.

use agentic_model::Cid;
use agentic_session::SessionSpace;
use agentic_session::hosted::{adopt_space_id, new_space_id};

use crate::accepted::{AcceptedChain, accepted_ref, read_announced};
use crate::durable::read_state;
use crate::id::announce_ref;
use crate::id::{SpaceId, is_nick};
use crate::identity::{ChainGrowth, IdentityChain, IdentityDocument, ListedSpace, SignedDocument};
use crate::key::PeerKey;
use crate::own::{
    IDENTITY_REF, announcing_key, control_keys, own_chain, public_key, random, remember_key,
    save_chain, sign_document,
};
use crate::walk::newest_covered;
use crate::{Error, Result};

/// How many random bytes make a document another one.
const NONCE_BYTES: usize = 16;

/// What a rotation changes.
#[derive(Debug, Clone, Default)]
pub struct Rotation {
    /// Keys that count no more.
    pub void: Vec<String>,
    /// Keys that count from now on: public keys or files.
    pub add: Vec<String>,
    /// The announcements from which chains go on, where it is not the newest one here.
    pub resume: Vec<(SpaceId, Option<Cid>)>,
}

/// A space that is made known.
#[derive(Debug, Clone)]
pub enum SpaceChange {
    /// This repository is a space of its own from now on.
    New {
        /// What its owner calls it.
        nick: String,
    },
    /// This repository is the space that it was, at another place.
    Moved,
    /// Another space is listed.
    Add {
        /// The space.
        space: SpaceId,
        /// Its key.
        key: String,
        /// What its owner calls it.
        nick: String,
    },
    /// A space is listed no more.
    Remove {
        /// The space.
        space: SpaceId,
    },
}

/// Writes a document in which keys count no more, or others do.
///
/// # Errors
/// Fails when a list would be left without keys, and when a key does not sign.
pub fn rotate(space: &SessionSpace, rotation: &Rotation) -> Result<IdentityChain> {
    let repository = space.repository();
    let void: Vec<PeerKey> =
        rotation.void.iter().map(|key| named_key(space, key)).collect::<Result<_>>()?;
    let add: Vec<PeerKey> =
        rotation.add.iter().map(|key| public_key(repository, key)).collect::<Result<_>>()?;
    let change = |document: &mut IdentityDocument, chain: &IdentityChain| {
        let known = document.all_keys();
        if let Some(key) = void.iter().find(|key| !known.contains(key)) {
            return Err(Error::refused(
                format!("our identity has no key {}: nothing of it is voided", key.fingerprint()),
                "`agentic peer init` prints the keys of this space; the newest document has all of them",
            ));
        }
        let renew = |keys: &mut Vec<PeerKey>| {
            let has_lost = keys.iter().any(|key| void.contains(key)) || void.is_empty();
            keys.retain(|key| !void.contains(key));
            let fresh: Vec<PeerKey> =
                add.iter().filter(|key| has_lost && !keys.contains(key)).cloned().collect();
            keys.extend(fresh);
        };
        renew(&mut document.control.keys);
        renew(&mut document.decide);
        let mut changed = Vec::new();
        for listed in &mut document.spaces {
            let before = listed.keys.clone();
            renew(&mut listed.keys);
            if listed.keys.is_empty() || listed.keys == before {
                continue;
            }
            listed.resume = rotation.resume_of(space, chain, listed.space)?;
            changed.push(listed.space);
        }
        if let Some((of, _)) = rotation.resume.iter().find(|(of, _)| !changed.contains(of)) {
            return Err(Error::refused(
                format!("the keys of the space `{of}` do not change: it goes on as it does"),
                "`agentic peer show self` lists the spaces and their keys",
            ));
        }
        let is_left = !document.control.keys.is_empty()
            && document.control.need <= document.control.keys.len() as u64
            && document.spaces.iter().all(|listed| !listed.keys.is_empty());
        match is_left {
            true => Ok(()),
            false => Err(Error::refused(
                "a list of keys would have none that counts",
                "name a new key with `--add`",
            )),
        }
    };
    let signers: Vec<String> = rotation.add.clone();
    let chain = change_identity(space, &signers, "agentic peer rotate", change)?;
    if let Some(fresh) = rotation.add.first()
        && void.contains(&public_key(repository, &announcing_key(repository)?)?)
    {
        remember_key(repository, fresh)?;
    }
    Ok(chain)
}

impl Rotation {
    /// Says from which announcement a space goes on whose keys change: the one that somebody names, or the newest
    /// one here.
    fn resume_of(
        &self,
        space: &SessionSpace,
        chain: &IdentityChain,
        of: SpaceId,
    ) -> Result<Option<Cid>> {
        let named = self.resume.iter().find(|(named, _)| *named == of);
        let Some((_, resume)) = named else { return newest_here(space, chain, of) };
        let Some(cid) = *resume else { return Ok(None) };
        let repository = space.repository();
        let record = repository.find_ref(&accepted_ref(chain.peer(), of))?;
        let own = repository.find_ref(&announce_ref(chain.peer(), of))?;
        let is_here = AcceptedChain::new(repository, own).holds(cid)?
            || AcceptedChain::of_record(repository, record)?.holds(cid)?;
        match is_here {
            true => Ok(Some(cid)),
            false => Err(Error::refused(
                format!("`{cid}` is no announcement of the space `{of}` that is here"),
                "`agentic peer show self` names the newest; without `--resume` it goes on from that",
            )),
        }
    }
}

/// Changes which spaces our identity lists, or where this one is.
///
/// # Errors
/// Fails when the space is listed already, or is not, and when a key does not sign.
pub fn change_space(space: &SessionSpace, change: &SpaceChange) -> Result<IdentityChain> {
    let repository = space.repository();
    match change {
        SpaceChange::Moved => {
            let chain = own_chain(repository)?.ok_or_else(no_identity)?;
            let of = moved_space(space, &chain)?;
            adopt_space_id(space, &of.to_string())?;
            Ok(chain)
        }
        SpaceChange::New { nick } => {
            let key = announcing_key(repository)?;
            let keys = vec![public_key(repository, &key)?];
            let chain = own_chain(repository)?.ok_or_else(no_identity)?;
            check_nick(&chain, nick)?;
            let id = new_space_id(space)?;
            let of = SpaceId::parse(&id).ok_or_else(|| Error::damaged("a space has no id"))?;
            let listed = ListedSpace { space: of, nick: nick.clone(), keys, resume: None };
            let chain =
                change_identity(space, &[key], "agentic peer space --new", |document, _| {
                    document.spaces.push(listed);
                    Ok(())
                })?;
            // Where nobody signs the space stays the one that it was.
            adopt_space_id(space, &id)?;
            Ok(chain)
        }
        SpaceChange::Add { space: of, key, nick } => {
            let keys = vec![public_key(repository, key)?];
            let chain = own_chain(repository)?.ok_or_else(no_identity)?;
            check_nick(&chain, nick)?;
            let listed = ListedSpace { space: *of, nick: nick.clone(), keys, resume: None };
            let signers = [key.clone()];
            change_identity(space, &signers, "agentic peer space --add", |document, _| {
                match document.space(*of) {
                    Some(_) => Err(Error::conflict(
                        "that space is listed already",
                        "`agentic peer show self` lists those that there are",
                    )),
                    None => {
                        document.spaces.push(listed);
                        Ok(())
                    }
                }
            })
        }
        SpaceChange::Remove { space: of } => {
            change_identity(space, &[], "agentic peer space --remove", |document, _| {
                let n_before = document.spaces.len();
                document.spaces.retain(|listed| listed.space != *of);
                match document.spaces.len() < n_before {
                    true => Ok(()),
                    false => Err(Error::refused(
                        format!("no space `{of}` is listed"),
                        "`agentic peer show self` lists those that there are",
                    )),
                }
            })
        }
    }
}

/// Writes the next document and makes it ours.
fn change_identity(
    space: &SessionSpace,
    signers: &[String],
    why: &str,
    change: impl FnOnce(&mut IdentityDocument, &IdentityChain) -> Result<()>,
) -> Result<IdentityChain> {
    let repository = space.repository();
    let tip = read_state(repository, IDENTITY_REF)?.map(|(tip, _)| tip);
    let mut chain = own_chain(repository)?.ok_or_else(no_identity)?;
    let before = chain.last().clone();
    let mut document = before.document.clone();
    document.seq = before.document.seq + 1;
    document.previous = Some(before.cid());
    document.time = space.now().millis().max(before.document.time);
    document.nonce = random(NONCE_BYTES)?;
    change(&mut document, &chain)?;
    refresh_blocks(repository, &mut document);
    let needed = signers_of(repository, &before, &document, signers)?;
    let signed = sign_document(repository, document, &needed.iter().collect::<Vec<_>>())?;
    match chain.take_in(signed)? {
        ChainGrowth::Grown => {}
        ChainGrowth::Known | ChainGrowth::Forked(_) => {
            return Err(Error::damaged("our own identity has a document that it cannot have"));
        }
    }
    save_chain(space, tip, &chain, why)?;
    Ok(chain)
}

/// Takes what our key ring says now of our keys of OpenPGP: one may sign for longer than it did. What the ring
/// does not have stays as it was.
fn refresh_blocks(repository: &agentic_git::Repository, document: &mut IdentityDocument) {
    for key in document.keys_mut().filter(|key| key.openpgp().is_some()) {
        if let Ok(fresh) = public_key(repository, key.as_str()) {
            *key = fresh;
        }
    }
}

/// Chooses who signs: control keys of the document before, as many as it needs, and every key that is
/// new.
fn signers_of(
    repository: &agentic_git::Repository,
    before: &SignedDocument,
    next: &IdentityDocument,
    signers: &[String],
) -> Result<Vec<String>> {
    let (old, known) = (&before.document, before.document.all_keys());
    let (mut needed, mut n_control) = (Vec::new(), 0);
    for key in control_keys(repository) {
        let public = public_key(repository, &key)?;
        if old.control.keys.contains(&public) && n_control < old.control.need {
            n_control += 1;
            needed.push(key);
        }
    }
    for key in signers {
        let public = public_key(repository, key)?;
        if !known.contains(&public) && next.all_keys().contains(&public) {
            needed.push(key.clone());
        }
    }
    match n_control < old.control.need {
        true => Err(Error::refused(
            "the configuration names too few control keys to change our identity",
            "set `agentic.controlKey` to the files of these keys",
        )),
        false => Ok(needed),
    }
}

/// Finds the newest announcement of a space of ours that is here, and that counts: of this one what it announced, of
/// another one what was accepted.
fn newest_here(space: &SessionSpace, chain: &IdentityChain, of: SpaceId) -> Result<Option<Cid>> {
    let repository = space.repository();
    let tip = match repository.find_ref(&announce_ref(chain.peer(), of))? {
        Some(tip) => tip,
        None => match repository.find_ref(&accepted_ref(chain.peer(), of))? {
            Some(record) => read_announced(repository, record)?,
            None => return Ok(None),
        },
    };
    let found = newest_covered(repository, chain, tip)?;
    Ok(found.map(|found| found.signed.cid()))
}

/// Finds which space a repository was before it was moved: the one whose announcements it has.
fn moved_space(space: &SessionSpace, chain: &IdentityChain) -> Result<SpaceId> {
    let repository = space.repository();
    let mut found = Vec::new();
    for listed in &chain.newest().spaces {
        if repository.find_ref(&announce_ref(chain.peer(), listed.space))?.is_some() {
            found.push(listed.space);
        }
    }
    match (found.as_slice(), chain.newest().spaces.as_slice()) {
        ([one], _) => Ok(*one),
        ([], [only]) => Ok(only.space),
        _ => Err(Error::refused(
            "it is not certain which space this repository was",
            "`agentic peer space --new` makes it a space of its own",
        )),
    }
}

fn check_nick(chain: &IdentityChain, nick: &str) -> Result<()> {
    if !is_nick(nick) {
        return Err(Error::usage(
            format!("`{nick}` cannot name a space"),
            "use up to 32 lower-case letters, digits and `-`",
        ));
    }
    match chain.newest().spaces.iter().any(|listed| listed.nick == nick) {
        true => Err(Error::conflict(
            format!("a space of ours is called `{nick}` already"),
            "choose another name with `--nick`",
        )),
        false => Ok(()),
    }
}

/// Finds a key that is named by itself, by its file or by its fingerprint.
fn named_key(space: &SessionSpace, text: &str) -> Result<PeerKey> {
    if let Some(chain) = own_chain(space.repository())?
        && let Some(key) = chain
            .newest()
            .all_keys()
            .into_iter()
            .find(|key| key.fingerprint() == text || key.as_str() == text)
    {
        return Ok(key.clone());
    }
    public_key(space.repository(), text)
}

fn no_identity() -> Error {
    Error::refused("this repository has no identity yet", "make one with `agentic peer init`")
}
