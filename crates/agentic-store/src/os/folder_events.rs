//! Which names of folders the system saw change.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

/// How much is read at a time, in bytes.
const PART_BYTES: usize = 16 << 10;

/// Folders that the system watches for us. What lies deeper than their names is not seen.
#[derive(Debug)]
pub(crate) struct FolderEvents {
    events: OwnedFd,
    folders: BTreeMap<i32, PathBuf>,
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FolderEvent {
    /// A file was written and closed, or a name came, went or was replaced.
    Name(PathBuf),
    /// A folder is not watched any more: it went away.
    Gone(PathBuf),
    /// There was more than the system could keep.
    Missed,
}

impl FolderEvents {
    /// Watches nothing yet.
    pub fn new() -> std::io::Result<FolderEvents> {
        let events = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(FolderEvents { events, folders: BTreeMap::new() })
    }

    /// Watches a folder. Doing it again changes nothing.
    pub fn watch(&mut self, folder: &Path) -> std::io::Result<()> {
        let flags = WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        let number = add_watch(&self.events, folder, flags)?;
        self.folders.insert(number, folder.to_owned());
        Ok(())
    }

    /// Tells whether a folder is watched.
    pub fn is_watched(&self, folder: &Path) -> bool {
        self.folders.values().any(|watched| watched == folder)
    }

    /// Takes everything that was seen, without waiting. A name is there once, however often it changed.
    pub fn take(&mut self) -> Vec<FolderEvent> {
        let (mut seen, mut names) = (Vec::new(), BTreeSet::new());
        let mut part = [MaybeUninit::uninit(); PART_BYTES];
        let mut reader = Reader::new(&self.events, &mut part);
        while let Ok(event) = reader.next() {
            let flags = event.events();
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                seen.push(FolderEvent::Missed);
            } else if flags.intersects(ReadFlags::IGNORED | ReadFlags::MOVE_SELF) {
                seen.extend(self.folders.remove(&event.wd()).map(FolderEvent::Gone));
            } else if let (Some(folder), Some(name)) =
                (self.folders.get(&event.wd()), event.file_name())
                && names.insert((event.wd(), name.to_owned()))
            {
                let name = OsStr::from_bytes(name.to_bytes());
                seen.push(FolderEvent::Name(folder.join(name)));
            }
        }
        seen
    }
}

/// Waits until a pipe or a watched folder has something, at most so long. Of what there is not, nothing
/// ends the wait.
pub(crate) fn wait(pipe: Option<&File>, folders: Option<&FolderEvents>, most: Duration) {
    let mut ends: Vec<PollFd<'_>> =
        pipe.map(|pipe| PollFd::new(pipe, PollFlags::IN)).into_iter().collect();
    ends.extend(folders.map(|folders| PollFd::new(&folders.events, PollFlags::IN)));
    let most = Timespec::try_from(most).ok();
    loop {
        match rustix::event::poll(&mut ends, most.as_ref()) {
            // Who waits for a time looks again anyway.
            Err(Errno::INTR) if most.is_none() => {}
            Ok(_) | Err(_) => return,
        }
    }
}
