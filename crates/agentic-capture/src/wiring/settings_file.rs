//! Files of others that are replaced as a whole: what a crash leaves is the old file or the new one.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agentic_store::file::read_text;

use super::{WiringError, WiringResult};

/// How often a file is read again that somebody else changes meanwhile.
const TRIES_MAX: usize = 3;
/// The longest file that is changed, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WiredText {
    /// It stays as it is.
    Keep,
    /// It has this text.
    Text(String),
    /// It is no more.
    Remove,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WiredAction {
    /// It was made.
    Made,
    /// It was changed.
    Changed,
    /// It is as it was.
    Unchanged,
    /// It was removed.
    Removed,
}

impl WiredAction {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            WiredAction::Made => "made",
            WiredAction::Changed => "changed",
            WiredAction::Unchanged => "unchanged",
            WiredAction::Removed => "removed",
        }
    }
}

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WiringRun {
    /// It is.
    Apply,
    /// It is only told what would be.
    Dry,
}

/// Changes a file by its text; of one that is not there, the text is nothing. The file that a link
/// leads to is changed, and the link stays. A file that somebody else changes meanwhile is read
/// again.
///
/// # Errors
/// Fails when the change does, when the file cannot be read or replaced, and when it changes again
/// and again.
pub fn change_file(
    path: &Path,
    run: WiringRun,
    decide: &dyn Fn(Option<&str>) -> WiringResult<WiredText>,
) -> WiringResult<WiredAction> {
    let failed = |source: io::Error| WiringError::File { path: path.to_owned(), source };
    for _ in 0..TRIES_MAX {
        let place = followed(path).map_err(failed)?;
        let old = read(&place).map_err(failed)?;
        let (action, text) = match (decide(old.as_deref())?, &old) {
            (WiredText::Keep, _) | (WiredText::Remove, None) => {
                return Ok(WiredAction::Unchanged);
            }
            (WiredText::Text(text), Some(old)) if text == *old => {
                return Ok(WiredAction::Unchanged);
            }
            (WiredText::Text(text), Some(_)) => (WiredAction::Changed, Some(text)),
            (WiredText::Text(text), None) => (WiredAction::Made, Some(text)),
            (WiredText::Remove, Some(_)) => (WiredAction::Removed, None),
        };
        if run == WiringRun::Dry
            || replace(&place, old.as_deref(), text.as_deref()).map_err(failed)?
        {
            return Ok(action);
        }
    }
    Err(WiringError::Busy { path: path.to_owned() })
}

/// Follows links to the file, also to one that is not there yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => Ok(path.parent().unwrap_or(Path::new("/")).join(target)),
            Err(_) => Ok(path.to_owned()),
        },
        Err(error) => Err(error),
    }
}

/// Reads a regular file; nothing if there is none.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    match read_text(path, FILE_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Puts a text in the place of another, unless that is not there any more: then it says no. All who
/// do this here wait for one another; others are seen by what they wrote.
fn replace(place: &Path, old: Option<&str>, text: Option<&str>) -> io::Result<bool> {
    let folder = place.parent().unwrap_or(Path::new("/"));
    if text.is_some() {
        fs::create_dir_all(folder)?;
    }
    // The folder itself is the lock: nothing is left behind in a home.
    let turn = File::open(folder)?;
    turn.lock()?;
    let Some(text) = text else {
        let same = read(place)?.as_deref() == old;
        if same {
            fs::remove_file(place)?;
            turn.sync_all()?;
        }
        return Ok(same);
    };
    let fresh = beside(place);
    // Left by a process of this number that did not come to the end.
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Err(_) | Ok(()) => {}
    }
    let written = write_fresh(&fresh, place, text);
    let put = written.and_then(|()| {
        let same = read(place)?.as_deref() == old;
        if same {
            fs::rename(&fresh, place)?;
            turn.sync_all()?;
        }
        Ok(same)
    });
    if !matches!(put, Ok(true)) {
        // What did not become the file is of no use.
        let _ = fs::remove_file(&fresh);
    }
    put
}

/// Puts a program of text in the place of whatever is there, all at once.
pub fn put_script(path: &Path, text: &str) -> io::Result<()> {
    let fresh = beside(path);
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).open(&fresh)?;
    file.set_permissions(fs::Permissions::from_mode(0o755))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

fn write_fresh(fresh: &Path, place: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(fresh)?;
    if let Ok(old) = fs::metadata(place) {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn beside(place: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(format!(".agentic-{}", std::process::id()));
    place.with_file_name(name)
}
