//! The folder of the process that stays: `agentic/serve` in the common git directory, closed to others.
//!
//! | name | what it is |
//! | --- | --- |
//! | `lock` | held as long as the process lives, with its number in it |
//! | `at` | where it can be reached ([`Whereabouts`]) |
//! | `sock` | its socket |
//! | `bell` | the pipe in which it hears of writes |
//! | `key` | 32 random bytes, from which its host name and port come |

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use agentic_providers::process::ProcessIdentity;
use agentic_store::Layout;
use agentic_store::file::{
    Persistence, make_private_folder, open_regular, read_whole, remove, replace,
};

use crate::error::{ResidentError, Result};
use crate::os::{connect, random_bytes, with_short_path};
use crate::place::RepositoryPlace;
use crate::whereabouts::Whereabouts;

/// How many bytes the key has.
const KEY_BYTES: usize = 32;
/// The mode of what only this user may read and write, and all that a mode may say.
const PRIVATE: u32 = 0o600;
const ALL_MODES: u32 = 0o7777;
/// How much of a small file is read at most, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// The folder.
#[derive(Debug, Clone)]
pub struct ServeFolder {
    path: PathBuf,
}

/// The lock of the one process that serves a repository; it is given back when this is dropped.
#[derive(Debug)]
pub struct ServeLock {
    file: File,
}

impl AsFd for ServeLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// How long the lock is waited for where nobody living says that it is theirs: a process that looks
/// whether it is free has it for a moment, and one that was killed until the system is done with it.
const LOCK_WAIT: Duration = Duration::from_millis(500);
const LOCK_PAUSE: Duration = Duration::from_millis(5);

impl ServeFolder {
    /// Names the folder of a repository.
    pub fn of(layout: &Layout) -> ServeFolder {
        ServeFolder { path: layout.resident() }
    }

    /// Makes the folder and takes the lock.
    ///
    /// # Errors
    /// Fails when another process has it, and when there can be no folder or no lock.
    pub fn lock(&self) -> Result<ServeLock> {
        make_private_folder(&self.path)?;
        let path = self.lock_path();
        let file = open_regular(&path, &mut private());
        let file = file.map_err(ResidentError::file("open", &path))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => {
                    note_holder(&file);
                    return Ok(ServeLock { file });
                }
                Err(TryLockError::Error(error)) => {
                    return Err(ResidentError::file("lock", &path)(error));
                }
                Err(TryLockError::WouldBlock) => {}
            }
            if let Some(at) = self.whereabouts().filter(|at| at.process.is_alive()) {
                return Err(ResidentError::Taken { pid: at.process.pid, url: at.url });
            }
            if begun.elapsed() >= LOCK_WAIT {
                return Err(match self.holder() {
                    Some(process) => ResidentError::Taken { pid: process.pid, url: None },
                    None => ResidentError::TakenByUnknown,
                });
            }
            thread::sleep(LOCK_PAUSE);
        }
    }

    /// Wants the folder to stay where it is in a repository, with the lock in it: where that is another file,
    /// another process may have taken it, and serve too.
    pub(crate) fn held_inside(&self, place: RepositoryPlace, lock: &ServeLock) -> RepositoryPlace {
        place.with_inside(&self.path).with_held(self.lock_path(), &lock.file)
    }

    fn lock_path(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// Takes the lock that the program before this one had, which is never free meanwhile.
    ///
    /// # Errors
    /// Fails when it is no lock of this repository.
    pub(crate) fn inherit_lock(&self, file: File) -> Result<ServeLock> {
        let path = self.lock_path();
        let is_it = || {
            let (found, left) = (std::fs::metadata(&path)?, file.metadata()?);
            // Whoever has a lock takes it again at once.
            let is_had = file.try_lock().is_ok();
            Ok(is_had && (found.dev(), found.ino()) == (left.dev(), left.ino()))
        };
        match is_it() {
            Ok(true) => Ok(ServeLock { file }),
            Ok(false) => Err(ResidentError::TakenByUnknown),
            Err(error) => Err(ResidentError::file("lock", &path)(error)),
        }
    }

    /// Says whether a process has the lock.
    pub fn is_locked(&self) -> bool {
        let file = open_regular(&self.lock_path(), OpenOptions::new().read(true));
        file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Reads who serves the repository. Whether it still does, is another question. Nothing waits: what is
    /// no regular file says nothing.
    pub fn whereabouts(&self) -> Option<Whereabouts> {
        serde_json::from_slice(&read_whole(&self.path.join("at"), FILE_BYTES_MAX).ok()?).ok()
    }

    /// Returns the process that has the lock, wherever it can be reached; nothing if none has.
    pub fn holder(&self) -> Option<ProcessIdentity> {
        let noted = read_whole(&self.lock_path(), FILE_BYTES_MAX).ok()?;
        let process: ProcessIdentity = serde_json::from_slice(&noted).ok()?;
        (process.is_alive() && self.is_locked()).then_some(process)
    }

    /// Says who serves the repository. Whoever calls this has the lock.
    ///
    /// # Errors
    /// Fails when the file cannot be replaced.
    pub fn say(&self, at: &Whereabouts, _lock: &ServeLock) -> Result<()> {
        let text = serde_json::to_vec(at).expect("whereabouts have text keys");
        Ok(replace(&self.path.join("at"), &text, Persistence::Lazy)?)
    }

    /// Forgets who serves the repository, and removes the socket. Whoever calls this has the lock.
    pub fn forget(&self, _lock: &ServeLock) {
        for name in ["at", "sock"] {
            // What stays is recognised as stale.
            let _ = remove(&self.path.join(name));
        }
    }

    /// Returns the key, which is made when there is none. One that others may read is closed to them.
    ///
    /// # Errors
    /// Fails when it can be neither read nor made, and when it is no regular file.
    pub fn key(&self, _lock: &ServeLock) -> Result<[u8; KEY_BYTES]> {
        let path = self.path.join("key");
        if let Some(key) = read_key(&path).map_err(ResidentError::file("read", &path))? {
            return Ok(key);
        }
        let key = random_bytes().map_err(ResidentError::system("read random bytes"))?;
        // Only the process with the lock makes one: nobody else writes here.
        let fresh = path.with_extension("new");
        remove(&fresh)?;
        let written = private().create_new(true).open(&fresh).and_then(|mut file| {
            file.write_all(&key)?;
            std::fs::rename(&fresh, &path)
        });
        written.map_err(ResidentError::file("write", &path))?;
        Ok(key)
    }

    /// Removes what an earlier process left of the socket, and calls `bind` with a path for a new
    /// one: a short one, because that of a socket ends at 107 bytes.
    ///
    /// # Errors
    /// Fails when the folder cannot be opened, and with what `bind` fails with.
    pub fn bind_socket<T>(
        &self,
        _lock: &ServeLock,
        bind: impl FnOnce(&Path) -> std::io::Result<T>,
    ) -> Result<T> {
        let path = self.path.join("sock");
        remove(&path)?;
        let bound = with_short_path(&self.path, |short| bind(&short.join("sock")));
        let bound = bound.map_err(ResidentError::file("bind", &path))?;
        // The folder is closed to others already.
        let mode = std::fs::Permissions::from_mode(PRIVATE);
        std::fs::set_permissions(&path, mode).map_err(ResidentError::file("close", &path))?;
        Ok(bound)
    }

    /// Connects to the socket, if a process of this user listens at its other end.
    ///
    /// # Errors
    /// Fails when there is no socket, when nobody takes the connection at once, and when another user
    /// does.
    pub(crate) fn connect(&self) -> std::io::Result<UnixStream> {
        with_short_path(&self.path, |short| connect(&short.join("sock")))
    }
}

/// Returns how files are opened that only this user may read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(PRIVATE);
    options
}

/// Writes down who has the lock, for those who find no word of where the process can be reached.
fn note_holder(mut file: &File) {
    let Some(process) = ProcessIdentity::own() else { return };
    let text = serde_json::to_vec(&process).expect("identities have text keys");
    // Nothing needs it while all goes well.
    let _ = file.set_len(0).and_then(|()| file.write_all(&text));
}

/// Reads a key, and sees to it that only this user may; nothing where there is none, or a part of one.
fn read_key(path: &Path) -> std::io::Result<Option<[u8; KEY_BYTES]>> {
    let file = match open_regular(path, OpenOptions::new().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.metadata()?.permissions().mode() & ALL_MODES != PRIVATE {
        file.set_permissions(std::fs::Permissions::from_mode(PRIVATE))?;
    }
    let mut bytes = Vec::new();
    file.take(KEY_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes.try_into().ok())
}

#[cfg(test)]
mod tests {
    use agentic_testkit::{Sandbox, Setup};
    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    /// Puts a pipe, a folder and a device in the place of a file, one after the other.
    fn with_others(path: &Path, look: impl Fn(&str)) {
        for sort in ["pipe", "folder", "device"] {
            let _ = std::fs::remove_file(path);
            match sort {
                "pipe" => mkfifoat(CWD, path, Mode::RWXU).expect("writable"),
                "folder" => std::fs::create_dir(path).expect("writable"),
                _ => std::os::unix::fs::symlink("/dev/zero", path).expect("writable"),
            }
            look(sort);
            let _ = std::fs::remove_dir(path).or_else(|_| std::fs::remove_file(path));
        }
    }

    #[test]
    fn what_is_no_regular_file_is_never_waited_for() {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let serve = ServeFolder { path: sandbox.root().join("serve") };
        let at = |name: &str| serve.path.join(name);
        make_private_folder(&serve.path).expect("writable");
        with_others(&at("lock"), |sort| {
            let refused = serve.lock();
            assert!(matches!(refused, Err(ResidentError::File { .. })), "{sort}: {refused:?}");
            assert!(!serve.is_locked() && serve.holder().is_none(), "{sort}");
        });
        let lock = serve.lock().expect("free");
        with_others(&at("at"), |sort| assert_eq!(serve.whereabouts(), None, "{sort}"));
        with_others(&at("key"), |sort| {
            let refused = serve.key(&lock);
            assert!(matches!(refused, Err(ResidentError::File { .. })), "{sort}: {refused:?}");
        });
        mkfifoat(CWD, at("key.new"), Mode::RWXU).expect("writable");
        let key = serve.key(&lock).expect("what is in the making is made anew");
        assert_eq!(serve.key(&lock).expect("it stays"), key);
    }

    #[test]
    fn a_key_that_others_may_read_is_closed_to_them() {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let serve = ServeFolder { path: sandbox.root().join("serve") };
        let (lock, path) = (serve.lock().expect("free"), serve.path.join("key"));
        let key = serve.key(&lock).expect("writable");
        let mode = || path.metadata().expect("it is there").permissions().mode() & ALL_MODES;
        assert_eq!(mode(), PRIVATE);
        for wide in [0o644, 0o666, 0o400, 0o4600] {
            let wide = std::fs::Permissions::from_mode(wide);
            std::fs::set_permissions(&path, wide).expect("it is ours");
            assert_eq!((serve.key(&lock).expect("readable"), mode()), (key, PRIVATE));
        }
        std::fs::write(&path, "a part").expect("writable");
        assert_ne!(serve.key(&lock).expect("writable"), key);
        assert_eq!(mode(), PRIVATE);
    }

    #[test]
    fn a_lock_that_somebody_looks_at_is_waited_for() {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        let serve = ServeFolder { path: sandbox.root().join("serve") };
        drop(serve.lock().expect("free"));
        let looking = File::open(serve.path.join("lock")).expect("its file");
        looking.try_lock().expect("free");
        thread::scope(|scope| {
            let taking = scope.spawn(|| serve.lock());
            thread::sleep(Duration::from_millis(50));
            assert!(!taking.is_finished(), "somebody has it");
            drop(looking);
            taking.join().expect("no panic").expect("free again");
        });
        let _held = serve.lock().expect("free");
        let own = ProcessIdentity::own().expect("the system tells");
        assert_eq!(serve.holder(), Some(own.clone()));
        match serve.lock() {
            Err(ResidentError::Taken { pid, url: None }) => assert_eq!(pid, own.pid),
            other => panic!("it is taken by this process: {other:?}"),
        }
        std::fs::write(serve.path.join("lock"), "").expect("writable");
        let refused = serve.lock();
        assert!(matches!(refused, Err(ResidentError::TakenByUnknown)), "{refused:?}");
    }
}
