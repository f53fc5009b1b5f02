//! Holds as forms of other programs: what a person is shown there, and what they fill in.
//!
//! A form has a seal: it says for whom it was made, which question of which session it shows, how
//! the session stood and until when it is good. What comes back without it decides nothing, and what comes
//! back a second time does not either.

use agentic_model::{Instant, Value, json as model_json};
use agentic_session::decide::{Action, ApprovalScope, check_assigned, wants_key};
use agentic_session::hold::name::HoldName;
use agentic_store::secret;
use agentic_store::spent::{self, SealSpending, SealedText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map as JsonMap, Value as Json, json};

use crate::verb::reply::note_dismissal;
use crate::verb::{AfterDecision, Decide, HoldAnswer, Reply, SeenQuestion, Verb};
use crate::view::interop::Protocol;
use crate::view::{DecideView, HoldFormView, PendingView, QuestionView};
use crate::{Caller, Refusal, principal};

/// How many minutes a form is good.
pub(super) const FORM_MINUTES: u32 = 10;

/// Put an open hold before a person as a form. Only a person may have it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowHoldForm {
    /// A request as it is listed, or an agent with one open hold.
    pub request: String,
}

/// Decide as a person filled in a form.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerHoldForm {
    /// The request that is meant, as the form named it.
    pub request: String,
    /// What was sealed into the form.
    pub state: String,
    /// What the person did with it.
    pub answer: FormAnswer,
}

/// What a person did with a form.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FormAnswer {
    /// They filled it in: `action`, and `value` and `reason` if there are any.
    Accept(JsonMap<String, Json>),
    /// They said no.
    Decline,
}

/// What a form is sealed with.
#[derive(Debug, Serialize, Deserialize)]
struct SealedForm {
    principal: String,
    request: String,
    request_hash: String,
    chain: String,
    shown: String,
    at: String,
    until: i64,
}

impl Verb for ShowHoldForm {
    type Answer = HoldFormView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<HoldFormView>, Refusal> {
        caller.require_person("decide")?;
        let principal = answerer(caller)?;
        let question = open(caller, &self.request, &principal)?;
        let sealed = SealedForm {
            principal,
            request: question.hold.request.clone(),
            request_hash: question.hold.request_hash.clone(),
            chain: chain(caller, &question.hold)?,
            shown: question.shown,
            at: question.at,
            until: caller.space.now().plus_millis(i64::from(FORM_MINUTES) * 60_000).millis(),
        };
        Ok(Reply::plain(HoldFormView {
            fields: fields(&question.hold),
            request: question.hold.request,
            agent: question.hold.agent,
            message: question.text,
            state: sealed.seal(caller)?,
        }))
    }
}

impl Verb for AnswerHoldForm {
    type Answer = DecideView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<DecideView>, Refusal> {
        caller.require_person("decide")?;
        let sealed = SealedForm::take_back(caller, &self.state)?;
        let stale = || {
            let message = format!("{} does not stand as it was shown any more", sealed.request);
            Refusal::conflict(&message, "ask again: the person is shown how it stands now")
        };
        if self.request != sealed.request {
            let message = "this form decides nothing: it was made for another request";
            return Err(Refusal::not_allowed(message, "ask again: the person is shown a new form"));
        }
        let question = open(caller, &sealed.request, &sealed.principal)?;
        if chain(caller, &question.hold)? != sealed.chain {
            return Err(stale());
        }
        let (action, value, why) = match self.answer {
            FormAnswer::Decline => (Action::Reject, None, String::new()),
            FormAnswer::Accept(filled) => filled_in(&question.hold, filled)?,
        };
        let at = Instant::parse(&sealed.at).ok_or_else(stale)?;
        let verb = Decide {
            request: sealed.request.clone(),
            node: None,
            answer: HoldAnswer::Act { action, value, scope: ApprovalScope::Once },
            why,
            expect: Some(sealed.request_hash.clone()),
            by: Some(sealed.principal.clone()),
            seen: Some(SeenQuestion { shown: sealed.shown.clone(), at }),
            then: AfterDecision::GoOn,
            for_person: None,
            grant: None,
        };
        verb.run(caller)
    }
}

/// Takes back a form that the person closed: it decides nothing any more, and the agent's trace says so
/// where the hold is open still.
///
/// # Errors
/// Fails when it was not made here for this person, is too old, or came back before.
pub fn close_hold_form(caller: &Caller<'_>, state: &str) -> Result<(), Refusal> {
    let SealedForm { principal, request, .. } = SealedForm::take_back(caller, state)?;
    match (HoldName { request: &request, node: None }.open(caller.space)) {
        Ok(pending) => note_dismissal(caller.space, &pending, &principal),
        Err(_) => Ok(()),
    }
}

impl SealedForm {
    fn seal(&self, caller: &Caller<'_>) -> Result<String, Refusal> {
        let text = serde_json::to_string(self).expect("texts and a number are JSON");
        Ok(secret::seal(caller.space.repository().layout(), &text)?)
    }

    /// Opens what came back, which is good for nothing else then.
    fn take_back(caller: &Caller<'_>, state: &str) -> Result<SealedForm, Refusal> {
        let refused = |reason: &str| {
            let message = format!("this form decides nothing: {reason}");
            Refusal::not_allowed(&message, "ask again: the person is shown a new form")
        };
        let foreign = || refused("it was not made here");
        let layout = caller.space.repository().layout();
        let text = secret::open(layout, state)?.ok_or_else(foreign)?;
        let sealed: SealedForm = serde_json::from_str(&text).map_err(|_| foreign())?;
        if sealed.principal != answerer(caller)? {
            return Err(refused("it was made for somebody else"));
        }
        if sealed.until <= caller.space.now().millis() {
            return Err(refused(&format!("it is older than {FORM_MINUTES} minutes")));
        }
        let now = caller.space.now().millis();
        let spending = SealedText { text: &text, until: sealed.until, now };
        match spent::spend(layout, spending)? {
            SealSpending::Now => Ok(sealed),
            SealSpending::Before => Err(refused("it came back before")),
        }
    }
}

/// Returns who answers. One whose decisions count only with a signature cannot do it here.
fn answerer(caller: &Caller<'_>) -> Result<String, Refusal> {
    let principal = principal(caller.space)?;
    check_form(caller, Protocol::Mcp, &principal)?;
    Ok(principal)
}

/// Checks that a person may answer in the form of a protocol.
///
/// # Errors
/// Fails for a form of MCP when decisions of this person count only with a signature: a form has none.
pub(super) fn check_form(
    caller: &Caller<'_>,
    protocol: Protocol,
    principal: &str,
) -> Result<(), Refusal> {
    if protocol == Protocol::Mcp && wants_key(caller.space, principal)? {
        let message = format!("decisions of {principal} want a signature, and a form has none");
        return Err(Refusal::not_allowed(&message, "decide with `agentic decide`"));
    }
    Ok(())
}

/// Reads an open hold that this person may decide.
fn open(caller: &Caller<'_>, request: &str, principal: &str) -> Result<QuestionView, Refusal> {
    let pending = HoldName { request, node: None }.open(caller.space)?;
    check_assigned(caller.space, &pending.hold, &pending.policy, principal)?;
    let now = caller.space.now();
    Ok(QuestionView::new(PendingView::new(&pending, now), now))
}

/// Returns the hash of the last record of the session that asks.
fn chain(caller: &Caller<'_>, hold: &PendingView) -> Result<String, Refusal> {
    let id = caller.space.find_session(&hold.session)?;
    let summary = caller.space.session(&id)?;
    Ok(crate::view::SessionView::brief(&summary).chain)
}

/// Makes the schema of the form: nothing is filled in beforehand.
pub(super) fn fields(hold: &PendingView) -> Json {
    let value = match (&hold.schema, hold.choices.as_slice()) {
        (None, choices @ [_, ..]) => json!({ "type": "string", "enum": choices }),
        (Some(schema), _) => match primitive(schema) {
            Some(primitive) => primitive,
            None => json!({ "type": "string", "description": "JSON" }),
        },
        (None, []) => json!({ "type": "string", "description": "JSON, or a text" }),
    };
    json!({
        "type": "object",
        "properties": {
            "action": { "type": "string", "enum": hold.actions },
            "value": value,
            "reason": { "type": "string", "description": "Why" },
        },
        "required": ["action"],
    })
}

/// Returns the schema of a value that a form can show as it is, without what would fill it in.
fn primitive(schema: &Json) -> Option<Json> {
    let kind = schema["type"].as_str()?;
    if let ("string", Some(choices)) = (kind, schema["enum"].as_array()) {
        let is_text = choices.iter().all(Json::is_string);
        return is_text.then(|| json!({ "type": "string", "enum": choices }));
    }
    matches!(kind, "string" | "number" | "integer" | "boolean").then(|| json!({ "type": kind }))
}

/// Reads what was filled in.
pub(super) fn filled_in(
    hold: &PendingView,
    mut filled: JsonMap<String, Json>,
) -> Result<(Action, Option<Value>, String), Refusal> {
    let misfit = |what: &str| Refusal::schema(what, "`action` is one of those that are offered");
    let action = filled.get("action").and_then(Json::as_str).and_then(Action::parse);
    let action = action.ok_or_else(|| misfit("the form says no action"))?;
    let reason = match filled.remove("reason") {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(reason)) => reason,
        Some(_) => return Err(misfit("the reason is no text")),
    };
    let is_text = hold.schema.as_ref().map_or(!hold.choices.is_empty(), |schema| {
        primitive(schema).is_some_and(|primitive| primitive["type"] == "string")
    });
    let value = match filled.remove("value") {
        None | Some(Json::Null) => None,
        // An empty field is one that was not filled in.
        Some(Json::String(text)) if text.is_empty() => None,
        Some(Json::String(text)) if is_text => Some(Value::Text(text)),
        Some(Json::String(text)) => Some(model_json::from_text(&text).unwrap_or(Value::Text(text))),
        Some(other) => Some(
            model_json::from_json(other)
                .map_err(|error| misfit(&format!("the value is none: {error}")))?,
        ),
    };
    Ok((action, value, reason))
}
