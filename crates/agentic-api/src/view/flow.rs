//! Runs of pipelines as JSON.

use agentic_lang_pipeline::run::BlockState;
use agentic_model::{Value, json};
use agentic_replay::SessionState;
use agentic_replay::engine::{RunEvent, RunHold, RunStatus};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::program::ProgramFindings;
use crate::view::session::SessionErrorView;

/// How a block stands in which a human is to decide before anything else happens.
const HOLDING: &str = "holding";

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
    /// `running`, `holding`, `ok`, `failed` or `stopped`), `node_states` and `run_id`; more once the
    /// run is over.
    pub blocks: Vec<Json>,
    /// What waits for a human.
    pub holds: Vec<FlowHoldView>,
    /// The earliest instant it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Why nobody could answer what it asks (`unanswered`), while it waits for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SessionErrorView>,
    /// The page on which a server shows it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
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
    /// `start`, `ask`, `answer`, `attempt`, `found`, `signal`, `escalate`, `vote`, `permit`,
    /// `upgrade`, `withdraw`, `cancel`, `scope_end`, `continue` or `end`.
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

/// What a comparison came to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum CrosscheckAnswer {
    /// Both ran.
    Compared(CrosscheckView),
    /// Something is wrong with the program; nothing ran.
    Faulty(ProgramFindings),
}

/// A question that was put before people; an item of `agentic flow ask`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowAskedView {
    /// The request, as `agentic decide` takes it.
    pub request: String,
    /// The agent that asks.
    pub agent: String,
    /// What is asked.
    pub title: String,
    /// `info`, `low`, `medium`, `high` or `critical`.
    pub severity: String,
    /// Where it went.
    pub told: Vec<FlowToldView>,
    /// What somebody chose; without a `decision` beside it, to decide later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<FlowVerdictView>,
    /// The commit that decides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Whether somebody is still to decide.
    pub open: bool,
}

/// One destination of a question.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowToldView {
    /// The channel.
    pub channel: String,
    /// Whom it took it to, in its own words.
    pub target: String,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What somebody chose.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowVerdictView {
    /// The choice.
    pub choice: String,
    /// Who, by our name.
    pub actor: String,
    /// The channel that brought it.
    pub channel: String,
    /// When.
    pub at: String,
    /// What the channel brought.
    pub raw: Json,
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
    /// Says whether nothing will happen to it any more.
    pub fn is_over(&self) -> bool {
        let over = [SessionState::Done, SessionState::Failed, SessionState::Cancelled];
        over.iter().any(|state| state.as_str() == self.state)
    }
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
            blocks: status.blocks.iter().map(|block| block_view(status, block)).collect(),
            holds: status.holds.iter().map(hold).collect(),
            until: status.until.map(|until| until.to_string()),
            error: status.unanswered.as_ref().map(|failure| SessionErrorView {
                code: failure.code.clone(),
                message: failure.message.clone(),
            }),
            page: status.page.clone(),
        }
    }
}

/// Returns a block as JSON: with the name of its run, and `holding` in place of `running` where the
/// run waits for a human in it.
fn block_view(status: &RunStatus, block: &Value) -> Json {
    let mut view = json::to_json(block);
    let scope = format!("b{}", view["index"]);
    let asks = |hold: &RunHold| hold.path.as_str().split('/').next() == Some(scope.as_str());
    let is_held = status.state == SessionState::Held && status.holds.iter().any(asks);
    if is_held && view["status"] == BlockState::Running.as_str() {
        view["status"] = HOLDING.into();
    }
    if let Some(fields) = view.as_object_mut() {
        fields.insert("run_id".to_owned(), status.key.clone().into());
    }
    view
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
