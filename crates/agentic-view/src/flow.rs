//! Runs of pipelines as JSON.

use agentic_model::{Value, json};
use agentic_space::session::{Happening, OpenHold, Summary};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::state_name;

/// How far a run has come.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowStatusView {
    /// The key it was started with.
    pub run: String,
    /// Its session.
    pub session: String,
    /// The agent it runs as.
    pub agent: String,
    /// `running`, `held`, `waiting`, `done`, `failed` or `cancelled`.
    pub state: String,
    /// Its blocks, in the order of the source: `index`, `backend`, `mode`, `status` (`pending`,
    /// `running`, `ok`, `failed` or `stopped`) and `node_states`; more once the run is over.
    pub blocks: Vec<Json>,
    /// What waits for a human.
    pub holds: Vec<FlowHoldView>,
    /// The earliest instant it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// A place of a run that waits for a human.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowHoldView {
    /// The request, as `agentic decide` takes it.
    pub request: String,
    /// Where in the program.
    pub path: String,
    /// What is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What may be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choices: Option<Json>,
}

/// One thing that happened in a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowEventView {
    /// Its position in the journal, from 0.
    pub seq: u64,
    /// When.
    pub at: String,
    /// `start`, `ask`, `answer`, `attempt`, `signal`, `escalate`, `vote`, `permit`, `upgrade`,
    /// `withdraw`, `cancel`, `scope_end`, `continue` or `end`.
    pub event: String,
    /// Where in the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What was asked for, how it was answered, who did it and why.
    pub note: String,
}

/// The answer of `agentic flow crosscheck`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CrosscheckView {
    /// Whether both runs came to the same.
    pub same: bool,
    /// What the run in memory came to: `{"ok":[block…]}` or `{"failed":{…}}`.
    pub memory: Json,
    /// What the durable run came to.
    pub durable: Json,
}

/// The answer of `agentic flow translate`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TranslateView {
    /// The program.
    pub program: String,
}

/// Somebody's tokens of a provider; an item of `agentic credential list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CredentialView {
    /// Whose.
    pub identity: String,
    /// Of which provider.
    pub provider: String,
}

impl FlowStatusView {
    /// Shows a run with its blocks.
    pub fn new(summary: &Summary, blocks: &[Value]) -> FlowStatusView {
        let hold = |hold: &OpenHold| FlowHoldView {
            request: summary.id.short_request(&hold.id),
            path: hold.ask.path.to_string(),
            question: hold.payload.get("question").and_then(Value::as_text).map(str::to_owned),
            choices: hold.payload.get("choices").map(json::to_json),
        };
        FlowStatusView {
            run: summary.key.clone(),
            session: summary.id.to_string(),
            agent: summary.agent.to_string(),
            state: state_name(summary.state).to_owned(),
            blocks: blocks.iter().map(json::to_json).collect(),
            holds: summary.holds.iter().map(hold).collect(),
            until: summary.until.map(|until| until.to_string()),
        }
    }
}

impl From<&Happening> for FlowEventView {
    fn from(happening: &Happening) -> FlowEventView {
        FlowEventView {
            seq: happening.seq,
            at: happening.at.to_string(),
            event: happening.event.to_owned(),
            path: happening.path.as_ref().map(ToString::to_string),
            note: happening.note.clone(),
        }
    }
}
