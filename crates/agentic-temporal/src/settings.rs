//! Which server is meant, and how it is spoken to: the command line, the files that count, and the
//! variables of Temporal's own tools.
//!
//! Each source speaks of one server. What it says of keys, certificates and names counts only for the
//! address that it names, or for any where it names none. A file that git tracks names neither the server
//! nor a key, nor whom to trust.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agentic_providers::configuration::server::{ServerTable, ServerTables, ServerTls};
use agentic_providers::secret::Secret;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, ServerAddress};

/// The variables of Temporal's own tools.
const ADDRESS: &str = "TEMPORAL_ADDRESS";
const NAMESPACE: &str = "TEMPORAL_NAMESPACE";
const API_KEY: &str = "TEMPORAL_API_KEY";
const TLS: &str = "TEMPORAL_TLS";
const SERVER_NAME: &str = "TEMPORAL_TLS_SERVER_NAME";
const UNCHECKED: &str = "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION";
const CA: &str = "TEMPORAL_TLS_SERVER_CA_CERT";
const CERT: &str = "TEMPORAL_TLS_CLIENT_CERT";
const CERT_KEY: &str = "TEMPORAL_TLS_CLIENT_KEY";

/// The domains of Temporal's own service, and its web page.
const CLOUD: [&str; 2] = [".tmprl.cloud", ".api.temporal.io"];
const CLOUD_WEB: &str = "https://cloud.temporal.io";

/// A server, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// Where it is.
    pub address: ServerAddress,
    /// Where requests go.
    pub queues: QueueMap,
    /// Where its web page is, where that is known.
    web: Option<String>,
    /// By TLS, if so.
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) key: Option<Secret>,
}

/// Where requests go that need no repository.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QueueMap {
    /// The queue of those that have none of their own; the usual one without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<String>,
    /// Queues of their own, by kinds of requests and ids of agents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named: BTreeMap<String, String>,
}

/// What TLS is made of.
#[derive(Clone, Default)]
pub(crate) struct TlsFiles {
    /// The certificates that are trusted; those of the system without any.
    pub ca: Option<Vec<u8>>,
    /// Our certificate and its key.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name that the server's certificate must have, where that is not the host's.
    pub server_name: Option<String>,
}

impl std::fmt::Debug for TlsFiles {
    /// Shows no key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsFiles").field("server_name", &self.server_name).finish_non_exhaustive()
    }
}

/// Reads a variable of the environment; nothing where it is empty.
type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

impl ServerSettings {
    /// Finds the server that was named, or else the one that is configured in a folder; nothing where
    /// none is.
    ///
    /// # Errors
    /// Fails when the address is none, when a file cannot be read, and when a key would go unprotected.
    pub fn find(named: Option<&str>, folder: &Path) -> Result<Option<ServerSettings>> {
        let variables = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let tables = ServerTables::find(folder).map_err(|error| Error::bad_settings(&error))?;
        settings(named, &tables, &variables)
    }
}

impl ServerSettings {
    /// Returns the page on which people see a run, where the web page of the server is known.
    pub(crate) fn page_of(&self, session: &str) -> Option<String> {
        let web = self.web.as_deref()?.trim_end_matches('/');
        Some(format!("{web}/namespaces/{}/workflows/{session}", self.address.namespace()))
    }
}

/// Returns the web page of Temporal's own service.
fn of_cloud(address: &ServerAddress) -> Option<String> {
    let host = address.authority().rsplit_once(':').map(|(host, _)| host)?;
    let is_cloud = CLOUD.iter().any(|domain| host.ends_with(domain));
    is_cloud.then(|| CLOUD_WEB.to_owned())
}

/// Refuses what is no address of a web page.
fn checked_web(web: String) -> Result<String> {
    let is_page = web.starts_with("http://") || web.starts_with("https://");
    let is_plain = !web.contains(char::is_whitespace) && !web.contains(char::is_control);
    match is_page && is_plain {
        true => Ok(web),
        false => Err(Error::BadSettings(format!("`web` is no page of the web: `{web}`"))),
    }
}

fn settings(
    named: Option<&str>,
    tables: &ServerTables,
    variables: Variables<'_>,
) -> Result<Option<ServerSettings>> {
    let of_environment = variables(ADDRESS);
    let chosen = named.or_else(|| tables.address()).or(of_environment.as_deref());
    let Some(chosen) = chosen else { return Ok(None) };
    let address = ServerAddress::parse(chosen)?;
    let is_meant = |said: Option<&str>| match said {
        None => true,
        Some(said) => ServerAddress::parse(said).is_ok_and(|said| said.is_at(&address)),
    };
    let own = tables.own.iter().filter(|table| is_meant(table.address.as_deref()));
    let own: Vec<&ServerTable> = own.collect();
    let committed = tables.committed.iter().filter(|table| is_meant(table.address.as_deref()));
    // The first that says something has the last word.
    let all: Vec<&ServerTable> = own.iter().copied().chain(committed).collect();
    let environment = is_meant(of_environment.as_deref());
    let in_addresses = named.into_iter().chain(all.iter().filter_map(|it| it.address.as_deref()));
    let namespace = in_addresses
        .filter_map(|text| ServerAddress::parse(text).ok()?.named_namespace().map(str::to_owned))
        .next()
        .or_else(|| all.iter().find_map(|table| table.namespace.clone()))
        .or_else(|| variables(NAMESPACE).filter(|_| environment));
    let key = match own.iter().find_map(|table| table.api_key_env.as_deref()) {
        Some(name) => Some(Secret::new(variables(name).ok_or_else(|| {
            Error::BadSettings(format!(
                "`api_key_env` names the variable `{name}`, which is not set"
            ))
        })?)),
        None => variables(API_KEY).filter(|_| environment).map(Secret::new),
    };
    let tls = match own.iter().find_map(|table| table.tls.as_ref()) {
        Some(tls) => Some(of_table(tls)?),
        None if environment => of_variables(variables)?,
        None => None,
    };
    let is_plain = environment && variables(TLS).is_some_and(|said| said == "false");
    let tls = match &key {
        // A key goes nowhere unprotected but to this very machine.
        Some(_) if tls.is_none() && !address.is_loopback() => {
            if is_plain {
                return Err(Error::KeyInTheOpen { address: address.to_string() });
            }
            Some(TlsFiles::default())
        }
        Some(_) | None => tls,
    };
    let mut queues = QueueMap::default();
    for table in all.iter().rev() {
        queues.usual = table.queue.clone().or(queues.usual);
        queues.named.extend(table.queues.clone());
    }
    let address = match namespace {
        Some(namespace) => address.within(&namespace)?,
        None => address,
    };
    let web = own.iter().find_map(|table| table.web.clone());
    let web = web.or_else(|| of_cloud(&address)).map(checked_web).transpose()?;
    Ok(Some(ServerSettings { address, queues, web, tls, key }))
}

fn of_table(tls: &ServerTls) -> Result<TlsFiles> {
    let file = |path: &Option<PathBuf>| path.as_deref().map(read).transpose();
    let identity = identity(file(&tls.cert)?, file(&tls.key)?)?;
    Ok(TlsFiles { ca: file(&tls.ca)?, identity, server_name: tls.server_name.clone() })
}

fn of_variables(variables: Variables<'_>) -> Result<Option<TlsFiles>> {
    if variables(UNCHECKED).is_some_and(|said| said != "false" && said != "0") {
        let why = format!(
            "`{UNCHECKED}` would speak to whoever answers: name the certificate that is trusted"
        );
        return Err(Error::BadSettings(why));
    }
    let file = |name: &str| match variables(&format!("{name}_DATA")) {
        Some(data) => Ok(Some(data.into_bytes())),
        None => variables(&format!("{name}_PATH")).map(|path| read(Path::new(&path))).transpose(),
    };
    let identity = identity(file(CERT)?, file(CERT_KEY)?)?;
    let files = TlsFiles { ca: file(CA)?, identity, server_name: variables(SERVER_NAME) };
    let is_said = files.ca.is_some() || files.identity.is_some() || files.server_name.is_some();
    Ok(match variables(TLS).as_deref() {
        Some("false" | "0") => None,
        Some(_) => Some(files),
        None => is_said.then_some(files),
    })
}

/// Takes our certificate together with its key.
fn identity(cert: Option<Vec<u8>>, key: Option<Vec<u8>>) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    match (cert, key) {
        (Some(cert), Some(key)) => Ok(Some((cert, key))),
        (None, None) => Ok(None),
        (Some(_), None) | (None, Some(_)) => {
            let why = "a certificate of ours and its key are named together";
            Err(Error::BadSettings(why.to_owned()))
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        Error::BadSettings(format!("the file `{}` cannot be read: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests;
