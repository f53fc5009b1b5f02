//! Refs in memory.

use agentic_model::{Oid, Signature};

use super::MemoryRepository;
use crate::error::RefError;
use crate::ground::{ObjectStore as _, RefMove, RefName, RefState, Refs};
use crate::journal::BranchMove;
use crate::{Error, Result};

impl Refs for MemoryRepository {
    fn find_ref(&self, name: &str) -> Result<Option<Oid>> {
        Ok(self.refs.borrow().get(name).copied())
    }

    fn list_refs(&self, prefix: &str) -> Result<Vec<RefName>> {
        let refs = self.refs.borrow();
        let below = refs.iter().filter(|(name, _)| name.starts_with(prefix));
        Ok(below.map(|(name, target)| RefName { name: name.clone(), target: *target }).collect())
    }

    fn move_ref(&self, step: &BranchMove, _who: &Signature, _why: &str) -> Result<RefMove> {
        let found = self.find_ref(&step.name)?;
        if found != step.expect {
            return Ok(RefMove::Lost { found });
        }
        self.check_place_of_ref(&step.name)?;
        self.refs.borrow_mut().insert(step.name.clone(), step.new);
        Ok(RefMove::Moved)
    }

    fn delete_refs(&self, refs: &[(String, Oid)]) -> Result<()> {
        let mut kept = self.refs.borrow_mut();
        for (name, expect) in refs {
            if kept.get(name) == Some(expect) {
                kept.remove(name);
            }
        }
        Ok(())
    }

    /// A ref is a file to git, so that `agents` and `agents/x` cannot both be there.
    fn check_place_of_ref(&self, name: &str) -> Result<()> {
        let is_below = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
        };
        let refs = self.refs.borrow();
        let other = refs.keys().find(|other| is_below(name, other) || is_below(other, name));
        match other {
            Some(other) if !refs.contains_key(name) => {
                Err(Error::Ref(RefError::InTheWay { name: name.to_owned(), other: other.clone() }))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Nobody else is here who could hold one.
    fn wait_for_ref_lock(&self, _name: &str) -> Result<()> {
        Ok(())
    }

    fn break_ref_lock(&self, _name: &str) -> Result<()> {
        Ok(())
    }

    fn ref_state(&self, name: &str) -> RefState {
        match self.refs.borrow().get(name) {
            Some(oid) if self.verify_object(*oid).is_ok() => RefState::Sound(*oid),
            Some(_) => RefState::Damaged,
            None => RefState::Absent,
        }
    }

    fn forget_damaged_ref(&self, name: &str) -> Result<()> {
        self.refs.borrow_mut().remove(name);
        Ok(())
    }

    /// There are no reflogs, as in a bare repository of git's.
    fn moved_away(&self, _name: &str, _from: Oid) -> bool {
        false
    }

    fn mend_log(&self, _name: &str) -> Result<()> {
        Ok(())
    }
}
