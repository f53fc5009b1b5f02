//! Refs that fail at a step.

use agentic_model::{Oid, Signature};

use super::FailingAt;
use crate::Result;
use crate::ground::{RefMove, RefName, RefState, Refs};
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

    fn break_ref_lock(&self, name: &str) -> Result<()> {
        self.step("break-ref-lock", |inner| inner.break_ref_lock(name))
    }

    fn ref_state(&self, name: &str) -> RefState {
        self.inner.ref_state(name)
    }

    fn forget_damaged_ref(&self, name: &str) -> Result<()> {
        self.step("forget-damaged-ref", |inner| inner.forget_damaged_ref(name))
    }

    fn moved_away(&self, name: &str, from: Oid) -> bool {
        self.inner.moved_away(name, from)
    }

    fn mend_log(&self, name: &str) -> Result<()> {
        self.step("mend-log", |inner| inner.mend_log(name))
    }
}
