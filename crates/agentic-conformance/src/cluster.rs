//! A server that drives the runs of cases, and the workers that perform what those ask.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use agentic_testkit::{Sandbox, Setup, TemporalServer};

use crate::Error;

/// How often is looked whether a repository needs a worker.
const TICK: Duration = Duration::from_millis(20);
/// How deep repositories stand in the folder of all.
const FOLDER_DEPTH_MAX: usize = 3;
/// How much of what a worker said is shown with a case that failed, in bytes.
const SAID_BYTES_MAX: usize = 2_000;

/// The server of all cases.
pub(crate) struct CaseCluster {
    server: TemporalServer,
    /// Where its data are.
    _folder: Sandbox,
}

impl CaseCluster {
    /// Starts a server with a namespace for each case: two repositories may have the same run.
    pub fn begin(program: &Path, n_cases: usize) -> Result<CaseCluster, Error> {
        let folder = Sandbox::in_memory(Setup::NoRepository).map_err(Error::server)?;
        let namespaces: Vec<String> = (0..n_cases).map(namespace).collect();
        let place = folder.root().join("server");
        let server =
            TemporalServer::begin_with(program, &place, &namespaces).map_err(Error::server)?;
        Ok(CaseCluster { server, _folder: folder })
    }

    /// Returns the variables that send the runs of a case to the server.
    pub fn variables(&self, case: usize) -> BTreeMap<String, String> {
        let address = ("TEMPORAL_ADDRESS".to_owned(), self.server.address());
        [address, ("TEMPORAL_NAMESPACE".to_owned(), namespace(case))].into()
    }
}

fn namespace(case: usize) -> String {
    format!("case-{case}")
}

/// The workers of the repositories of a case. They end when this is dropped.
#[derive(Default)]
pub(crate) struct CaseWorkers {
    /// By repository.
    working: BTreeMap<PathBuf, Child>,
    /// The repositories that have ever had one.
    driven: BTreeSet<PathBuf>,
}

impl CaseWorkers {
    /// Does something, and has each repository worked for meanwhile whose sessions a server drives, also
    /// after a worker has died. Workers have the environment in which they begin.
    pub fn beside<T>(
        &mut self,
        sandbox: &Sandbox,
        environment: &BTreeMap<String, String>,
        act: impl FnOnce() -> T,
    ) -> T {
        let is_done = AtomicBool::new(false);
        let watch = || {
            while !is_done.load(Ordering::Acquire) {
                self.begin_where_needed(sandbox, environment);
                thread::sleep(TICK);
            }
            // What was left to itself needs one, too.
            self.begin_where_needed(sandbox, environment);
        };
        thread::scope(|scope| {
            scope.spawn(watch);
            let done = act();
            is_done.store(true, Ordering::Release);
            done
        })
    }

    /// Ends all of them. Those that follow have another environment.
    pub fn end(&mut self) {
        for (_, mut worker) in std::mem::take(&mut self.working) {
            // It may have ended already.
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }

    /// Says whether a server drove anything of the case.
    pub fn have_worked(&self) -> bool {
        !self.driven.is_empty()
    }

    /// Returns the end of what workers said.
    pub fn said(sandbox: &Sandbox) -> String {
        let said = fs::read(log(sandbox)).unwrap_or_default();
        let end = &said[said.len().saturating_sub(SAID_BYTES_MAX)..];
        String::from_utf8_lossy(end).into_owned()
    }

    fn begin_where_needed(&mut self, sandbox: &Sandbox, environment: &BTreeMap<String, String>) {
        let mut found = Vec::new();
        claimed(&sandbox.repositories(), 0, &mut found);
        for repository in found {
            let working = self.working.get_mut(&repository);
            if working.is_some_and(|worker| worker.try_wait().is_ok_and(|it| it.is_none())) {
                continue;
            }
            let mut command = sandbox.command("agentic", &repository);
            command.args(["flow", "worker"]).envs(environment);
            let said = File::options().create(true).append(true).open(log(sandbox));
            command.stdin(Stdio::null()).stdout(Stdio::null());
            command.stderr(said.map_or_else(|_| Stdio::null(), Stdio::from));
            // Where none can be started the case fails: nobody performs what it asks.
            if let Ok(worker) = command.spawn() {
                self.driven.insert(repository.clone());
                self.working.insert(repository, worker);
            }
        }
    }
}

impl Drop for CaseWorkers {
    fn drop(&mut self) {
        self.end();
    }
}

fn log(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().join("worker.log")
}

/// Finds the repositories of which a server drives a session that is not over.
fn claimed(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let sessions = [".git/agentic/session/open", "agentic/session/open"];
    if sessions.iter().any(|sessions| has_claim(&folder.join(sessions))) {
        found.push(folder.to_owned());
    }
    if depth < FOLDER_DEPTH_MAX {
        for inner in folders_in(folder) {
            claimed(&inner, depth + 1, found);
        }
    }
}

fn has_claim(sessions: &Path) -> bool {
    let mut shards = folders_in(sessions);
    shards.any(|shard| folders_in(&shard).any(|session| session.join("host").exists()))
}

/// Lists the folders of a folder, but no links and nothing that is hidden.
fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_meant = |entry: &fs::DirEntry| {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    entries.filter(move |entry| is_meant(entry)).map(|entry| entry.path())
}
