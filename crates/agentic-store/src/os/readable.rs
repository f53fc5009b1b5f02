//! Several files that somebody writes to, read as soon as one of them can be.

use std::fs::File;
use std::io::Result;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Waits until one of some files can be read, or nobody writes to it any more. Tells of each whether it is one; of
/// none after the longest time.
///
/// # Errors
/// Fails when the system does.
pub fn await_readable(files: &[&File], longest: Duration) -> Result<Vec<bool>> {
    let longest = Timespec {
        tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(longest.subsec_nanos()),
    };
    let mut ends: Vec<PollFd<'_>> =
        files.iter().map(|file| PollFd::new(*file, PollFlags::IN)).collect();
    loop {
        match poll(&mut ends, Some(&longest)) {
            // Somebody stopped this process and let it go on.
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(ends.iter().map(|end| !end.revents().is_empty()).collect()),
        }
    }
}
