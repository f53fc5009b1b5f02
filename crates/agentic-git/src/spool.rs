//! Contents that wait on the disk because they are too long for memory.
//!
//! They stand where packs are begun: nobody takes them for anything else, what a crash leaves of them
//! is swept like these, and they are gone once nobody needs them.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::Path;

use agentic_model::Oid;

use super::made_pack::UnplacedPack;
use super::pack_file::PackFolder;
use super::{BlobIntake, Scratch};
use agentic_store::{Error, Result};

/// A content that is being written.
#[derive(Debug)]
pub struct SpoolWriter {
    folder: PackFolder,
    begun: UnplacedPack,
    out: BufWriter<File>,
}

/// A content on the disk, for as long as somebody has this.
#[derive(Debug)]
pub struct SpooledContent {
    folder: PackFolder,
    begun: UnplacedPack,
}

impl PartialEq for SpooledContent {
    fn eq(&self, other: &SpooledContent) -> bool {
        self.path() == other.path()
    }
}

impl Eq for SpooledContent {}

impl Scratch {
    /// Begins to write a content.
    ///
    /// # Errors
    /// Fails when its file cannot be made.
    pub fn spool(&self) -> Result<SpoolWriter> {
        let folder = self.pack_folder()?;
        folder.sweep();
        SpoolWriter::begin(folder)
    }
}

impl SpoolWriter {
    fn begin(folder: PackFolder) -> Result<SpoolWriter> {
        let (begun, file) = folder.begin("spool")?;
        Ok(SpoolWriter { folder, begun, out: BufWriter::new(file) })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(Error::io("write", &self.begun.path))
    }

    /// Ends the content.
    ///
    /// # Errors
    /// Fails when the disk is full.
    pub fn finish(mut self) -> Result<SpooledContent> {
        self.out.flush().map_err(Error::io("write", &self.begun.path))?;
        Ok(SpooledContent { folder: self.folder, begun: self.begun })
    }
}

impl SpooledContent {
    /// Opens the content at its beginning.
    ///
    /// # Errors
    /// Fails when its file is gone.
    pub fn open(&self) -> Result<File> {
        File::open(self.path()).map_err(Error::io("read", self.path()))
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// Fails when its file is gone.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes).map_err(Error::io("read", self.path()))?;
        Ok(bytes)
    }

    fn path(&self) -> &Path {
        &self.begun.path
    }

    /// Begins to write another content where this one is, such as what it stands for.
    ///
    /// # Errors
    /// Fails when its file cannot be made.
    pub fn spool_beside(&self) -> Result<SpoolWriter> {
        SpoolWriter::begin(self.folder.clone())
    }
}

impl BlobIntake<'_> {
    /// Takes a content in from the disk, and returns its name.
    ///
    /// # Errors
    /// Fails when it cannot be read, and when the disk is full.
    pub fn write_spooled(&mut self, content: &SpooledContent) -> Result<Oid> {
        let (path, mut file) = (content.path(), content.open()?);
        let taken = self.write_file(&mut file, path, &mut || Ok(None))?;
        taken.ok_or_else(|| Error::corrupt(format!("`{}`", path.display()), "it has changed"))
    }
}
