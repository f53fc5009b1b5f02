//! Serving in the background.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use agentic_resident::ResidentClient;
use agentic_store::file::make_private_folder;

use super::ServeArgs;
use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

/// How long the process may take until its first page can be had.
const START_WAIT: Duration = Duration::from_secs(60);
/// How often is looked whether it can.
const LOOK: Duration = Duration::from_millis(20);
/// A log that is longer than this is set aside, in bytes.
const LOG_BYTES_MAX: u64 = 1 << 20;

/// Begins a process that serves, and returns when the first page can be had.
pub fn begin(context: &Context, args: &ServeArgs) -> VerbOutcome {
    let space = context.space()?;
    let layout = space.repository().layout();
    let folder = layout.resident();
    make_private_folder(&folder).map_err(agentic_api::Refusal::from)?;
    let log = folder.join("log");
    if std::fs::metadata(&log).is_ok_and(|found| found.len() > LOG_BYTES_MAX) {
        // One that cannot be set aside grows on.
        let _ = std::fs::rename(&log, folder.join("log.old"));
    }
    let open = OpenOptions::new().append(true).create(true).mode(0o600).open(&log);
    let file = open.map_err(|error| CommandFailure::io("open the log", &error))?;
    let own = std::env::current_exe();
    let own = own.map_err(|error| CommandFailure::io("find this program", &error))?;
    let mut command = Command::new(own);
    command.arg("-C").arg(&context.directory).arg("serve");
    command.args(args.port.map(|port| format!("--port={port}")));
    for (is_set, flag) in
        [(args.no_tcp, "--no-tcp"), (args.read_only, "--read-only"), (args.open, "--open")]
    {
        command.args(is_set.then_some(flag));
    }
    // In a group of its own: the end of this terminal does not reach it.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).process_group(0);
    let child = command.spawn();
    let mut child = child.map_err(|error| CommandFailure::io("start a process", &error))?;
    let begun = Instant::now();
    while begun.elapsed() < START_WAIT {
        if let Some(client) = ResidentClient::find(layout)
            && u32::try_from(client.at.process.pid) == Ok(child.id())
        {
            talk(&match &client.at.url {
                Some(url) => format!("process {} serves {url}", child.id()),
                None => format!("process {} serves on the socket alone", child.id()),
            });
            return Ok(ExitCode::SUCCESS);
        }
        if let Ok(Some(_)) = child.try_wait() {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    let said = said.lines().rev().find(|line| line.starts_with("error:")).unwrap_or("it ended");
    let said = said.trim_start_matches("error: ");
    Err(CommandFailure::refused(
        &format!("no process stays: {said}"),
        "`agentic serve` without `--detach` shows all that it says",
    ))
}
