//! Objects that fail at a step.

use agentic_model::Oid;

use super::FailingAt;
use crate::Result;
use crate::ground::{AuthoredMessage, ObjectStore, WrittenObjects};
use crate::journal::GitObject;

impl<G: ObjectStore> ObjectStore for FailingAt<G> {
    fn name_object(&self, object: &GitObject) -> Oid {
        self.inner.name_object(object)
    }

    fn has_object(&self, oid: Oid) -> bool {
        self.inner.has_object(oid)
    }

    fn verify_object(&self, oid: Oid) -> Result<GitObject> {
        self.step("verify-object", |inner| inner.verify_object(oid))
    }

    fn read_message(&self, commit: Oid) -> Result<AuthoredMessage> {
        self.step("read-message", |inner| inner.read_message(commit))
    }

    fn write_objects(&self, objects: &[GitObject]) -> Result<WrittenObjects> {
        self.step("write-objects", |inner| inner.write_objects(objects))
    }

    fn confirm_objects(&self, objects: &[GitObject], written: &WrittenObjects) -> Result<()> {
        self.step("confirm-objects", |inner| inner.confirm_objects(objects, written))
    }

    fn write_again(&self, object: &GitObject, oid: Oid) -> Result<()> {
        self.step("write-again", |inner| inner.write_again(object, oid))
    }

    fn set_damaged_aside(&self) -> Result<()> {
        self.step("set-damaged-aside", |inner| inner.set_damaged_aside())
    }

    fn is_ancestor(&self, old: Oid, new: Oid) -> Result<bool> {
        self.step("is-ancestor", |inner| inner.is_ancestor(old, new))
    }
}
