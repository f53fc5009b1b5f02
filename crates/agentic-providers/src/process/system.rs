//! What depends on the operating system: what it tells about processes, nothing where it has no `/proc`;
//! room in files, files without a name, and files that are sent to a process.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::fs::{FallocateFlags, MemfdFlags};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use rustix::process::{Pid, PidfdFlags, Signal};

/// The most files that are sent at once.
const FILES_MAX: usize = 8;
/// How much the system mostly tells of a process, in bytes.
const TOLD_BYTES: usize = 1 << 10;
/// How much of a process's state is read, in bytes.
const STAT_BYTES_MAX: u64 = 64 << 10;
/// The longest environment that is searched, in bytes.
const ENVIRONMENT_BYTES_MAX: u64 = 8 << 20;
/// How much of a command line is read, in bytes.
const COMMAND_BYTES_MAX: u64 = 64 << 10;

/// What `/proc` tells of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessSight {
    /// When it began, in ticks since the boot.
    pub start: u64,
    /// Its process group.
    pub group: i32,
    /// The process that began it, or that took it over.
    pub parent: i32,
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
pub(super) fn make_room(file: &File, n_bytes: u64) -> std::io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, n_bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Looks at a process.
pub(super) fn look(pid: i32) -> Option<ProcessSight> {
    let text = told(pid, "stat", STAT_BYTES_MAX)?;
    let text = String::from_utf8_lossy(&text);
    // The name before may hold anything, parentheses and blanks included.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let state = fields.first()?;
    Some(ProcessSight {
        start: fields.get(19)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        parent: fields.get(1)?.parse().ok()?,
        runs: !matches!(*state, "Z" | "X" | "x"),
    })
}

/// Reads what the system tells of a process.
fn told(pid: i32, name: &str, bytes_max: u64) -> Option<Vec<u8>> {
    use std::io::Read as _;
    // Such a file does not say how long it is: without room it would be read bit by bit.
    let mut bytes = Vec::with_capacity(TOLD_BYTES);
    let file = File::open(format!("/proc/{pid}/{name}")).ok()?;
    file.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
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
    variable(pid, name).is_some_and(|found| found == value)
}

/// Returns the value of a variable that a process was begun with.
pub(super) fn variable(pid: i32, name: &str) -> Option<String> {
    let bytes = told(pid, "environ", ENVIRONMENT_BYTES_MAX)?;
    let mut entries = bytes.split(|byte| *byte == 0);
    let value =
        entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Returns the words that a process was begun with, as far as they are text.
pub(super) fn words(pid: i32) -> Vec<String> {
    let bytes = told(pid, "cmdline", COMMAND_BYTES_MAX).unwrap_or_default();
    let words =
        bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns the folder that a process is in.
pub(super) fn folder(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// Returns a handle on whoever has the number of a process now.
pub(super) fn handle_of(pid: i32) -> Option<OwnedFd> {
    rustix::process::pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

/// Asks a process to end, as SIGTERM does. Says whether it could be asked.
pub(super) fn ask_to_end(process: &OwnedFd) -> bool {
    rustix::process::pidfd_send_signal(process, Signal::TERM).is_ok()
}

/// Returns which signals this program was told to ignore, as a mask; none where nobody tells.
pub(super) fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Names this very program, even where its file was replaced since, or its path where it has no such
/// name.
///
/// # Errors
/// Fails when it has neither.
pub(super) fn own_program() -> std::io::Result<PathBuf> {
    let own = Some(PathBuf::from("/proc/self/exe")).filter(|own| own.exists());
    own.map_or_else(std::env::current_exe, Ok)
}

/// Makes a command that runs this very program, under the name that this process has.
///
/// # Errors
/// Fails when the system does not tell which program this is.
pub fn own_command() -> std::io::Result<Command> {
    let mut command = Command::new(own_program()?);
    command.arg0(std::env::args_os().next().unwrap_or_default());
    Ok(command)
}

/// Makes a file in memory that has no name. Some sandboxes have none.
///
/// # Errors
/// Fails when the system gives none.
pub fn file_in_memory() -> std::io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create("agentic-input", MemfdFlags::CLOEXEC)?))
}

/// Sends a word and files with it, at most eight.
///
/// # Errors
/// Fails when nobody can receive them.
pub fn send_files(
    socket: &UnixStream,
    word: &[u8],
    files: &[BorrowedFd<'_>],
) -> std::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let has_room = control.push(SendAncillaryMessage::ScmRights(files));
    assert!(has_room, "BUG: at most {FILES_MAX} files are sent at once");
    rustix::net::sendmsg(socket, &[IoSlice::new(word)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for a word that is at most as long as `word`, and for the files that come with it.
///
/// # Errors
/// Fails when this is no socket.
pub fn receive_files(socket: BorrowedFd<'_>, word: &mut [u8]) -> std::io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(word)];
    rustix::net::recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut files = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            files.extend(received);
        }
    }
    Ok(files)
}
