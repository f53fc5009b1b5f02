//! Holds that are put before the person at the client, as a form that it shows them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agentic_api::verb::{AnswerHoldForm, FormAnswer, ShowHoldForm};
use agentic_api::view::{DecideView, HoldFormView};
use agentic_api::{Caller, Refusal, Reply, Verb as _};
use rmcp::model::{
    CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams, ElicitationSchema,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value as Json;

use crate::access::DecidingAccess;
use crate::answer::{ToolAnswer, refused};
use crate::desk::ServerDesk;

/// How long a form is good.
const FORM_LIFETIME: Duration = Duration::from_secs(600);
/// How many forms are remembered.
const FORMS_MAX: usize = 4096;
/// The longest name of a client that decisions bear, in characters.
const CLIENT_CHARS_MAX: usize = 64;

/// The forms that came back, and those that tasks have shown.
#[derive(Debug, Default)]
pub struct HoldForms {
    used: Mutex<BTreeMap<String, Instant>>,
    shown: Mutex<BTreeMap<String, (String, Instant)>>,
}

impl HoldForms {
    /// Notes that a form came back; it does so once.
    fn spend(&self, state: &str) -> Result<(), Refusal> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, at| at.elapsed() < FORM_LIFETIME);
        let is_new = used.len() < FORMS_MAX && !used.contains_key(state);
        if !is_new {
            let message = "this form decides nothing: it came back before";
            return Err(Refusal::not_allowed(message, "ask again: the person is shown a new form"));
        }
        used.insert(state.to_owned(), Instant::now());
        Ok(())
    }

    /// Remembers what a task has shown of a hold.
    fn remember(&self, request: &str, state: &str) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.retain(|_, (_, at)| at.elapsed() < FORM_LIFETIME);
        if shown.len() < FORMS_MAX {
            shown.insert(request.to_owned(), (state.to_owned(), Instant::now()));
        }
    }

    fn recall(&self, request: &str) -> Option<String> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.remove(request).map(|(state, _)| state)
    }
}

/// What a call of `decide` carries.
pub struct DecideCall {
    /// The request that is meant.
    pub request: String,
    /// What was sealed into the form, where it comes back.
    pub state: Option<String>,
    /// What the person did with the form, by its request.
    pub responses: Option<InputResponses>,
}

/// Puts a hold before the person, or decides as they did.
///
/// # Errors
/// Fails when that may not be, and when nothing was decided.
pub async fn decide(
    desk: &Arc<ServerDesk>,
    call: DecideCall,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Refusal> {
    let client = client_of(context);
    if let Some(state) = call.state {
        desk.forms.spend(&state)?;
        let mut responses = call.responses.unwrap_or_default();
        // The client asks for one hold, and answers the one form that it was given.
        let request = show(desk, call.request).await?.request;
        let (Some(response), true) = (responses.remove(&request), responses.is_empty()) else {
            return Err(undecided("the form did not come back"));
        };
        return settle(desk, request, state, response, client).await;
    }
    if !shows_forms(context) {
        return Err(Refusal::refused(
            "this client shows no forms, so it can ask nobody",
            &format!("a person decides with `agentic decide {}`", visible_request(&call.request)),
        ));
    }
    let form = show(desk, call.request.clone()).await?;
    let request = form.request.clone();
    let elicitation = elicitation(&form);
    if context.protocol_version() >= Some(ProtocolVersion::V_2026_07_28) {
        let asks = InputRequests::from([(request, InputRequest::Elicitation(elicitation))]);
        return Ok(InputRequiredResult::new(Some(asks), Some(form.state)).into());
    }
    let asked = context.peer.send_request(ServerRequest::ElicitRequest(elicitation));
    let response = match tokio::time::timeout(FORM_LIFETIME, asked).await {
        Ok(Ok(ClientResult::ElicitResult(result))) => serde_json::to_value(&result),
        // An untagged reply that is cut short reads as another one.
        Ok(Ok(ClientResult::CustomResult(result))) => Ok(result.0),
        Ok(Ok(_)) | Err(_) => return Err(undecided("no answer came back")),
        Ok(Err(error)) => return Err(undecided(&format!("the client did not ask: {error}"))),
    };
    desk.forms.spend(&form.state)?;
    let response = response.map_err(|error| undecided(&error.to_string()))?;
    settle(desk, request, form.state, response, client).await
}

/// Returns the form of a hold, for a task that shows it; nothing, where the client may not answer it.
pub async fn task_form(
    desk: &Arc<ServerDesk>,
    request: &str,
    context: &RequestContext<RoleServer>,
) -> Option<InputRequests> {
    if desk.access.deciding != DecidingAccess::Form || !shows_forms(context) {
        return None;
    }
    let form = show(desk, request.to_owned()).await.ok()?;
    desk.forms.remember(&form.request, &form.state);
    let asks = InputRequest::Elicitation(elicitation(&form));
    Some(InputRequests::from([(form.request, asks)]))
}

/// Decides as the person answered what a task has shown.
///
/// # Errors
/// Fails as [`decide`] does, and for what no task has shown.
pub async fn update_task(
    desk: &Arc<ServerDesk>,
    responses: InputResponses,
    context: &RequestContext<RoleServer>,
) -> Result<(), Refusal> {
    if desk.access.deciding != DecidingAccess::Form {
        let hint = "a person decides with `agentic decide`";
        return Err(Refusal::not_allowed("nothing is decided through this server", hint));
    }
    for (request, response) in responses {
        let state = desk.forms.recall(&request);
        let state = state.ok_or_else(|| undecided("no task has shown this hold"))?;
        desk.forms.spend(&state)?;
        let request = show(desk, request).await?.request;
        settle(desk, request, state, response, client_of(context)).await?;
    }
    Ok(())
}

/// Reads the hold and makes its form. The server's own agent is not asked about itself.
async fn show(desk: &Arc<ServerDesk>, request: String) -> Result<HoldFormView, Refusal> {
    desk.run(move |desk| {
        let form = ShowHoldForm { request }.run(&desk.caller())?.answer;
        match desk.access.agent.as_ref().filter(|own| own.as_str() == form.agent) {
            Some(own) => Err(Refusal::not_allowed(
                &format!("`{own}` may not decide what it asks itself"),
                &format!("a person decides with `agentic decide {}`", form.request),
            )),
            None => Ok(form),
        }
    })
    .await
}

/// Applies what the person did with the form of a hold that may be shown here still: the seal of a form is no
/// permission.
async fn settle(
    desk: &Arc<ServerDesk>,
    request: String,
    state: String,
    response: Json,
    client: String,
) -> Result<CallToolResponse, Refusal> {
    let answer = match response["action"].as_str() {
        Some("accept") => {
            FormAnswer::Accept(response["content"].as_object().cloned().unwrap_or_default())
        }
        Some("decline") => FormAnswer::Decline,
        Some(_) | None => return Err(undecided("the form was closed")),
    };
    let decided = desk.run(move |desk| {
        let authn = Some(format!("mcp:{client}"));
        AnswerHoldForm { request, state, answer }.run(&Caller { authn, ..desk.caller() })
    });
    let decided: Reply<DecideView> = decided.await?;
    Ok(ToolAnswer::of_reply(decided)
        .map_or_else(|refusal| refused(&refusal), ToolAnswer::result)
        .into())
}

fn elicitation(form: &HoldFormView) -> ElicitRequest {
    let fields: Option<ElicitationSchema> = serde_json::from_value(form.fields.clone()).ok();
    let mut requested_schema = fields.expect("BUG: the form is flat");
    let order = ["action", "value", "reason"];
    requested_schema.property_order = Some(order.map(str::to_owned).to_vec());
    let message = form.message.clone();
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema,
    })
}

/// Tells whether the client shows forms. One that says nothing of modes shows them.
fn shows_forms(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|can| can.elicitation);
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

fn client_of(context: &RequestContext<RoleServer>) -> String {
    let name = context.client_info().map(|client| client.name).unwrap_or_default();
    let is_plain = |sign: &char| sign.is_ascii_graphic();
    let name: String = name.chars().filter(is_plain).take(CLIENT_CHARS_MAX).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}

fn visible_request(request: &str) -> String {
    agentic_api::view::visible_line(request).chars().take(128).collect()
}

fn undecided(why: &str) -> Refusal {
    Refusal::refused(
        &format!("nothing was decided: {why}"),
        "the hold stays open; ask again, or decide elsewhere",
    )
}
