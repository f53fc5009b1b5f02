//! Which tool answers which call: the scheme of its address says so.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentic_model::Value;
use agentic_plan::Redactor;
use agentic_replay::RequestAnswer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::mcp::{McpServer, OfferedTool};
use super::placeholder::RevealedSecrets;
use super::search::BuiltinSearch;
use super::web::Web;
use super::workspace::Workspace;
use super::{ToolCall, ToolFault, ToolResult, ToolSetting, command, env, file, http, json};
use crate::configuration::loosening::{COMMANDS, PLAIN, WORKSPACE, WithheldSettings};
use crate::configuration::{Configuration, McpEntry};
use crate::host::CancelFlag;

/// How long a call of a server takes unless its request says so.
const MCP_LIMIT_DEFAULT: Duration = Duration::from_secs(60);

/// The tools of a run. Servers that were started stop when it is dropped.
#[derive(Debug, Default)]
pub struct RunTools {
    workspace: PathBuf,
    commands: Vec<String>,
    plain: Vec<String>,
    mcp: BTreeMap<String, McpEntry>,
    web: Web,
    withheld: WithheldSettings,
    servers: Mutex<BTreeMap<String, Arc<Guest>>>,
}

/// A server that runs, and the mask of the variables that it was given.
#[derive(Debug)]
struct Guest {
    server: McpServer,
    redactor: Redactor,
}

/// What a tool of a server returned.
#[derive(Serialize)]
struct ToolReply {
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
struct ContentBlock {
    text: Option<String>,
}

impl RunTools {
    /// Says why variables that the configuration gives to programs in the open read as placeholders,
    /// where that is so.
    pub fn plain_remark(&self) -> Option<String> {
        let reason = self.withheld.check(PLAIN).err()?;
        Some(format!("{reason}; until then programs read its variables as placeholders"))
    }

    /// Makes the tools that a configuration allows.
    pub fn configured(configuration: &Configuration) -> RunTools {
        RunTools {
            workspace: configuration.workspace(),
            commands: configuration.tools.commands.clone(),
            plain: configuration.plain_variables().to_vec(),
            mcp: configuration.mcp.clone(),
            web: Web::configured(configuration),
            withheld: configuration.withheld.clone(),
            servers: Mutex::default(),
        }
    }

    /// Performs a call and returns the result as JSON text, its keys in order.
    ///
    /// # Errors
    /// Fails when the call is wrong, leaves the workspace or fails; when its time is over; when it
    /// is withdrawn.
    pub fn call(&self, call: &ToolCall, setting: &ToolSetting<'_>) -> Result<String, ToolFault> {
        let scheme = call.uri.split(':').next().unwrap_or_default();
        let rest = call.uri.split_once("://").map_or("", |(_, rest)| rest);
        match scheme {
            "file" => file::call(&self.open()?, call, setting),
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
    ) -> RequestAnswer {
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
        let found = file::look(&self.open()?, call)?;
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
        self.server(server, "", cancel)?.server.tools(cancel)
    }

    fn shell(&self, program: &str, call: &ToolCall, setting: &ToolSetting<'_>) -> ToolResult {
        if call.method != "run" {
            let message = format!("`{program}` has no method `{}`: use run", call.method);
            return Err(ToolFault::refused(message));
        }
        match BuiltinSearch::of(program) {
            Some(search) => search.call(&self.open()?, call, setting.cancel),
            None => {
                if self.commands.iter().any(|name| name == program) {
                    let entries = [COMMANDS, WORKSPACE];
                    let checked = entries.iter().try_for_each(|entry| self.withheld.check(entry));
                    checked.map_err(ToolFault::refused)?;
                }
                command::call(program, &self.commands, &self.workspace, call, setting)
            }
        }
    }

    fn mcp(&self, name: &str, call: &ToolCall, setting: &ToolSetting<'_>) -> ToolResult {
        let arguments = match call.args.as_slice() {
            [] => "{}",
            [argument] if argument.get().starts_with('{') => argument.get(),
            _ => {
                let (tool, method) = (&call.tool, &call.method);
                let message = format!("{tool}.{method} expects one json object argument");
                return Err(ToolFault::refused(message));
            }
        };
        let guest = self.server(name, setting.session, setting.cancel)?;
        let limit = setting.limit.unwrap_or(MCP_LIMIT_DEFAULT);
        let result = guest.server.call(&call.method, arguments, limit, setting.cancel);
        let result = result.map_err(|fault| covered(fault, &guest.redactor))?;
        let text = guest.redactor.reply_text(result.get().to_owned());
        let result: CallResult = serde_json::from_str(&text).map_err(|error| {
            ToolFault::refused(format!("the server `{name}` makes no sense: {error}"))
        })?;
        let blocks =
            result.content.as_ref().map(|raw| serde_json::from_str::<Vec<ContentBlock>>(raw.get()));
        let blocks = blocks.and_then(Result::ok).unwrap_or_default();
        let texts: Vec<String> = blocks.into_iter().filter_map(|block| block.text).collect();
        let (content, structured) = (result.content, result.structured_content);
        json(&ToolReply { ok: !result.is_error, text: texts.join("\n"), content, structured })
    }

    /// Finds a server that runs, or starts it. Only one is started at a time.
    fn server(
        &self,
        name: &str,
        session: &str,
        cancel: &CancelFlag,
    ) -> Result<Arc<Guest>, ToolFault> {
        let mut servers = self.servers();
        if let Some(guest) = servers.get(name).filter(|guest| !guest.server.is_gone()) {
            return Ok(Arc::clone(guest));
        }
        let entry = self.entry(name)?;
        let mut revealed = RevealedSecrets::default();
        let mut expanded = |text: &String| expand(text, session, &self.plain, &mut revealed);
        let environment = entry.environment.iter();
        let environment = environment.map(|(name, text)| (name.clone(), expanded(text)));
        let environment: Vec<(String, String)> = environment.collect();
        let redactor = revealed.redactor();
        let server = McpServer::start(name, &entry.argv, &environment, &self.workspace, cancel);
        let server = server.map_err(|fault| covered(fault, &redactor))?;
        let guest = Arc::new(Guest { server, redactor });
        servers.insert(name.to_owned(), Arc::clone(&guest));
        Ok(guest)
    }

    fn entry(&self, name: &str) -> Result<&McpEntry, ToolFault> {
        let entry = self.mcp.get(name).ok_or_else(|| {
            ToolFault::refused(format!(
                "no server `{name}` is configured: name it in `agentic.toml` under `mcp.{name}`"
            ))
        })?;
        self.withheld.check(&format!("mcp.{name}")).map_err(ToolFault::refused)?;
        Ok(entry)
    }

    /// Opens the folder that tools work in.
    fn open(&self) -> Result<Workspace, ToolFault> {
        self.withheld.check(WORKSPACE).map_err(ToolFault::refused)?;
        Workspace::open(&self.workspace)
    }

    /// A panic under the lock leaves servers that run or are gone, never half of one.
    fn servers(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Guest>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Covers in a failure what a server was given.
fn covered(fault: ToolFault, redactor: &Redactor) -> ToolFault {
    ToolFault { message: redactor.text(&fault.message), ..fault }
}

/// Puts variables of our environment in the places of their names: `$NAME`; one that is not set
/// is empty. Those that programs may not read as they are will be covered in what comes back.
fn expand(text: &str, session: &str, plain: &[String], revealed: &mut RevealedSecrets) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (name, tail) = after.split_at(end.unwrap_or(after.len()));
        match name {
            "" => out.push('$'),
            name if plain.iter().any(|plain| plain == name) => {
                out.push_str(&std::env::var(name).unwrap_or_default());
            }
            name => out.push_str(&revealed.give(name, session)),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}
