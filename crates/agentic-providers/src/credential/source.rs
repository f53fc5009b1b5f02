//! Credentials that stand somewhere: in a variable, in a file, behind a command.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use agentic_plan::{CredentialError, CredentialSecret};

use super::settings::Settings;
use super::{Error, Result};
use crate::executable::{Executable, ProgramOutcome};
use crate::host::CancelFlag;

/// The longest credential, in bytes.
const SECRET_BYTES_MAX: u64 = 64 << 10;
/// How long a command may take to print a secret.
const COMMAND_LIMIT: Duration = Duration::from_secs(30);
/// The setting of git with the command line that prints a secret; its name is `$1`.
const COMMAND_SETTING: &str = "agentic.secretCommand";
/// The permissions that nobody but the owner may have on a file.
const OTHERS: u32 = 0o077;

/// Reads a variable.
pub(super) fn environment(settings: &Settings, name: &str) -> Result<CredentialSecret> {
    settings.variable(name).ok_or_else(|| missing("the environment", name))
}

/// Reads a file that only its owner can read; one line break at its end is not part of it.
pub(super) fn file(settings: &Settings, path: &str) -> Result<CredentialSecret> {
    let unreadable = |_| missing("the file", path);
    let file = std::fs::File::open(settings.path(path)).map_err(unreadable)?;
    // Asked of the open file, so that nobody can put another in its place in between.
    let mode = file.metadata().map_err(unreadable)?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(CredentialError::InsecureCredentialFile { path: path.to_owned() }.into());
    }
    let mut text = String::new();
    file.take(SECRET_BYTES_MAX).read_to_string(&mut text).map_err(unreadable)?;
    of_text(&text).ok_or_else(|| missing("the file", path))
}

/// Lets the configured command print a secret.
pub(super) fn command(
    settings: &Settings,
    name: &str,
    cancel: &CancelFlag,
) -> Result<CredentialSecret> {
    let line = settings.configured(COMMAND_SETTING).ok_or_else(|| Error::Configuration {
        what: format!("no command prints secrets: `git config {COMMAND_SETTING}` names none"),
    })?;
    let executable = Executable {
        argv: ["sh", "-c", &line, "sh", name].map(str::to_owned).to_vec(),
        folder: settings.path("."),
        input: Vec::new(),
        environment: Vec::new(),
        limit: COMMAND_LIMIT,
    };
    // What it printed or complained about may be secret, so none of it is told.
    match executable.run(cancel) {
        ProgramOutcome::Done(printed) => {
            let text = String::from_utf8(printed).ok();
            text.and_then(|text| of_text(&text)).ok_or_else(|| missing("the secret command", name))
        }
        ProgramOutcome::Crashed { .. }
        | ProgramOutcome::Lost(_)
        | ProgramOutcome::Flooded
        | ProgramOutcome::TimedOut
        | ProgramOutcome::Stopped => Err(missing("the secret command", name)),
    }
}

fn of_text(text: &str) -> Option<CredentialSecret> {
    let line = text.strip_suffix('\n').unwrap_or(text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    (!line.is_empty()).then(|| CredentialSecret::new(line))
}

fn missing(place: &str, name: &str) -> Error {
    let (identity, provider) = (place.to_owned(), name.to_owned());
    CredentialError::MissingCredential { identity, provider }.into()
}
