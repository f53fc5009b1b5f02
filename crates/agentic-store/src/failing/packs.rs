//! Packs that fail at a step.

use super::FailingAt;
use crate::Result;
use crate::ground::Packs;
use crate::journal::GitObject;
use crate::layout::Stream;

impl<G: Packs> Packs for FailingAt<G> {
    type Packed = G::Packed;

    fn keep_as_pack(&self, stream: &Stream, objects: &[GitObject]) -> Result<()> {
        self.step("keep-as-pack", |inner| inner.keep_as_pack(stream, objects))
    }

    fn keep_blobs(&self, stream: &Stream, blobs: G::Packed) -> Result<()> {
        self.step("keep-blobs", |inner| inner.keep_blobs(stream, blobs))
    }

    fn link_packs(&self, stream: &Stream) -> Result<()> {
        self.step("link-packs", |inner| inner.link_packs(stream))
    }

    fn release_packs(&self, stream: &Stream) -> Result<()> {
        self.step("release-packs", |inner| inner.release_packs(stream))
    }

    fn sweep_replaced_packs(&self) -> Result<()> {
        self.step("sweep-replaced-packs", |inner| inner.sweep_replaced_packs())
    }
}
