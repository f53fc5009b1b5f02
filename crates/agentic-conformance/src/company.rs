//! Who else is in the repository of a case: a process that stays, if that is wanted.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agentic_testkit::{Sandbox, Setup};

use crate::case::CaseNeed;

/// How long a process may take until it answers.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// How often it is asked.
const TICK: Duration = Duration::from_millis(20);

/// Who else is in the repository of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CaseCompany {
    /// Nobody.
    #[default]
    Nobody,
    /// Nobody; but the program can speak to servers of Temporal.
    NobodyNear,
    /// A process that serves it, from before the first command until after the last.
    Server,
    /// Workers of a server of Temporal that drives what runs there.
    Temporal {
        /// The program of the server, which is started for the cases.
        program: PathBuf,
    },
}

impl CaseCompany {
    /// Lists what a case may need that is not there.
    pub(crate) fn lacks(&self) -> &'static [CaseNeed] {
        match self {
            CaseCompany::Nobody => &[],
            CaseCompany::NobodyNear => &[CaseNeed::NoTemporal],
            CaseCompany::Server => &[CaseNeed::NoServer],
            CaseCompany::Temporal { .. } => &[CaseNeed::EmbeddedEngine, CaseNeed::NoTemporal],
        }
    }
}

/// A process that serves the repository in which a case begins. It ends when this is dropped.
pub(crate) struct CaseServer(Child);

impl CaseServer {
    /// Begins to serve, where there is a repository, and waits until that answers.
    pub fn begin(sandbox: &Sandbox, setup: Setup) -> Result<Option<CaseServer>, String> {
        if setup == Setup::NoRepository {
            return Ok(None);
        }
        let command = |arguments: &[&str]| {
            let mut command = sandbox.command("agentic", sandbox.start());
            command.args(arguments).stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        let process = command(&["serve", "--no-tcp"]).spawn();
        let mut server = CaseServer(process.map_err(|error| format!("start a server: {error}"))?);
        let begun = Instant::now();
        while !command(&["serve", "status"]).status().is_ok_and(|status| status.success()) {
            if let Ok(Some(status)) = server.0.try_wait() {
                return Err(format!("the server beside the case ended: {status}"));
            }
            if begun.elapsed() > ANSWER_MAX {
                return Err("the server beside the case never answers".to_owned());
            }
            thread::sleep(TICK);
        }
        Ok(Some(server))
    }
}

impl Drop for CaseServer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
