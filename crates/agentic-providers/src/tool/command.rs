//! `sh://PROGRAM`: programs that the configuration allows, started without a shell.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::argument::ToolArgument;
use super::{ToolCall, ToolFault, ToolFaultClass, ToolResult, ToolSetting, json};
use crate::executable::{Executable, OUTPUT_BYTES_MAX, ProgramOutcome};

/// How long a program may take unless the call says so, in milliseconds.
const TIME_LIMIT_MS_DEFAULT: usize = 60_000;
/// Programs that would run whatever text they are given.
const SHELLS: [&str; 9] = ["sh", "bash", "zsh", "fish", "dash", "ksh", "csh", "tcsh", "busybox"];

#[derive(Serialize)]
struct CommandEnd {
    ok: bool,
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Performs a call of a program that is not built in.
pub(super) fn call(
    program: &str,
    allowed: &[String],
    folder: &Path,
    call: &ToolCall,
    setting: &ToolSetting<'_>,
) -> ToolResult {
    if SHELLS.contains(&program) {
        return Err(ToolFault::refused(format!("the shell `{program}` is forbidden")));
    }
    if program.contains('/') || !allowed.iter().any(|name| name == program) {
        return Err(ToolFault::refused(format!(
            "there is no tool `{program}`: use find, grep or read-range, or allow it in \
             `tools.commands` of `agentic.toml`"
        )));
    }
    let argument = ToolArgument::of(call)?;
    let limit = Duration::from_millis(argument.count("timeout", TIME_LIMIT_MS_DEFAULT)? as u64);
    let executable = Executable {
        argv: std::iter::once(program.to_owned()).chain(argument.texts("args")?).collect(),
        folder: folder.to_owned(),
        input: argument.optional("stdin")?.unwrap_or_default().into_bytes(),
        environment: Vec::new(),
        limit: setting.limit.map_or(limit, |outer| outer.min(limit)),
    };
    let shown_limit = executable.limit.as_millis();
    match executable.run_apart(setting.cancel) {
        ProgramOutcome::Done(printed) => {
            let stdout = String::from_utf8_lossy(&printed).into_owned();
            json(&CommandEnd { ok: true, status: Some(0), stdout, stderr: String::new() })
        }
        ProgramOutcome::Crashed { status, complaint } => {
            let (status, stdout) = (status.code(), String::new());
            json(&CommandEnd { ok: false, status, stdout, stderr: complaint })
        }
        ProgramOutcome::Lost(error) => Err(ToolFault::refused(format!("`{program}`: {error}"))),
        ProgramOutcome::Flooded => Err(ToolFault::refused(format!(
            "`{program}` printed more than {OUTPUT_BYTES_MAX} bytes"
        ))),
        ProgramOutcome::TimedOut => Err(ToolFault {
            class: ToolFaultClass::TimedOut,
            message: format!("`{program}` took longer than {shown_limit} ms"),
        }),
        ProgramOutcome::Stopped => Err(ToolFault::cancelled()),
    }
}
