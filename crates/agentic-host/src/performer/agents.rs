//! What programs of AgentLang ask: built-in tasks, programs that perform tasks or are tools, and
//! models that perform the tasks of agents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use agentic_lang_agent::{
    AGENT_TOOL, MockTasks, TASK, argument_text, pinned_handlers, pinned_tools,
};
use agentic_model::{Object, Value, json};
use agentic_providers::configuration::Configuration;
use agentic_providers::model::{Adapter, TASK_REQUEST};
use agentic_providers::tool::{AGENT_TOOL_REQUEST, reads_web};
use agentic_replay::{ProgramFault, Request, RequestAnswer};

use super::{Carrier, CommandLine, Performer, PerformerSetting, RunTerms};
use crate::provision::Provision;
use crate::reply::ReplyForm;

/// What the built-in tasks of AgentLang remember, for whoever looks at it when a run is over.
pub type SharedTasks = Arc<Mutex<MockTasks>>;

/// Performs what a program of AgentLang asks.
#[derive(Debug)]
pub struct AgentPerformer {
    handlers: BTreeMap<String, Vec<String>>,
    /// The programs that are the tools of agents.
    tools: BTreeMap<String, Vec<String>>,
    mock: SharedTasks,
    adapter: Adapter,
}

/// Makes the performer of a program of AgentLang.
///
/// # Errors
/// Fails when what is pinned is none.
pub fn performer(setting: &PerformerSetting<'_>) -> Result<Box<dyn Performer>, ProgramFault> {
    Ok(Box::new(AgentPerformer::new(setting.pinned.flow, SharedTasks::default())?))
}

impl AgentPerformer {
    /// Makes the performer of a program whose built-in tasks go on from what they remember.
    pub fn new(flow: &Object, mock: SharedTasks) -> Result<AgentPerformer, ProgramFault> {
        let (handlers, tools) = (pinned_handlers(flow), pinned_tools(flow));
        Ok(AgentPerformer { handlers, tools, mock, adapter: pinned_adapter(flow)? })
    }

    /// A panic under the lock leaves counters behind, never half of one.
    fn perform(&self, request: &Request) -> Option<RequestAnswer> {
        self.mock.lock().unwrap_or_else(PoisonError::into_inner).perform(request)
    }

    /// Returns the program that performs a request.
    fn command(&self, request: &Request) -> Option<CommandLine> {
        let (what, programs) = match request.kind.as_str() {
            TASK => ("task", &self.handlers),
            AGENT_TOOL => ("tool", &self.tools),
            _ => return None,
        };
        let name = request.payload.get(what).and_then(Value::as_text)?;
        let argv = programs.get(name)?.clone();
        Some(CommandLine { argv, stdin: line(what, name, request) })
    }

    /// Says whether a provider outside performs a request.
    fn is_outside(&self, request: &Request) -> bool {
        match self.adapter {
            Adapter::Mock => false,
            Adapter::Live | Adapter::Anthropic => {
                let is_web = request.kind == AGENT_TOOL_REQUEST && reads_web(&request.payload);
                request.kind == TASK_REQUEST || is_web
            }
        }
    }
}

impl Performer for AgentPerformer {
    fn compute(&mut self, request: &Request) -> Option<RequestAnswer> {
        self.perform(request)
    }

    fn fold(&mut self, request: &Request, _answer: &RequestAnswer) {
        // The recorded answer counts; what is needed is what it left behind.
        let _ = self.perform(request);
    }

    fn carrier(&self, request: &Request) -> Carrier {
        match self.command(request) {
            Some(command) => Carrier::Program(command),
            None if self.is_outside(request) => Carrier::Provider(Provision::Effect),
            None => Carrier::Nobody,
        }
    }

    fn terms(&self) -> RunTerms<'_> {
        RunTerms {
            reply_form: ReplyForm::HandlerLine,
            is_configured_early: self.adapter != Adapter::Mock,
            adapter: Some(self.adapter),
            invoked_by: None,
        }
    }

    fn configured(&self, configuration: Configuration) -> Configuration {
        configuration.for_tasks(self.adapter)
    }
}

/// Reads who performs the tasks of agents. The first programs did not say so: there was the mock
/// only.
fn pinned_adapter(flow: &Object) -> Result<Adapter, ProgramFault> {
    let unknown = || ProgramFault::broken("nobody knows who performs the tasks of agents");
    match flow.map().get("agents") {
        None => Ok(Adapter::Mock),
        Some(pinned) => pinned.as_text().and_then(Adapter::parse).ok_or_else(unknown),
    }
}

/// Writes the line that a handler reads: `{"task","args","agent"?}`, or `tool` for `task`. The
/// arguments are JSON already, with their keys in order and their numbers exact.
fn line(what: &str, name: &str, request: &Request) -> String {
    let quoted = |text: &str| json::to_text(&Value::text(text));
    let agent = request.payload.get("agent").and_then(Value::as_text);
    let agent = agent.map(|agent| format!(",\"agent\":{}", quoted(agent))).unwrap_or_default();
    let args = argument_text(request).unwrap_or("{}");
    format!("{{\"{what}\":{},\"args\":{args}{agent}}}\n", quoted(name))
}
