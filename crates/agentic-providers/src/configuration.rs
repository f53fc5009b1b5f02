//! `agentic.toml` and the environment: which models, tools and servers there are.
//!
//! The file stands in the current folder or above it, at most at the top of the repository. It can
//! name programs that are run, so one that git tracks counts only as far as it opens nothing, until
//! somebody allows the rest (`allowance.rs`). Relative paths in it begin at its folder.

pub mod allowance;
mod digest;
pub mod loosening;
mod people;
pub mod server;
mod servers;
mod tracked;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use self::allowance::{Allowance, hash_of};
use self::loosening::{Loosening, WithheldSettings};
use self::people::{FileChannel, FilePeople, FileRoute};
use crate::Error;
use crate::model::{
    AGENT_MODEL_VARIABLE, Adapter, ModelAddress, RetryRule, TIME_LIMIT_DEFAULT, TIMEOUT_VARIABLE,
};
use crate::secret::SecretSource;
use crate::tool::RESULTS_VARIABLE;

pub use self::people::People;
pub use self::servers::SERVERS_FILE;

/// The name of the file.
pub const FILE_NAME: &str = "agentic.toml";
/// The variable that names the model of those who name none.
pub const MODEL_VARIABLE: &str = "AGENTIC_MODEL";
/// The longest file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The variables that choose models, and bound what is asked of them and of tools.
const VARIABLES: [&str; 7] = [
    MODEL_VARIABLE,
    AGENT_MODEL_VARIABLE,
    TIMEOUT_VARIABLE,
    RESULTS_VARIABLE,
    "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL",
    "OLLAMA_BASE_URL",
];

/// What was configured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Configuration {
    /// The file that it was read from, if there is one.
    pub path: Option<PathBuf>,
    /// Where relative paths begin.
    pub folder: PathBuf,
    /// The model of those who name none: a name or an address.
    pub default_model: Option<String>,
    /// The models that have names.
    pub models: BTreeMap<String, ModelEntry>,
    /// What tools may do.
    pub tools: ToolEntry,
    /// Servers of tools that are started when they are called.
    pub mcp: BTreeMap<String, McpEntry>,
    /// How people are reached.
    pub people: People,
    /// The environment variables that programs may read as they are.
    pub plain: Vec<String>,
    /// The variables of the environment that choose models.
    pub variables: BTreeMap<String, String>,
    /// What names mean that are neither configured nor addresses; nothing without one.
    pub adapter: Option<Adapter>,
    /// What does not count, for git tracks it and nobody has allowed it.
    pub withheld: WithheldSettings,
}

/// A file that configures programs, and what somebody has to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExaminedFile {
    /// The file.
    pub path: PathBuf,
    /// The hash of what it holds.
    pub hash: String,
    /// What it opens.
    pub loosenings: Vec<Loosening>,
    /// What would have to be allowed; nothing where the file is the user's own or opens nothing.
    pub allowance: Option<Allowance>,
}

impl ExaminedFile {
    fn new(path: &Path, content: &str, loosenings: Vec<Loosening>) -> ExaminedFile {
        let hash = hash_of(content.as_bytes());
        // Git is asked only where something hangs on it.
        let tracked = if loosenings.is_empty() { None } else { tracked::find(path) };
        let allowance = tracked.map(|tracked| Allowance::of(&tracked, &hash));
        ExaminedFile { path: path.to_owned(), hash, loosenings, allowance }
    }

    /// Tells whether all that the file says counts.
    pub fn counts(&self) -> bool {
        self.allowance.as_ref().is_none_or(Allowance::counts)
    }
}

/// A model that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// Where it is.
    pub address: ModelAddress,
    /// The address as it was written.
    pub uri: String,
    /// The address of its server, where that is not the usual one.
    pub server: Option<String>,
    /// Where its key is.
    pub key: Option<SecretSource>,
    /// How long a call may take.
    pub limit: Duration,
    /// How calls that failed are made again.
    pub retry: RetryRule,
}

/// What tools may do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolEntry {
    /// The folder that tools work in; that of the configuration without one.
    pub workspace: Option<PathBuf>,
    /// The programs that `sh://` may start, beyond those that are built in.
    pub commands: Vec<String>,
    /// The service that `web_search` asks; the usual one without one.
    pub search: Option<String>,
    /// The hosts beyond the public web that `fetch_url` reads: names, or names with ports.
    pub hosts: Vec<String>,
}

/// A server of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpEntry {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What it finds in its environment beyond ours; `$NAME` stands for a variable of ours.
    pub environment: BTreeMap<String, String>,
}

/// Reads the tables of a file of TOML, whatever they are about.
///
/// # Errors
/// Fails with what the reader says, line included, when it is no TOML.
pub fn toml_value(text: &str) -> Result<serde_json::Value, String> {
    let read: Result<serde_json::Value, toml::de::Error> = toml::from_str(text);
    read.map_err(|error| {
        let before = error.span().map_or("", |span| &text[..span.start.min(text.len())]);
        format!("line {}: {}", before.matches('\n').count() + 1, error.message())
    })
}

impl Configuration {
    /// Reads the configuration that counts in a folder; an empty one where there is no file.
    ///
    /// # Errors
    /// Fails when the file cannot be read or is wrong.
    pub fn find(folder: &Path) -> Result<Configuration, Error> {
        let variables = VARIABLES
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let (found, _) = Configuration::examine(folder)?;
        Ok(Configuration { variables, ..found })
    }

    /// Reads the files that count in a folder, each once, with what somebody has to say about them.
    ///
    /// # Errors
    /// Fails when one cannot be read or is wrong.
    pub fn examine(folder: &Path) -> Result<(Configuration, Vec<ExaminedFile>), Error> {
        let mut examined = Vec::new();
        let mut found = Configuration { folder: folder.to_owned(), ..Configuration::default() };
        if let Some(path) = find_file(folder, FILE_NAME) {
            let text = read(&path)?;
            found = Configuration::parse(&text, &path)?;
            examined.push(ExaminedFile::new(&path, &text, found.loosenings()));
        }
        let path = found.workspace().join(SERVERS_FILE);
        if path.is_file() {
            let text = read(&path)?;
            let mut servers = servers::parse(&text, &path)?;
            servers.retain(|name, _| !found.mcp.contains_key(name));
            let opens = servers.iter().map(|(name, server)| Loosening {
                entry: format!("mcp.{name}"),
                does: server.opens(),
            });
            examined.push(ExaminedFile::new(&path, &text, opens.collect()));
            found.mcp.extend(servers);
        }
        for file in examined.iter().filter(|file| !file.counts()) {
            found.withheld.add(&file.path, file.loosenings.clone());
        }
        Ok((found, examined))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Fails on text that is no TOML, on keys that mean nothing and on entries that cannot be
    /// used.
    pub fn parse(text: &str, path: &Path) -> Result<Configuration, Error> {
        let file: ConfigurationFile = toml::from_str(text).map_err(|error| Error::Malformed {
            path: path.to_owned(),
            line: error.span().map_or(1, |span| line_of(text, span.start)),
            reason: error.message().to_owned(),
        })?;
        let bad = |entry: String, reason: String| Error::BadEntry {
            path: path.to_owned(),
            entry,
            reason,
        };
        let mut models = BTreeMap::new();
        for (name, entry) in file.models {
            let place = format!("models.{name}");
            let entry = entry.check().map_err(|reason| bad(place, reason))?;
            models.insert(name, entry);
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let people = FilePeople {
            channels: file.channels,
            routes: file.routes,
            identities: file.identities,
        };
        let people = people.check(&folder).map_err(|(entry, reason)| bad(entry, reason))?;
        if let Some(search) = &file.tools.search {
            check_server(search).map_err(|reason| bad("tools.search".to_owned(), reason))?;
        }
        let mcp = file.mcp.into_iter().map(|(name, entry)| (name, entry.into())).collect();
        Ok(Configuration {
            path: Some(path.to_owned()),
            folder,
            default_model: file.default_model,
            models,
            tools: ToolEntry {
                workspace: file.tools.workspace,
                commands: file.tools.commands,
                search: file.tools.search,
                hosts: file.tools.hosts,
            },
            mcp,
            people,
            plain: file.plain,
            variables: BTreeMap::new(),
            adapter: None,
            withheld: WithheldSettings::default(),
        })
    }

    /// Returns the name or address of the model of those who name none.
    pub fn default_model(&self) -> Option<&str> {
        let chosen = self.variables.get(MODEL_VARIABLE).or(self.default_model.as_ref());
        chosen.map(String::as_str)
    }

    /// Returns the variables that programs may read as they are, as far as that counts.
    pub fn plain_variables(&self) -> &[String] {
        if self.withheld.check(loosening::PLAIN).is_ok() { &self.plain } else { &[] }
    }

    /// Returns the folder that tools work in.
    pub fn workspace(&self) -> PathBuf {
        match &self.tools.workspace {
            Some(workspace) => self.folder.join(workspace),
            None => self.folder.clone(),
        }
    }
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigurationFile {
    /// Which calls of coding agents are held: read where that is asked.
    #[serde(default, rename = "hold")]
    _hold: Option<serde::de::IgnoredAny>,
    /// Where a server of durable runs is: read where that is asked.
    #[serde(default, rename = "temporal")]
    _temporal: Option<serde::de::IgnoredAny>,
    /// What secrets look like: read where they are looked for.
    #[serde(default, rename = "redact")]
    _redact: Option<serde::de::IgnoredAny>,
    default_model: Option<String>,
    #[serde(default)]
    plain: Vec<String>,
    #[serde(default)]
    models: BTreeMap<String, FileModel>,
    #[serde(default)]
    tools: FileTools,
    #[serde(default)]
    mcp: BTreeMap<String, FileMcp>,
    #[serde(default)]
    channels: BTreeMap<String, FileChannel>,
    #[serde(default)]
    routes: Vec<FileRoute>,
    #[serde(default)]
    identities: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileModel {
    uri: String,
    base_url: Option<String>,
    /// Read by hand: no error may cite a key that was put here by mistake.
    key: Option<toml::Value>,
    timeout_ms: Option<u64>,
    retries: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct FileTools {
    workspace: Option<PathBuf>,
    #[serde(default)]
    commands: Vec<String>,
    search: Option<String>,
    #[serde(default)]
    hosts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileMcp {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl FileModel {
    fn check(self) -> Result<ModelEntry, String> {
        let address = ModelAddress::parse(&self.uri).map_err(|fault| fault.message)?;
        if let Some(server) = &self.base_url {
            check_server(server)?;
        }
        if self.timeout_ms == Some(0) {
            return Err("`timeout_ms` is above 0".to_owned());
        }
        let key = self.key.map(|key| {
            let wanted =
                "`key` is `{ env = NAME }`, `{ file = PATH }` or `{ command = [PROGRAM] }`";
            key_source(&key).ok_or_else(|| wanted.to_owned())
        });
        let key = key.transpose()?;
        let rule = RetryRule::default();
        Ok(ModelEntry {
            address,
            uri: self.uri,
            server: self.base_url,
            key,
            limit: self.timeout_ms.map_or(TIME_LIMIT_DEFAULT, Duration::from_millis),
            retry: RetryRule { retries_max: self.retries.unwrap_or(rule.retries_max), ..rule },
        })
    }
}

fn key_source(key: &toml::Value) -> Option<SecretSource> {
    let table = key.as_table().filter(|table| table.len() == 1)?;
    let (kind, value) = table.iter().next()?;
    match kind.as_str() {
        "env" => Some(SecretSource::Environment(value.as_str()?.to_owned())),
        "file" => Some(SecretSource::File(value.as_str()?.into())),
        "command" => {
            let words = value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned));
            let argv: Vec<String> = words.collect::<Option<_>>()?;
            (!argv.is_empty()).then_some(SecretSource::Command(argv))
        }
        _ => None,
    }
}

impl From<FileMcp> for McpEntry {
    fn from(file: FileMcp) -> McpEntry {
        let argv = std::iter::once(file.command).chain(file.args).collect();
        McpEntry { argv, environment: file.env }
    }
}

/// Checks the address of a server: HTTP, and no secret in it, for it is shown.
pub(crate) fn check_server(server: &str) -> Result<(), String> {
    let uri: ureq::http::Uri =
        server.parse().map_err(|_| format!("`{server}` is no address of a server"))?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    match uri.authority() {
        Some(authority) if is_http && !authority.as_str().contains('@') => Ok(()),
        Some(authority) if is_http => {
            Err(format!("the address of `{}` holds a password", authority.host()))
        }
        Some(_) | None => Err(format!("`{server}` is no `http://` or `https://` address")),
    }
}

/// Looks in the folder and, inside a repository, in those above up to its top. Beyond it others may
/// write.
fn find_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_top = |folder: &&Path| folder.join(".git").exists();
    let n_folders = folder.ancestors().position(|folder| is_top(&folder)).map_or(1, |at| at + 1);
    let files = folder.ancestors().take(n_folders).map(|folder| folder.join(name));
    files.into_iter().find(|path| path.is_file())
}

fn read(path: &Path) -> Result<String, Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        let reason = format!("it is longer than {FILE_BYTES_MAX} bytes");
        return Err(Error::Malformed { path: path.to_owned(), line: 1, reason });
    }
    Ok(text)
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
