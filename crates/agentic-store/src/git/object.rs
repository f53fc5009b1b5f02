//! Git objects: naming, writing without syncing, reading.

use agentic_model::Oid;
use gix::objs::{Exists as _, Write as _};

use super::{Repository, Scratch, to_id, to_oid};
use crate::journal::{GitKind, GitObject};
use crate::{Error, Result, fault};

impl Repository {
    /// Names an object without writing it.
    pub fn name_object(&self, object: &GitObject) -> Oid {
        let id =
            gix::objs::compute_hash(self.inner.object_hash(), to_gix(object.kind), &object.bytes);
        to_oid(&id.expect("an object in memory can always be hashed"))
    }

    /// Writes objects without syncing them, except those that are there.
    ///
    /// # Errors
    /// Fails when the disk is full or the repository is read-only.
    pub fn write_objects(&self, objects: &[GitObject]) -> Result<()> {
        if !objects.is_empty() {
            fault::point("before-objects")?;
        }
        self.ensure_objects(objects)?;
        fault::point("after-objects")
    }

    /// Writes those objects again that a prune took away meanwhile.
    ///
    /// # Errors
    /// Fails when the disk is full or the repository is read-only.
    pub fn ensure_objects(&self, objects: &[GitObject]) -> Result<()> {
        for object in objects {
            let oid = self.name_object(object);
            // A look into the packs would cost more than a second copy beside them.
            if !self.has_loose_object(oid) {
                self.inner
                    .objects
                    .write_buf(to_gix(object.kind), &object.bytes)
                    .map_err(Error::git_with(|| format!("write object {oid}")))?;
            }
        }
        Ok(())
    }

    fn has_loose_object(&self, oid: Oid) -> bool {
        let hex = oid.to_string();
        self.inner.objects.store_ref().path().join(&hex[..2]).join(&hex[2..]).exists()
    }

    /// Tells whether an object is there, without reading it.
    pub fn has_object(&self, oid: Oid) -> bool {
        // The repository itself would claim to have the empty tree even where nothing holds it.
        self.inner.objects.exists(&to_id(oid))
    }

    /// Reads a blob.
    ///
    /// # Errors
    /// Fails when it is missing, damaged or not a blob.
    pub fn read_blob(&self, oid: Oid) -> Result<Vec<u8>> {
        let mut blob = self
            .inner
            .find_blob(to_id(oid))
            .map_err(Error::git_with(|| format!("read blob {oid}")))?;
        Ok(blob.take_data())
    }

    /// Reads an object whole and checks that its bytes match its id.
    ///
    /// # Errors
    /// Fails when it is missing or damaged.
    pub fn verify_object(&self, oid: Oid) -> Result<GitObject> {
        let object = self
            .inner
            .find_object(to_id(oid))
            .map_err(Error::git_with(|| format!("read object {oid}")))?;
        let object = GitObject { kind: from_gix(object.kind)?, bytes: object.data.clone() };
        if self.name_object(&object) != oid {
            return Err(Error::corrupt(format!("object {oid}"), "its bytes do not match its id"));
        }
        Ok(object)
    }

    /// Returns the id of the empty tree.
    pub fn empty_tree(&self) -> Oid {
        to_oid(&gix::ObjectId::empty_tree(self.inner.object_hash()))
    }

    /// Makes everything that the filesystem of the repository holds durable. Used where objects
    /// that others wrote become part of something acknowledged.
    ///
    /// # Errors
    /// Fails when the disk does.
    pub fn sync_filesystem(&self) -> Result<()> {
        let path = self.common_dir();
        let dir = std::fs::File::open(path).map_err(Error::io("open", path))?;
        rustix::fs::syncfs(&dir).map_err(|error| Error::io("sync", path)(error.into()))?;
        fault::point("filesystem-synced")
    }
}

impl Scratch {
    /// Writes a blob into memory.
    ///
    /// # Errors
    /// Fails when the bytes cannot be hashed.
    pub fn write_blob(&self, bytes: &[u8]) -> Result<Oid> {
        let id = self.inner.write_blob(bytes).map_err(Error::git("write a blob"))?;
        Ok(to_oid(&id))
    }
}

pub(super) fn to_gix(kind: GitKind) -> gix::objs::Kind {
    match kind {
        GitKind::Blob => gix::objs::Kind::Blob,
        GitKind::Tree => gix::objs::Kind::Tree,
        GitKind::Commit => gix::objs::Kind::Commit,
    }
}

pub(super) fn from_gix(kind: gix::objs::Kind) -> Result<GitKind> {
    match kind {
        gix::objs::Kind::Blob => Ok(GitKind::Blob),
        gix::objs::Kind::Tree => Ok(GitKind::Tree),
        gix::objs::Kind::Commit => Ok(GitKind::Commit),
        gix::objs::Kind::Tag => Err(Error::corrupt("a tree", "it holds a tag")),
    }
}
