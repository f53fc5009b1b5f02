//! What the store asks of refs.

use agentic_model::{Oid, Signature};

use crate::Result;
use crate::journal::BranchMove;

/// The file in which git keeps many refs; it is rewritten when one of them goes.
pub const PACKED_REFS: &str = "packed-refs";

/// What became of a request to move a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a lost race must be handled"]
pub enum RefMove {
    /// It was where it was expected to be, and moved.
    Moved,
    /// Someone else moved it first; nothing was written.
    Lost {
        /// Where it is; nothing if it does not exist.
        found: Option<Oid>,
    },
}

/// A ref that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefName {
    /// Its full name.
    pub name: String,
    /// Where it points.
    pub target: Oid,
}

/// What a ref is worth after a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefState {
    /// There is none.
    Absent,
    /// It names a commit that can be read.
    Sound(Oid),
    /// It cannot be read, or its commit cannot.
    Damaged,
}

/// What git is in the middle of where it occupies a branch that is not checked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occupation {
    /// A rebase, which moves the branch when it is over.
    Rebase,
    /// A bisection, which checks the branch out again when it is over.
    Bisection,
}

impl Occupation {
    /// Returns the command of git that goes on with it and gives it up.
    pub fn command(self) -> &'static str {
        match self {
            Occupation::Rebase => "rebase",
            Occupation::Bisection => "bisect",
        }
    }
}

/// Names of commits that move only from where they are expected to be.
pub trait Refs {
    /// Reads where a ref points; nothing if it does not exist.
    ///
    /// # Errors
    /// Fails when the ref is damaged.
    fn find_ref(&self, name: &str) -> Result<Option<Oid>>;

    /// Lists the refs whose full names begin with `prefix`, in order.
    ///
    /// # Errors
    /// Fails when the refs cannot be read, or one of them is damaged.
    fn list_refs(&self, prefix: &str) -> Result<Vec<RefName>>;

    /// Moves a ref from where it is expected to be.
    ///
    /// # Errors
    /// Fails with [`RefError::Locked`](crate::error::RefError::Locked) when another program holds the ref's
    /// lock for a second, and when the ref cannot be written.
    fn move_ref(&self, step: &BranchMove, who: &Signature, why: &str) -> Result<RefMove>;

    /// Deletes those refs that are where they are expected to be, and leaves the others.
    ///
    /// # Errors
    /// Fails when a ref cannot be deleted for another reason than that it is elsewhere.
    fn delete_refs(&self, refs: &[(String, Oid)]) -> Result<()>;

    /// Checks that nothing keeps a ref from being made or moved: it is not symbolic, and no other ref
    /// stands where it needs a folder, or in the folder where it needs a file.
    ///
    /// # Errors
    /// Fails with [`RefError::Symbolic`](crate::error::RefError::Symbolic) and
    /// [`RefError::InTheWay`](crate::error::RefError::InTheWay).
    fn check_place_of_ref(&self, name: &str) -> Result<()>;

    /// Waits for another program's lock on a ref.
    ///
    /// # Errors
    /// Fails with [`RefError::Locked`](crate::error::RefError::Locked) when the lock stays for a second.
    fn wait_for_ref_lock(&self, name: &str) -> Result<()>;

    /// Removes another program's lock on a ref.
    ///
    /// # Errors
    /// Fails when it cannot be removed.
    fn break_ref_lock(&self, name: &str) -> Result<()>;

    /// Tells what a ref is worth.
    fn ref_state(&self, name: &str) -> RefState;

    /// Takes a damaged ref away, so that it can be written again. An older state of it may then show.
    ///
    /// # Errors
    /// Fails when it cannot be removed.
    fn forget_damaged_ref(&self, name: &str) -> Result<()>;

    /// Tells whether it is known that a ref was at `from` and was then moved elsewhere.
    fn moved_away(&self, name: &str, from: Oid) -> bool;

    /// Drops what a power cut spoilt of what is known of a ref's earlier places.
    ///
    /// # Errors
    /// Fails when that cannot be written.
    fn mend_log(&self, name: &str) -> Result<()>;
}
