//! Which tool answers which call: the scheme of its address says so.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentic_model::Value;
use agentic_replay::Answer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::mcp::{OfferedTool, Server};
use super::search::Search;
use super::web::Web;
use super::workspace::{FILE_BYTES_MAX, Missing, Workspace};
use super::{Done, Setting, ToolCall, ToolFault, command, env, file, http, json};
use crate::configuration::{Configuration, McpEntry};
use crate::host::CancelFlag;

/// How long a call of a server takes unless its request says so.
const MCP_LIMIT_DEFAULT: Duration = Duration::from_secs(60);
/// The file of the workspace that names servers beside the configuration.
const MCP_FILE: &str = "agentscript.mcp.json";

/// The tools of a run. Servers that were started stop when it is dropped.
#[derive(Debug, Default)]
pub struct Tools {
    workspace: PathBuf,
    commands: Vec<String>,
    plain: Vec<String>,
    mcp: BTreeMap<String, McpEntry>,
    web: Web,
    servers: Mutex<BTreeMap<String, Arc<Server>>>,
}

/// What a tool of a server returned.
#[derive(Serialize)]
struct Returned {
    ok: bool,
    text: String,
    content: Option<Box<RawValue>>,
    structured: Option<Box<RawValue>>,
}

/// The same, as the server says it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    content: Option<Box<RawValue>>,
    structured_content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Block {
    text: Option<String>,
}

impl Tools {
    /// Makes the tools that a configuration allows.
    pub fn configured(configuration: &Configuration) -> Tools {
        Tools {
            workspace: configuration.workspace(),
            commands: configuration.tools.commands.clone(),
            plain: configuration.plain.clone(),
            mcp: configuration.mcp.clone(),
            web: Web::configured(configuration),
            servers: Mutex::default(),
        }
    }

    /// Performs a call and returns the result as JSON text, its keys in order.
    ///
    /// # Errors
    /// Fails when the call is wrong, leaves the workspace or fails; when its time is over; when it
    /// is withdrawn.
    pub fn call(&self, call: &ToolCall, setting: &Setting<'_>) -> Result<String, ToolFault> {
        let scheme = call.uri.split(':').next().unwrap_or_default();
        let rest = call.uri.split_once("://").map_or("", |(_, rest)| rest);
        match scheme {
            "file" => file::call(&Workspace::open(&self.workspace)?, call, setting),
            "sh" => self.shell(rest, call, setting),
            "env" => env::call(call, &self.plain, setting.session),
            "http" | "https" => http::call(call, setting),
            "mcp" => self.mcp(rest, call, setting),
            "npm" | "node" => Err(ToolFault::refused(format!(
                "`{}` is code for a JavaScript host, and there is none here; offer it by a server \
                 of the Model Context Protocol",
                call.uri
            ))),
            other => Err(ToolFault::refused(format!("no tool is called by `{other}://`"))),
        }
    }

    /// Performs a tool of an agent that only reads the web.
    pub fn read_web(
        &self,
        payload: &Value,
        limit: Option<Duration>,
        cancel: &CancelFlag,
    ) -> Answer {
        self.web.answer(payload, limit, cancel)
    }

    /// Looks at what a call will replace; nothing if it replaces nothing. Changes nothing. A call
    /// that is repeated after a crash is given what was found before the first, and so gives the
    /// same result.
    ///
    /// # Errors
    /// Fails where the call would.
    pub fn look(&self, call: &ToolCall) -> Result<Option<Value>, ToolFault> {
        if call.uri.split(':').next() != Some("file") {
            return Ok(None);
        }
        let found = file::look(&Workspace::open(&self.workspace)?, call)?;
        Ok(found.map(|found| found.into_value()))
    }

    /// Starts a configured server and lists its tools.
    ///
    /// # Errors
    /// Fails when there is no such server, or it does not work.
    pub fn offered(
        &self,
        server: &str,
        cancel: &CancelFlag,
    ) -> Result<Vec<OfferedTool>, ToolFault> {
        self.server(server, cancel)?.tools(cancel)
    }

    fn shell(&self, program: &str, call: &ToolCall, setting: &Setting<'_>) -> Done {
        if call.method != "run" {
            let message = format!("`{program}` has no method `{}`: use run", call.method);
            return Err(ToolFault::refused(message));
        }
        match Search::of(program) {
            Some(search) => search.call(&Workspace::open(&self.workspace)?, call, setting.cancel),
            None => command::call(program, &self.commands, &self.workspace, call, setting),
        }
    }

    fn mcp(&self, name: &str, call: &ToolCall, setting: &Setting<'_>) -> Done {
        let arguments = match call.args.as_slice() {
            [] => "{}",
            [argument] if argument.get().starts_with('{') => argument.get(),
            _ => {
                let (tool, method) = (&call.tool, &call.method);
                let message = format!("{tool}.{method} expects one json object argument");
                return Err(ToolFault::refused(message));
            }
        };
        let server = self.server(name, setting.cancel)?;
        let limit = setting.limit.unwrap_or(MCP_LIMIT_DEFAULT);
        let result = server.call(&call.method, arguments, limit, setting.cancel)?;
        let result: CallResult = serde_json::from_str(result.get()).map_err(|error| {
            ToolFault::refused(format!("the server `{name}` makes no sense: {error}"))
        })?;
        let blocks =
            result.content.as_ref().map(|raw| serde_json::from_str::<Vec<Block>>(raw.get()));
        let blocks = blocks.and_then(Result::ok).unwrap_or_default();
        let texts: Vec<String> = blocks.into_iter().filter_map(|block| block.text).collect();
        let (content, structured) = (result.content, result.structured_content);
        json(&Returned { ok: !result.is_error, text: texts.join("\n"), content, structured })
    }

    /// Finds a server that runs, or starts it. Only one is started at a time.
    fn server(&self, name: &str, cancel: &CancelFlag) -> Result<Arc<Server>, ToolFault> {
        let mut servers = self.servers();
        if let Some(server) = servers.get(name).filter(|server| !server.is_gone()) {
            return Ok(Arc::clone(server));
        }
        let entry = self.entry(name)?;
        let environment =
            entry.environment.iter().map(|(name, value)| (name.clone(), expand(value)));
        let environment: Vec<(String, String)> = environment.collect();
        let server = Server::start(name, &entry.argv, &environment, &self.workspace, cancel)?;
        let server = Arc::new(server);
        servers.insert(name.to_owned(), Arc::clone(&server));
        Ok(server)
    }

    fn entry(&self, name: &str) -> Result<McpEntry, ToolFault> {
        if let Some(entry) = self.mcp.get(name) {
            return Ok(entry.clone());
        }
        self.entries_of_file()?.remove(name).ok_or_else(|| {
            ToolFault::refused(format!(
                "no server `{name}` is configured: name it in `agentic.toml` under `mcp.{name}`"
            ))
        })
    }

    /// Reads the servers that a file of the workspace names.
    fn entries_of_file(&self) -> Result<BTreeMap<String, McpEntry>, ToolFault> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct File {
            #[serde(default)]
            mcp_servers: BTreeMap<String, Named>,
        }
        #[derive(Deserialize)]
        struct Named {
            transport: Option<String>,
            command: String,
            #[serde(default)]
            args: Vec<String>,
            #[serde(default)]
            env: BTreeMap<String, String>,
        }
        let place = Workspace::open(&self.workspace)?.locate(MCP_FILE, Missing::Refused)?;
        let Some(bytes) = place.read_bytes(FILE_BYTES_MAX)? else { return Ok(BTreeMap::new()) };
        let file: File =
            serde_json::from_slice(&bytes).map_err(|error| place.fault(&error.to_string()))?;
        let named = file.mcp_servers.into_iter();
        let stdio = named.filter(|(_, entry)| {
            entry.transport.as_deref().is_none_or(|transport| transport == "stdio")
        });
        Ok(stdio
            .map(|(name, Named { command, args, env, .. })| {
                let argv = std::iter::once(command).chain(args).collect();
                (name, McpEntry { argv, environment: env })
            })
            .collect())
    }

    /// A panic under the lock leaves servers that run or are gone, never half of one.
    fn servers(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Server>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts variables of our environment in the places of their names: `$NAME`; one that is not set
/// is empty.
fn expand(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (name, tail) = after.split_at(end.unwrap_or(after.len()));
        match name {
            "" => out.push('$'),
            name => out.push_str(&std::env::var(name).unwrap_or_default()),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}
