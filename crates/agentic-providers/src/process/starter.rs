//! The starter: this same program under another name, in the place of the program that it will
//! become.
//!
//! It waits at its standard input, a socket. A message brings the word and with it the standard
//! input of the program and the file whose lock the program holds as long as it lives. No message
//! means that whoever wanted the program is dead: then it ends, and nothing has begun.

use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, IntoRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::io::FdFlags;

use super::{own, system};

/// The name under which this program is a starter.
const NAME: &str = "agentic-starter";
/// The variable that names a program that can be a starter, for those that cannot.
const VARIABLE: &str = "AGENTIC_STARTER";
/// The program that can, where it stands beside ours or among the programs of the machine.
const PROGRAM: &str = "agentic";
/// The word.
const GO: &[u8] = b"go";
/// How a starter ends that has not become a program.
const STATUS_NOTHING: i32 = 125;

/// Is a starter if this process was begun as one, and returns otherwise: to be called before
/// anything else is done. From then on this program starts others by itself, and a signal that ends it
/// ends those, too.
pub fn serve() {
    let mut arguments = std::env::args_os();
    if arguments.next().is_none_or(|name| name != NAME) {
        own::claim();
        return;
    }
    if let Some(program) = arguments.next() {
        let mut command = Command::new(program);
        command.args(arguments);
        // Nobody listens where this fails.
        let _ = become_program(command);
    }
    std::process::exit(STATUS_NOTHING)
}

/// Waits for the word and becomes the program; returns only if that failed.
fn become_program(mut command: Command) -> std::io::Result<()> {
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let mut files = receive(socket.as_fd())?.into_iter();
    let Some(stdin) = files.next() else { return Ok(()) };
    rustix::stdio::dup2_stdin(&stdin)?;
    for file in files {
        // The program inherits it and knows nothing of it.
        rustix::io::fcntl_setfd(&file, FdFlags::empty())?;
        let _ = file.into_raw_fd();
    }
    let error = command.exec();
    let code = error.raw_os_error().unwrap_or_default();
    UnixStream::from(socket).write_all(&code.to_le_bytes())
}

fn receive(socket: BorrowedFd<'_>) -> std::io::Result<Vec<OwnedFd>> {
    let mut word = [0; GO.len()];
    let files = system::receive_files(socket, &mut word)?;
    Ok(if word == GO { files } else { Vec::new() })
}

/// Gives a starter the word. Returns once it has become the program.
///
/// # Errors
/// Fails with the reason for which it could not.
pub(super) fn release(mut socket: UnixStream, files: &[BorrowedFd<'_>]) -> std::io::Result<()> {
    system::send_files(&socket, GO, files)?;
    let mut code = Vec::new();
    // The end of the stream is the beginning of the program.
    socket.read_to_end(&mut code)?;
    match <[u8; 4]>::try_from(code.as_slice()) {
        Ok(code) => Err(std::io::Error::from_raw_os_error(i32::from_le_bytes(code))),
        Err(_) => Ok(()),
    }
}

/// Begins the command of a starter.
pub(super) fn command() -> std::io::Result<Command> {
    let mut command = Command::new(program()?);
    command.arg0(NAME);
    Ok(command)
}

/// Finds a program that can be a starter: this one, if it said so.
fn program() -> std::io::Result<PathBuf> {
    if own::is_claimed() {
        return system::own_program();
    }
    if let Some(program) = std::env::var_os(VARIABLE) {
        return Ok(program.into());
    }
    let exe = std::env::current_exe()?;
    let beside = exe.ancestors().skip(1).take(2).map(|folder| folder.join(PROGRAM));
    Ok(beside.into_iter().find(|path| path.is_file()).unwrap_or_else(|| PROGRAM.into()))
}
