//! The gate: whether a call may run, in the words of whoever asks.

use agentic_redact::SecretRedactor;

use super::capture::BoundEvent;
use super::{HookAnswer, HookScene};
use crate::CaptureError;
use crate::event::{HookEvent, HookMoment, PayloadExtent};
use crate::gate::{
    CallingAgent, Deferral, GateError, GateQuestion, GateRequest, GatedCall, HOLD_VARIABLE,
    LeafRedaction, gate_reply, reply_to_nobody,
};
use crate::redaction;
use crate::wiring::AgentHomes;

/// What every mark of redaction begins with, and what it ends with.
const MARK: (&str, char) = ("[redacted:", ']');

/// Answers an event that asks whether a call may run.
pub(super) fn gate(scene: &HookScene<'_>) -> Result<HookAnswer, CaptureError> {
    if scene.event.payload.extent == PayloadExtent::Scalars {
        return Ok(stopped(scene, &GateError::TooLong));
    }
    let Some(call) = gated_call(scene.event) else {
        return Ok(stopped(scene, &GateError::NoTool));
    };
    let Some(binding) = scene.bind()? else { return unbound(scene, &call) };
    let captured = BoundEvent::new(scene, &binding);
    captured.remember()?;
    let repository = scene.space.repository();
    let redactor = redaction::redactor(scene.space, repository.work_dir())?;
    let key = redaction::key(repository.layout())?;
    let is_deferred = scene.request.environment.text(HOLD_VARIABLE) == Some("defer");
    let homes = AgentHomes::from_environment();
    let request = GateRequest {
        space: scene.space,
        agent: &binding.agent,
        conversation: &captured.conversation,
        call: &call,
        homes: homes.as_ref(),
        key: &key,
        redactor: &|key, text| leaf(&redactor, key, text),
        deferral: if is_deferred { Deferral::Offered } else { Deferral::None },
    };
    match gate_reply(&request) {
        Ok(None) => Ok(HookAnswer::silent()),
        Ok(Some(said)) => Ok(HookAnswer::printed(format!("{said}\n"))),
        Err(error) => Ok(stopped(scene, &error)),
    }
}

/// Answers for a conversation that is nobody's here: a call that a rule names needs somebody to ask for.
fn unbound(scene: &HookScene<'_>, call: &GatedCall) -> Result<HookAnswer, CaptureError> {
    let repository = scene.space.repository();
    let homes = AgentHomes::from_environment();
    match reply_to_nobody(repository, call, homes.as_ref()) {
        Ok(None) => Ok(HookAnswer::silent()),
        Ok(Some(said)) => Ok(HookAnswer::printed(format!("{said}\n"))),
        Err(error) => Ok(stopped(scene, &error)),
    }
}

/// Stops a call that cannot be checked.
fn stopped(scene: &HookScene<'_>, error: &GateError) -> HookAnswer {
    scene.log.note("gate");
    HookAnswer::unchecked(error)
}

/// Returns the call that an event asks about.
pub(super) fn gated_call(event: &HookEvent) -> Option<GatedCall> {
    let call = event.call.as_ref()?;
    let question = match event.moment == HookMoment::Asked {
        true => GateQuestion::Leave,
        false => GateQuestion::Call,
    };
    let caller = match &event.subagent {
        Some(_) => CallingAgent::Subagent,
        None => CallingAgent::Conversation,
    };
    Some(GatedCall {
        source: event.source,
        question,
        tool: call.tool.clone(),
        input: call.input.clone(),
        folder: event.folder.clone().unwrap_or_default(),
        caller,
        mode: event.text(&["permission_mode", "permissionMode"]).map(str::to_owned),
    })
}

/// Takes secrets out of a text, and remembers which mark stands for what.
fn leaf(redactor: &SecretRedactor, key: &str, text: &str) -> LeafRedaction {
    let redacted = redactor.redact_beside(key, text);
    let shown = redacted.text.into_owned();
    let (mut hidden, mut from) = (Vec::new(), 0);
    let mut kept = 0;
    for finding in &redacted.findings {
        // What stands before a mark is as long as it was.
        let at = from + finding.start.saturating_sub(kept);
        let mark = shown.get(at..).filter(|rest| rest.starts_with(MARK.0));
        let Some(end) = mark.and_then(|rest| rest.find(MARK.1)) else { break };
        hidden.push((finding.start..finding.end, shown[at..=at + end].to_owned()));
        (from, kept) = (at + end + 1, finding.end);
    }
    LeafRedaction { text: shown, hidden }
}
