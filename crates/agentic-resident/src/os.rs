//! What depends on the operating system: sockets in deep folders, a connection that never waits long,
//! randomness, children.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Result};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_peercred};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use rustix::process::{Pid, WaitOptions, waitpid};

/// How long a process may take to take a connection. One that hangs takes none once enough wait.
const CONNECT_WAIT: Duration = Duration::from_millis(20);

/// Calls something with a short name of a folder, which only this process knows: the path of a socket
/// ends at 107 bytes.
pub(crate) fn with_short_path<T>(
    folder: &Path,
    call: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let folder = File::open(folder)?;
    call(&path_of(&folder))
}

/// Returns a path that leads to an open folder for as long as it is open, whatever it is called.
pub(crate) fn path_of(folder: &File) -> PathBuf {
    format!("/proc/self/fd/{}", folder.as_raw_fd()).into()
}

/// Connects to a socket at whose other end this user listens.
pub(crate) fn connect(path: &Path) -> Result<UnixStream> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(CONNECT_WAIT))?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    let is_ours = socket_peercred(&socket)?.uid.as_raw() == agentic_store::user_id();
    if is_ours { Ok(UnixStream::from(socket)) } else { Err(ErrorKind::PermissionDenied.into()) }
}

/// Takes bytes of the system's randomness.
///
/// # Errors
/// Fails when the system gives none.
pub fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Returns the number of a child.
pub(crate) fn pid_of(child: &Child) -> Pid {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.expect("a child has a process id")
}

/// Says whether a child has ended; nobody has to wait for it any more then.
pub(crate) fn has_ended(pid: Pid) -> bool {
    !matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None))
}

/// Lists the children that this process has, as long as it has one thread; none where the system does not
/// tell.
pub(crate) fn children() -> Vec<Pid> {
    let path = format!("/proc/self/task/{}/children", std::process::id());
    let list = std::fs::read_to_string(path).unwrap_or_default();
    list.split(' ').filter_map(|pid| Pid::from_raw(pid.trim().parse().ok()?)).collect()
}

/// Gives this process the name that people look for it by: a program that was begun through a link is
/// called as the link.
pub(crate) fn keep_name() {
    let path = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    // Where that is not possible it has another name.
    let _ = std::fs::write("/proc/self/comm", name);
}
