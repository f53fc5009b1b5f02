//! Objects in memory.

use std::collections::BTreeSet;

use agentic_model::{Instant, Oid};

use super::MemoryRepository;
use crate::ground::{AuthoredMessage, ObjectStore, WrittenObjects};
use crate::journal::{GitKind, GitObject};
use crate::{Error, Result};

/// How a line of a commit begins that names a parent.
const PARENT: &str = "parent ";
/// How the line begins that names the author and the date.
const AUTHOR: &str = "author ";

/// Names an object as git does where ids have 20 bytes.
pub(super) fn name_object(object: &GitObject) -> Oid {
    let kind = match object.kind {
        GitKind::Blob => "blob",
        GitKind::Tree => "tree",
        GitKind::Commit => "commit",
    };
    let mut hasher = sha1dc::Hasher::new();
    hasher.update(format!("{kind} {}\0", object.bytes.len()).as_bytes());
    hasher.update(&object.bytes);
    // Bytes that were made to collide keep their plain hash: nobody but a test is asked here.
    let digest = hasher.finalize().unwrap_or_else(|collision| collision.digest());
    Oid::from_bytes(digest.as_ref()).expect("a digest has 20 bytes")
}

impl ObjectStore for MemoryRepository {
    fn name_object(&self, object: &GitObject) -> Oid {
        name_object(object)
    }

    fn has_object(&self, oid: Oid) -> bool {
        self.objects.borrow().contains_key(&oid)
    }

    fn verify_object(&self, oid: Oid) -> Result<GitObject> {
        let found = self.objects.borrow().get(&oid).cloned().ok_or_else(|| missing(oid))?;
        match name_object(&found) == oid {
            true => Ok(found),
            false => Err(Error::corrupt(format!("object {oid}"), "its bytes are not its own")),
        }
    }

    fn read_message(&self, commit: Oid) -> Result<AuthoredMessage> {
        let bytes = self.verify_object(commit)?.bytes;
        let text = String::from_utf8_lossy(&bytes);
        let read = || {
            let (header, message) = text.split_once("\n\n")?;
            let author = header.lines().find_map(|line| line.strip_prefix(AUTHOR))?;
            let seconds: i64 = author.rsplit(' ').nth(1)?.parse().ok()?;
            let authored_at = Instant::from_millis(seconds * 1000);
            Some(AuthoredMessage { text: message.to_owned(), authored_at })
        };
        let reason = "it has no author's date or no message";
        read().ok_or_else(|| Error::corrupt(format!("the commit {commit}"), reason))
    }

    fn write_objects(&self, objects: &[GitObject]) -> Result<WrittenObjects> {
        let mut names = Vec::new();
        for object in objects {
            let oid = self.name_object(object);
            self.objects.borrow_mut().insert(oid, object.clone());
            names.push(oid);
        }
        Ok(WrittenObjects::Loose(names))
    }

    fn confirm_objects(&self, objects: &[GitObject], _written: &WrittenObjects) -> Result<()> {
        let _written_again = self.write_objects(objects)?;
        Ok(())
    }

    fn write_again(&self, object: &GitObject, oid: Oid) -> Result<()> {
        self.objects.borrow_mut().insert(oid, object.clone());
        Ok(())
    }

    fn set_damaged_aside(&self) -> Result<()> {
        self.objects.borrow_mut().retain(|oid, object| name_object(object) == *oid);
        Ok(())
    }

    fn is_ancestor(&self, old: Oid, new: Oid) -> Result<bool> {
        if old != new && !self.has_object(old) {
            return Ok(false);
        }
        let (mut seen, mut next) = (BTreeSet::new(), vec![new]);
        while let Some(oid) = next.pop() {
            if oid == old {
                return Ok(true);
            }
            if seen.insert(oid) {
                next.extend(parents(&self.verify_object(oid)?));
            }
        }
        Ok(false)
    }
}

/// Reads the parents of a commit.
fn parents(commit: &GitObject) -> Vec<Oid> {
    let text = String::from_utf8_lossy(&commit.bytes);
    let header = text.lines().take_while(|line| !line.is_empty());
    header.filter_map(|line| Oid::parse(line.strip_prefix(PARENT)?).ok()).collect()
}

fn missing(oid: Oid) -> Error {
    Error::corrupt(format!("object {oid}"), "it is not there")
}
