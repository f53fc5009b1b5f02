//! What a configuration opens: where calls go, which keys are read, what is started, what programs
//! see. Of a file that git tracks none of it counts before somebody has allowed it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Configuration, McpEntry, ModelEntry};
use crate::channel::Transport;
use crate::model::ModelAddress;
use crate::secret::SecretSource;

/// The entry with the model of those who name none.
pub const DEFAULT_MODEL: &str = "default_model";
/// The entry with the variables that programs read as they are.
pub const PLAIN: &str = "plain";
/// The entry with the folder of the tools.
pub const WORKSPACE: &str = "tools.workspace";
/// The entry with the programs that tools start.
pub const COMMANDS: &str = "tools.commands";
/// The entry with the service that is searched.
pub const SEARCH: &str = "tools.search";
/// The entry with the hosts beyond the public web.
pub const HOSTS: &str = "tools.hosts";
/// The entry with who people are.
const IDENTITIES: &str = "identities";

/// One thing that a configuration opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loosening {
    /// The entry that says so, such as `models.fast`.
    pub entry: String,
    /// What it does, in the words of a person.
    pub does: String,
}

/// What files that git tracks say and nobody has allowed: it does not count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WithheldSettings {
    entries: BTreeSet<String>,
    file: Option<PathBuf>,
}

impl WithheldSettings {
    /// Withholds entries of a file.
    pub fn add(&mut self, file: &Path, loosenings: impl IntoIterator<Item = Loosening>) {
        self.file.get_or_insert_with(|| file.to_owned());
        self.entries.extend(loosenings.into_iter().map(|loosening| loosening.entry));
    }

    /// Lists the entries that do not count.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(String::as_str)
    }

    /// Checks that an entry counts.
    ///
    /// # Errors
    /// Fails with the reason why it does not.
    pub fn check(&self, entry: &str) -> Result<(), String> {
        if !self.entries.contains(entry) {
            return Ok(());
        }
        Err(self.reason(entry))
    }

    /// Checks that all entries of people count: messages leave only as a whole.
    ///
    /// # Errors
    /// Fails with the reason why they do not.
    pub fn check_people(&self) -> Result<(), String> {
        let is_of_people = |entry: &&String| *entry == IDENTITIES || entry.starts_with("channels.");
        match self.entries.iter().find(is_of_people) {
            Some(entry) => Err(self.reason(entry)),
            None => Ok(()),
        }
    }

    fn reason(&self, entry: &str) -> String {
        let file = self.file.as_deref().and_then(Path::file_name).unwrap_or_default();
        format!(
            "`{entry}` of `{}` does not count: git tracks the file, and nobody has allowed what it \
             does; `agentic allow` shows it and asks",
            file.to_string_lossy()
        )
    }
}

impl Configuration {
    /// Lists what the file opens.
    pub fn loosenings(&self) -> Vec<Loosening> {
        let mut found = Vec::new();
        let mut add = |entry: &str, does: String| {
            found.push(Loosening { entry: entry.to_owned(), does });
        };
        let default = self.default_model.as_deref().map(|name| (name, ModelAddress::parse(name)));
        if let Some((name, Ok(ModelAddress { server: Some(_), .. }))) = default {
            add(DEFAULT_MODEL, format!("sends prompts to `{name}`"));
        }
        for (name, model) in &self.models {
            if let Some(does) = opened_by_model(model) {
                add(&format!("models.{name}"), does);
            }
        }
        if !self.plain.is_empty() {
            add(PLAIN, format!("lets programs read {}", quoted(&self.plain)));
        }
        let tools = &self.tools;
        if let Some(workspace) = tools.workspace.as_ref().filter(|_| !self.works_inside()) {
            add(WORKSPACE, format!("lets tools read and write `{}`", workspace.display()));
        }
        if !tools.commands.is_empty() {
            add(COMMANDS, format!("lets programs start {}", quoted(&tools.commands)));
        }
        if let Some(search) = &tools.search {
            add(SEARCH, format!("sends searches to `{search}`"));
        }
        if !tools.hosts.is_empty() {
            add(HOSTS, format!("lets pages be read from {}", quoted(&tools.hosts)));
        }
        for (name, server) in &self.mcp {
            add(&format!("mcp.{name}"), server.opens());
        }
        for (name, channel) in &self.people.channels {
            let does = match &channel.transport {
                Transport::Program(argv, _) => format!("starts {}", quoted(argv)),
                Transport::Endpoint(url) => format!("sends messages to `{url}`"),
            };
            add(&format!("channels.{name}"), does);
        }
        let names: Vec<String> = self.people.identities.names.values().cloned().collect();
        if !names.is_empty() {
            add(IDENTITIES, format!("says who decides as {}", quoted(&names)));
        }
        found
    }

    /// Tells whether the folder of the tools is that of the file or below it, links followed.
    fn works_inside(&self) -> bool {
        let own = |folder: &Path| {
            if folder.as_os_str().is_empty() { ".".into() } else { folder.to_owned() }
        };
        let inner = own(&self.workspace()).canonicalize();
        let outer = own(&self.folder).canonicalize();
        matches!((inner, outer), (Ok(inner), Ok(outer)) if inner.starts_with(&outer))
    }
}

impl McpEntry {
    /// Says what the entry of a server opens.
    pub(super) fn opens(&self) -> String {
        let given: Vec<String> =
            self.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let given =
            if given.is_empty() { String::new() } else { format!(" with {}", quoted(&given)) };
        format!("starts {}{given}", quoted(&self.argv))
    }
}

fn opened_by_model(model: &ModelEntry) -> Option<String> {
    let receiver = model.server.clone().or_else(|| model.address.server.clone());
    let key = model.key.as_ref().map(|key| match key {
        SecretSource::Environment(name) => format!("the variable `{name}`"),
        SecretSource::File(path) => format!("the file `{}`", path.display()),
        SecretSource::Command(argv) => format!("what {} prints", quoted(argv)),
    });
    match (receiver, key) {
        (None, None) => None,
        (Some(receiver), None) => Some(format!("sends prompts to `{receiver}`")),
        (Some(receiver), Some(key)) => {
            Some(format!("sends prompts to `{receiver}`, with {key} as the key"))
        }
        (None, Some(key)) => Some(format!("sends {key} as the key to `{}`", model.uri)),
    }
}

fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(" ")
}
