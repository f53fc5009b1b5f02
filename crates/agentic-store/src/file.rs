//! Reading small files, replacing them whole, and removing them.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Error, Result, fault, os};

/// How long small files are as a rule, in bytes.
const SMALL_BYTES: usize = 2 << 10;

/// Whether a replaced file is on the disk when the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// It is, and so is its name.
    Synced,
    /// The system writes it when it finds the time; it is derived or written again.
    Lazy,
    /// The same, and after a power cut it may be empty: whoever reads it finds out again what it said.
    Cache,
}

/// Returns a number that nobody in this process had before: names of files in the making and of runs
/// differ by it.
pub fn unique_number() -> u64 {
    // process: names must differ whoever in the process makes them; that is the one thing all share.
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

/// Replaces a file, so that readers and later processes see the old content or the new one, never
/// a part. Several processes may do this at once; the last one wins.
///
/// # Errors
/// Fails when the folder is missing or cannot be written.
pub fn replace(path: &Path, content: &[u8], persistence: Persistence) -> Result<()> {
    let number = unique_number();
    let fresh = path.with_added_extension(format!("{}-{number}.new", std::process::id()));
    let write = || {
        let mut file = File::create(&fresh)?;
        file.write_all(content)?;
        if persistence == Persistence::Synced {
            file.sync_all()?;
        }
        fault::point("before-rename").map_err(std::io::Error::other)?;
        match persistence {
            Persistence::Synced | Persistence::Lazy => std::fs::rename(&fresh, path),
            Persistence::Cache => os::put_in_place(&fresh, path),
        }
    };
    if let Err(error) = write() {
        let _ = std::fs::remove_file(&fresh);
        return Err(Error::io("write", path)(error));
    }
    match (persistence, path.parent()) {
        (Persistence::Synced, Some(folder)) => {
            File::open(folder).and_then(|dir| dir.sync_all()).map_err(Error::io("sync", folder))?;
            fault::synced(path, content.len() as u64);
            fault::synced(folder, 0);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Opens a regular file as options say, where anybody may have put something else. Links are followed.
/// A pipe or a device is not waited for, but refused, as folders are and sockets.
///
/// # Errors
/// Fails when it is not there, is no regular file, or may not be opened.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    let no_file = || std::io::Error::other("it is no regular file");
    let file = os::open_at_once(path, options)
        .map_err(|error| if os::is_of_no_file(&error) { no_file() } else { error })?;
    // What was opened is looked at, not what the path names by now.
    let found = file.metadata()?;
    match (found.is_file(), found.is_dir()) {
        (true, _) => Ok(file),
        (false, true) => Err(os::is_a_folder()),
        (false, false) => Err(no_file()),
    }
}

/// Reads a regular file that is small as a rule, and of a longer one no more than its beginning.
///
/// # Errors
/// Fails when it is not there, is no regular file, or cannot be read.
pub fn read_small(path: &Path, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    let file = open_regular(path, OpenOptions::new().read(true))?;
    // Without room it would be read bit by bit.
    let mut bytes = Vec::with_capacity(SMALL_BYTES);
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole regular file, unless it is too long.
///
/// # Errors
/// Fails as [`read_small`] does, and for a longer file.
pub fn read_whole(path: &Path, bytes_max: u64) -> std::io::Result<Vec<u8>> {
    let bytes = read_small(path, bytes_max.saturating_add(1))?;
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= bytes_max) {
        true => Ok(bytes),
        false => {
            let why = format!("it is longer than {bytes_max} bytes");
            Err(std::io::Error::new(ErrorKind::FileTooLarge, why))
        }
    }
}

/// Reads a whole regular file as UTF-8 text, unless it is too long.
///
/// # Errors
/// Fails as [`read_whole`] does, and where it is no such text.
pub fn read_text(path: &Path, bytes_max: u64) -> std::io::Result<String> {
    String::from_utf8(read_whole(path, bytes_max)?)
        .map_err(|_| std::io::Error::new(ErrorKind::InvalidData, "it is no UTF-8 text"))
}

/// Does something with a file, and once more after its folder was made, if that is missing. Whoever would make one
/// that is there waits for all who change what is in it.
///
/// # Errors
/// Fails as that does, and when the folder cannot be made.
pub fn in_folder<T>(path: &Path, attempt: impl Fn() -> std::io::Result<T>) -> std::io::Result<T> {
    match (attempt(), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => {
            std::fs::create_dir_all(folder).and_then(|()| attempt())
        }
        (done, _) => done,
    }
}

/// Makes an empty file whose name says it all, unless there is one.
///
/// # Errors
/// Fails when the folder is missing or cannot be written, and where something else has the name.
pub fn put_mark(path: &Path) -> std::io::Result<()> {
    open_regular(path, OpenOptions::new().write(true).create(true).truncate(true)).map(drop)
}

/// Writes a text over all that is in a file. It is not emptied before: whoever does that waits until what was there
/// is on the disk.
///
/// # Errors
/// Fails when the disk does; then the file may have a part of both.
pub fn write_over(file: &File, text: &[u8]) -> std::io::Result<()> {
    file.write_all_at(text, 0)?;
    let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if file.metadata()?.len() > length { file.set_len(length) } else { Ok(()) }
}

/// Removes a file, if it is there.
///
/// # Errors
/// Fails when it is there and cannot be removed.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Makes a folder that only this user may look into. One that is there and lets others in is closed
/// to them.
///
/// # Errors
/// Fails when it cannot be made, or is another user's.
pub fn make_private_folder(path: &Path) -> Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
    let above = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let made = above.and_then(|()| std::fs::DirBuilder::new().mode(0o700).create(path));
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(Error::io("create", path)(error));
        }
        Ok(()) | Err(_) => {}
    }
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(path, mode).map_err(Error::io("close to others", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        for persistence in [Persistence::Synced, Persistence::Lazy, Persistence::Cache] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("it");
            for content in ["first", "a longer second", "", "third"] {
                replace(&path, content.as_bytes(), persistence).expect("writable");
                assert_eq!(std::fs::read_to_string(&path).expect("it is there"), content);
                assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 1);
            }
        }
    }

    #[test]
    fn only_regular_files_are_read_and_written_to() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo works");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("free");
        std::fs::create_dir(at("folder")).expect("writable");
        std::fs::write(at("file"), "four").expect("writable");
        std::fs::write(at("bytes"), [0xff]).expect("writable");
        let links = [
            ("loop", "loop"),
            ("nowhere", "gone"),
            ("to-pipe", "pipe"),
            ("zeros", "/dev/zero"),
            ("terminal", "/dev/tty"),
            ("to-file", "file"),
        ];
        for (link, target) in links {
            std::os::unix::fs::symlink(target, at(link)).expect("writable");
        }
        for name in ["file", "to-file"] {
            assert_eq!(read_text(&at(name), 4).expect("readable"), "four");
            assert_eq!(read_small(&at(name), 3).expect("readable"), b"fou");
            let longer = read_whole(&at(name), 3).expect_err("longer");
            assert_eq!(longer.kind(), ErrorKind::FileTooLarge);
        }
        assert_eq!(read_text(&at("bytes"), 4).expect_err("none").kind(), ErrorKind::InvalidData);
        for name in ["pipe", "to-pipe", "socket", "folder", "loop", "zeros", "terminal"] {
            read_small(&at(name), 4).expect_err(name);
            let mut append = OpenOptions::new();
            open_regular(&at(name), append.append(true).create(true)).expect_err(name);
        }
        for name in ["pipe", "to-pipe", "socket"] {
            let refused = open_regular(&at(name), OpenOptions::new().write(true));
            assert_eq!(refused.expect_err(name).to_string(), "it is no regular file");
        }
        let nowhere = read_small(&at("nowhere"), 4).expect_err("gone");
        assert_eq!(nowhere.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_folder_is_not_replaced_by_a_file() {
        for persistence in [Persistence::Synced, Persistence::Lazy, Persistence::Cache] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("it");
            std::fs::create_dir(&path).expect("writable");
            std::fs::write(path.join("inner"), "kept").expect("writable");
            replace(&path, b"new", persistence).expect_err("it is a folder");
            assert_eq!(std::fs::read_to_string(path.join("inner")).expect("it is there"), "kept");
            assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 1);
        }
    }

    #[test]
    fn readers_beside_several_writers_see_whole_content() {
        for persistence in [Persistence::Lazy, Persistence::Cache] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("it");
            let contents = ["a".repeat(600), "b".repeat(60)];
            replace(&path, contents[0].as_bytes(), persistence).expect("writable");
            std::thread::scope(|threads| {
                for content in &contents {
                    let path = &path;
                    threads.spawn(move || {
                        for _ in 0..200 {
                            replace(path, content.as_bytes(), persistence).expect("writable");
                        }
                    });
                }
                for _ in 0..400 {
                    let found = std::fs::read_to_string(&path).expect("it is always there");
                    assert!(contents.contains(&found), "{found}");
                }
            });
            assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 1);
        }
    }
}
