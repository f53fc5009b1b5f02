//! The conformance suite's runner.
//!
//! A suite is a folder of case files, a case is a transcript: commands, and what they must print,
//! return and leave behind. The runner knows the binary only by its path, so the same cases judge
//! any implementation. Each case plays in a [sandbox](agentic_testkit::Sandbox) of its own; at its
//! end stock git checks every repository, and a decoder that shares no code with ours reads every
//! stored object. `conformance/README.md` explains the notation.

mod case;
mod check;
mod cluster;
mod company;
mod objects;
mod parse;
mod path;
mod pattern;
mod play;
mod report;
mod scoreboard;
mod suite;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use agentic_testkit::Templates;

use crate::cluster::CaseCluster;
pub use crate::company::CaseCompany;
use crate::play::{CaseSurroundings, CaseVerdict};
pub use crate::report::{ApartCase, CaseFailure, RunReport, SuiteReport};
pub use crate::scoreboard::Scoreboard;
use crate::suite::{Suite, SuiteItem};

/// How long one command of a case may take unless [`SuiteChoice`] say otherwise: enough for the
/// slowest disk, since it is there to end what hangs, not to judge what is slow.
pub const COMMAND_LIMIT: Duration = Duration::from_secs(120);
/// How many cases play at the same time for each core: most of their time goes to waiting for the
/// disk.
const PLAYERS_PER_CORE: usize = 3;
/// The most cases that play at the same time, however many cores there are.
const PLAYERS_MAX: usize = 32;

/// The suites whose cases are of all engines, but where they say otherwise.
const ENGINE_SUITES: [&str; 5] = ["agentlang", "context", "durable", "hold", "pipeline"];

/// What to run, and against what.
#[derive(Debug, Clone)]
pub struct SuiteChoice {
    /// The binary that the cases call `agentic`.
    pub bin: PathBuf,
    /// The folder of suites; [`find_cases`] finds that of a checkout.
    pub cases_dir: PathBuf,
    /// The suites to run; all of them when empty.
    pub suites: Vec<String>,
    /// How long one command may take.
    pub command_limit: Duration,
    /// Who else is in the repository of each case.
    pub company: CaseCompany,
}

/// What has happened so far; given to the progress callback after every case.
#[derive(Debug, Clone, Copy)]
pub struct SuiteProgress<'a> {
    /// The suite of the case that has just ended.
    pub suite: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Whether it passed.
    pub passed: bool,
    /// How many cases have ended.
    pub n_done: usize,
    /// How many there are.
    pub n_cases: usize,
}

/// Why the suite could not be run at all. A case that cannot run is a failed case, not an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The binary is missing.
    #[error("cannot find the binary `{path}`")]
    NoBinary {
        /// Its path.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// There are no cases.
    #[error("found no cases in `{path}`")]
    NoCases {
        /// The folder that was searched.
        path: String,
    },
    /// No suite has that name.
    #[error("there is no suite `{name}`; there are: {known}")]
    NoSuite {
        /// The name.
        name: String,
        /// The suites that exist.
        known: String,
    },
    /// The server of the cases does not run.
    #[error("cannot start a server of Temporal")]
    NoServer {
        /// What it said.
        source: agentic_testkit::Error,
    },
    /// What a scoreboard says cannot be read.
    #[error("`{path}` is no scoreboard")]
    NoScoreboard {
        /// Its path.
        path: String,
    },
    /// The file system refused.
    #[error("cannot {attempt}")]
    File {
        /// What was attempted.
        attempt: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn file(attempt: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
        let attempt = attempt.into();
        move |source| Error::File { attempt, source }
    }

    pub(crate) fn server(source: agentic_testkit::Error) -> Error {
        Error::NoServer { source }
    }
}

/// Finds the folder `conformance` of a checkout, in the current folder or above it.
pub fn find_cases() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join("conformance")).find(|folder| folder.is_dir())
}

/// Names the suites whose cases are of all engines, but where they say otherwise.
pub fn engine_suites() -> Vec<String> {
    ENGINE_SUITES.iter().map(ToString::to_string).collect()
}

/// Counts the cases of every suite in a folder.
///
/// # Errors
/// Fails when the folder cannot be read or holds no cases.
pub fn count_cases(cases_dir: &Path) -> Result<BTreeMap<String, usize>, Error> {
    let suites = suite::load(cases_dir, &[])?;
    Ok(suites.into_iter().map(|suite| (suite.name, suite.items.len())).collect())
}

/// Runs the suites, a few cases at a time for each core, and reports. `progress` is called
/// after every case, from several threads.
///
/// # Errors
/// Fails when the binary, the cases or a suite cannot be found.
pub fn run(
    options: &SuiteChoice,
    progress: &(dyn Fn(SuiteProgress) + Sync),
) -> Result<RunReport, Error> {
    let bin = options
        .bin
        .canonicalize()
        .map_err(|source| Error::NoBinary { path: options.bin.display().to_string(), source })?;
    let options = SuiteChoice { bin, ..options.clone() };
    let suites = suite::load(&options.cases_dir, &options.suites)?;
    let queue: Vec<(&Suite, &SuiteItem)> =
        suites.iter().flat_map(|suite| suite.items.iter().map(move |item| (suite, item))).collect();
    let cluster = match &options.company {
        CaseCompany::Temporal { program } => Some(CaseCluster::begin(program, queue.len())?),
        CaseCompany::Nobody | CaseCompany::NobodyNear | CaseCompany::Server => None,
    };
    let around = CaseSurroundings { options: &options, templates: Templates::default(), cluster };
    let next = AtomicUsize::new(0);
    let n_done = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<CaseVerdict>>> = Mutex::new(queue.iter().map(|_| None).collect());
    let play_until_empty = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some((suite, item)) = queue.get(at) else { break };
        let verdict = play::judge(item, at, &around);
        progress(SuiteProgress {
            suite: &suite.name,
            title: item.title(),
            passed: !matches!(verdict, CaseVerdict::Failed(_)),
            n_done: n_done.fetch_add(1, Ordering::Relaxed) + 1,
            n_cases: queue.len(),
        });
        results.lock().expect("no player panics while it holds the lock")[at] = Some(verdict);
    };
    let n_cores = thread::available_parallelism().map_or(2, usize::from);
    let n_players = (n_cores * PLAYERS_PER_CORE).min(PLAYERS_MAX);
    thread::scope(|scope| {
        for _ in 0..n_players {
            scope.spawn(play_until_empty);
        }
    });
    let results = results.into_inner().expect("all players have ended");
    let verdicts = results.into_iter().map(|found| found.expect("every case was played"));
    Ok(RunReport::collect(&suites, verdicts))
}
