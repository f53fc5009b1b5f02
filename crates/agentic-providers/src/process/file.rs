//! The file that tells whoever comes later about a program: what it is, and, by a lock that the
//! program inherits, whether it lives.

use std::fs::{File, OpenOptions, TryLockError};
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

/// How the line begins of a file that was made before its program.
const RESERVED: &str = "reserved";
/// What stands for what is not known.
const ABSENT: &str = "-";

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

/// What a file tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProcessNoteState {
    /// It was never finished: its program never began, or nobody can know.
    Unfinished,
    /// It was made in this boot before what the program is for was recorded, and no program was
    /// started by it.
    Reserved,
    /// A program began.
    Begun(ProcessNote),
}

/// Makes the file of a program before there is one, with room for all that is to stand in it. So a full
/// disk shows before anything is recorded of what the program is for.
///
/// # Errors
/// Fails when there is no room for it.
pub fn reserve(folder: &Path, request: &str) -> std::io::Result<PathBuf> {
    let (path, file) = make(folder, request)?;
    let write = || {
        system::make_room(&file, BYTES_MAX)?;
        // A copy of the file says nothing: the program may have begun since.
        let place = place_of(&file)?;
        (&file).write_all(format!("{RESERVED} {place} {}\n", boot_told()).as_bytes())
    };
    let written = write();
    if written.is_err() {
        let _ = std::fs::remove_file(&path);
    }
    written.map(|()| path)
}

/// Makes an empty file for a request.
fn make(folder: &Path, request: &str) -> std::io::Result<(PathBuf, File)> {
    // process: files of programs must differ whoever in the process starts them.
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    // Several programs may run for one request, and other processes may have run some before.
    let nonce = system::since_boot_ms();
    let name = format!("{request}.{}-{nonce}-{number}", std::process::id());
    let path = folder.join(name);
    let open = || OpenOptions::new().read(true).append(true).create_new(true).open(&path);
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
    Ok((path, file))
}

/// Names a file among all of the machine.
fn place_of(file: &File) -> std::io::Result<String> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = file.metadata()?;
    Ok(format!("{}-{}", metadata.dev(), metadata.ino()))
}

fn boot_told() -> String {
    system::boot().unwrap_or_else(|| ABSENT.to_owned())
}

impl ProcessFile {
    /// Makes the file of a program that is to be started for a request, locked; takes the one that was
    /// made for it before, unless a program was started by that.
    pub fn create(
        folder: &Path,
        request: &str,
        reserved: Option<&Path>,
    ) -> std::io::Result<ProcessFile> {
        if let Some(taken) = reserved.map(ProcessFile::take).transpose()?.flatten() {
            return Ok(taken);
        }
        let (path, file) = make(folder, request)?;
        let made = ProcessFile { path, file };
        made.file.lock()?;
        Ok(made)
    }

    /// Takes a file that was made before; nothing if it was taken or is gone.
    fn take(path: &Path) -> std::io::Result<Option<ProcessFile>> {
        let file = match OpenOptions::new().read(true).append(true).open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut taken = ProcessFile { path: path.to_owned(), file };
        match taken.file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        Ok((read(&mut taken.file)? == ProcessNoteState::Reserved).then_some(taken))
    }

    /// Says what the program is. Not synced: a power cut ends the program as well.
    pub fn describe(&mut self, leader: Pid, limit: Duration) -> std::io::Result<()> {
        let pid = leader.as_raw_nonzero().get();
        let told = |value: Option<String>| value.unwrap_or_else(|| ABSENT.to_owned());
        let start = system::look(pid).map(|seen| seen.start.to_string());
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        // What somebody began to write here and did not finish stands in a line of its own.
        let text = format!(
            "\nboot {}\nnamespace {}\npid {pid}\nstart {}\ngroup {pid}\nbegan {}\nlimit {limit_ms}\n{END}\n",
            boot_told(),
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

/// Reads a file.
pub(super) fn read(file: &mut File) -> std::io::Result<ProcessNoteState> {
    let mut text = String::new();
    (&*file).take(BYTES_MAX).read_to_string(&mut text)?;
    let mut entry = ProcessNote::default();
    for line in text.lines() {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let known = (value != ABSENT).then(|| value.to_owned());
        match key {
            "boot" => entry.boot = known,
            "namespace" => entry.namespace = known,
            "start" => entry.start = value.parse().ok(),
            "group" => entry.group = value.parse().ok(),
            "began" => entry.began_ms = value.parse().unwrap_or_default(),
            "limit" => entry.limit_ms = value.parse().unwrap_or_default(),
            END => return Ok(ProcessNoteState::Begun(entry)),
            // Written for people, or by a later version.
            _ => {}
        }
    }
    // After a power cut what was written last may be missing, so only this boot counts.
    let is_reserved = match (place_of(file), system::boot()) {
        (Ok(place), Some(boot)) => text.starts_with(&format!("{RESERVED} {place} {boot}\n")),
        (Err(_), _) | (_, None) => false,
    };
    Ok(if is_reserved { ProcessNoteState::Reserved } else { ProcessNoteState::Unfinished })
}
