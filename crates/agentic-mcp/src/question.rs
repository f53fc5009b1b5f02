//! Questions to people, who answer them elsewhere: nothing that a client replies is an answer.
//!
//! A client that opens addresses is sent to the page of the hold, where a login shows who decides.
//! Whether it opened the page changes nothing here: the session knows what was decided.

use std::sync::Arc;
use std::time::Duration;

use agentic_api::verb::AskHuman;
use agentic_api::view::{AskedView, visible_line};
use agentic_api::{Refusal, Verb as _, VerbCompletion};
use rmcp::model::{
    CallToolResponse, CreateTaskResult, ElicitRequest, ElicitRequestParams, InputRequest,
    InputRequests, InputRequiredResult, ProtocolVersion, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};

use crate::call::CallProgress;
use crate::desk::ServerDesk;
use crate::field::ToolArguments;
use crate::session::{SessionStand, is_whole_id, look, result, task};

/// How long a client may take to say that it opened the page.
const OPENING_LIMIT: Duration = Duration::from_secs(60);
/// How much of a question stands beside the address of its page, in characters.
const QUESTION_CHARS_MAX: usize = 1_000;

/// A call of the tool that asks people.
pub enum QuestionCall {
    /// Ask, and answer at once how the question stands.
    Plain(ToolArguments),
    /// Ask, and answer with a task.
    Task(ToolArguments),
    /// It was asked before, and the client was sent to its page.
    Seen {
        /// What came with the address: the session that asks. It gives no right.
        state: String,
    },
}

/// Puts a question before people, and says where they answer it.
///
/// # Errors
/// Fails when it cannot be asked, and for a state that names no question of the server's own agent.
pub async fn ask(
    desk: &Arc<ServerDesk>,
    call: QuestionCall,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Refusal> {
    let progress = CallProgress::of(context);
    match call {
        QuestionCall::Seen { state } => {
            Ok(result(desk.run(move |desk| look_again(desk, &state)).await?).into())
        }
        QuestionCall::Task(given) => {
            let stand = desk.run(move |desk| record(desk, given, &progress)).await?;
            Ok(CreateTaskResult::new(task(&stand)).into())
        }
        QuestionCall::Plain(given) => {
            let stand = desk.run(move |desk| record(desk, given, &progress)).await?;
            match invitation(&stand, context) {
                Some(invitation) => send(invitation, stand, context).await,
                None => Ok(result(stand).into()),
            }
        }
    }
}

/// Records the question before anybody is told of it.
fn record(
    desk: &ServerDesk,
    mut given: ToolArguments,
    progress: &CallProgress,
) -> Result<SessionStand, Refusal> {
    let call = desk.tool_caller();
    let verb = AskHuman {
        agent: Some(call.access.writer(given.text("agent").as_deref())?.to_string()),
        question: given.given_text("question"),
        choices: given.texts("choices").unwrap_or_default(),
        schema: given.value("schema")?,
        payload: given.value("payload")?,
        deadline: given.text("deadline"),
    };
    progress.write()?;
    let reply = verb.run(&call.caller)?;
    if let VerbCompletion::Short(refusal) = reply.completion {
        return Err(refusal);
    }
    look(desk, &reply.answer.session)
}

/// Reads how a question stands that the client was told of.
fn look_again(desk: &ServerDesk, state: &str) -> Result<SessionStand, Refusal> {
    let unknown = || {
        let hint = "ask again, or look at `pending`";
        Refusal::not_allowed("this came with no question of this server's agent", hint)
    };
    if !is_whole_id(state) {
        return Err(unknown());
    }
    let own = desk.tool_caller().access.writer(None)?;
    let stand = look(desk, state).map_err(|_| unknown())?;
    let is_own = stand.asked.as_ref().is_some_and(|asked| asked.agent == own.as_str());
    is_own.then_some(stand).ok_or_else(unknown)
}

/// Makes what sends a client to the page of a question; nothing, where no page is served or the client
/// opens none.
fn invitation(stand: &SessionStand, context: &RequestContext<RoleServer>) -> Option<ElicitRequest> {
    // Revisions before that know no addresses, whatever their clients declare.
    let is_known = context.protocol_version() >= Some(ProtocolVersion::V_2025_11_25);
    let elicitation = context.client_capabilities().and_then(|can| can.elicitation);
    let opens_pages = is_known && elicitation.is_some_and(|modes| modes.url.is_some());
    let AskedView { agent, request, page, .. } = stand.asked.as_ref().filter(|_| opens_pages)?;
    let url = page.clone()?;
    let question = visible_line(stand.reply.answer.question.as_deref().unwrap_or_default());
    let mut question: String = question.chars().take(QUESTION_CHARS_MAX + 1).collect();
    if question.chars().count() > QUESTION_CHARS_MAX {
        question.pop();
        question.push('…');
    }
    Some(ElicitRequest::new(ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message: format!("{agent} asks: {question}"),
        url,
        elicitation_id: request.clone(),
    }))
}

/// Sends the client to the page, and answers how the question stands then.
async fn send(
    invitation: ElicitRequest,
    stand: SessionStand,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, Refusal> {
    let request = stand.asked.as_ref().map(|asked| asked.request.clone()).unwrap_or_default();
    if context.protocol_version() >= Some(ProtocolVersion::V_2026_07_28) {
        let asks = InputRequests::from([(request, InputRequest::Elicitation(invitation))]);
        let session = stand.reply.answer.session;
        return Ok(InputRequiredResult::new(Some(asks), Some(session)).into());
    }
    let opened = context.peer.send_request(ServerRequest::ElicitRequest(invitation));
    // Whatever it replies, and if it never does: the question is asked.
    let progress = CallProgress::of(context);
    tokio::select! {
        _ = tokio::time::timeout(OPENING_LIMIT, opened) => {}
        () = progress.given_up() => {}
    }
    Ok(result(stand).into())
}
