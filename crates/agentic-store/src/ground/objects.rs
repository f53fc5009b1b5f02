//! What the store asks of objects.

use std::path::PathBuf;

use agentic_model::{Instant, Oid};

use crate::Result;
use crate::journal::GitObject;

/// How objects were written.
#[derive(Debug)]
#[must_use = "a prune may take objects away that no ref names yet"]
pub enum WrittenObjects {
    /// Each for itself; their names.
    Loose(Vec<Oid>),
    /// All as one pack; its path.
    Packed(PathBuf),
}

/// What a commit says, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthoredMessage {
    /// The message.
    pub text: String,
    /// The author's date.
    pub authored_at: Instant,
}

/// Bytes that are named by what they are. They are written without a sync: what made them has them in
/// its journal until a checkpoint.
pub trait ObjectStore {
    /// Names an object without writing it.
    fn name_object(&self, object: &GitObject) -> Oid;

    /// Tells whether an object is there, without reading it.
    fn has_object(&self, oid: Oid) -> bool;

    /// Reads an object whole, as the disk has it, and checks that its bytes match its id.
    ///
    /// # Errors
    /// Fails when it is missing or damaged.
    fn verify_object(&self, oid: Oid) -> Result<GitObject>;

    /// Reads the message of a commit and when it was authored.
    ///
    /// # Errors
    /// Fails when it is missing, damaged or not a commit.
    fn read_message(&self, commit: Oid) -> Result<AuthoredMessage>;

    /// Writes objects without syncing them, except those that are there.
    ///
    /// # Errors
    /// Fails when there is no room or nothing may be written.
    fn write_objects(&self, objects: &[GitObject]) -> Result<WrittenObjects>;

    /// Writes those objects again that a prune took away before a ref named them.
    ///
    /// # Errors
    /// Fails as [`ObjectStore::write_objects`] does.
    fn confirm_objects(&self, objects: &[GitObject], written: &WrittenObjects) -> Result<()>;

    /// Writes an object that is gone or cannot be read. What is there of it is moved aside.
    ///
    /// # Errors
    /// Fails as [`ObjectStore::write_objects`] does.
    fn write_again(&self, object: &GitObject, oid: Oid) -> Result<()>;

    /// Moves objects aside that cannot be read: whoever has the bytes writes them again.
    ///
    /// # Errors
    /// Fails when they cannot be listed or moved.
    fn set_damaged_aside(&self) -> Result<()>;

    /// Tells whether a commit is another one or an ancestor of it. One that is gone is not.
    ///
    /// # Errors
    /// Fails when the history of `new` is damaged.
    fn is_ancestor(&self, old: Oid, new: Oid) -> Result<bool>;
}
