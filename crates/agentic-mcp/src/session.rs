//! Sessions that calls begin, and that go on when the call is answered: tasks, to clients that know
//! them. A task is its session, so that any later process can tell of it.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agentic_api::verb::{
    FlowSource, SessionCancel, SessionDetail, SessionResume, SessionShow, SessionSignal,
    SessionStart, session_reply,
};
use agentic_api::view::{AskedView, SessionView, visible_line};
use agentic_api::{Caller, Refusal, Reply, Verb as _, VerbCompletion};
use agentic_model::{Value, json as model_json};
use agentic_providers::process::AGENT_VARIABLE;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, DetailedTask, GetTaskResult, InputRequests,
    Task, TaskPayload, TaskStatus,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value as Json, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::answer::{ToolAnswer, refused_with};
use crate::call::CallProgress;
use crate::decide::task_form;
use crate::desk::ServerDesk;
use crate::field::ToolArguments;
use crate::tool::{BegunWork, ToolCaller, own_session};

/// How many sessions may be driven at once.
const DRIVEN_MAX: usize = 16;
/// How often a client should look at a task, in milliseconds.
const POLL_MILLIS: u64 = 1000;
/// How long a signal is waited for before a task stands for what follows.
const SIGNAL_PATIENCE: Duration = Duration::from_secs(2);

/// What a session is told.
enum DriveOrder {
    GoOn,
    Signal { name: String, value: Value },
}

/// Drives sessions, each on a thread of its own.
#[derive(Debug, Clone)]
pub struct SessionDrivers {
    free: Arc<Semaphore>,
    /// Where they run.
    pub driving: SessionDriving,
}

/// Where sessions run that calls begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionDriving {
    /// In this process.
    Here,
    /// In a process of their own, whose end is not that of this one.
    Elsewhere,
}

/// A session that was begun.
struct BegunSession {
    id: String,
    order: Option<DriveOrder>,
}

impl SessionDrivers {
    /// Makes drivers that drive nothing yet.
    pub fn new() -> SessionDrivers {
        SessionDrivers { free: Arc::new(Semaphore::new(DRIVEN_MAX)), driving: SessionDriving::Here }
    }

    fn drive(
        &self,
        desk: Arc<ServerDesk>,
        id: String,
        order: DriveOrder,
    ) -> Result<oneshot::Receiver<Result<(), Refusal>>, Refusal> {
        let permit = Arc::clone(&self.free).try_acquire_owned().map_err(|_| {
            Refusal::refused(
                &format!("{DRIVEN_MAX} sessions are under way here"),
                &format!("`agentic session resume {id}` goes on with it, or wait and ask again"),
            )
        })?;
        let (done, outcome) = oneshot::channel();
        let drive = move || {
            let _permit: OwnedSemaphorePermit = permit;
            // Who asked may have gone away; the session has not.
            let _ = done.send(drive(&desk, &id, order));
        };
        let started = thread::Builder::new().name("session".to_owned()).spawn(drive);
        started.map_err(|error| Refusal::io("start a thread", &error))?;
        Ok(outcome)
    }
}

fn drive(desk: &ServerDesk, id: &str, order: DriveOrder) -> Result<(), Refusal> {
    let (caller, session) = (desk.caller(), id.to_owned());
    if desk.drivers.driving == SessionDriving::Elsewhere {
        return drive_elsewhere(&caller, &session, order);
    }
    match order {
        DriveOrder::GoOn => SessionResume { session, take_over: false }.drive(&caller).map(drop),
        DriveOrder::Signal { name, value } => {
            SessionSignal { session, name, value }.run(&caller).map(drop)
        }
    }
}

/// Has a process of its own do it, as the agent of this server.
fn drive_elsewhere(caller: &Caller<'_>, session: &str, order: DriveOrder) -> Result<(), Refusal> {
    let failed = |error: &std::io::Error| Refusal::io("start a process for the session", error);
    let own = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(own);
    command.arg("-C").arg(&caller.surroundings.folder).arg("session");
    match order {
        DriveOrder::GoOn => command.args(["resume", session]),
        DriveOrder::Signal { name, value } => {
            command.args(["signal", "--value", &model_json::to_text(&value), "--", session, &name])
        }
    };
    command.envs(caller.surroundings.agent.as_ref().map(|agent| (AGENT_VARIABLE, agent)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // In a group of its own: a signal from the terminal of this process does not reach it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let done = command.output().map_err(|error| failed(&error))?;
    // How the session stands now is looked at; what was refused before it was told is said here.
    let is_refused = matches!(done.status.code(), Some(2 | 3 | 6 | 9));
    let said = String::from_utf8_lossy(&done.stderr);
    let said = said.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("it ended");
    match is_refused {
        true => Err(Refusal::refused(said, "`agentic session show` shows how it stands")),
        false => Ok(()),
    }
}

/// A call of a tool that begins something.
pub struct BeginCall {
    /// What it begins.
    pub work: BegunWork,
    /// What it was given.
    pub given: ToolArguments,
    /// How long a client is waited with that knows no tasks; nothing for one that knows them.
    pub patience: Option<Duration>,
    /// How far the call is.
    pub progress: CallProgress,
}

/// Begins what a tool begins, and answers when it is over, held, takes long, or is given up; to a client
/// that knows tasks at once.
pub async fn begin(desk: &Arc<ServerDesk>, call: BeginCall) -> Result<CallToolResponse, Refusal> {
    let BeginCall { work, given, patience, progress } = call;
    let is_task = patience.is_none();
    let writing = progress.clone();
    let prepared = move |desk: &ServerDesk| prepare(desk, work, given, &writing);
    let begun = desk.run(prepared).await?;
    let patience = match (patience, work) {
        (None, BegunWork::Session) => Duration::ZERO,
        (None, BegunWork::Signal) => SIGNAL_PATIENCE,
        (Some(limit), BegunWork::Session | BegunWork::Signal) => limit,
    };
    if let Some(order) = begun.order {
        let driven = desk.drivers.drive(Arc::clone(desk), begun.id.clone(), order)?;
        // A session that takes longer goes on; the answer tells how it stands.
        tokio::select! {
            driven = tokio::time::timeout(patience, driven) => {
                if let Ok(Ok(outcome)) = driven {
                    outcome?;
                }
            }
            () = progress.given_up() => {}
        }
    }
    let stand = desk.run(move |desk| look(desk, &begun.id)).await?;
    match is_task {
        true => Ok(CreateTaskResult::new(task(&stand)).into()),
        false => Ok(result(SessionStand { asked: None, ..stand }).into()),
    }
}

/// Records what is to be done, before anybody does it.
fn prepare(
    desk: &ServerDesk,
    work: BegunWork,
    mut given: ToolArguments,
    progress: &CallProgress,
) -> Result<BegunSession, Refusal> {
    let call = desk.tool_caller();
    match work {
        BegunWork::Session => {
            let verb = session_start(&call, &mut given)?;
            progress.write()?;
            let id = verb.record(&call.caller)?.to_string();
            let view = SessionShow { session: id.clone(), at: None }.run(&call.caller)?.answer;
            let is_over = matches!(view.state.as_str(), "done" | "failed" | "cancelled");
            Ok(BegunSession { id, order: (!is_over).then_some(DriveOrder::GoOn) })
        }
        BegunWork::Signal => {
            let id = own_session(&call, &mut given)?;
            let name = given.given_text("name");
            if let Some(fault) = SessionSignal::fault_of_name(&name) {
                return Err(Refusal::usage(&fault, "name what the flow waits for"));
            }
            let value = given.value("value")?.unwrap_or(Value::Null);
            progress.write()?;
            Ok(BegunSession { id, order: Some(DriveOrder::Signal { name, value }) })
        }
    }
}

fn session_start(
    call: &ToolCaller<'_>,
    given: &mut ToolArguments,
) -> Result<SessionStart, Refusal> {
    let agent = call.access.writer(given.text("agent").as_deref())?.to_string();
    let flow = match (given.text("flow"), given.text("stored")) {
        (Some(text), None) => FlowSource::Script(text),
        (None, Some(id)) => FlowSource::Stored(id),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Refusal::usage(
                "a session runs either `flow` or `stored`",
                "send the text of a flow script as `flow`, or the id of a stored one as `stored`",
            ));
        }
    };
    let input = given.value("input")?.unwrap_or(Value::Null);
    // What an effect may do is not for the one to say who asks for it: it asks people.
    Ok(SessionStart { agent, flow, input, key: given.text("key"), allow: Vec::new() })
}

/// How a session stands.
pub struct SessionStand {
    /// What is known of it.
    pub reply: Reply<SessionView>,
    /// The question that it is, if it is one.
    pub asked: Option<AskedView>,
}

/// Reads how a session stands, and as a question if it is one.
///
/// # Errors
/// Fails when there is no such session, and when its records are damaged.
pub fn look(desk: &ServerDesk, id: &str) -> Result<SessionStand, Refusal> {
    let caller = desk.caller();
    let id = caller.space.find_session(id)?;
    let mut reply = session_reply(caller.space, &id, SessionDetail::Whole)?;
    if !reply.answer.pending.is_empty() {
        // Only this says what is asked.
        let show = SessionShow { session: reply.answer.session.clone(), at: None };
        reply.answer = show.run(&caller)?.answer;
    }
    let asked = AskedView::of(&caller, &reply.answer)?;
    Ok(SessionStand { reply, asked })
}

/// Makes the result of a call that a session stands for: as a question, where it is looked at as one.
pub fn result(stand: SessionStand) -> CallToolResult {
    let SessionStand { reply, asked } = stand;
    let session = reply.answer.session.clone();
    let uri = format!("session://{session}");
    let besides = Map::from_iter([("session".to_owned(), Json::from(session))]);
    let failed = match (&reply.completion, reply.answer.state.as_str()) {
        (VerbCompletion::Short(refusal), _) => Some(refusal.clone()),
        (_, "failed" | "cancelled" | "diverged") => Some(Refusal::refused(
            &format!("the session is {}", reply.answer.state),
            "`session` shows every request and answer",
        )),
        (VerbCompletion::Whole | VerbCompletion::Held | VerbCompletion::Over(_), _) => None,
    };
    if let Some(refusal) = failed {
        return refused_with(&refusal, besides);
    }
    let answer = match asked {
        Some(asked) => {
            ToolAnswer::of_reply(Reply { notices: reply.notices, ..Reply::plain(asked) })
        }
        None => ToolAnswer::of_reply(reply),
    };
    match answer {
        Ok(answer) => answer.at(uri).result(),
        Err(refusal) => refused_with(&refusal, besides),
    }
}

/// Tells of a task: how its session stands.
///
/// # Errors
/// Fails when there is no such session.
pub async fn get_task(
    desk: &Arc<ServerDesk>,
    id: String,
    context: &RequestContext<RoleServer>,
) -> Result<GetTaskResult, ErrorData> {
    let unknown = || ErrorData::invalid_params("there is no such task", None);
    if !is_whole_id(&id) {
        return Err(unknown());
    }
    let named = id.clone();
    let stand = match desk.run(move |desk| look(desk, &named)).await {
        Ok(stand) => stand,
        Err(refusal) if refusal.view().kind == "corrupt" || refusal.view().kind == "diverged" => {
            // When it began stands in the records that cannot be read.
            let at = desk.caller().space.now().to_string();
            let task = Task::new(id, TaskStatus::Failed, at.clone(), at);
            return Ok(GetTaskResult::new(DetailedTask::new(task, broken(&refusal))));
        }
        Err(_) => return Err(unknown()),
    };
    let task = task(&stand);
    let view = &stand.reply.answer;
    let payload = match view.state.as_str() {
        "done" | "failed" => {
            let result = serde_json::to_value(result(stand));
            let result = result.ok().and_then(|result| result.as_object().cloned());
            TaskPayload::Completed { result: result.unwrap_or_default() }
        }
        "cancelled" => TaskPayload::Cancelled,
        "diverged" | "corrupt" => {
            let error = view.error.as_ref();
            let message = error.map_or_else(|| view.state.clone(), |error| error.message.clone());
            broken(&Refusal::diverged(&message, "`session` shows every request and answer"))
        }
        _ => {
            let mut input_requests = InputRequests::new();
            for request in &view.pending {
                let form = task_form(desk, &view.session, request, context).await;
                input_requests.extend(form.into_iter().flatten());
            }
            match input_requests.is_empty() {
                true => TaskPayload::Working,
                false => TaskPayload::InputRequired { input_requests },
            }
        }
    };
    Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
}

fn broken(refusal: &Refusal) -> TaskPayload {
    let view = serde_json::to_value(refusal.view()).unwrap_or_default();
    let error = json!({ "code": -32603, "message": refusal.message, "data": { "error": view } });
    TaskPayload::Failed { error: error.as_object().cloned().unwrap_or_default() }
}

/// Tells whether this is written like the whole id of a session.
pub fn is_whole_id(id: &str) -> bool {
    id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Shows a session as the task that it is.
pub fn task(stand: &SessionStand) -> Task {
    let view = &stand.reply.answer;
    let times =
        view.requests.iter().flatten().flat_map(|request| {
            std::iter::once(&request.asked_at).chain(request.answered_at.as_ref())
        });
    let updated = times.max().unwrap_or(&view.started_at);
    let task = Task::new(&view.session, TaskStatus::Working, &view.started_at, updated)
        .with_poll_interval_ms(POLL_MILLIS);
    let page = stand.asked.as_ref().and_then(|asked| asked.page.as_deref());
    match view.pending.first() {
        Some(request) => {
            let asks = visible_line(view.question.as_deref().unwrap_or("a person is asked"));
            let at = page.map(|page| format!(", or at {page}")).unwrap_or_default();
            task.with_status_message(format!("{asks}; answer with `agentic decide {request}`{at}"))
        }
        None => task,
    }
}

/// Stops the session of a task.
///
/// # Errors
/// Fails when there is none, when it is another agent's, and when the client only reads.
pub async fn cancel_task(
    desk: &Arc<ServerDesk>,
    id: String,
    progress: CallProgress,
) -> Result<(), ErrorData> {
    if !is_whole_id(&id) {
        return Err(ErrorData::invalid_params("there is no such task", None));
    }
    let cancel = move |desk: &ServerDesk| {
        let call = desk.tool_caller();
        call.access.check_writes()?;
        let show = SessionShow { session: id.clone(), at: None };
        let view = show.run(&call.caller)?.answer;
        call.access.writer(Some(&view.agent))?;
        progress.write()?;
        let verb =
            SessionCancel { session: id, kill: false, why: "the client gave it up".to_owned() };
        verb.run(&call.caller).map(drop)
    };
    let stopped = desk.run(cancel).await;
    stopped.map_err(|refusal| {
        let view = serde_json::to_value(refusal.view()).unwrap_or_default();
        ErrorData::invalid_params(refusal.sentence(), Some(json!({ "error": view })))
    })
}
