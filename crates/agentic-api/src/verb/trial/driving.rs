//! Driving a session in a repository apart, by a process of its own: it finds nothing of ours in its
//! environment, and, where the system lets anybody do that, no network.

use std::path::Path;
use std::process::{Command, Stdio};

use agentic_providers::process::{AGENT_VARIABLE, PROGRAM_VARIABLE, REQUEST_VARIABLE};
use agentic_replay::SessionId;

use crate::Refusal;

/// The program that takes the network away from what it starts, without privileges.
const UNSHARE: [&str; 4] = ["unshare", "--map-root-user", "--net", "--"];
/// The variable that keeps git from looking for repositories above a folder.
const CEILING: &str = "GIT_CEILING_DIRECTORIES";

/// Whether what is run finds a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunNetwork {
    /// That of this machine.
    Open,
    /// None, not even its own machine by an address.
    Hidden,
}

impl RunNetwork {
    /// Looks whether the network can be taken away here.
    pub fn hidden_if_possible() -> RunNetwork {
        let mut probe = Command::new(UNSHARE[0]);
        probe.args(&UNSHARE[1..]).arg("true");
        probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match probe.status() {
            Ok(status) if status.success() => RunNetwork::Hidden,
            Ok(_) | Err(_) => RunNetwork::Open,
        }
    }

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            RunNetwork::Open => "open",
            RunNetwork::Hidden => "hidden",
        }
    }
}

/// Drives a session as far as it goes. How it ended its records say.
pub(super) fn drive(folder: &Path, id: &SessionId, network: RunNetwork) -> Result<(), Refusal> {
    let cannot = |error| Refusal::io("drive a run of a trial", &error);
    let own = std::env::current_exe().map_err(cannot)?;
    let mut command = match network {
        RunNetwork::Open => Command::new(&own),
        RunNetwork::Hidden => {
            let mut command = Command::new(UNSHARE[0]);
            command.args(&UNSHARE[1..]).arg(&own);
            command
        }
    };
    command.args(["session", "resume", &id.to_string()]).current_dir(folder);
    for name in [AGENT_VARIABLE, REQUEST_VARIABLE, PROGRAM_VARIABLE] {
        command.env_remove(name);
    }
    command.env(CEILING, folder.parent().unwrap_or(folder));
    let ended = command.stdin(Stdio::null()).output().map_err(cannot)?;
    // One that waits, failed or is in doubt says so by its exit code, and its records say it, too.
    match ended.status.code() {
        Some(_) => Ok(()),
        None => {
            let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
            let message = format!("who drove the run was ended: {said}");
            Err(Refusal::refused(&message, "the trial tries it once more"))
        }
    }
}
