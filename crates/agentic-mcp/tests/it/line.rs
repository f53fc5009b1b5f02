//! A client that speaks in lines, and the server that it speaks to.

use std::io::{BufRead as _, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use agentic_api::verb::{BriefingSource, CheckoutPlace, Spawn, SpawnBeginning};
use agentic_api::{Caller, PageFinder, Surroundings, Verb as _};
use agentic_mcp::{DecidingAccess, McpAccess, McpService, WriteAccess, serve_lines};
use agentic_resident::VerbThreads;
use agentic_session::{SessionOptions, SessionSpace};
use agentic_space::model::AgentName;
use agentic_testkit::{Sandbox, Setup};
use serde_json::{Value as Json, json};

/// A repository with agents, and how it is opened.
pub struct McpPlace {
    /// The folders.
    pub sandbox: Sandbox,
}

impl McpPlace {
    /// Makes one of Ada's, with `alice` and `bob`.
    pub fn new() -> McpPlace {
        let sandbox = Sandbox::in_memory(Setup::Repository).expect("git is installed");
        for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
            sandbox.git(sandbox.start(), &["config", key, value]).expect("writable");
        }
        let place = McpPlace { sandbox };
        let space = place.space();
        for name in ["alice", "bob"] {
            let spawn = Spawn {
                behaviour: None,
                private: false,
                name: name.to_owned(),
                briefing: BriefingSource::Text(format!("Do the work of {name}")),
                beginning: SpawnBeginning::Empty,
                worktree: CheckoutPlace::Nowhere,
            };
            spawn.run(&Caller::new(&space, place.sandbox.start())).expect("the name is free");
        }
        place
    }

    /// Opens the repository.
    pub fn space(&self) -> SessionSpace {
        SessionSpace::open(self.sandbox.start(), SessionOptions::default()).expect("a repository")
    }

    /// Returns where an agent's branch is.
    pub fn head(&self, agent: &str) -> String {
        let branch = format!("agents/{agent}");
        self.sandbox.git(self.sandbox.start(), &["rev-parse", &branch]).expect("it is there")
    }

    /// Starts a server that writes as an agent.
    pub fn writing(&self, agent: &str) -> LineClient {
        let agent = Some(AgentName::parse(agent).expect("valid"));
        self.serve(McpAccess { agent, ..McpAccess::default() })
    }

    /// Starts one while a page is served.
    pub fn writing_beside(&self, agent: &str, page: Option<Arc<dyn PageFinder>>) -> LineClient {
        let agent = Some(AgentName::parse(agent).expect("valid"));
        self.serve_beside(McpAccess { agent, ..McpAccess::default() }, page)
    }

    /// Starts a server at which a person may be asked to decide.
    pub fn deciding(&self, agent: Option<&str>) -> LineClient {
        let agent = agent.map(|agent| AgentName::parse(agent).expect("valid"));
        self.serve(McpAccess { agent, deciding: DecidingAccess::Form, ..McpAccess::default() })
    }

    /// Starts a server that only reads.
    pub fn reading(&self) -> LineClient {
        self.serve(McpAccess { writes: WriteAccess::ReadOnly, ..McpAccess::default() })
    }

    /// Starts a server that only reads, for an agent.
    pub fn reading_as(&self, agent: &str) -> LineClient {
        let agent = Some(AgentName::parse(agent).expect("valid"));
        let deciding = DecidingAccess::Form;
        self.serve(McpAccess { agent, writes: WriteAccess::ReadOnly, deciding })
    }

    /// Starts a server that only reads, and writes into a stream; returns what it reads from.
    pub fn serve_into(
        &self,
        output: impl Write + Send + 'static,
    ) -> (UnixStream, JoinHandle<std::io::Result<()>>) {
        let access = McpAccess { writes: WriteAccess::ReadOnly, ..McpAccess::default() };
        let here =
            Surroundings { folder: self.sandbox.start().to_owned(), ..Surroundings::default() };
        let threads = VerbThreads::begin().expect("there are threads");
        let server = McpService::new(Arc::new(self.space()), here, access, threads);
        let (ours, input) = UnixStream::pair().expect("there are sockets");
        (ours, thread::spawn(move || serve_lines(server, input, output)))
    }

    fn serve(&self, access: McpAccess) -> LineClient {
        self.serve_beside(access, None)
    }

    fn serve_beside(&self, access: McpAccess, page: Option<Arc<dyn PageFinder>>) -> LineClient {
        let folder = self.sandbox.start().to_owned();
        let here = Surroundings { folder, page, ..Surroundings::default() };
        let threads = VerbThreads::begin().expect("there are threads");
        let server = McpService::new(Arc::new(self.space()), here, access, threads);
        let (ours, theirs) = UnixStream::pair().expect("there are sockets");
        let input = theirs.try_clone().expect("a second handle");
        let served = thread::spawn(move || serve_lines(server, input, theirs));
        let read = BufReader::new(ours.try_clone().expect("a second handle"));
        LineClient { write: ours, read, served: Some(served), n_sent: 0 }
    }
}

/// A client that speaks in lines.
pub struct LineClient {
    write: UnixStream,
    read: BufReader<UnixStream>,
    served: Option<JoinHandle<std::io::Result<()>>>,
    n_sent: u64,
}

impl LineClient {
    /// Sends a line.
    pub fn raw(&mut self, line: &[u8]) {
        self.write.write_all(line).expect("the server reads");
        self.write.write_all(b"\n").expect("the server reads");
    }

    /// Takes a line.
    pub fn take(&mut self) -> Json {
        let mut line = String::new();
        self.read.read_line(&mut line).expect("the server writes");
        serde_json::from_str(&line).expect("only messages are written")
    }

    /// Sends a request as an earlier revision does, which says of itself once what it is.
    pub fn send(&mut self, method: &str, params: &Json) {
        self.n_sent += 1;
        let id = self.n_sent;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.raw(message.to_string().as_bytes());
    }

    /// Sends a request of the newest revision, and takes what answers it.
    pub fn ask(&mut self, method: &str, params: Json, capabilities: &Json) -> Json {
        let mut params = params;
        params["_meta"] = meta(capabilities);
        self.n_sent += 1;
        let id = self.n_sent;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.raw(message.to_string().as_bytes());
        let answer = self.take();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: Json) -> Json {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", params, &json!({}))
    }

    /// Calls a tool, and returns what it answers.
    pub fn answer(&mut self, tool: &str, arguments: Json) -> Json {
        let answer = self.call(tool, arguments);
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    /// Calls a tool that refuses, and returns the code.
    pub fn refusal(&mut self, tool: &str, arguments: Json) -> i64 {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        code_of(&answer)
    }

    /// Closes the stream, takes what is answered until the server has ended, and returns it.
    pub fn rest(mut self) -> Vec<Json> {
        self.write.shutdown(Shutdown::Write).expect("it was open");
        let mut rest = Vec::new();
        let mut line = String::new();
        while self.read.read_line(&mut line).expect("the server writes") > 0 {
            rest.push(serde_json::from_str(&line).expect("only messages are written"));
            line.clear();
        }
        self.outcome().expect("nothing was wrong");
        rest
    }

    /// Closes the stream and waits until the server has ended.
    pub fn end(self) {
        self.write.shutdown(Shutdown::Write).expect("it was open");
        self.outcome().expect("nothing was wrong");
    }

    /// Waits until the server has ended, and returns how.
    pub fn outcome(mut self) -> std::io::Result<()> {
        self.served.take().expect("it is served once").join().expect("it ends by itself")
    }
}

/// Writes a call of a tool as a line.
pub fn call_line(id: &str, tool: &str, arguments: Json) -> String {
    let mut params = json!({ "name": tool, "arguments": arguments });
    params["_meta"] = meta(&json!({}));
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// Says what a client of the newest revision is.
fn meta(capabilities: &Json) -> Json {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "lines", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

/// Returns the exit code that an answer names.
pub fn code_of(answer: &Json) -> i64 {
    answer["result"]["structuredContent"]["error"]["code"].as_i64().unwrap_or_default()
}
