//! Signing: what people commit here carries their signature if `agentic.sign` is set.
//!
//! The program that signs may wait for a passphrase, for a key to be touched, or for whatever it
//! does with this very agent. So a commit is made and signed before the lock is taken, and made
//! once more if the branch has moved meanwhile.
//!
//! What a session commits is never signed: it must be possible to make it again, byte for byte,
//! from the session's records.

use agentic_git::Repository;
use agentic_model::Oid;
use agentic_model::commit::CommitData;
use agentic_store::journal::{GitKind, GitObject};

use crate::commit::Asker;
use crate::{Result, Space};

/// The switch in git's configuration.
const SWITCH: &str = "agentic.sign";

/// Whether a commit is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningChoice {
    /// It is signed.
    Signed,
    /// It is not.
    Plain,
}

impl SigningChoice {
    /// Tells whether what people commit is signed.
    ///
    /// # Errors
    /// Fails when git's configuration has a switch that is neither on nor off.
    pub fn of_people(space: &Space) -> Result<SigningChoice> {
        Ok(if space.repository().is_set(SWITCH)? {
            SigningChoice::Signed
        } else {
            SigningChoice::Plain
        })
    }

    /// Does the same for a commit that a session may have asked for.
    ///
    /// # Errors
    /// Fails as [`SigningChoice::of_people`] does.
    pub fn of(space: &Space, asker: Option<&Asker>) -> Result<SigningChoice> {
        match asker {
            Some(_) => Ok(SigningChoice::Plain),
            None => SigningChoice::of_people(space),
        }
    }

    /// Makes the object of a commit, and names it. Where it is signed a program of the user's runs.
    ///
    /// # Errors
    /// Fails when that program does not sign.
    pub fn make(self, repository: &Repository, data: &CommitData) -> Result<(Oid, GitObject)> {
        let bytes = match self {
            SigningChoice::Signed => repository.signer()?.sign(data)?,
            SigningChoice::Plain => data.to_bytes(),
        };
        let object = GitObject { kind: GitKind::Commit, bytes };
        Ok((repository.name_object(&object), object))
    }
}
