//! Trees of libraries: typed objects as in notes trees, and beside them folders of pointers, each a
//! small file that says which object a name means.

use agentic_model::library::POINTER_BYTES_MAX;
use agentic_model::{Cid, Kind, Oid};
use gix::objs::Tree;
use gix::objs::tree::EntryKind;

use super::edit::{NotesDraft, set_entry};
use super::{Leaf, LeafStyle, NotesState, OBJECTS, find_entry, key_of};
use crate::{Repository, to_id, to_oid};
use agentic_store::journal::{GitKind, GitObject, KeptObject};
use agentic_store::{Error, Result};

/// How many entries of a folder of pointers are read.
pub const POINTERS_MAX: usize = 10_000;

/// What changes in a library.
#[derive(Debug, Clone, Default)]
pub struct LibraryEdit {
    /// Objects to keep.
    pub objects: Vec<KeptObject>,
    /// Pointers to set or remove.
    pub pointers: Vec<PointerEdit>,
}

/// What changes about one pointer.
#[derive(Debug, Clone)]
pub struct PointerEdit {
    /// The folder that it stands in.
    pub folder: &'static str,
    /// Its name.
    pub name: String,
    /// What it says from now on; nothing if it goes.
    pub text: Option<String>,
}

/// The next tree of a library, not written yet, with the objects by which it differs.
#[derive(Debug)]
pub struct LibraryTree {
    /// The tree.
    pub tree: Oid,
    /// What it has that the tree before may lack.
    pub objects: Vec<GitObject>,
}

/// What stands in a folder of pointers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPointer {
    /// Its name; bytes that are not UTF-8 are replaced.
    pub name: String,
    /// Its bytes; nothing where it is no file that can be read, or one that is too long.
    pub bytes: Option<Vec<u8>>,
}

impl Repository {
    /// Makes the tree that an edit makes of a state of a library; nothing if that changes nothing.
    ///
    /// # Errors
    /// Fails when the state cannot be read.
    pub fn library_tree(
        &self,
        on: &NotesState<'_>,
        edit: &LibraryEdit,
    ) -> Result<Option<LibraryTree>> {
        let mut draft = NotesDraft::of(on)?;
        draft.keep(&edit.objects)?;
        for pointer in &edit.pointers {
            draft.point(pointer)?;
        }
        let finished = draft.finish()?;
        Ok(finished.map(|finished| LibraryTree { tree: finished.tree, objects: finished.objects }))
    }

    /// Tells how many bytes a blob has, without reading it.
    fn blob_bytes(&self, blob: Oid) -> Result<u64> {
        let doing = || format!("read blob {blob}");
        let find = || self.inner.find_header(to_id(blob)).map_err(Error::git_with(doing));
        let header = self.again(find)?;
        match header.kind().is_blob() {
            true => Ok(header.size()),
            false => Err(Error::corrupt(format!("object {blob}"), "it is no blob")),
        }
    }

    fn bounded_blob(&self, blob: Oid, bytes_max: usize) -> Result<Option<Vec<u8>>> {
        match self.blob_bytes(blob)? > bytes_max as u64 {
            true => Ok(None),
            false => self.read_blob(blob).map(Some),
        }
    }
}

impl NotesState<'_> {
    /// Reads a pointer.
    ///
    /// # Errors
    /// Fails when the tree is damaged.
    pub fn pointer(&self, folder: &str, name: &str) -> Result<Option<FoundPointer>> {
        let Some(folder) = self.pointer_folder(folder)? else { return Ok(None) };
        let folder = self.repository.load_tree(folder)?;
        Ok(find_entry(&folder, name).map(|entry| self.found_pointer(entry)))
    }

    /// Lists the pointers of a folder, of very many only the first.
    ///
    /// # Errors
    /// Fails when the tree is damaged.
    pub fn pointers(&self, folder: &str) -> Result<Vec<FoundPointer>> {
        let Some(folder) = self.pointer_folder(folder)? else { return Ok(Vec::new()) };
        let entries = self.repository.load_tree(folder)?.entries;
        Ok(entries.iter().take(POINTERS_MAX).map(|entry| self.found_pointer(entry)).collect())
    }

    /// Finds a folder of pointers: two states with one folder have the same pointers.
    ///
    /// # Errors
    /// Fails when the tree is damaged.
    pub fn pointer_folder(&self, folder: &str) -> Result<Option<Oid>> {
        let Some(root) = self.tree else { return Ok(None) };
        let root = self.repository.load_tree(root)?;
        let found = find_entry(&root, folder).filter(|entry| entry.mode.is_tree());
        Ok(found.map(|entry| to_oid(&entry.oid)))
    }

    fn found_pointer(&self, entry: &gix::objs::tree::Entry) -> FoundPointer {
        let bytes = match entry.mode.kind() {
            // One that the disk lost keeps nobody from reading the others.
            EntryKind::Blob => {
                let bytes = self.repository.bounded_blob(to_oid(&entry.oid), POINTER_BYTES_MAX);
                bytes.unwrap_or(None)
            }
            EntryKind::BlobExecutable | EntryKind::Tree | EntryKind::Link | EntryKind::Commit => {
                None
            }
        };
        FoundPointer { name: entry.filename.to_string(), bytes }
    }

    /// Reads an object of a type, if it is not longer than that, and checks its bytes against its id.
    ///
    /// # Errors
    /// Fails when the tree is damaged, and when the object is damaged or longer.
    pub fn bounded_object(
        &self,
        kind: &Kind,
        cid: Cid,
        bytes_max: usize,
    ) -> Result<Option<Vec<u8>>> {
        let (key, name) = (key_of(cid), cid.to_string());
        let leaf = Leaf { key: &key, style: LeafStyle::Object(&name) };
        for folder in self.type_folders()?.iter().filter(|it| it.filename == kind.as_str()) {
            let Some(blob) = self.find(Some(to_oid(&folder.oid)), &leaf, 0)? else { continue };
            if self.repository.blob_bytes(blob)? > bytes_max as u64 {
                let why = format!("it is longer than the {bytes_max} bytes that are read");
                return Err(Error::corrupt(format!("object {cid}"), why));
            }
            return self.checked(cid, blob).map(Some);
        }
        Ok(None)
    }
}

impl NotesDraft<'_> {
    fn keep(&mut self, objects: &[KeptObject]) -> Result<()> {
        let mut root = std::mem::replace(&mut self.root, Tree::empty());
        for object in objects {
            root = self.insert_object(root, object)?;
        }
        self.root = root;
        Ok(())
    }

    fn point(&mut self, edit: &PointerEdit) -> Result<()> {
        debug_assert!(edit.folder != OBJECTS, "pointers stand beside the objects");
        let mut root = std::mem::replace(&mut self.root, Tree::empty());
        let mut folder = self.subtree(&root, edit.folder)?;
        match &edit.text {
            Some(text) => {
                let blob = self.store(GitKind::Blob, text.clone().into_bytes());
                set_entry(&mut folder, &edit.name, EntryKind::Blob, blob);
            }
            None => folder.entries.retain(|entry| entry.filename != edit.name.as_str()),
        }
        root.entries.retain(|entry| entry.filename != edit.folder);
        // Git itself keeps no empty folders.
        if !folder.entries.is_empty() {
            let folder = self.store_tree(folder)?;
            set_entry(&mut root, edit.folder, EntryKind::Tree, folder);
        }
        self.root = root;
        Ok(())
    }
}
