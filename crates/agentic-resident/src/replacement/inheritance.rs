//! What a program leaves to the one that takes its place: open files, sent through a socket that is the
//! standard input of the new program, and a note in memory of what they are for.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::net::TcpListener;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use agentic_providers::process::{file_in_memory, receive_files, send_files};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::{ResidentError, Result};
use crate::folder::ServeLock;
use crate::os::{children, keep_name};
use crate::worker::WorkerChild;

/// The longest list of what the files are, in bytes.
const NAMES_BYTES_MAX: usize = 128;
const NOTE: &str = "note";
const LOCK: &str = "lock";
const STDIN: &str = "stdin";
const SOCKET: &str = "socket";
const TCP: &str = "tcp";
const WORKER: &str = "worker";

/// What the page of a process leaves.
#[derive(Debug)]
pub struct PageEstate<'a> {
    /// Where this user's programs are heard.
    pub socket: BorrowedFd<'a>,
    /// Where browsers are heard.
    pub tcp: Option<BorrowedFd<'a>>,
    /// What it remembers.
    pub memory: Json,
}

/// All that a process leaves.
pub(crate) struct Estate<'a> {
    pub lock: &'a ServeLock,
    pub worker: Option<&'a WorkerChild>,
    pub resumes: ResumesNote,
    pub page: PageEstate<'a>,
}

/// What a program is left by the one whose place it took.
#[derive(Debug)]
pub struct Inheritance {
    /// Its lock and its children.
    pub process: ProcessInheritance,
    /// Where it is heard, and what its page remembers.
    pub page: PageInheritance,
}

/// The lock and the children of the program before.
#[derive(Debug)]
pub struct ProcessInheritance {
    pub(crate) lock: File,
    pub(crate) children: InheritedChildren,
}

/// The processes that the program before has begun and that nobody has waited for.
#[derive(Debug, Default)]
pub(crate) struct InheritedChildren {
    pub worker: Option<WorkerChild>,
    pub resumes: ResumesNote,
    /// Those of which nothing else is known, such as programs of requests that took too long.
    pub strays: Vec<Pid>,
}

/// What the page of the program before has left.
#[derive(Debug)]
pub struct PageInheritance {
    /// Where this user's programs are heard.
    pub socket: UnixListener,
    /// Where browsers are heard.
    pub tcp: Option<TcpListener>,
    /// What it remembers.
    pub memory: Json,
}

/// The sessions that are gone on with: by which processes, and which wait for one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ResumesNote {
    pub running: Vec<i32>,
    pub waiting: VecDeque<String>,
}

/// What is no open file.
#[derive(Debug, Serialize, Deserialize)]
struct EstateNote {
    worker: Option<i32>,
    resumes: ResumesNote,
    page: Json,
}

impl Estate<'_> {
    /// Sends everything to a socket, and returns the end from which it can be received.
    pub fn send(&self, stdin: &OwnedFd) -> std::io::Result<UnixStream> {
        let note = self.note()?;
        let page = &self.page;
        let files = [
            (NOTE, Some(note.as_fd())),
            (LOCK, Some(self.lock.as_fd())),
            (STDIN, Some(stdin.as_fd())),
            (SOCKET, Some(page.socket)),
            (TCP, page.tcp),
            (WORKER, self.worker.map(|worker| worker.pipe.as_fd())),
        ];
        let (names, files): (Vec<&str>, Vec<BorrowedFd<'_>>) =
            files.into_iter().filter_map(|(name, file)| Some((name, file?))).unzip();
        let (ours, heir) = UnixStream::pair()?;
        send_files(&ours, names.join(" ").as_bytes(), &files)?;
        Ok(heir)
    }

    /// Writes down, in memory, what is no open file.
    fn note(&self) -> std::io::Result<File> {
        let worker = self.worker.map(|worker| worker.pid.as_raw_nonzero().get());
        let resumes = ResumesNote {
            running: self.resumes.running.clone(),
            waiting: self.resumes.waiting.clone(),
        };
        let note = EstateNote { worker, resumes, page: self.page.memory.clone() };
        let mut file = file_in_memory()?;
        file.write_all(&serde_json::to_vec(&note)?)?;
        file.rewind()?;
        Ok(file)
    }
}

impl Inheritance {
    /// Receives what the program before has left, and gives this one its standard input.
    ///
    /// # Errors
    /// Fails when nothing was left.
    pub fn take() -> Result<Inheritance> {
        take().map_err(ResidentError::system("take over from the program before"))
    }
}

fn take() -> std::io::Result<Inheritance> {
    keep_name();
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let mut names = [0; NAMES_BYTES_MAX];
    let files = receive_files(socket.as_fd(), &mut names)?;
    let names = String::from_utf8_lossy(&names);
    let names = names.trim_end_matches('\0').split(' ').map(str::to_owned);
    let mut files: BTreeMap<String, OwnedFd> = names.zip(files).collect();
    let mut file = |name: &str| files.remove(name);
    let absent = || std::io::Error::other("something was not left");

    rustix::stdio::dup2_stdin(file(STDIN).ok_or_else(absent)?)?;
    let mut text = Vec::new();
    File::from(file(NOTE).ok_or_else(absent)?).read_to_end(&mut text)?;
    let note: EstateNote = serde_json::from_slice(&text)?;
    let worker = note.worker.and_then(Pid::from_raw).zip(file(WORKER));
    let is_known = |pid: i32| note.worker == Some(pid) || note.resumes.running.contains(&pid);
    let strays = children().into_iter().filter(|pid| !is_known(pid.as_raw_nonzero().get()));
    let children = InheritedChildren {
        worker: worker.map(|(pid, pipe)| WorkerChild { pid, pipe }),
        strays: strays.collect(),
        resumes: note.resumes,
    };
    Ok(Inheritance {
        process: ProcessInheritance { lock: file(LOCK).ok_or_else(absent)?.into(), children },
        page: PageInheritance {
            socket: file(SOCKET).ok_or_else(absent)?.into(),
            tcp: file(TCP).map(TcpListener::from),
            memory: note.page,
        },
    })
}
