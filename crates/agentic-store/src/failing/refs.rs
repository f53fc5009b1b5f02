//! Refs that fail at a step.

use agentic_model::{Oid, Signature};

use super::FailingAt;
use crate::Result;
use crate::ground::{RefMove, RefName, Refs};
use crate::journal::BranchMove;

impl<G: Refs> Refs for FailingAt<G> {
    fn find_ref(&self, name: &str) -> Result<Option<Oid>> {
        self.step("find-ref", |inner| inner.find_ref(name))
    }

    fn list_refs(&self, prefix: &str) -> Result<Vec<RefName>> {
        self.step("list-refs", |inner| inner.list_refs(prefix))
    }

    fn move_ref(&self, step: &BranchMove, who: &Signature, why: &str) -> Result<RefMove> {
        self.step("move-ref", |inner| inner.move_ref(step, who, why))
    }

    fn delete_refs(&self, refs: &[(String, Oid)]) -> Result<()> {
        self.step("delete-refs", |inner| inner.delete_refs(refs))
    }

    fn check_place_of_ref(&self, name: &str) -> Result<()> {
        self.step("check-place-of-ref", |inner| inner.check_place_of_ref(name))
    }

    fn wait_for_ref_lock(&self, name: &str) -> Result<()> {
        self.step("wait-for-ref-lock", |inner| inner.wait_for_ref_lock(name))
    }
}
