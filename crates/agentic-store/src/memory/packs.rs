//! Packs in memory: what each log keeps beside its records.

use super::MemoryRepository;
use crate::Result;
use crate::ground::{ObjectStore as _, Packs};
use crate::journal::GitObject;
use crate::layout::Stream;

impl Packs for MemoryRepository {
    type Packed = Vec<GitObject>;

    fn keep_as_pack(&self, stream: &Stream, objects: &[GitObject]) -> Result<()> {
        self.packs.borrow_mut().entry(stream.clone()).or_default().extend_from_slice(objects);
        self.link_packs(stream)
    }

    fn keep_blobs(&self, stream: &Stream, blobs: Vec<GitObject>) -> Result<()> {
        self.keep_as_pack(stream, &blobs)
    }

    fn link_packs(&self, stream: &Stream) -> Result<()> {
        match self.packs.borrow().get(stream) {
            Some(objects) => self.write_objects(objects).map(drop),
            None => Ok(()),
        }
    }

    fn release_packs(&self, stream: &Stream) -> Result<()> {
        self.packs.borrow_mut().remove(stream);
        Ok(())
    }

    /// None replaces another here.
    fn sweep_replaced_packs(&self) -> Result<()> {
        Ok(())
    }
}
