//! Signatures that were looked at already: a program of the user's runs for each.

use std::collections::BTreeMap;
use std::sync::Mutex;

use agentic_git::Repository;
use agentic_model::Oid;
use agentic_space::locked;

use crate::Result;

/// Whether signatures may be looked at: a program of the user's may run for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// They may.
    Free,
    /// They may not, because a lock is held: what was seen before counts.
    Locked,
}

/// What was seen of signatures: the message of a commit if one of some keys signed it. There are no
/// more than there are commits that say they decide something.
#[derive(Debug, Default)]
pub(crate) struct SeenSignatures(Mutex<BTreeMap<SignatureQuestion, Option<String>>>);

/// Which commit, and by which keys.
type SignatureQuestion = (Oid, Vec<String>);

/// What is known of the signature of a commit.
pub(crate) enum SignatureSight {
    /// One of the keys signed it: its message.
    Signed(String),
    /// None of them did.
    NotSigned,
    /// Nobody has looked.
    Nothing,
}

impl SeenSignatures {
    /// Tells what one of these keys signed of a commit, looking now where that may be.
    ///
    /// # Errors
    /// Fails when git cannot be asked.
    pub(crate) fn message(
        &self,
        repository: &Repository,
        commit: Oid,
        keys: Vec<String>,
        look: Look,
    ) -> Result<SignatureSight> {
        let question = (commit, keys);
        let known = match look {
            Look::Locked => locked(&self.0).get(&question).cloned(),
            // What a key ring holds may be different now.
            Look::Free => {
                let found = repository.message_signed_by(commit, &question.1)?;
                locked(&self.0).insert(question, found.clone());
                Some(found)
            }
        };
        Ok(match known {
            Some(Some(message)) => SignatureSight::Signed(message),
            Some(None) => SignatureSight::NotSigned,
            None => SignatureSight::Nothing,
        })
    }
}
