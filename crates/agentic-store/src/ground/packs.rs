//! What the store asks of packs.

use crate::Result;
use crate::journal::GitObject;
use crate::layout::Stream;

/// Objects of writes that are too large for a record: they are part of the log, and durable before the
/// record that needs them.
pub trait Packs {
    /// Blobs that are packed already, and belong to no log yet.
    type Packed;

    /// Makes a pack of some objects and keeps it, durably, until it is released.
    ///
    /// # Errors
    /// Fails when there is no room; what was made then is garbage.
    fn keep_as_pack(&self, stream: &Stream, objects: &[GitObject]) -> Result<()>;

    /// Keeps blobs that are packed already, durably, until they are released.
    ///
    /// # Errors
    /// Fails as [`Packs::keep_as_pack`] does.
    fn keep_blobs(&self, stream: &Stream, blobs: Self::Packed) -> Result<()>;

    /// Puts the packs of a log where objects are looked for, as far as they are not there.
    ///
    /// # Errors
    /// Fails when they cannot be put there.
    fn link_packs(&self, stream: &Stream) -> Result<()>;

    /// Takes the packs of a log out of it. Their objects stay; everything in the log must be
    /// checkpointed.
    ///
    /// # Errors
    /// Fails when a file cannot be removed.
    fn release_packs(&self, stream: &Stream) -> Result<()>;

    /// Removes packs whose objects stand in another one by now.
    ///
    /// # Errors
    /// Fails when a file cannot be removed.
    fn sweep_replaced_packs(&self) -> Result<()>;
}
