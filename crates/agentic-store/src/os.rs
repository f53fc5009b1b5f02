//! What depends on the operating system, for the store and for `agentic-git`: nothing else of them asks
//! it for more than `std` has everywhere.

mod family;
mod fifo;
mod folder_events;
mod readable;

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{CWD, FallocateFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit};

pub use self::family::ProcessFamily;
pub(crate) use self::fifo::{LINE_BYTES_MAX, PipeEnd, leave_line};
pub(crate) use self::folder_events::{FolderEvent, FolderEvents, wait};
pub use self::readable::await_readable;

/// Where Linux names the current boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Where Linux lists the locks of files and their holders.
const LOCKS: &str = "/proc/locks";

/// Names the current boot, where the system has a name for it.
pub fn boot_id() -> Option<String> {
    std::fs::read_to_string(BOOT_ID).map(|id| id.trim().to_owned()).ok()
}

/// Returns the number of the user in whose name the program runs.
pub fn user_id() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Tells whether a process of this number runs.
pub fn is_running(number: i32) -> bool {
    Pid::from_raw(number).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Opens a file of somebody else's to read it, without ever waiting: a pipe or a device opens at once,
/// and a link in the last place not at all.
///
/// # Errors
/// Fails when it is not there, is a link, or may not be read.
pub fn open_unblocked(path: &Path) -> std::io::Result<File> {
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Opens a file as options say, without ever waiting, and without a terminal that takes this process for
/// its own.
pub(crate) fn open_at_once(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default()).open(path)
}

/// Tells whether an error is that of a pipe that nobody reads, or of a device or socket with nothing behind
/// it: what is opened at once and is no regular file.
pub(crate) fn is_of_no_file(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NXIO.raw_os_error())
}

/// Returns what the system says of a folder that is read as a file.
pub(crate) fn is_a_folder() -> std::io::Error {
    Errno::ISDIR.into()
}

/// Lets this process have so many files open, or as many as it may; returns how many that are.
pub(crate) fn allow_open_files(n_wanted: u64) -> u64 {
    let Rlimit { current, maximum } = rustix::process::getrlimit(Resource::Nofile);
    let allowed = current.unwrap_or(u64::MAX);
    if allowed >= n_wanted {
        return allowed;
    }
    let raised = n_wanted.min(maximum.unwrap_or(u64::MAX));
    let limit = Rlimit { current: Some(raised), maximum };
    match rustix::process::setrlimit(Resource::Nofile, limit) {
        Ok(()) => raised,
        Err(_) => allowed,
    }
}

/// Makes everything durable that the filesystem of a folder holds.
///
/// # Errors
/// Fails when the disk does.
pub fn sync_filesystem(folder: &File) -> std::io::Result<()> {
    Ok(rustix::fs::syncfs(folder)?)
}

/// Makes room for `length` bytes at `offset` without changing the size of the file. Filesystems
/// that cannot do this are trusted to have the room.
pub(crate) fn reserve(file: &File, offset: u64, length: u64) -> std::io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, offset, length) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What became of a file that was to be renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a name that is taken must be handled"]
pub enum RenameOutcome {
    /// It has the other name now.
    Moved,
    /// The other name is taken, and nothing happened.
    Taken,
}

/// Renames a file, unless the other name is taken. Where a filesystem cannot tell, what has that name
/// is replaced.
///
/// # Errors
/// Fails when the disk does.
pub fn rename_new(from: &Path, to: &Path) -> std::io::Result<RenameOutcome> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(RenameOutcome::Moved),
        Err(Errno::EXIST) => Ok(RenameOutcome::Taken),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            std::fs::rename(from, to).map(|()| RenameOutcome::Moved)
        }
        Err(error) => Err(error.into()),
    }
}

/// Puts a file in the place of another, which is gone then: in between there is one or the other. The two
/// change places first, because a file that is renamed over another is written to the disk at once by
/// some systems, and whoever renames waits for that.
///
/// # Errors
/// Fails when the disk does, and where a folder has the name.
pub(crate) fn put_in_place(fresh: &Path, path: &Path) -> std::io::Result<()> {
    let is_file = path.symlink_metadata().is_ok_and(|found| !found.is_dir());
    if !is_file {
        return std::fs::rename(fresh, path);
    }
    match rustix::fs::renameat_with(CWD, fresh, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => std::fs::remove_file(fresh),
        Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            std::fs::rename(fresh, path)
        }
        Err(error) => Err(error.into()),
    }
}

/// Finds the process that holds the lock of a file, where the system tells.
pub(crate) fn lock_holder(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino();
    find_holder(&std::fs::read_to_string(LOCKS).ok()?, inode)
}

/// Finds it in a list of lines such as `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`; those who
/// wait have an arrow behind the number.
fn find_holder(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let [_, "FLOCK", _, "WRITE", process, place, ..] =
            line.split_whitespace().collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let (_, found) = place.rsplit_once(':')?;
        (found.parse() == Ok(inode)).then(|| process.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_among_those_who_wait() {
        let locks = "1: POSIX  ADVISORY  READ 7 08:01:55 128 128\n\
             2: FLOCK  ADVISORY  WRITE 8 08:01:56 0 EOF\n\
             2: -> FLOCK  ADVISORY  WRITE 9 08:01:56 0 EOF\n\
             3: FLOCK  ADVISORY  WRITE 10 08:01:57 0 EOF\n";
        for (inode, holder) in [(55, None), (56, Some(8)), (57, Some(10)), (58, None)] {
            assert_eq!(find_holder(locks, inode), holder, "{inode}");
        }
    }

    #[test]
    fn a_file_is_renamed_unless_the_other_name_is_taken() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::write(&from, "new").expect("writable");
        assert_eq!(rename_new(&from, &to).expect("writable"), RenameOutcome::Moved);
        std::fs::write(&from, "newer").expect("writable");
        assert_eq!(rename_new(&from, &to).expect("writable"), RenameOutcome::Taken);
        assert_eq!(std::fs::read_to_string(&to).expect("readable"), "new");
        assert!(from.exists());
    }

    #[test]
    fn this_process_runs() {
        assert!(is_running(std::process::id().try_into().expect("a small number")));
        assert!(!is_running(0), "that is no process");
    }
}
