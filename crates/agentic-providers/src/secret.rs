//! Secrets: texts that are sent and never shown.
//!
//! A secret enters from its source at the moment of sending and goes nowhere else: not into a
//! program, a record, a hash, an error or a screen.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentic_plan::Redactor;

use crate::executable::{Executable, ProgramOutcome};
use crate::host::CancelFlag;

/// The longest secret, in bytes.
pub const SECRET_BYTES_MAX: u64 = 64 << 10;
/// How long a command may take to print a secret.
const COMMAND_LIMIT: Duration = Duration::from_secs(30);
/// What stands where a secret would.
const REDACTED: &str = "[secret]";

/// A text that neither `Debug` nor `Display` shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// Returns the text, to be sent to whom it is for.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns a text with every occurrence of the secret covered up, in whatever way it is escaped.
    pub fn cover(&self, text: &str) -> String {
        let secret = agentic_plan::CredentialSecret::new(self.0.as_str());
        Redactor::of_any_length([(secret, REDACTED.to_owned())]).text(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Where a secret is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable.
    Environment(String),
    /// A file that nobody but its owner may read.
    File(PathBuf),
    /// What a program prints.
    Command(Vec<String>),
}

/// Why a secret cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The variable is not set, or empty.
    #[error("the environment variable `{name}` is not set")]
    NotSet {
        /// The variable.
        name: String,
    },
    /// Others may read the file.
    #[error("the file `{}` may be read by others", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read the secret in `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The program failed; what it printed is not shown, for it may be a part of the secret.
    #[error("the command `{program}` gave no secret: {reason}")]
    Command {
        /// The program.
        program: String,
        /// What became of it.
        reason: String,
    },
    /// What was found is empty, too long or no text.
    #[error("{place} holds no secret: {reason}")]
    Malformed {
        /// Where it was looked for.
        place: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl SecretSource {
    /// Reads the secret. `folder` is where relative paths begin and commands run.
    ///
    /// # Errors
    /// Fails when there is none, when others may read its file, and when what is there is no
    /// single text of at most [`SECRET_BYTES_MAX`] bytes.
    pub fn read(&self, folder: &Path, cancel: &CancelFlag) -> Result<Secret, SecretError> {
        match self {
            SecretSource::Environment(name) => match std::env::var(name) {
                Ok(text) if !text.is_empty() => clean(&format!("`{name}`"), text.into_bytes()),
                Ok(_) | Err(std::env::VarError::NotPresent) => {
                    Err(SecretError::NotSet { name: name.clone() })
                }
                Err(std::env::VarError::NotUnicode(_)) => {
                    malformed(&format!("`{name}`"), "it is no UTF-8 text")
                }
            },
            SecretSource::File(path) => read_file(&folder.join(path)),
            SecretSource::Command(argv) => run_command(argv, folder, cancel),
        }
    }
}

fn read_file(path: &Path) -> Result<Secret, SecretError> {
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;
    const READABLE_BY_OTHERS: u32 = 0o077;

    let unreadable = |source| SecretError::Unreadable { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.permissions().mode();
    if mode & READABLE_BY_OTHERS != 0 {
        return Err(SecretError::Exposed { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    file.take(SECRET_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    clean(&format!("`{}`", path.display()), bytes)
}

fn run_command(argv: &[String], folder: &Path, cancel: &CancelFlag) -> Result<Secret, SecretError> {
    let program = argv.first().cloned().unwrap_or_default();
    let executable = Executable {
        argv: argv.to_vec(),
        folder: folder.to_owned(),
        input: Vec::new(),
        environment: Vec::new(),
        limit: COMMAND_LIMIT,
    };
    let reason = match executable.run(cancel) {
        ProgramOutcome::Done(printed) => {
            return clean(&format!("what `{program}` prints"), printed);
        }
        ProgramOutcome::Crashed { status, .. } => status.to_string(),
        ProgramOutcome::Lost(error) => error.to_string(),
        ProgramOutcome::Flooded => "it printed too much".to_owned(),
        ProgramOutcome::TimedOut => format!("it took longer than {} s", COMMAND_LIMIT.as_secs()),
        ProgramOutcome::Stopped => "it was stopped".to_owned(),
    };
    Err(SecretError::Command { program, reason })
}

/// Takes one line break off the end and looks at the rest.
fn clean(place: &str, bytes: Vec<u8>) -> Result<Secret, SecretError> {
    let Ok(text) = String::from_utf8(bytes) else {
        return malformed(place, "it is no UTF-8 text");
    };
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() {
        return malformed(place, "it is empty");
    }
    if text.len() as u64 > SECRET_BYTES_MAX {
        return malformed(place, "it is too long");
    }
    if text.contains(|letter: char| letter.is_control()) {
        return malformed(place, "it has more than one line, or control characters");
    }
    Ok(Secret::new(text))
}

fn malformed(place: &str, reason: &'static str) -> Result<Secret, SecretError> {
    Err(SecretError::Malformed { place: place.to_owned(), reason })
}
