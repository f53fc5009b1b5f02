//! Runs as sessions: recorded, and finished after a crash.

use agentic_model::{AgentName, Object, Value};
use agentic_replay::{End, SessionId};
use agentic_session::engine::{ensure_agent, fresh_key, key_or_fresh, own_agent, sit_out};
use agentic_session::hosted::host_of;
use agentic_session::{Begin, SessionState};
use agentic_space::spawn::SpawnOrigin;

use crate::redaction::CallerRedactor;
use crate::verb::{Reply, SessionDetail, session_reply};
use crate::view::SessionView;
use crate::watcher::NoticeDesk;
use crate::{Caller, Notice, Refusal};

/// As whom and under which key a session runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct DurableSetting {
    /// The agent; that of the surroundings, else a new one.
    pub agent: Option<String>,
    /// The start key; a fresh one without.
    pub key: Option<String>,
}

impl DurableSetting {
    /// Says whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.agent.is_none() && self.key.is_none()
    }
}

/// What runs as a session.
pub(crate) struct PinnedRun<'f> {
    /// Its program.
    pub flow: Object,
    /// What flows into it.
    pub input: Value,
    /// What the briefing of an agent says that is made for it.
    pub briefing: &'f str,
}

/// Where a session got to.
pub(crate) enum RunProgress {
    /// It is over.
    End(End),
    /// It waits.
    Waiting(Box<Reply<SessionView>>),
}

/// A session that was run.
pub(crate) struct DurableRun {
    /// Its id.
    pub session: SessionId,
    /// Where it got to.
    pub reached: RunProgress,
}

/// Runs a program as a session, as far as it goes without a human.
pub(crate) fn run(
    caller: &Caller<'_>,
    desk: &NoticeDesk<'_>,
    setting: DurableSetting,
    pinned: PinnedRun<'_>,
) -> Result<DurableRun, Refusal> {
    let space = caller.space;
    let begin = begin(caller, setting, pinned)?;
    let agent = begin.agent.to_string();
    let id = caller.start(begin)?;
    desk.say(Notice::Begun { session: id.short(), agent });
    if host_of(space, &id).is_none() {
        sit_out(space, &id)?;
    }
    Notice::mended(space).into_iter().for_each(|mended| desk.say(mended));
    let summary = space.session(&id)?;
    let reached = match (summary.state, summary.result, summary.failure) {
        (SessionState::Done, Some(result), _) => RunProgress::End(End::Done(result)),
        (SessionState::Failed, _, Some(failure)) => RunProgress::End(End::Failed(failure)),
        (SessionState::Cancelled, ..) => RunProgress::End(End::Cancelled),
        _ => RunProgress::Waiting(Box::new(session_reply(space, &id, SessionDetail::Whole)?)),
    };
    Ok(DurableRun { session: id, reached })
}

/// Refuses a session that would keep a secret: in its program, its input or its key.
pub(crate) fn refuse_secrets(
    caller: &Caller<'_>,
    setting: &DurableSetting,
    pinned: &PinnedRun<'_>,
) -> Result<(), Refusal> {
    let redactor = CallerRedactor::new(caller)?;
    redactor.refuse("the input", &pinned.input)?;
    redactor.refuse_text("the key", setting.key.as_deref().unwrap_or_default())?;
    redactor.refuse("the program", &Value::Map(pinned.flow.map().clone()))
}

/// Decides as whom and under which key a program runs; makes the agent if it is one of its own.
pub(crate) fn begin(
    caller: &Caller<'_>,
    setting: DurableSetting,
    pinned: PinnedRun<'_>,
) -> Result<Begin, Refusal> {
    refuse_secrets(caller, &setting, &pinned)?;
    let PinnedRun { flow, input, briefing } = pinned;
    let (key, key_source) = key_or_fresh(caller.space, setting.key);
    let agent = match caller.known_agent(setting.agent.as_deref())? {
        Some(agent) => agent,
        None => own_agent(caller.space, &key, briefing)?,
    };
    // What a program can do is what its builtins and handlers are, and those were named.
    let allow = vec!["*".to_owned()];
    Ok(Begin { agent, flow, parts: Vec::new(), input, key, key_source, allow })
}

/// Returns the start key that was named, else a fresh one.
pub(crate) fn base_key(caller: &Caller<'_>, setting: &DurableSetting) -> String {
    setting.key.clone().unwrap_or_else(|| fresh_key(caller.space))
}

/// Returns the agent of one of several runs that begin at the same place: where an agent stands, or
/// from nothing. Makes it if it is not there yet.
pub(crate) fn sibling(
    caller: &Caller<'_>,
    parent: Option<&str>,
    key: &str,
    briefing: &str,
) -> Result<AgentName, Refusal> {
    Ok(match caller.known_agent(parent)? {
        Some(parent) => {
            let origin = SpawnOrigin::Agent(parent.clone());
            ensure_agent(caller.space, &format!("{parent}-{key}"), briefing, &origin)?
        }
        None => own_agent(caller.space, key, briefing)?,
    })
}
