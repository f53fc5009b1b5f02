//! Refs: reading them, and moving them only from where they are expected to be.

use std::time::{Duration, Instant as Moment};

use agentic_model::{Oid, Signature};
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use super::loose_ref::{PlainRef, ShortWay};
use super::zone::offset;
use super::{Repository, to_id, to_oid};
use agentic_store::error::RefError;
use agentic_store::ground::RefMove;
use agentic_store::journal::BranchMove;
use agentic_store::{Error, Result, fault};

/// How long a writer waits for another program's lock on a ref.
pub(super) const REF_LOCK_WAIT: Duration = Duration::from_secs(1);

impl Repository {
    /// Reads where a ref points; nothing if it does not exist.
    ///
    /// # Errors
    /// Fails when the ref is damaged.
    pub fn find_ref(&self, name: &str) -> Result<Option<Oid>> {
        match self.read_plain_ref(name) {
            PlainRef::Names(oid) => return Ok(Some(oid)),
            PlainRef::Absent => return self.find_packed_ref(name),
            PlainRef::Other => {}
        }
        let found = self.inner.try_find_reference(name);
        let found = found.map_err(|error| Error::corrupt(format!("the ref `{name}`"), error))?;
        let Some(mut reference) = found else { return Ok(None) };
        let id = reference
            .peel_to_id()
            .map_err(|error| Error::corrupt(format!("the ref `{name}`"), error))?;
        Ok(Some(to_oid(&id)))
    }

    /// Moves a ref from where it is expected to be, and writes its reflog.
    ///
    /// # Errors
    /// Fails with [`RefError::Locked`] when another program holds the ref's lock for a second, and
    /// when the ref cannot be written.
    pub fn move_ref(&self, step: &BranchMove, who: &Signature, why: &str) -> Result<RefMove> {
        let expected = match step.expect {
            None => PreviousValue::MustNotExist,
            Some(oid) => PreviousValue::MustExistAndMatch(Target::Object(to_id(oid))),
        };
        let log = LogChange {
            mode: RefLog::AndReference,
            force_create_reflog: false,
            message: why.into(),
        };
        let new = Target::Object(to_id(step.new));
        fault::point("before-ref")?;
        if self.move_plain_ref(step, who, why)? == ShortWay::Moved {
            fault::point("after-ref")?;
            return Ok(RefMove::Moved);
        }
        let moved = self.change_ref(&step.name, step.expect, who, |name| RefEdit {
            change: Change::Update {
                log: log.clone(),
                expected: expected.clone(),
                new: new.clone(),
            },
            name,
            deref: false,
        })?;
        fault::point("after-ref")?;
        Ok(moved)
    }

    /// Deletes those refs that are where they are expected to be. If all of them are, and plain, no
    /// program is started; else git does it.
    ///
    /// # Errors
    /// Fails when git refuses for another reason than a ref that is elsewhere, and when the disk does.
    pub fn delete_refs(&self, refs: &[(String, Oid)]) -> Result<()> {
        if refs.is_empty() || self.delete_plain_refs(refs)? == ShortWay::Moved {
            return Ok(());
        }
        let Err(all) = self.delete_all(refs) else { return Ok(()) };
        for (name, expect) in refs {
            // One of them may have been moved; git then deletes none.
            if self.find_ref(name)? == Some(*expect)
                && self.delete_all(std::slice::from_ref(&(name.clone(), *expect))).is_err()
                && self.find_ref(name)? == Some(*expect)
            {
                return Err(all);
            }
        }
        Ok(())
    }

    fn delete_all(&self, refs: &[(String, Oid)]) -> Result<()> {
        let lines = refs.iter().map(|(name, expect)| format!("delete {name} {expect}\n"));
        let lines = lines.collect::<String>();
        // The caller holds locks: no hook runs, as none does when refs are moved.
        let arguments = ["-c", "core.hooksPath=/dev/null", "update-ref", "--stdin"];
        let program = self.git_with(&arguments, lines.as_bytes(), Vec::new())?;
        let done = program.checked(&arguments[2..]).map(drop);
        done.map_err(|error| self.blame_packed_lock(error))
    }

    /// Applies an edit, waiting for a foreign lock.
    fn change_ref(
        &self,
        name: &str,
        expect: Option<Oid>,
        who: &Signature,
        edit: impl Fn(FullName) -> RefEdit,
    ) -> Result<RefMove> {
        let full_name: FullName =
            name.try_into().map_err(Error::git::<gix::validate::reference::name::Error>(
                format!("use `{name}` as a ref"),
            ))?;
        let time = format!("{} {}", who.at.seconds(), offset(who.offset_minutes));
        let signature = gix::actor::SignatureRef {
            name: who.person.name.as_str().into(),
            email: who.person.email.as_str().into(),
            time: &time,
        };
        let deadline = Moment::now() + REF_LOCK_WAIT;
        let mut pause = Duration::from_millis(2);
        loop {
            let edits = Some(edit(full_name.clone()));
            let Err(error) = self.inner.edit_references_as(edits, Some(signature)) else {
                return Ok(RefMove::Moved);
            };
            if !self.common_dir().join(format!("{name}.lock")).exists() {
                let found = self.find_ref(name)?;
                if found != expect {
                    return Ok(RefMove::Lost { found });
                }
                let error = Error::git(format!("move the ref `{name}`"))(error);
                return Err(self.blame_packed_lock(error));
            }
            if Moment::now() >= deadline {
                return Err(Error::Ref(RefError::Locked { name: name.to_owned() }));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}
