//! What peers gave on: capabilities that stand in the snapshot of their issuer, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Cid;
use agentic_session::SessionSpace;
use agentic_store::ground::ObjectStore;

use crate::acceptance::announced_by;
use crate::accepted::accepted_spaces;
use crate::announcement::SpaceAnnouncement;
use crate::capability::{CAPABILITY_BYTES_MAX, Capability};
use crate::caps::read_policy;
use crate::folder::{FolderDraft, TreeFolder, read_file, read_subfolder};
use crate::id::PeerId;
use crate::known::KnownPeer;
use crate::own::OwnIdentity;
use crate::policy::PeerPolicy;
use crate::project::pinned_project;
use crate::wrapping::{body_of, read_wrapped};
use crate::{Error, MalformedInput, Result};

/// The folder of a snapshot that has what its peer gave on.
const CAPS_FOLDER: &str = "caps";
/// How many capabilities of one snapshot are read.
const GIVEN_MAX: usize = 4_096;

/// Puts what we gave on into a snapshot, and tells whether the one before had something else. What was
/// revoked is left out, which ends it for everybody.
pub(crate) fn put_given(
    space: &SessionSpace,
    own: &OwnIdentity,
    before: &TreeFolder,
    folder: &mut FolderDraft,
) -> Result<bool> {
    let policy = read_policy(space)?.policy;
    let given = policy.grants.iter().filter(|(cid, grant)| {
        grant.issuer == own.peer() && grant.parent.is_some() && !policy.revoked.contains_key(cid)
    });
    let mut names = BTreeSet::new();
    for (cid, grant) in given {
        folder.put(&format!("{CAPS_FOLDER}/{cid}"), grant.to_bytes());
        names.insert(cid.to_string());
    }
    let old = read_subfolder(space.repository(), before, CAPS_FOLDER)?;
    Ok(!old.keys().eq(names.iter()))
}

/// Checks that what a snapshot gives on is what its names say, and is given by its peer.
///
/// # Errors
/// Fails with [`Error::Malformed`] where it is not.
pub(crate) fn check_given(
    store: &impl ObjectStore,
    said: &SpaceAnnouncement,
    [old, new]: [&TreeFolder; 2],
) -> Result<()> {
    if old.get(CAPS_FOLDER) == new.get(CAPS_FOLDER) {
        return Ok(());
    }
    let caps = read_subfolder(store, new, CAPS_FOLDER)?;
    for name in caps.keys() {
        given_as(store, &caps, name, said.peer)?;
    }
    Ok(())
}

/// Reads what a snapshot gives on under a name.
fn given_as(
    store: &impl ObjectStore,
    caps: &TreeFolder,
    name: &str,
    issuer: PeerId,
) -> Result<(Cid, Capability)> {
    let bytes = read_file(store, caps, name, CAPABILITY_BYTES_MAX)?.unwrap_or_default();
    let capability = Capability::decode(&bytes)?;
    let cid = Cid::of(&bytes);
    match cid.to_string() == name && capability.issuer == issuer {
        true => Ok((cid, capability)),
        false => {
            let why = format!("`{CAPS_FOLDER}/{name}` is no capability that it gave on");
            Err(Error::Malformed(MalformedInput(why)))
        }
    }
}

/// Reads what peers gave on, from the newest accepted snapshot of each of their spaces that counts. What is nowhere
/// in these does not exist. Where nobody may give anything on, nothing is read.
pub(crate) fn read_given(
    space: &SessionSpace,
    policy: &PeerPolicy,
) -> Result<BTreeMap<Cid, Capability>> {
    let mut given = BTreeMap::new();
    if !policy.grants.values().any(|grant| grant.delegate > 0) {
        return Ok(given);
    }
    let repository = space.repository();
    let project = pinned_project(repository)?;
    for followed in policy.peers.values() {
        let spaces = accepted_spaces(repository, followed.peer)?;
        if spaces.is_empty() {
            continue;
        }
        let known = KnownPeer::read(repository, followed.peer)?;
        for (_, record) in spaces.into_iter().filter(|(of, _)| known.lists(*of)) {
            let wrapped = read_wrapped(repository, announced_by(repository, record)?)?;
            let body = body_of(repository, &wrapped)?;
            let caps = read_subfolder(repository, &body, CAPS_FOLDER)?;
            for name in caps.keys().take(GIVEN_MAX) {
                let Ok((cid, capability)) = given_as(repository, &caps, name, followed.peer) else {
                    continue;
                };
                if Some(capability.project) == project && capability.parent.is_some() {
                    given.insert(cid, capability);
                }
            }
        }
    }
    Ok(given)
}
