//! `agentscript.mcp.json`: the file of the workspace that names servers beside the configuration.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::McpEntry;
use crate::Error;

/// The name of the file.
pub const SERVERS_FILE: &str = "agentscript.mcp.json";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServersFile {
    #[serde(default)]
    mcp_servers: BTreeMap<String, NamedServer>,
}

#[derive(Deserialize)]
struct NamedServer {
    transport: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Reads the servers that are programs; others are not for us.
pub(super) fn parse(text: &str, path: &Path) -> Result<BTreeMap<String, McpEntry>, Error> {
    let file: ServersFile = serde_json::from_str(text).map_err(|error| Error::Malformed {
        path: path.to_owned(),
        line: error.line().max(1),
        reason: error.to_string(),
    })?;
    let mut servers = BTreeMap::new();
    for (name, NamedServer { transport, command, args, env }) in file.mcp_servers {
        if transport.is_some_and(|transport| transport != "stdio") {
            continue;
        }
        if let Some(command) = command {
            let argv = std::iter::once(command).chain(args).collect();
            servers.insert(name, McpEntry { argv, environment: env });
        }
    }
    Ok(servers)
}
