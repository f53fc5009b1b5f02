//! Ground state as git keeps it.

use agentic_model::{Oid, Signature};

use super::Repository;
use crate::Result;
use crate::ground::{Objects, RefMove, RefName, Refs, Written};
use crate::journal::{BranchMove, GitObject};

impl Refs for Repository {
    fn find_ref(&self, name: &str) -> Result<Option<Oid>> {
        Repository::find_ref(self, name)
    }

    fn list_refs(&self, prefix: &str) -> Result<Vec<RefName>> {
        Repository::list_refs(self, prefix)
    }

    fn move_ref(&self, step: &BranchMove, who: &Signature, why: &str) -> Result<RefMove> {
        Repository::move_ref(self, step, who, why)
    }

    fn delete_refs(&self, refs: &[(String, Oid)]) -> Result<()> {
        Repository::delete_refs(self, refs)
    }

    fn check_place_of_ref(&self, name: &str) -> Result<()> {
        Repository::check_place_of_ref(self, name)
    }

    fn wait_for_ref_lock(&self, name: &str) -> Result<()> {
        Repository::wait_for_ref_lock(self, name)
    }
}

impl Objects for Repository {
    fn name_object(&self, object: &GitObject) -> Oid {
        Repository::name_object(self, object)
    }

    fn has_object(&self, oid: Oid) -> bool {
        Repository::has_object(self, oid)
    }

    fn verify_object(&self, oid: Oid) -> Result<GitObject> {
        Repository::verify_object(self, oid)
    }

    fn write_objects(&self, objects: &[GitObject]) -> Result<Written> {
        Repository::write_objects(self, objects)
    }

    fn confirm_objects(&self, objects: &[GitObject], written: &Written) -> Result<()> {
        Repository::confirm_objects(self, objects, written)
    }

    fn write_again(&self, object: &GitObject, oid: Oid) -> Result<()> {
        Repository::write_again(self, object, oid)
    }

    fn is_ancestor(&self, old: Oid, new: Oid) -> Result<bool> {
        Repository::is_ancestor(self, old, new)
    }
}
