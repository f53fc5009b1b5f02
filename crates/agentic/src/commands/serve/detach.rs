//! Serving in the background.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use agentic_api::view::ServeDetachView;
use agentic_resident::{ResidentClient, ServeLog};
use agentic_store::file::make_private_folder;

use super::ServeArgs;
use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::failure::CommandFailure;
use crate::output::talk;

/// How long the process may take until its first page can be had.
const START_WAIT: Duration = Duration::from_secs(60);
/// The variable that names the program which asks for passphrases.
const PASSPHRASE_ASKER: &str = "SSH_ASKPASS";
/// How often is looked whether it can.
const LOOK: Duration = Duration::from_millis(20);

/// Begins a process that serves, and returns when the first page can be had.
pub fn begin(context: &Context, args: &ServeArgs) -> VerbOutcome {
    let space = context.space()?;
    let layout = space.repository().layout();
    let folder = layout.resident();
    make_private_folder(&folder).map_err(agentic_api::Refusal::from)?;
    let log = ServeLog::of(&folder);
    let file = log.open().map_err(|error| {
        let doing = format!("open the log `{}`", log.path().display());
        CommandFailure::io(&doing, &error)
    })?;
    let own = std::env::current_exe();
    let own = own.map_err(|error| CommandFailure::io("find this program", &error))?;
    let mut command = Command::new(own);
    command.arg("-C").arg(&context.directory).arg("serve");
    command.args(args.port.map(|port| format!("--port={port}")));
    for (is_set, flag) in [
        (args.plain_host, "--plain-host"),
        (args.no_tcp, "--no-tcp"),
        (args.read_only, "--read-only"),
        (args.mcp, "--mcp"),
        (args.drive, "--drive"),
        (args.open, "--open"),
        (true, "--logged"),
    ] {
        command.args(is_set.then_some(flag));
    }
    if std::env::var_os(PASSPHRASE_ASKER).is_none() {
        // Nobody is at a terminal who could be asked for a passphrase: what wants one is refused.
        command.env(PASSPHRASE_ASKER, "false").env("SSH_ASKPASS_REQUIRE", "force");
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
            let view = ServeDetachView { pid: child.id(), url: client.at.url.clone() };
            context.format.answer_told(&view);
            return Ok(ExitCode::SUCCESS);
        }
        if let Ok(Some(_)) = child.try_wait() {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let said = log.last_error().unwrap_or_else(|| "it ended".to_owned());
    Err(CommandFailure::refused(
        &format!("no process stays: {said}"),
        "`agentic serve` without `--detach` shows all that it says",
    ))
}
