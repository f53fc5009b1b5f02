//! What the system tells about processes, and does for their files. Where it has no `/proc` it tells
//! nothing.

use std::path::PathBuf;

use rustix::process::Pid;

/// The longest environment that is searched, in bytes.
const ENVIRONMENT_BYTES_MAX: u64 = 8 << 20;

/// What `/proc` tells of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessSight {
    /// When it began, in ticks since the boot.
    pub start: u64,
    /// Its process group.
    pub group: i32,
    /// Whether it runs; a zombie does not.
    pub runs: bool,
}

/// Returns the id of this boot.
pub(super) fn boot() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// Returns the namespace in which process ids mean something here.
pub(super) fn namespace() -> Option<String> {
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_string_lossy().into_owned())
}

/// Returns the milliseconds since the boot, those that the machine slept included.
pub(super) fn since_boot_ms() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    let nanos = u64::try_from(now.tv_nsec).unwrap_or_default();
    seconds * 1000 + nanos / 1_000_000
}

/// Makes room for so many bytes of an empty file. Filesystems that cannot do this are trusted to have
/// it.
pub(super) fn make_room(file: &std::fs::File, n_bytes: u64) -> std::io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, n_bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Looks at a process.
pub(super) fn look(pid: i32) -> Option<ProcessSight> {
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The name before may hold anything, parentheses and blanks included.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let state = fields.first()?;
    Some(ProcessSight {
        start: fields.get(19)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        runs: !matches!(*state, "Z" | "X" | "x"),
    })
}

/// Lists the processes of a group that run.
pub(super) fn members(group: Pid) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let group = group.as_raw_nonzero().get();
    pids.filter(|pid| look(*pid).is_some_and(|seen| seen.runs && seen.group == group)).collect()
}

/// Says whether a process was begun with a variable that has this value.
pub(super) fn has_variable(pid: i32, name: &str, value: &str) -> bool {
    use std::io::Read as _;
    let path = PathBuf::from(format!("/proc/{pid}/environ"));
    let Ok(file) = std::fs::File::open(path) else { return false };
    let mut bytes = Vec::new();
    let read = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut bytes);
    let wanted = format!("{name}={value}");
    read.is_ok() && bytes.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
}
