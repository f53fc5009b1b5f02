//! Runs of pipelines as JSON.

use agentic_lang_pipeline::engine::{RunEvent, RunHold, RunStatus};
use agentic_model::json;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

/// How far a run has come.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowStatusView {
    /// The key it was started with.
    pub run: String,
    /// Its session.
    pub session: String,
    /// The agent it runs as.
    pub agent: String,
    /// `running`, `held`, `waiting`, `done`, `failed`, `cancelled` or `diverged`.
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
    /// The line of the source where the node stands, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Its column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub col: Option<u32>,
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

impl From<&RunStatus> for FlowStatusView {
    fn from(status: &RunStatus) -> FlowStatusView {
        let hold = |hold: &RunHold| FlowHoldView {
            request: hold.request.clone(),
            path: hold.path.to_string(),
            question: hold.question.clone(),
            choices: hold.choices.as_ref().map(json::to_json),
        };
        FlowStatusView {
            run: status.key.clone(),
            session: status.id.to_string(),
            agent: status.agent.to_string(),
            state: status.state.as_str().to_owned(),
            blocks: status.blocks.iter().map(json::to_json).collect(),
            holds: status.holds.iter().map(hold).collect(),
            until: status.until.map(|until| until.to_string()),
        }
    }
}

impl From<&RunEvent> for FlowEventView {
    fn from(event: &RunEvent) -> FlowEventView {
        FlowEventView {
            seq: event.seq,
            at: event.at.to_string(),
            event: event.event.to_owned(),
            path: event.path.as_ref().map(ToString::to_string),
            line: event.place.map(|place| place.line),
            col: event.place.map(|place| place.column),
            note: event.note.clone(),
        }
    }
}
