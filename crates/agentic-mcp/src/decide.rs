//! Holds that are put before the person at the client, as a form that it shows them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agentic_api::verb::{AnswerHoldForm, FormAnswer, ShowHoldForm, close_hold_form};
use agentic_api::view::{DecideView, HoldFormView};
use agentic_api::{Caller, Refusal, Reply, Verb as _};
use rmcp::model::{
    CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams, ElicitationSchema,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
    ServerRequest, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value as Json;

use crate::access::DecidingAccess;
use crate::answer::{ToolAnswer, refused};
use crate::call::CallProgress;
use crate::desk::ServerDesk;
use crate::message::FORM_FIELDS;
use crate::session::{is_whole_id, look};

/// How long a form is good.
const FORM_LIFETIME: Duration = Duration::from_secs(600);
/// How many forms are remembered.
const FORMS_MAX: usize = 4096;
/// The longest name of a client that decisions bear, in characters.
const CLIENT_CHARS_MAX: usize = 64;

/// The forms that tasks have shown.
#[derive(Debug, Default)]
pub struct HoldForms(Mutex<BTreeMap<TaskHold, (String, Instant)>>);

/// A task, and a request that it has shown.
type TaskHold = (String, String);

impl HoldForms {
    /// Remembers what a task has shown of a hold.
    fn remember(&self, hold: TaskHold, state: &str) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.retain(|_, (_, at)| at.elapsed() < FORM_LIFETIME);
        if shown.len() < FORMS_MAX {
            shown.insert(hold, (state.to_owned(), Instant::now()));
        }
    }

    /// Takes out what a task has shown of all these holds; nothing, if it has not shown one of them.
    fn recall(&self, holds: &[TaskHold]) -> Option<Vec<String>> {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !holds.iter().all(|hold| shown.contains_key(hold)) {
            return None;
        }
        let taken = holds.iter().filter_map(|hold| shown.remove(hold));
        Some(taken.map(|(state, _)| state).collect())
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
    if let Some(state) = call.state {
        let mut responses = call.responses.unwrap_or_default();
        // The client asks for one hold, and answers the one form that it was given.
        let request = show(desk, call.request).await?.request;
        let response = responses.remove(&request).filter(|_| responses.is_empty());
        let response = response.unwrap_or_default();
        return settle(desk, FilledForm { request, state, response }, context).await;
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
    let progress = CallProgress::of(context);
    let answered = tokio::select! {
        biased;
        // What the person fills in after that decides nothing.
        () = progress.given_up() => return Err(undecided("the call was given up")),
        answered = tokio::time::timeout(FORM_LIFETIME, asked) => answered,
    };
    let response = match answered {
        Ok(Ok(ClientResult::ElicitResult(result))) => serde_json::to_value(&result),
        // An untagged reply that is cut short reads as another one.
        Ok(Ok(ClientResult::CustomResult(result))) => Ok(result.0),
        Ok(Ok(_)) | Err(_) => return Err(undecided("no answer came back")),
        Ok(Err(error)) => return Err(undecided(&format!("the client did not ask: {error}"))),
    };
    let response = response.map_err(|error| undecided(&error.to_string()))?;
    settle(desk, FilledForm { request, state: form.state, response }, context).await
}

/// Returns the form of a hold, for a task that shows it; nothing, where the client may not answer it.
pub async fn task_form(
    desk: &Arc<ServerDesk>,
    task: &str,
    request: &str,
    context: &RequestContext<RoleServer>,
) -> Option<InputRequests> {
    if desk.access.deciding != DecidingAccess::Form || !shows_forms(context) {
        return None;
    }
    let form = show(desk, request.to_owned()).await.ok()?;
    desk.forms.remember((task.to_owned(), form.request.clone()), &form.state);
    let asks = InputRequest::Elicitation(elicitation(&form));
    Some(InputRequests::from([(form.request, asks)]))
}

/// Decides as the person answered what a task has shown.
///
/// # Errors
/// Fails as [`decide`] does, and for what this task has not shown.
pub async fn update_task(
    desk: &Arc<ServerDesk>,
    update: UpdateTaskParams,
    context: &RequestContext<RoleServer>,
) -> Result<(), Refusal> {
    if desk.access.deciding != DecidingAccess::Form {
        let hint = "a person decides with `agentic decide`";
        return Err(Refusal::not_allowed("nothing is decided through this server", hint));
    }
    let UpdateTaskParams { task_id, input_responses, .. } = update;
    find_task(desk, task_id.clone()).await?;
    let named = |request: &String| (task_id.clone(), request.clone());
    let holds: Vec<TaskHold> = input_responses.keys().map(named).collect();
    let states = desk.forms.recall(&holds);
    let states = states.ok_or_else(|| undecided("this task has not shown this hold"))?;
    for ((request, response), state) in input_responses.into_iter().zip(states) {
        let request = show(desk, request).await?.request;
        settle(desk, FilledForm { request, state, response }, context).await?;
    }
    Ok(())
}

/// Checks that there is such a task.
async fn find_task(desk: &Arc<ServerDesk>, id: String) -> Result<(), Refusal> {
    let unknown = || Refusal::refused("there is no such task", "a task has the id of its session");
    if !is_whole_id(&id) {
        return Err(unknown());
    }
    let found = move |desk: &ServerDesk| {
        desk.access.check_writes()?;
        look(desk, &id).map(drop).map_err(|_| unknown())
    };
    desk.run(found).await
}

/// Reads the hold and makes its form. The server's own agent is not asked about itself.
async fn show(desk: &Arc<ServerDesk>, request: String) -> Result<HoldFormView, Refusal> {
    desk.run(move |desk| {
        let form = ShowHoldForm { request }.run(&desk.person())?.answer;
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

/// A form that came back.
struct FilledForm {
    request: String,
    state: String,
    /// What the person did with it; nothing, if it is not said.
    response: Json,
}

/// Applies what the person did with the form of a hold that may be shown here still: the seal of a form is no
/// permission.
async fn settle(
    desk: &Arc<ServerDesk>,
    form: FilledForm,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Refusal> {
    let FilledForm { request, state, response } = form;
    let answer = match response["action"].as_str() {
        Some("accept") => {
            let filled = response["content"].as_object().cloned();
            Some(FormAnswer::Accept(filled.unwrap_or_default()))
        }
        Some("decline") => Some(FormAnswer::Decline),
        Some(_) | None => None,
    };
    let (progress, authn) = (CallProgress::of(context), format!("mcp:{}", client_of(context)));
    let decided = desk.run(move |desk| {
        let caller = Caller { authn: Some(authn), ..desk.person() };
        progress.write()?;
        match answer {
            Some(answer) => AnswerHoldForm { request, state, answer }.run(&caller),
            None => {
                close_hold_form(&caller, &state)?;
                Err(undecided("the form was closed, or did not come back"))
            }
        }
    });
    let decided: Reply<DecideView> = decided.await?;
    Ok(ToolAnswer::of_reply(decided)
        .map_or_else(|refusal| refused(&refusal), ToolAnswer::result)
        .into())
}

fn elicitation(form: &HoldFormView) -> ElicitRequest {
    let fields: Option<ElicitationSchema> = serde_json::from_value(form.fields.clone()).ok();
    let mut requested_schema = fields.expect("BUG: the form is flat");
    requested_schema.property_order = Some(FORM_FIELDS.map(str::to_owned).to_vec());
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
