//! Runs that go on in a process of their own.
//!
//! The run is recorded already, so it survives everything; the new process is a worker for it alone.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use crate::context::Context;
use crate::engine::Address;
use crate::failure::CommandFailure;

/// Starts a process that goes on with a run.
pub fn go_on_elsewhere(
    context: &Context,
    address: &Address,
    session: &str,
) -> Result<(), CommandFailure> {
    let cannot = |error: std::io::Error| CommandFailure::io("start a process for the run", &error);
    let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
    command.arg("-C").arg(&context.directory).args(["flow", "worker", session]);
    if let Some(address) = &address.sibyl_addr {
        // Joined, so that no value can pose as an option.
        command.arg(format!("--sibyl-addr={address}"));
    }
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.process_group(0).spawn().map_err(cannot)?;
    Ok(())
}
