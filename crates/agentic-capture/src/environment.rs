//! What a hook knows of where it was started: the variables of its environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The environment of a hook, as a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookEnvironment {
    variables: BTreeMap<OsString, OsString>,
}

impl HookEnvironment {
    /// Takes the environment of this process.
    pub fn of_process() -> HookEnvironment {
        HookEnvironment { variables: std::env::vars_os().collect() }
    }

    /// Takes these variables.
    pub fn of<K: Into<OsString>, V: Into<OsString>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> HookEnvironment {
        let variables = pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        HookEnvironment { variables }
    }

    /// Lists all variables.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(key, value)| (key.as_os_str(), value.as_os_str()))
    }

    /// Returns a variable that is text and not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variables.get(OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
    }

    /// Returns a variable that is an absolute path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(OsStr::new(name))?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    }

    /// Tells whether a variable is there.
    pub fn has(&self, name: &str) -> bool {
        self.variables.contains_key(OsStr::new(name))
    }

    /// Returns the folder of the user.
    pub fn home(&self) -> Option<PathBuf> {
        self.path("HOME")
    }
}
