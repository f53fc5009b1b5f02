//! Where a server of durable runs is, and how it is spoken to: the table `temporal` of `agentic.toml`.
//!
//! The file of a folder counts, and that of the user (`agentic/agentic.toml` among the user's
//! configuration). One that git tracks came with a clone: it sends nothing anywhere, and names neither a
//! key nor whom to trust.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{FILE_NAME, find_file, line_of, read, tracked};
use crate::Error;

/// The file of the user, below the folder of the user's configuration.
const USER_FILE: &str = "agentic/agentic.toml";

/// What a file says of the server of durable runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerTable {
    /// Where it is.
    pub address: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// The queue of what needs no repository.
    pub queue: Option<String>,
    /// Queues of their own, by kinds of requests and ids of agents.
    pub queues: BTreeMap<String, String>,
    /// How it is spoken to, where that is by TLS.
    pub tls: Option<ServerTls>,
    /// The variable that holds the key.
    pub api_key_env: Option<String>,
    /// Where its web page is.
    pub web: Option<String>,
}

/// Who is trusted, and who we are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerTls {
    /// The file with the certificates that are trusted; those of the system without one.
    pub ca: Option<PathBuf>,
    /// The file with our certificate.
    pub cert: Option<PathBuf>,
    /// The file with its key.
    pub key: Option<PathBuf>,
    /// The name that the server's certificate must have, where that is not the host's.
    pub server_name: Option<String>,
}

/// What the files that count in a folder say of the server of durable runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerTables {
    /// The user's own, the nearer one first.
    pub own: Vec<ServerTable>,
    /// That of a file that git tracks.
    pub committed: Option<ServerTable>,
}

impl ServerTables {
    /// Reads the files that count in a folder.
    ///
    /// # Errors
    /// Fails when one cannot be read or is wrong.
    pub fn find(folder: &Path) -> Result<ServerTables, Error> {
        let mut tables = ServerTables::default();
        if let Some(path) = find_file(folder, FILE_NAME)
            && let Some(table) = of_file(&path)?
        {
            match tracked::find(&path) {
                Some(_) => tables.committed = Some(table),
                None => tables.own.push(table),
            }
        }
        if let Some(path) = user_file().filter(|path| path.is_file()) {
            tables.own.extend(of_file(&path)?);
        }
        Ok(tables)
    }

    /// Returns the address that the user's own files name.
    pub fn address(&self) -> Option<&str> {
        self.own.iter().find_map(|table| table.address.as_deref())
    }
}

/// Returns where the user's own file is.
fn user_file() -> Option<PathBuf> {
    let named = |name: &str| {
        let folder = std::env::var_os(name).map(PathBuf::from);
        // A path that begins where we stand would begin in the repository.
        folder.filter(|folder| folder.is_absolute())
    };
    let folder = named("XDG_CONFIG_HOME");
    let folder = folder.or_else(|| named("HOME").map(|home| home.join(".config")))?;
    Some(folder.join(USER_FILE))
}

fn of_file(path: &Path) -> Result<Option<ServerTable>, Error> {
    /// A file, of which only this is looked at.
    #[derive(Deserialize)]
    struct TemporalFile {
        temporal: Option<ServerTable>,
    }
    let text = read(path)?;
    let file: TemporalFile = toml::from_str(&text).map_err(|error| Error::Malformed {
        path: path.to_owned(),
        line: error.span().map_or(1, |span| line_of(&text, span.start)),
        reason: error.message().to_owned(),
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let from_here = |path: PathBuf| folder.join(path);
    Ok(file.temporal.map(|table| {
        let tls = table.tls.map(|tls| ServerTls {
            ca: tls.ca.map(from_here),
            cert: tls.cert.map(from_here),
            key: tls.key.map(from_here),
            server_name: tls.server_name,
        });
        ServerTable { tls, ..table }
    }))
}
