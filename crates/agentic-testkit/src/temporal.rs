//! A real Temporal server for tests: on loopback, with its data in a folder.

use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Error, process};

/// How long a server may take until it serves.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often is looked whether it does.
const LOOK: Duration = Duration::from_millis(100);
/// How much of its log is shown where it does not serve, in bytes.
const LOG_BYTES_MAX: usize = 4_096;
/// Where ports are looked for: below those that systems give to whoever asks for any.
const PORTS: Range<u16> = 12_000..32_000;
/// How often a start is tried: beside its own ports the server picks some that others may take first.
const N_TRIES: usize = 3;
/// Behind the state of a process, where the system says when it began.
const BEGAN: usize = 19;
/// What the server is told that its defaults would make slow: how often it may look for work.
const SETTINGS: [&str; 4] = [
    "frontend.enableServerVersionCheck=false",
    // Nobody here uses what these would do, and there may be many namespaces.
    "worker.perNamespaceWorkerCount=0",
    "history.transferProcessorMaxPollRPS=5000",
    "history.timerProcessorMaxPollRPS=5000",
];

/// A server that runs. Dropping it ends it; its data stay in the folder.
#[derive(Debug)]
pub struct TemporalServer {
    program: PathBuf,
    folder: PathBuf,
    /// Those that it has beside the usual one.
    namespaces: Vec<String>,
    ports: ServerPorts,
    /// Nothing while it does not run.
    process: Option<Child>,
}

/// A server that runs on by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftServer {
    /// Where it listens.
    pub address: String,
    /// The id of its process.
    pub pid: u32,
    /// When that began, in the system's count: it tells it from a later one with the same id.
    pub began: u64,
}

/// Where a server listens.
#[derive(Debug, Clone, Copy)]
struct ServerPorts {
    grpc: u16,
    http: u16,
    metrics: u16,
}

impl TemporalServer {
    /// Starts a server with the program that `cargo xtask temporal install` gets, and waits until it
    /// serves.
    ///
    /// # Errors
    /// Fails when it does not start, and when it does not serve within a minute.
    pub fn begin(program: &Path, folder: &Path) -> Result<TemporalServer, Error> {
        TemporalServer::begin_with(program, folder, &[])
    }

    /// Does the same with namespaces beside the usual one.
    ///
    /// # Errors
    /// Fails as [`TemporalServer::begin`] does.
    pub fn begin_with(
        program: &Path,
        folder: &Path,
        namespaces: &[String],
    ) -> Result<TemporalServer, Error> {
        std::fs::create_dir_all(folder).map_err(Error::file("make the folder of the server"))?;
        let (program, folder) = (program.to_owned(), folder.to_owned());
        let (ports, namespaces) = (ServerPorts::find()?, namespaces.to_vec());
        let mut server = TemporalServer { program, folder, namespaces, ports, process: None };
        server.start()?;
        Ok(server)
    }

    /// Starts it again where it was, with the data that it had.
    ///
    /// # Errors
    /// Fails as [`TemporalServer::begin`] does.
    pub fn start(&mut self) -> Result<(), Error> {
        let mut outcome = self.try_start();
        for _ in 1..N_TRIES {
            if outcome.is_ok() {
                break;
            }
            outcome = self.try_start();
        }
        outcome
    }

    fn try_start(&mut self) -> Result<(), Error> {
        let log = File::create(self.log()).map_err(Error::file("make the log of the server"))?;
        let errors = log.try_clone().map_err(Error::file("open the log of the server"))?;
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let started = process::spawn(&mut command);
        self.process = Some(started.map_err(Error::file("start the server"))?);
        self.await_service()
    }

    /// Returns its address, as `--sibyl-addr` takes it.
    pub fn address(&self) -> String {
        format!("{}:{}", Ipv4Addr::LOCALHOST, self.ports.grpc)
    }

    /// Returns the id of its process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Ends it at once, as a power failure would.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _it_may_have_ended = process.kill();
            let _it_may_have_ended = process.wait();
        }
    }

    /// Asks it to end, and waits until it has.
    ///
    /// # Errors
    /// Fails when it cannot be waited for.
    pub fn stop(&mut self) -> Result<(), Error> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        ask_to_end(process.id());
        process.wait().map(drop).map_err(Error::file("wait for the server"))
    }

    /// Lets it run on when this process ends, and says how it is found again; nothing where it has
    /// ended.
    pub fn leave(mut self) -> Option<LeftServer> {
        let address = self.address();
        let pid = self.process.take()?.id();
        Some(LeftServer { address, pid, began: began(pid)? })
    }

    fn log(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let ServerPorts { grpc, http, metrics } = self.ports;
        command.args(["server", "start-dev", "--headless", "--ip", "127.0.0.1"]);
        for (name, port) in [("--port", grpc), ("--http-port", http), ("--metrics-port", metrics)] {
            command.arg(name).arg(port.to_string());
        }
        command.arg("--db-filename").arg(self.folder.join("temporal.db"));
        command.args(["--sqlite-pragma", "synchronous=1", "--sqlite-pragma", "journal_mode=wal"]);
        for setting in SETTINGS {
            command.args(["--dynamic-config-value", setting]);
        }
        for namespace in &self.namespaces {
            command.args(["--namespace", namespace]);
        }
        command.args(["--log-level", "warn", "--log-format", "json"]);
        self.apart(&mut command);
        command
    }

    /// Has a command look at nothing that the person who runs it has set up.
    fn apart(&self, command: &mut Command) {
        command.args(["--disable-config-file", "--disable-config-env"]);
        command.env("TEMPORAL_VERSION_CHECK_DISABLED", "1").env("HOME", &self.folder);
        command.current_dir(&self.folder);
    }

    fn await_service(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let mut ask = Command::new(&self.program);
            ask.args(["operator", "cluster", "health", "--address", &self.address()]);
            self.apart(&mut ask);
            let answer = process::run(ask, b"", PATIENCE)?;
            if String::from_utf8_lossy(&answer.stdout).contains("SERVING") {
                return Ok(());
            }
            let has_ended = self
                .process
                .as_mut()
                .is_none_or(|process| process.try_wait().is_ok_and(|status| status.is_some()));
            if has_ended {
                break;
            }
            std::thread::sleep(LOOK);
        }
        self.kill();
        let log = std::fs::read(self.log()).unwrap_or_default();
        let end = &log[log.len().saturating_sub(LOG_BYTES_MAX)..];
        let said = String::from_utf8_lossy(end).into_owned();
        Err(Error::Command { command: "temporal server start-dev".to_owned(), said })
    }
}

impl LeftServer {
    /// Tells whether it still runs.
    pub fn is_running(&self) -> bool {
        began(self.pid) == Some(self.began)
    }

    /// Asks it to end, and waits until it has.
    pub fn end(&self) {
        if self.is_running() {
            ask_to_end(self.pid);
        }
        while self.is_running() {
            std::thread::sleep(LOOK);
        }
    }
}

fn ask_to_end(pid: u32) {
    if let Some(id) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _it_may_have_ended = kill_process(id, Signal::TERM);
    }
}

/// Says when a process began that has not ended, in the system's count.
fn began(pid: u32) -> Option<u64> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in brackets, and may hold anything.
    let mut fields = line.rsplit_once(')')?.1.split_whitespace();
    if fields.next()? == "Z" {
        return None;
    }
    fields.nth(BEGAN - 1)?.parse().ok()
}

impl Drop for TemporalServer {
    fn drop(&mut self) {
        self.kill();
    }
}

impl ServerPorts {
    /// Finds ports that are free now, and that the system gives to nobody who asks for any: they are still
    /// free when a server that was killed starts again.
    fn find() -> Result<ServerPorts, Error> {
        let n_ports = u64::from(PORTS.end - PORTS.start);
        let begin = RandomState::new().build_hasher().finish() % n_ports;
        let ports = (begin..begin + n_ports).filter_map(|n| u16::try_from(n % n_ports).ok());
        // All are held until the last is found, so that they differ.
        let held = ports.filter_map(|n| {
            let port = PORTS.start + n;
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok().map(|held| (port, held))
        });
        let held: Vec<(u16, TcpListener)> = held.take(3).collect();
        let [(grpc, _), (http, _), (metrics, _)] = held.as_slice() else {
            let none = std::io::Error::from(std::io::ErrorKind::AddrInUse);
            return Err(Error::file("find a free port")(none));
        };
        Ok(ServerPorts { grpc: *grpc, http: *http, metrics: *metrics })
    }
}
