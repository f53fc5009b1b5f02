//! Refs: reading them, and moving them only from where they are expected to be.

use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant as Moment};

use agentic_model::{Oid, Signature};
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use super::loose_ref::{PlainRef, ShortWay};
use super::zone::offset;
use super::{Repository, to_id, to_oid};
use agentic_store::error::RefError;
use agentic_store::ground::{PACKED_REFS, RefMove, RefName};
use agentic_store::journal::BranchMove;
use agentic_store::{Error, Result, fault};

/// How long a writer waits for another program's lock on a ref.
pub(super) const REF_LOCK_WAIT: Duration = Duration::from_secs(1);

/// How long a file must have been as it is. Clocks of filesystems tick every two seconds at the slowest.
const SETTLED_AFTER_SECONDS: i64 = 4;

/// How often refs are listed at most while other programs pack them.
const LISTINGS_MAX: u64 = 40;
/// The longest pause between two of them.
const PAUSE_MILLIS_MAX: u64 = 20;

/// Tells files of packed refs from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedRefsMark([i64; 7]);

impl PackedRefsMark {
    /// Says whether the file is so old that another one would have another time.
    pub fn is_settled(&self) -> bool {
        let [.., changed, _] = self.0;
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.is_ok_and(|now| now.as_secs().cast_signed() >= changed + SETTLED_AFTER_SECONDS)
    }

    /// Returns it as numbers.
    pub fn numbers(&self) -> [i64; 7] {
        self.0
    }

    /// Makes it of numbers.
    pub fn of_numbers(numbers: [i64; 7]) -> PackedRefsMark {
        PackedRefsMark(numbers)
    }
}

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

    /// Lists the refs whose full names begin with `prefix`, in order.
    ///
    /// # Errors
    /// Fails when the refs cannot be read, or one of them is damaged.
    pub fn list_refs(&self, prefix: &str) -> Result<Vec<RefName>> {
        for attempt in 1..LISTINGS_MAX {
            // A git that packs refs takes them from the one place to the other: who looks into the
            // first too late and into the second too early sees them in neither, or half gone.
            let before = self.packed_refs_mark();
            let listed = self.list_refs_once(prefix);
            if listed.is_ok() && self.packed_refs_mark() == before {
                return listed;
            }
            // It takes away one file after the other, which a slow disk takes its time for.
            std::thread::sleep(Duration::from_millis(attempt.min(PAUSE_MILLIS_MAX)));
        }
        self.list_refs_once(prefix)
    }

    /// Returns what changes whenever refs are packed; nothing where none are.
    pub fn packed_refs_mark(&self) -> Option<PackedRefsMark> {
        let found = std::fs::metadata(self.common_dir().join(PACKED_REFS)).ok()?;
        let (dev, ino) = (found.dev().cast_signed(), found.ino().cast_signed());
        let (modified, changed) =
            ([found.mtime(), found.mtime_nsec()], [found.ctime(), found.ctime_nsec()]);
        let length = found.len().cast_signed();
        let [at, nanos] = modified;
        Some(PackedRefsMark([dev, ino, length, at, nanos, changed[0], changed[1]]))
    }

    /// Lists the refs below a prefix that stand in files of their own, whether or not they are packed too.
    ///
    /// # Errors
    /// Fails when a folder cannot be read.
    pub fn loose_ref_names(&self, prefix: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let mut folders = vec![prefix.trim_end_matches('/').to_owned()];
        while let Some(folder) = folders.pop() {
            let path = self.common_dir().join(&folder);
            let entries = match std::fs::read_dir(&path) {
                Ok(entries) => entries,
                // Git removes empty folders when it packs.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io("list", &path)(error)),
            };
            for entry in entries {
                let entry = entry.map_err(Error::io("list", &path))?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let name = format!("{folder}/{name}");
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(name),
                    Ok(_) if name.ends_with(".lock") => {}
                    Ok(_) => names.push(name),
                    // It was packed a moment ago.
                    Err(_) => {}
                }
            }
        }
        names.sort();
        Ok(names)
    }

    fn list_refs_once(&self, prefix: &str) -> Result<Vec<RefName>> {
        let platform = self.inner.references().map_err(Error::git("list refs"))?;
        let mut found = Vec::new();
        for reference in platform.prefixed(prefix).map_err(Error::git("list refs"))? {
            let damaged = |error: Box<dyn std::error::Error + Send + Sync>| {
                Error::corrupt(format!("a ref below `{prefix}`"), error)
            };
            let reference = reference.map_err(|error| damaged(error.into()))?;
            let Some(id) = reference.try_id() else { continue };
            let name = reference.name().as_bstr().to_string();
            found.push(RefName { name, target: to_oid(&id) });
        }
        found.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(found)
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

    /// Deletes those refs that are where they are expected to be. Git itself does it, which rewrites
    /// the file of packed refs once and syncs it.
    ///
    /// # Errors
    /// Fails when git refuses for another reason than a ref that is elsewhere.
    pub fn delete_refs(&self, refs: &[(String, Oid)]) -> Result<()> {
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
        if refs.is_empty() {
            return Ok(());
        }
        let lines = refs.iter().map(|(name, expect)| format!("delete {name} {expect}\n"));
        let lines = lines.collect::<String>();
        // The caller holds locks: no hook runs, as none does when refs are moved.
        let arguments = ["-c", "core.hooksPath=/dev/null", "update-ref", "--stdin"];
        let program = self.git_with(&arguments, lines.as_bytes(), Vec::new())?;
        program.checked(&arguments[2..]).map(drop)
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
                return Err(Error::git(format!("move the ref `{name}`"))(error));
            }
            if Moment::now() >= deadline {
                return Err(Error::Ref(RefError::Locked { name: name.to_owned() }));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::run_git;

    /// How many refs there are, and how often they are made loose and packed again.
    const N_REFS: usize = 40;
    const N_ROUNDS: usize = 60;

    #[test]
    fn a_listing_has_every_ref_while_git_packs_them() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let git = |arguments: &[&str]| {
            let done = run_git(folder.path(), arguments).and_then(|done| done.checked(arguments));
            done.expect("git works").trim().to_owned()
        };
        git(&["init", "-q"]);
        let tree = git(&["write-tree"]);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
        let commits = ["one", "two"]
            .map(|message| git(&[&who[..], &["commit-tree", "-m", message, &tree]].concat()));
        let make_loose = |round: usize| {
            for number in 0..N_REFS {
                let path = folder.path().join(format!(".git/refs/heads/agents/{number}"));
                std::fs::create_dir_all(path.parent().expect("in a folder")).expect("writable");
                let fresh = folder.path().join(".git/fresh");
                std::fs::write(&fresh, format!("{}\n", commits[round % 2])).expect("writable");
                std::fs::rename(&fresh, &path).expect("writable");
            }
        };
        make_loose(0);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..N_ROUNDS {
                    git(&["pack-refs", "--all"]);
                    make_loose(round);
                }
                is_over.store(true, Ordering::Relaxed);
            });
            let repository = Repository::open(folder.path()).expect("just made");
            while !is_over.load(Ordering::Relaxed) {
                let listed = repository.list_refs("refs/heads/agents/").expect("sound");
                assert_eq!(listed.len(), N_REFS);
            }
        });
    }
}
