//! What surrounds credentials: variables of this process, and git's configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use agentic_plan::CredentialSecret;

use super::{Error, Result};

/// The variable with the folder of the token store.
const STORE_VARIABLE: &str = "AGENTIC_TOKENS";
/// The variable with the key that seals the store: 64 hexadecimal digits.
const KEY_VARIABLE: &str = "AGENTIC_TOKEN_KEY";
/// How many bytes the key has.
pub(super) const KEY_BYTES: usize = 32;

/// What surrounds a run.
#[derive(Clone)]
pub struct Settings {
    folder: PathBuf,
    /// The variables; those of the process without.
    variables: Option<BTreeMap<String, String>>,
}

impl fmt::Debug for Settings {
    /// Shows no variable: any may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Settings {
    /// Takes the variables of this process. Files and git's configuration are found from `folder`.
    pub fn of_process(folder: PathBuf) -> Settings {
        Settings { folder, variables: None }
    }

    /// Takes these variables and no others.
    pub fn with_variables(folder: PathBuf, variables: BTreeMap<String, String>) -> Settings {
        Settings { folder, variables: Some(variables) }
    }

    fn read(&self, name: &str) -> Option<String> {
        let value = match &self.variables {
            Some(variables) => variables.get(name).cloned(),
            None => std::env::var(name).ok(),
        };
        value.filter(|value| !value.is_empty())
    }

    /// Returns a variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<CredentialSecret> {
        self.read(name).map(CredentialSecret::new)
    }

    /// Returns a path, seen from where the run was started; `~/` is the home folder.
    pub(super) fn path(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.read("HOME")) {
            (Some(rest), Some(home)) => Path::new(&home).join(rest),
            (Some(_) | None, _) => self.folder.join(text),
        }
    }

    /// Returns a setting of git's configuration.
    pub(super) fn configured(&self, name: &str) -> Option<String> {
        let output = Command::new("git")
            .args(["config", "--get", name])
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim_end_matches('\n').to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    }

    /// Returns the folder of the token store.
    pub(super) fn store(&self) -> Result<PathBuf> {
        let named = |name: &str| self.read(name);
        if let Some(folder) = named(STORE_VARIABLE) {
            return Ok(self.folder.join(folder));
        }
        let data = named("XDG_DATA_HOME").map(PathBuf::from);
        let data = data.or_else(|| named("HOME").map(|home| Path::new(&home).join(".local/share")));
        let data = data.ok_or_else(|| Error::Configuration {
            what: format!("there is no place for tokens: set {STORE_VARIABLE} to a folder"),
        })?;
        Ok(data.join("agentic/tokens"))
    }

    /// Returns the key that seals the store.
    pub(super) fn key(&self) -> Result<[u8; KEY_BYTES]> {
        let wrong = |what: &str| Error::Configuration {
            what: format!("{KEY_VARIABLE} {what}: 64 hexadecimal digits, the key of the tokens"),
        };
        let text = self.variable(KEY_VARIABLE).ok_or_else(|| wrong("is not set"))?;
        let text = text.expose().trim().as_bytes();
        let mut key = [0; KEY_BYTES];
        if text.len() != 2 * KEY_BYTES {
            return Err(wrong("has the wrong length"));
        }
        for (byte, digits) in key.iter_mut().zip(text.chunks_exact(2)) {
            let value = |digit: u8| char::from(digit).to_digit(16);
            let (high, low) = (value(digits[0]), value(digits[1]));
            let (high, low) = high.zip(low).ok_or_else(|| wrong("is not hexadecimal"))?;
            *byte = u8::try_from(high * 16 + low).expect("two digits are a byte");
        }
        Ok(key)
    }

    /// Reads the clock, in milliseconds since 1970.
    pub(super) fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}
