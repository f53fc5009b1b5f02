//! Questions to people, by themselves: a session of a program that only asks.

use agentic_model::{Map, Value, canonical};
use agentic_session::decide::APPROVED_BYTES_MAX;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{FlowSource, Reply, SessionDetail, SessionStart, Verb, session_reply, value};
use crate::view::{AskedView, SessionView};
use crate::{Caller, Refusal};

/// The program: it ends with what it is told.
const ASKS: &str = "hold(input.question, input.options)";

/// Put a question before people: a hold of the agent's. Whoever decides it answers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskHuman {
    /// The agent; else the caller's.
    #[serde(default)]
    pub agent: Option<String>,
    /// What is asked.
    pub question: String,
    /// The answers that are offered; any, if there are none.
    #[serde(default)]
    pub choices: Vec<String>,
    /// The JSON Schema of the value of an answer.
    #[serde(default, deserialize_with = "value::read_given")]
    #[schemars(with = "serde_json::Value")]
    pub schema: Option<Value>,
    /// What is to be approved, or known besides.
    #[serde(default, deserialize_with = "value::read_given")]
    #[schemars(with = "serde_json::Value")]
    pub payload: Option<Value>,
    /// Until when it may be answered, such as `2026-11-21T22:40:01Z`.
    #[serde(default)]
    pub deadline: Option<String>,
}

impl Verb for AskHuman {
    type Answer = AskedView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<AskedView>, Refusal> {
        let id = self.start(caller)?.drive(caller)?;
        let Reply { answer, notices, completion } =
            session_reply(caller.space, &id, SessionDetail::Whole)?;
        Ok(Reply { answer: asked_view(caller, &answer), notices, completion })
    }
}

impl AskHuman {
    fn start(self, caller: &Caller<'_>) -> Result<SessionStart, Refusal> {
        let agent = caller.agent(self.agent.as_deref())?.to_string();
        self.payload.as_ref().map_or(Ok(()), check_payload)?;
        let mut options = Map::new();
        if !self.choices.is_empty() {
            let choices = self.choices.into_iter().map(Value::Text).collect();
            options.insert("choices".to_owned(), Value::List(choices));
        }
        options.extend(self.schema.map(|schema| ("schema".to_owned(), schema)));
        options.extend(self.payload.map(|payload| ("payload".to_owned(), payload)));
        options.extend(self.deadline.map(|at| ("deadline".to_owned(), Value::Text(at))));
        let input = Value::map([
            ("question", Value::Text(self.question)),
            ("options", Value::Map(options)),
        ]);
        let flow = FlowSource::Script(ASKS.to_owned());
        Ok(SessionStart { agent, flow, input, key: None, allow: Vec::new() })
    }
}

/// Refuses to ask people for what they could not approve.
fn check_payload(payload: &Value) -> Result<(), Refusal> {
    let n_bytes = canonical::encode(payload).map_or(0, |bytes| bytes.len());
    if n_bytes <= APPROVED_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "the payload has {n_bytes} bytes, more than the {APPROVED_BYTES_MAX} that can be approved"
    );
    let hint = "commit what is long, and ask about the commit or the path";
    Err(Refusal::schema(&message, hint))
}

/// Shows a session of the program that only asks as the question that it is.
fn asked_view(caller: &Caller<'_>, view: &SessionView) -> AskedView {
    let first = view.requests.iter().flatten().next().map(|request| &request.request);
    AskedView {
        request: view.pending.first().or(first).cloned().unwrap_or_default(),
        session: view.session.clone(),
        agent: view.agent.clone(),
        state: view.state.clone(),
        page: view.pending.first().and_then(|request| caller.hold_address(request)),
        answer: view.result.clone(),
    }
}

impl AskedView {
    /// Shows a session as a question; nothing, if it runs another program.
    ///
    /// # Errors
    /// Fails when the program has no id, which cannot be.
    pub fn of(caller: &Caller<'_>, view: &SessionView) -> Result<Option<AskedView>, Refusal> {
        let asks = agentic_session::flow_object(ASKS)?.cid().to_string();
        Ok((view.flow == asks).then(|| asked_view(caller, view)))
    }
}
