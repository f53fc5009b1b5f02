//! Files of vendors: read only where vendors keep them, and only if they are files of this user.
//!
//! A payload names paths, and whoever wrote it may name any. So a path counts only if it is absolute,
//! its real path lies under a known root, and what is there is a regular file of this user. It is
//! opened without waiting: a pipe would never answer.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use agentic_model::Instant;

use crate::opencode_store::{OpencodeSession, is_database, is_session_file};
use crate::plain_text::{PlainText, is_compressed};
use crate::transcript::PlacedFile;
use crate::{ConversationId, HookEnvironment, Source};

/// A file that may be read.
#[derive(Debug)]
pub struct VendorFile {
    /// The file, open.
    pub file: File,
    /// Its real path.
    pub path: PathBuf,
    /// The same below its root: it says nothing of whose folder that is.
    pub below: PathBuf,
    /// How a transcript stands in it.
    pub form: TranscriptForm,
}

/// How a transcript stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptForm {
    /// As lines, maybe compressed.
    Lines,
    /// As one object of JSON that has a list of messages.
    Messages,
    /// As rows, among those of other conversations.
    Rows(OpencodeSession),
}

/// What tells, together with its length, that a file was not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// The device that it lies on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its length; of rows a number that another state does not have.
    pub length: u64,
}

impl FileStamp {
    /// Takes what is known of a file.
    pub fn of(found: &Metadata) -> FileStamp {
        FileStamp { device: found.dev(), inode: found.ino(), length: found.len() }
    }
}

impl VendorFile {
    /// Opens what lies at a real path, which has no link in its last place.
    fn at(path: PathBuf, below: PathBuf) -> Result<VendorFile, VendorFileRefusal> {
        let file = match agentic_store::os::open_unblocked(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(VendorFileRefusal::Missing);
            }
            Err(_) => return Err(VendorFileRefusal::Closed),
        };
        // What was opened is looked at, not what the path names by now.
        let found = file.metadata().map_err(|_| VendorFileRefusal::Closed)?;
        if !found.is_file() {
            return Err(VendorFileRefusal::NotRegular);
        }
        if found.uid() != agentic_store::user_id() {
            return Err(VendorFileRefusal::Foreign);
        }
        Ok(VendorFile { file, path, below, form: TranscriptForm::Lines })
    }

    /// Opens a file that lies in the same folder.
    ///
    /// # Errors
    /// Fails with the first reason why it may not be read.
    pub fn beside(&self, name: &OsStr) -> Result<VendorFile, VendorFileRefusal> {
        VendorFile::at(self.path.with_file_name(name), self.below.with_file_name(name))
    }

    /// Reads a part of the plain text; less where the text ends before.
    ///
    /// # Errors
    /// Fails when the file cannot be read or is not compressed as it says.
    pub fn part_at(&self, offset: u64, length: usize) -> std::io::Result<Vec<u8>> {
        if self.form != TranscriptForm::Lines || self.is_compressed()? {
            let mut part = Vec::with_capacity(length + 1);
            self.text_at(offset)?.take(length as u64).read_to_end(&mut part)?;
            return Ok(part);
        }
        // Each event comes by here: another handle on the file would cost more than what is read.
        let (mut part, mut filled) = (vec![0; length], 0);
        while filled < length {
            match self.file.read_at(&mut part[filled..], offset + filled as u64)? {
                0 => break,
                n_bytes => filled += n_bytes,
            }
        }
        part.truncate(filled);
        Ok(part)
    }

    /// Returns the plain text of the transcript from a place on.
    ///
    /// # Errors
    /// Fails when the file cannot be read or is not compressed as it says.
    pub fn text_at(&self, offset: u64) -> std::io::Result<PlainText<PlacedFile>> {
        let at = |at: u64| std::io::Result::Ok(PlacedFile::at(self.file.try_clone()?, at));
        let mut input = match &self.form {
            TranscriptForm::Lines if self.is_compressed()? => PlainText::unpacked(at(0)?)?,
            TranscriptForm::Lines => return Ok(PlainText::Plain(at(offset)?)),
            TranscriptForm::Messages => PlainText::messages(at(0)?),
            TranscriptForm::Rows(session) => PlainText::Rows(Box::new(session.rows()?)),
        };
        std::io::copy(&mut input.by_ref().take(offset), &mut std::io::sink())?;
        Ok(input)
    }

    /// Tells whether the file is compressed.
    fn is_compressed(&self) -> std::io::Result<bool> {
        let mut first = [0; 4];
        let length = self.file.read_at(&mut first, 0)?;
        Ok(is_compressed(&first[..length]))
    }

    /// Returns what tells that the transcript was not touched.
    ///
    /// # Errors
    /// Fails when the file cannot be looked at.
    pub fn stamp(&self) -> std::io::Result<FileStamp> {
        let stamp = FileStamp::of(&self.file.metadata()?);
        match &self.form {
            TranscriptForm::Lines | TranscriptForm::Messages => Ok(stamp),
            TranscriptForm::Rows(session) => Ok(FileStamp { length: session.stamp()?, ..stamp }),
        }
    }

    /// Says when somebody wrote into it last.
    ///
    /// # Errors
    /// Fails when the file cannot be looked at.
    pub fn modified(&self) -> std::io::Result<Instant> {
        if let TranscriptForm::Rows(session) = &self.form {
            return Ok(session.modified);
        }
        let at = self.file.metadata()?.modified()?;
        let since = at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Ok(Instant::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// Why a path is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VendorFileRefusal {
    /// There is nothing, maybe not yet.
    #[error("there is no such file")]
    Missing,
    /// The path leads nowhere by itself.
    #[error("the path is not absolute")]
    Relative,
    /// It lies where no vendor keeps files.
    #[error("the path lies under no known root")]
    Outside,
    /// It is a folder, a pipe, a device or a socket.
    #[error("it is no regular file")]
    NotRegular,
    /// It is another user's.
    #[error("it is another user's")]
    Foreign,
    /// It may not be read.
    #[error("it cannot be opened")]
    Closed,
    /// Its vendor writes to it, and lets nobody read.
    #[error("its vendor is writing to it")]
    Busy,
    /// It is not of the form that its vendor gives it, or lacks the conversation.
    #[error("it does not have the conversation")]
    Damaged,
}

impl VendorFileRefusal {
    /// Returns the code under which the error log has it; nothing for what is no error.
    pub fn code(self) -> Option<&'static str> {
        match self {
            VendorFileRefusal::Missing => None,
            VendorFileRefusal::Relative => Some("transcript-relative"),
            VendorFileRefusal::Outside => Some("transcript-outside"),
            VendorFileRefusal::NotRegular => Some("transcript-not-regular"),
            VendorFileRefusal::Foreign => Some("transcript-foreign"),
            VendorFileRefusal::Closed => Some("transcript-closed"),
            VendorFileRefusal::Busy => Some("transcript-busy"),
            VendorFileRefusal::Damaged => Some("transcript-damaged"),
        }
    }
}

/// The folders in which vendors keep what they write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VendorRoots {
    wanted: Vec<PathBuf>,
}

impl VendorRoots {
    /// Finds them: where each vendor says, where each is by default, and those that the configuration
    /// adds, separated by colons.
    pub fn of(environment: &HookEnvironment, configured: Option<&str>) -> VendorRoots {
        let named = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_HOME"];
        let mut wanted: Vec<PathBuf> =
            named.iter().filter_map(|name| environment.path(name)).collect();
        if let Some(home) = environment.home() {
            let own = [".claude", ".config/claude", ".codex", ".gemini", ".copilot", ".cursor"];
            wanted.extend(own.iter().map(|folder| home.join(folder)));
            let data = environment.path("XDG_DATA_HOME").unwrap_or(home.join(".local/share"));
            wanted.push(data.join("opencode"));
        }
        let added = configured.into_iter().flat_map(|roots| roots.split(':'));
        wanted.extend(added.filter(|root| root.starts_with('/')).map(PathBuf::from));
        VendorRoots { wanted }
    }

    /// Returns a real path below the first root that it lies under.
    fn below(&self, real: &Path) -> Option<PathBuf> {
        self.wanted.iter().find_map(|root| {
            // What a real path begins with is real itself, and need not be looked up.
            if let Ok(below) = real.strip_prefix(root) {
                return Some(below.to_owned());
            }
            real.strip_prefix(root.canonicalize().ok()?).ok().map(Path::to_owned)
        })
    }

    /// Opens a file if it may be read.
    ///
    /// # Errors
    /// Fails with the first reason why not.
    pub fn open(&self, path: &Path) -> Result<VendorFile, VendorFileRefusal> {
        if !path.is_absolute() {
            return Err(VendorFileRefusal::Relative);
        }
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(VendorFileRefusal::Missing);
            }
            Err(_) => return Err(VendorFileRefusal::Closed),
        };
        let below = self.below(&real).ok_or(VendorFileRefusal::Outside)?;
        VendorFile::at(real, below)
    }

    /// Opens the transcript of a conversation, in whatever form its vendor keeps it.
    ///
    /// # Errors
    /// Fails with the first reason why not.
    pub fn open_transcript(
        &self,
        path: &Path,
        id: &ConversationId,
        now: Instant,
    ) -> Result<VendorFile, VendorFileRefusal> {
        let mut file = self.open(path)?;
        let is_json = file.path.extension().is_some_and(|ending| ending == "json");
        file.form = match id.source {
            Source::Gemini if is_json => TranscriptForm::Messages,
            Source::Opencode if is_database(&file.path) || is_session_file(&file.path) => {
                let session = OpencodeSession::find(&file.path, &id.native, now);
                TranscriptForm::Rows(session.map_err(|_| VendorFileRefusal::Damaged)?)
            }
            Source::Claude
            | Source::Codex
            | Source::Cursor
            | Source::Gemini
            | Source::Copilot
            | Source::Opencode => TranscriptForm::Lines,
        };
        Ok(file)
    }

    /// Opens the file in which the vendor keeps a conversation as rows that goes on now.
    ///
    /// # Errors
    /// Fails with the first reason why not.
    pub fn open_live_rows(
        &self,
        path: &Path,
        id: &ConversationId,
        now: Instant,
    ) -> Result<VendorFile, VendorFileRefusal> {
        let file = self.open(path)?;
        let session = OpencodeSession::glance(&file.path, &id.native, now);
        let refusals = [
            (ErrorKind::NotFound, VendorFileRefusal::Missing),
            (ErrorKind::ResourceBusy, VendorFileRefusal::Busy),
        ];
        let refusal = |error: std::io::Error| {
            let known = refusals.iter().find(|(kind, _)| *kind == error.kind());
            known.map_or(VendorFileRefusal::Damaged, |(_, refusal)| *refusal)
        };
        let session = session.map_err(refusal)?;
        Ok(VendorFile { form: TranscriptForm::Rows(session), ..file })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_under_known_roots_are_opened() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = folder.path().canonicalize().expect("just made");
        let claude = home.join(".claude");
        std::fs::create_dir_all(claude.join("projects")).expect("writable");
        for path in [".claude/projects/a.jsonl", "secret"] {
            std::fs::write(home.join(path), "x").expect("writable");
        }
        symlink(home.join("secret"), claude.join("link")).expect("writable");
        symlink(claude.join("projects/a.jsonl"), claude.join("inner")).expect("writable");
        let made = std::process::Command::new("mkfifo").arg(claude.join("fifo")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo works");
        let roots = VendorRoots::of(&HookEnvironment::of([("HOME", &home)]), None);
        for (path, refusal) in [
            (".claude/projects/a.jsonl", None),
            (".claude/inner", None),
            (".claude/projects/../../secret", Some(VendorFileRefusal::Outside)),
            (".claude/link", Some(VendorFileRefusal::Outside)),
            ("secret", Some(VendorFileRefusal::Outside)),
            (".claude/fifo", Some(VendorFileRefusal::NotRegular)),
            (".claude/projects", Some(VendorFileRefusal::NotRegular)),
            (".claude/none", Some(VendorFileRefusal::Missing)),
        ] {
            assert_eq!(roots.open(&home.join(path)).err(), refusal, "{path}");
        }
        let relative = roots.open(Path::new("x.jsonl")).err();
        assert_eq!(relative, Some(VendorFileRefusal::Relative));
        let added = home.to_str().expect("text");
        let more = VendorRoots::of(&HookEnvironment::default(), Some(added));
        assert_eq!(more.open(&home.join("secret")).expect("a file").below, Path::new("secret"));
    }
}
