//! From a call to what the coding agent reads: rules, key, question, trace, answer.

use std::time::Duration;

use agentic_git::Repository;
use agentic_model::{AgentName, Entry, Kind, Value};
use agentic_session::SessionSpace;
use serde_json::Value as Json;

use super::{
    Deferral, Enforcement, Gate, GateError, GateOutcome, GateVerdict, GatedCall, HeldCall,
    HoldRules, LeafRedactor, answer_of,
};
use crate::ConversationId;
use crate::wiring::{AgentHomes, GATE_SECONDS};

/// A call that a hook was asked about, and where.
pub struct GateRequest<'r> {
    /// The space.
    pub space: &'r SessionSpace,
    /// The agent whose conversation it is.
    pub agent: &'r AgentName,
    /// The conversation.
    pub conversation: &'r ConversationId,
    /// The call.
    pub call: &'r GatedCall,
    /// Where the user's own rules are; nowhere where there is no home.
    pub homes: Option<&'r AgentHomes>,
    /// The key of this repository.
    pub key: &'r [u8; 32],
    /// Takes secrets out of a text that stands beside a key.
    pub redactor: &'r LeafRedactor<'r>,
    /// Whether a run may be put down.
    pub deferral: Deferral,
}

/// Answers a hook that asks whether a call may run; nothing where silence says it. What cannot be
/// checked is denied in the vendor's own words.
///
/// # Errors
/// Fails when what was written before is damaged: then no answer can be trusted, and the hook has to
/// fail.
pub fn gate_reply(request: &GateRequest<'_>) -> Result<Option<Json>, GateError> {
    let verdict = match outcome(request) {
        Ok(outcome) => outcome.verdict,
        Err(error @ GateError::Damaged { .. }) => return Err(error),
        Err(error) => GateVerdict::Deny { reason: format!("This call is held: {error}.") },
    };
    Ok(answer_of(request.call.source, request.call.question, &verdict))
}

/// Answers for a conversation that is no agent's: silence, or what needs nobody to ask for. Any other
/// call that is held has to be stopped.
///
/// # Errors
/// Fails when a rule holds the call, or rules cannot be read.
pub fn reply_to_nobody(
    repository: &Repository,
    call: &GatedCall,
    homes: Option<&AgentHomes>,
) -> Result<Option<Json>, GateError> {
    let folder = call.folder.canonicalize().unwrap_or_else(|_| call.folder.clone());
    let checkout = repository.work_dir().unwrap_or(&folder);
    let rules = HoldRules::of(repository, checkout, homes)?;
    let held = HeldCall {
        source: call.source,
        tool: &call.tool,
        input: &call.input,
        folder: &folder,
        checkout,
        home: rules.home(),
    };
    let Some(by) = rules.held_by(&held) else { return Ok(None) };
    match by.rule.filter(|rule| rule.enforce == Enforcement::Ask) {
        Some(rule) => {
            let verdict = GateVerdict::Ask { number: rule.number };
            Ok(answer_of(call.source, call.question, &verdict))
        }
        None => Err(GateError::Nobody),
    }
}

fn outcome(request: &GateRequest<'_>) -> Result<GateOutcome, GateError> {
    let repository = request.space.repository();
    let checkout = repository.work_dir().unwrap_or(request.call.folder.as_path());
    let rules = HoldRules::of(repository, checkout, request.homes)?;
    let gate = Gate {
        space: request.space,
        agent: request.agent,
        conversation: request.conversation,
        call: request.call,
        rules: &rules,
        key: request.key,
        redactor: request.redactor,
        deferral: request.deferral,
        timeout: timeout(request.space),
    };
    let outcome = gate.answer()?;
    if let Some(noted) = &outcome.noted {
        note(request, noted)?;
    }
    Ok(outcome)
}

fn timeout(space: &SessionSpace) -> Duration {
    let set = space.repository().config("agentic.gateTimeout");
    let seconds = set.and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0);
    Duration::from_secs(seconds.unwrap_or(GATE_SECONDS.unsigned_abs()))
}

/// Writes into the trace what came of a question, before anybody hears of it.
fn note(request: &GateRequest<'_>, what: &str) -> Result<(), GateError> {
    let kind = Kind::parse("event").map_err(GateError::record)?;
    let mut entry = Entry::new(kind, request.space.now(), Value::text(what));
    let conversation = (request.redactor)("", &request.conversation.to_string()).text;
    entry.meta.insert("conversation".to_owned(), Value::text(conversation));
    entry.meta.insert("type".to_owned(), Value::text("hold"));
    request.space.add_entries(request.agent, vec![entry]).map_err(GateError::record)
}
