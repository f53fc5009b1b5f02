//! Git objects: naming, writing without syncing, reading.

use std::sync::Arc;

use agentic_model::Oid;
use gix::objs::{Exists as _, FindExt as _, Write as _};

use super::loose::{self, Compressor};
use super::object_cache::ObjectCache;
use super::object_file::READ_BYTES_MAX;
use super::{Repository, Scratch, from_gix, to_gix, to_id, to_oid};
use agentic_store::error::{GitError, RevisionError};
use agentic_store::file::Persistence;
use agentic_store::ground::WrittenObjects;
use agentic_store::journal::GitObject;
use agentic_store::{Error, Result, fault, os};

/// From how many objects on a write makes a pack of them instead of a file of each.
const PACKED_OBJECTS_MIN: usize = 128;
/// How often something that could not be read is read again, each time with fresh eyes.
const LOOKS_MAX: usize = 2;

/// Names an object as a repository does whose ids have 20 bytes.
pub fn name_object(object: &GitObject) -> Oid {
    name_by(gix::hash::Kind::Sha1, object)
}

fn name_by(hash: gix::hash::Kind, object: &GitObject) -> Oid {
    let id = gix::objs::compute_hash(hash, to_gix(object.kind), &object.bytes);
    to_oid(&id.expect("an object in memory can always be hashed"))
}

impl Repository {
    /// Names an object without writing it.
    pub fn name_object(&self, object: &GitObject) -> Oid {
        name_by(self.inner.object_hash(), object)
    }

    /// Writes objects without syncing them, except those that are there: very many as one pack.
    ///
    /// # Errors
    /// Fails when the disk is full or the repository is read-only.
    pub fn write_objects(&self, objects: &[GitObject]) -> Result<WrittenObjects> {
        self.write_named(objects, || self.name_objects(objects))
    }

    /// Does the same with objects whose names are known, if they are asked for.
    pub(super) fn write_named(
        &self,
        objects: &[GitObject],
        names: impl FnOnce() -> Vec<Oid>,
    ) -> Result<WrittenObjects> {
        if !objects.is_empty() {
            fault::point("before-objects")?;
        }
        let written = match objects.len() >= PACKED_OBJECTS_MIN && self.has_room_for_packs()? {
            true => WrittenObjects::Packed(self.pack_folder().write(objects, Persistence::Lazy)?),
            false => WrittenObjects::Loose(self.place_loose(objects, names())?),
        };
        fault::point("after-objects")?;
        Ok(written)
    }

    /// Writes those objects again that a prune took away before a ref named them.
    ///
    /// # Errors
    /// Fails when the disk is full or the repository is read-only.
    pub fn confirm_objects(&self, objects: &[GitObject], written: &WrittenObjects) -> Result<()> {
        match written {
            WrittenObjects::Loose(oids) => {
                for (object, oid) in objects.iter().zip(oids) {
                    if !self.has_loose_object(*oid) {
                        self.write_one(object, *oid)?;
                    }
                }
            }
            WrittenObjects::Packed(pack)
                if pack.exists() && pack.with_extension("idx").exists() => {}
            WrittenObjects::Packed(_) => {
                self.pack_folder().write(objects, Persistence::Lazy)?;
            }
        }
        Ok(())
    }

    /// Writes objects loose, except those that are.
    ///
    /// # Errors
    /// Fails when the disk is full or the repository is read-only.
    pub fn write_loose(&self, objects: &[GitObject]) -> Result<Vec<Oid>> {
        self.place_loose(objects, self.name_objects(objects))
    }

    fn name_objects(&self, objects: &[GitObject]) -> Vec<Oid> {
        objects.iter().map(|object| self.name_object(object)).collect()
    }

    fn place_loose(&self, objects: &[GitObject], oids: Vec<Oid>) -> Result<Vec<Oid>> {
        for (number, (object, oid)) in objects.iter().zip(&oids).enumerate() {
            self.write_one(object, *oid)?;
            if number == 0 {
                fault::point("first-object")?;
            }
        }
        Ok(oids)
    }

    /// A look into the packs would cost more than a second copy beside them.
    fn write_one(&self, object: &GitObject, oid: Oid) -> Result<()> {
        let kind = to_gix(object.kind);
        let header = gix::objs::encode::loose_header(kind, object.bytes.len() as u64);
        let mut compressed = Vec::new();
        let mut kept = self.compressor.borrow_mut();
        let level = self.inner.objects.loose_compression;
        let compressor = kept.get_or_insert_with(|| Compressor::new(level));
        compressor.loosen(&header, object, &mut compressed)?;
        let objects = self.inner.objects.store_ref().path();
        loose::place(objects, &oid.to_string(), &compressed)?;
        self.cache.remember(to_id(oid), kind, &object.bytes);
        Ok(())
    }

    fn has_loose_object(&self, oid: Oid) -> bool {
        loose::path_of(self.inner.objects.store_ref().path(), &oid.to_string()).exists()
    }

    /// Tells whether an object is there, without reading it.
    pub fn has_object(&self, oid: Oid) -> bool {
        // The repository itself would claim to have the empty tree even where nothing holds it.
        let id = to_id(oid);
        self.cache.is_in_files(&id)
            || self.inner.objects.exists(&id)
            || (self.cache.look_anew(&self.inner) && self.cache.is_on_disk(&id))
    }

    /// Tells whether something is a commit, as far as it can be read at all: a tag is none.
    pub fn may_be_commit(&self, oid: Oid) -> bool {
        let found = self.inner.find_header(to_id(oid));
        found.map_or(true, |header| header.kind() == gix::objs::Kind::Commit)
    }

    /// Reads a blob.
    ///
    /// # Errors
    /// Fails when it is missing, damaged or not a blob.
    pub fn read_blob(&self, oid: Oid) -> Result<Vec<u8>> {
        let doing = || format!("read blob {oid}");
        let find = || self.inner.find_blob(to_id(oid)).map_err(Error::git_with(doing));
        let mut found = self.again(find).map_err(|error| self.damaged_or(oid, error))?;
        Ok(found.take_data())
    }

    /// Reads an object whole and checks that its bytes match its id; a file of its own down to the
    /// last byte.
    ///
    /// # Errors
    /// Fails when it is missing or damaged.
    pub fn verify_object(&self, oid: Oid) -> Result<GitObject> {
        let failed = || Error::git_with(|| format!("read object {oid}"));
        let mut bytes = Vec::new();
        let id = to_id(oid);
        let path = loose::path_of(self.inner.objects.store_ref().path(), &oid.to_string());
        if let Some(object) = loose::read_whole(&path, READ_BYTES_MAX)? {
            return self.named(object, oid);
        }
        // What is remembered says nothing about the disk.
        let disk: &gix::odb::store::Handle<Arc<gix::odb::Store>> = &self.inner.objects;
        let kind = match self.cache.read_files(&id, &mut bytes) {
            Some(kind) => kind,
            None => match disk.find(&id, &mut bytes).map(|found| found.kind) {
                Ok(kind) => kind,
                Err(missed) => {
                    self.cache.look_anew(&self.inner);
                    let found = self.cache.read_disk(&id, &mut bytes);
                    found.ok_or(missed).map_err(failed())?
                }
            },
        };
        let kind = from_gix(kind)?;
        self.named(GitObject { kind, bytes }, oid)
    }

    fn named(&self, object: GitObject, oid: Oid) -> Result<GitObject> {
        if self.name_object(&object) != oid {
            return Err(Error::corrupt(format!("object {oid}"), "its bytes do not match its id"));
        }
        Ok(object)
    }

    /// Tells an object that is there and cannot be read from one that is missing.
    pub(super) fn damaged_or(&self, oid: Oid, error: Error) -> Error {
        match self.has_object(oid) {
            true => Error::corrupt(format!("object {oid}"), error),
            false => error,
        }
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
        os::sync_filesystem(&dir).map_err(Error::io("sync", path))?;
        fault::point("filesystem-synced")
    }
}

impl Scratch {
    /// Writes a blob into memory.
    ///
    /// # Errors
    /// Fails when the bytes cannot be hashed.
    pub fn write_blob(&self, bytes: &[u8]) -> Result<Oid> {
        // Not by way of the repository: that looks first whether any pack has it.
        let id = self.inner.objects.write_buf(gix::objs::Kind::Blob, bytes);
        let id = id.map_err(Error::git("write a blob"))?;
        Ok(to_oid(&id))
    }
}

impl Repository {
    /// Reads, and again if an object may have been missed that is there.
    pub(super) fn again<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        again(&self.inner, &self.cache, read)
    }
}

impl Scratch {
    /// Reads, and again if an object may have been missed that is there.
    pub(super) fn again<T>(&self, read: impl Fn() -> Result<T>) -> Result<T> {
        again(&self.inner, &self.cache, read)
    }
}

fn again<T>(
    view: &gix::Repository,
    cache: &ObjectCache,
    read: impl Fn() -> Result<T>,
) -> Result<T> {
    let mut outcome = read();
    for _ in 0..LOOKS_MAX {
        let may_be_missed = matches!(
            outcome,
            Err(Error::Git(GitError::Layer { .. }) | Error::Revision(RevisionError::Unknown { .. }))
        );
        if !may_be_missed || !cache.look_anew(view) {
            break;
        }
        outcome = read();
    }
    outcome
}
