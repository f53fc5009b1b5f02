//! The file that tells whoever comes later about a program: what it is, and, by a lock that the
//! program inherits, whether it lives.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::Pid;

use super::system;

/// The longest file that is read, in bytes.
const BYTES_MAX: u64 = 4 << 10;
/// The line that ends a file; one without it was never finished, and its program never began.
const END: &str = "end";

/// A file whose program is not over.
#[derive(Debug)]
pub(super) struct ProcessFile {
    path: PathBuf,
    /// The lock is held as long as anybody has this open.
    file: File,
}

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ProcessNote {
    pub boot: Option<String>,
    pub namespace: Option<String>,
    pub group: Option<i32>,
    pub start: Option<u64>,
    /// When the program began, in milliseconds since the boot.
    pub began_ms: u64,
    /// How long it may take, in milliseconds.
    pub limit_ms: u64,
}

impl ProcessFile {
    /// Makes the file of a program that is to be started for a request, locked.
    pub fn create(folder: &Path, request: &str) -> std::io::Result<ProcessFile> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        // Several programs may run for one request, and other processes may have run some before.
        let nonce = system::since_boot_ms();
        let name = format!("{request}.{}-{nonce}-{number}", std::process::id());
        let path = folder.join(name);
        let open = || OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = match open() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Only the last part: a session that is over has its folder elsewhere.
                std::fs::create_dir(folder).or_else(|error| {
                    if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
                })?;
                open()?
            }
            file => file?,
        };
        let made = ProcessFile { path, file };
        made.file.lock()?;
        Ok(made)
    }

    /// Says what the program is. Not synced: a power cut ends the program as well.
    pub fn describe(&mut self, leader: Pid, limit: Duration) -> std::io::Result<()> {
        let pid = leader.as_raw_nonzero().get();
        let told = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let start = system::look(pid).map(|seen| seen.start.to_string());
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let text = format!(
            "boot {}\nnamespace {}\npid {pid}\nstart {}\ngroup {pid}\nbegan {}\nlimit {limit_ms}\n{END}\n",
            told(system::boot()),
            told(system::namespace()),
            told(start),
            system::since_boot_ms(),
        );
        self.file.write_all(text.as_bytes())
    }

    /// Returns the file that a program inherits.
    pub fn lock(&self) -> &File {
        &self.file
    }

    /// Removes the file: nobody needs to look for the program any more.
    pub fn remove(&self) {
        // Where it stays, its lock says that nothing lives.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Reads a file; nothing if it was never finished.
pub(super) fn read(file: &mut File) -> std::io::Result<Option<ProcessNote>> {
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text)?;
    let mut entry = ProcessNote::default();
    for line in text.lines() {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let known = (value != "-").then(|| value.to_owned());
        match key {
            "boot" => entry.boot = known,
            "namespace" => entry.namespace = known,
            "start" => entry.start = value.parse().ok(),
            "group" => entry.group = value.parse().ok(),
            "began" => entry.began_ms = value.parse().unwrap_or_default(),
            "limit" => entry.limit_ms = value.parse().unwrap_or_default(),
            END => return Ok(Some(entry)),
            // Written for people, or by a later version.
            _ => {}
        }
    }
    Ok(None)
}
