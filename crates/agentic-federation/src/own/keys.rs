//! The keys that the configuration names: by which this space announces, and which write our identity.

use agentic_git::Repository;

use crate::key::{OPENPGP, PeerKey};
use crate::{Error, Result};

/// The setting that says by which key this space announces.
pub(super) const ANNOUNCE_KEY: &str = "agentic.announceKey";
/// The setting that says which keys write our identity.
const CONTROL_KEY: &str = "agentic.controlKey";

/// Returns how the configuration names the key by which this space announces.
///
/// # Errors
/// Fails when it names none.
pub fn announcing_key(repository: &Repository) -> Result<String> {
    repository.config(ANNOUNCE_KEY).ok_or_else(|| {
        Error::refused(
            "the configuration does not say by which key this space announces",
            format!("set `{ANNOUNCE_KEY}` to a public key or to the path of its file"),
        )
    })
}

/// Lists how the configuration names the keys that write our identity.
pub fn control_keys(repository: &Repository) -> Vec<String> {
    let arguments = ["config", "--get-all", CONTROL_KEY];
    let listed = repository.git(&arguments).map(|end| end.stdout).unwrap_or_default();
    listed.lines().map(str::to_owned).collect()
}

/// Notes by which key this space announces, and that it writes our identity.
///
/// # Errors
/// Fails when the configuration cannot be written.
pub fn remember_key(repository: &Repository, key: &str) -> Result<()> {
    let set = ["config", "--replace-all", ANNOUNCE_KEY, &absolute_key(key)];
    repository.configure(&set)?.checked(&set)?;
    let add = ["config", "--add", CONTROL_KEY, &absolute_key(key)];
    repository.configure(&add)?.checked(&add)?;
    Ok(())
}

pub(super) fn remember_keys(repository: &Repository, key: &str, control: &[String]) -> Result<()> {
    let set = ["config", "--replace-all", ANNOUNCE_KEY, &absolute_key(key)];
    repository.configure(&set)?.checked(&set)?;
    for (number, key) in control.iter().enumerate() {
        let how = if number == 0 { "--replace-all" } else { "--add" };
        let set = ["config", how, CONTROL_KEY, &absolute_key(key)];
        repository.configure(&set)?.checked(&set)?;
    }
    Ok(())
}

/// Names a file so that it is found from any folder.
pub(super) fn absolute_key(key: &str) -> String {
    if PeerKey::parse(key).is_ok() {
        return key.to_owned();
    }
    std::path::absolute(key).map_or_else(|_| key.to_owned(), |path| path.display().to_string())
}

/// Reads the public half of a key that is named by itself or by its file.
///
/// # Errors
/// Fails when there is none, and when it is of another sort.
pub fn public_key(repository: &Repository, key: &str) -> Result<PeerKey> {
    if key.starts_with(OPENPGP) {
        return public_openpgp_key(repository, key);
    }
    let text = repository.public_ssh_key(key).map_err(|error| {
        let hint =
            "name a public key, or a file with its public half beside it, as `ssh-keygen` makes";
        Error::refused(format!("there is no key `{key}`: {error}"), hint)
    })?;
    PeerKey::parse(&text).map_err(|wrong| {
        let hint = "make one with `ssh-keygen -t ed25519`";
        Error::refused(wrong.0, hint)
    })
}

/// Reads the public half of a key of OpenPGP from the key ring of whoever runs this.
fn public_openpgp_key(repository: &Repository, key: &str) -> Result<PeerKey> {
    let hint = "`gpg --list-secret-keys` lists those that sign here, with their whole fingerprints";
    let named = PeerKey::parse(key).map_err(|wrong| Error::refused(wrong.0, hint))?;
    let fingerprint = named.openpgp().unwrap_or_default();
    let block = repository
        .public_openpgp_key(fingerprint)
        .map_err(|error| Error::refused(format!("there is no key `{named}`: {error}"), hint))?;
    named.with_block(&block).map_err(|wrong| Error::refused(wrong.0, hint))
}

pub(super) fn public_keys(repository: &Repository, keys: &[String]) -> Result<Vec<PeerKey>> {
    let mut found: Vec<PeerKey> = Vec::new();
    for key in keys {
        let key = public_key(repository, key)?;
        if !found.contains(&key) {
            found.push(key);
        }
    }
    Ok(found)
}
