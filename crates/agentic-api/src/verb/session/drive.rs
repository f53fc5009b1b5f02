//! Driving sessions: starting them, going on, going another way, stopping.

use agentic_model::Value;
use agentic_model::guidance::ErrorClass;
use agentic_replay::SessionId;
use agentic_replay::engine::RunId;
use agentic_replay::record::{CancelMode, CancelRecord};
use agentic_session as session;
use agentic_session::behaviour::flow_with_key;
use agentic_session::engine::key_or_fresh;
use agentic_session::hosted::{HostedRemains, host_of, hosted_run, take_over};
use agentic_session::{Begin, ChildrenOfFork, ForkPlan, SessionSpace};
use schemars::JsonSchema;
use serde::Deserialize;

use super::FlowSource;
use super::look::{SessionDetail, found_or_claimed, sealed_up_to_now, session_reply, summaries};
use crate::caller::{agent_name, new_agent_name};
use crate::person::acting_party;
use crate::redaction::{CallerRedactor, refuse_secrets};
use crate::verb::{Reply, Verb, value};
use crate::view::SessionView;
use crate::{Caller, Notice, Refusal, SessionWord};

/// The longest name of a signal, in bytes.
const SIGNAL_NAME_BYTES_MAX: usize = 256;

/// Start a session, and run it as far as it goes. The same agent, flow, input and key give the same
/// session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionStart {
    /// The agent.
    pub agent: String,
    /// The flow.
    pub flow: FlowSource,
    /// The input; null without.
    #[serde(default = "value::null", deserialize_with = "value::read_value")]
    #[schemars(with = "serde_json::Value")]
    pub input: Value,
    /// The start key; a fresh one without.
    #[serde(default)]
    pub key: Option<String>,
    /// The kinds of effects that it may perform unasked; `*` for all.
    #[serde(default)]
    pub allow: Vec<String>,
}

impl SessionStart {
    /// Starts the session and runs it.
    ///
    /// # Errors
    /// Fails when there is no such agent, and when the flow cannot be run.
    pub fn drive(self, caller: &Caller<'_>) -> Result<SessionId, Refusal> {
        caller.start(self.begin(caller)?)
    }

    /// Records that the session starts, for a surface that answers before it runs.
    ///
    /// # Errors
    /// Fails as [`SessionStart::drive`] does.
    pub fn record(self, caller: &Caller<'_>) -> Result<SessionId, Refusal> {
        Ok(session::record(caller.space, self.begin(caller)?)?)
    }

    /// Says what the session begins with.
    ///
    /// # Errors
    /// Fails when the flow cannot be read, and when the input holds a secret.
    pub fn begin(self, caller: &Caller<'_>) -> Result<Begin, Refusal> {
        let agent = agent_name(&self.agent)?;
        let redactor = CallerRedactor::new(caller)?;
        redactor.refuse("the input", &self.input)?;
        redactor.refuse_text("the key", self.key.as_deref().unwrap_or_default())?;
        self.allow.iter().try_for_each(|kind| redactor.refuse_text("a kind of effects", kind))?;
        let kept = match (&self.flow, &self.key) {
            // A key in use keeps what it was started with, whatever is in force by the name now.
            (FlowSource::Behaviour(_), Some(key)) => flow_with_key(caller.space, &agent, key)?,
            (_, _) => None,
        };
        let flow = kept.map_or_else(|| self.flow.object(caller), Ok)?;
        let (key, key_source) = key_or_fresh(caller.space, self.key);
        let (input, allow) = (self.input, self.allow);
        Ok(Begin { agent, flow, parts: Vec::new(), input, key, key_source, allow })
    }
}

impl Verb for SessionStart {
    type Answer = SessionView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SessionView>, Refusal> {
        let id = self.drive(caller)?;
        session_reply(caller.space, &id, SessionDetail::Whole)
    }
}

/// Finish what a crash left of a session, and run it as far as it goes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionResume {
    /// An id or a prefix of it, or an agent.
    pub session: String,
    /// Take it from another engine that is gone for good, and go on from what is sealed of it.
    #[serde(default)]
    pub take_over: bool,
}

impl SessionResume {
    /// Goes on with the session.
    ///
    /// # Errors
    /// Fails when there is none, and when it cannot go on.
    pub fn drive(self, caller: &Caller<'_>) -> Result<SessionId, Refusal> {
        if self.take_over {
            return self.take_over(caller.space);
        }
        let id = found(caller.space, &self.session)?;
        match caller.driving(&id) {
            Some((address, engines)) => {
                let engine = engines.connect(&address, caller.space, caller.client)?;
                let run = RunId::new(id.to_string());
                engine.go_on(&run)?;
                engine.status(&run)?;
            }
            // What another engine drove to its end is over.
            None if host_of(caller.space, &id).is_some_and(|host| host.contains(':')) => {}
            None => session::resume(caller.space, &id)?,
        }
        Ok(id)
    }

    fn take_over(&self, space: &SessionSpace) -> Result<SessionId, Refusal> {
        let id = hosted_run(space, &self.session)?;
        match take_over(space, &id)? {
            HostedRemains::Records => session::resume(space, &id)?,
            HostedRemains::Nothing => {
                return Err(Refusal::new(
                    ErrorClass::Refused,
                    &format!("nothing of session {} is sealed", id.short()),
                    "it is free now: start it again as it was started, without `--sibyl-addr`",
                ));
            }
        }
        Ok(id)
    }
}

impl Verb for SessionResume {
    type Answer = SessionView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SessionView>, Refusal> {
        let id = self.drive(caller)?;
        session_reply(caller.space, &id, SessionDetail::Whole)
    }
}

/// Go another way from some point of a session, on a branch of its own.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionFork {
    /// An id or a prefix of it, or an agent.
    pub session: String,
    /// After so many records; all of them without.
    #[serde(default)]
    pub at: Option<u64>,
    /// With another program.
    #[serde(default)]
    pub flow: Option<FlowSource>,
    /// As this agent; one is made without.
    #[serde(default)]
    pub agent: Option<String>,
    /// Answers that are set by hand.
    #[serde(default)]
    pub set: Vec<SetAnswer>,
    /// What becomes of the children that it waits for.
    #[serde(default)]
    pub children: ForkedChildren,
}

/// An answer that is set by hand.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetAnswer {
    /// The position of its request, or its own.
    pub seq: u64,
    /// The answer.
    #[serde(deserialize_with = "value::read_value")]
    #[schemars(with = "serde_json::Value")]
    pub value: Value,
}

/// What a fork makes of the children that its parent waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForkedChildren {
    /// It waits for the same ones.
    #[default]
    Share,
    /// It has forks of its own of them.
    Fork,
}

impl SessionFork {
    /// Forks the session and runs the fork.
    ///
    /// # Errors
    /// Fails when there is no such session or record, and when the fork cannot be run.
    pub fn drive(self, caller: &Caller<'_>) -> Result<SessionId, Refusal> {
        let space = caller.space;
        let id = found_or_claimed(space, &self.session)?;
        // A fork begins from what is sealed, whoever drives the session. Where that engine is gone it
        // begins from what there is.
        let _what_is_sealed_counts = sealed_up_to_now(caller, &id);
        for set in &self.set {
            refuse_secrets(caller, "an answer", &set.value)?;
            if session::asks_people(space, &id, set.seq)? {
                caller.require_person("answer for people")?;
            }
        }
        let plan = ForkPlan {
            at: self.at,
            flow: self.flow.map(|flow| flow.object(caller)).transpose()?,
            agent: self.agent.as_deref().map(new_agent_name).transpose()?,
            set: self.set.into_iter().map(|set| (set.seq, set.value)).collect(),
            who: acting_party(caller, "fork a session")?.0.to_string(),
            children: match self.children {
                ForkedChildren::Share => ChildrenOfFork::Share,
                ForkedChildren::Fork => ChildrenOfFork::Fork,
            },
        };
        Ok(session::fork(space, &id, &plan)?)
    }
}

impl Verb for SessionFork {
    type Answer = SessionView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SessionView>, Refusal> {
        let id = self.drive(caller)?;
        session_reply(caller.space, &id, SessionDetail::Whole)
    }
}

/// Go on with another program, if it made every recorded request.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionUpgrade {
    /// An id or a prefix of it, or an agent.
    pub session: String,
    /// The program.
    pub flow: FlowSource,
}

impl SessionUpgrade {
    /// Goes on with the program.
    ///
    /// # Errors
    /// Fails when there is no such session, and when the program asks for something else.
    pub fn drive(self, caller: &Caller<'_>) -> Result<SessionId, Refusal> {
        let id = caller.space.find_session(&self.session)?;
        session::upgrade(caller.space, &id, &self.flow.object(caller)?)?;
        Ok(id)
    }
}

impl Verb for SessionUpgrade {
    type Answer = SessionView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SessionView>, Refusal> {
        let id = self.drive(caller)?;
        session_reply(caller.space, &id, SessionDetail::Whole)
    }
}

/// Stop a session, its children first.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionCancel {
    /// An id or a prefix of it, or an agent.
    pub session: String,
    /// At once, without a chance to clean up.
    #[serde(default)]
    pub kill: bool,
    /// Why.
    #[serde(default)]
    pub why: String,
}

impl Verb for SessionCancel {
    type Answer = SessionView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SessionView>, Refusal> {
        let space = caller.space;
        let id = found(space, &self.session)?;
        let mode = if self.kill { CancelMode::Kill } else { CancelMode::Cooperative };
        let who = acting_party(caller, "cancel a session")?.0.to_string();
        let mut redactor = CallerRedactor::new(caller)?;
        let why = redactor.text("the reason", self.why);
        match caller.host_of(&id)? {
            Some((address, engines)) => {
                let cancel = CancelRecord { who, why, mode };
                engines.tell(&address, space, &id, SessionWord::Cancel(cancel))?;
            }
            None => session::cancel(space, &id, mode, &who, &why)?,
        }
        let view = SessionView::whole(&space.session(&id)?);
        Ok(Reply { notices: redactor.notices(), ..Reply::plain(view) })
    }
}

/// Send a session what it waits for with `suspend(NAME)`. What nobody waits for yet is kept until
/// somebody does.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSignal {
    /// An id or a prefix of it, or an agent.
    pub session: String,
    /// The name.
    pub name: String,
    /// The value; null without.
    #[serde(default = "value::null", deserialize_with = "value::read_value")]
    #[schemars(with = "serde_json::Value")]
    pub value: Value,
}

impl SessionSignal {
    /// Says why a text is no name of a signal; nothing, if it is one.
    pub fn fault_of_name(name: &str) -> Option<String> {
        let is_name = (1..=SIGNAL_NAME_BYTES_MAX).contains(&name.len());
        (!is_name).then(|| format!("a name has 1 to {SIGNAL_NAME_BYTES_MAX} bytes"))
    }
}

impl Verb for SessionSignal {
    type Answer = SessionView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<SessionView>, Refusal> {
        let redactor = CallerRedactor::new(caller)?;
        redactor.refuse("the signal", &self.value)?;
        redactor.refuse_text("the name of the signal", &self.name)?;
        if let Some(fault) = SessionSignal::fault_of_name(&self.name) {
            return Err(Refusal::usage(
                &fault,
                "name what the flow waits for with `suspend(NAME)`",
            ));
        }
        let id = found(caller.space, &self.session)?;
        match caller.host_of(&id)? {
            Some((address, engines)) => {
                let SessionSignal { name, value, .. } = self;
                engines.tell(&address, caller.space, &id, SessionWord::Signal { name, value })?;
            }
            None => session::signal(caller.space, &id, &self.name, self.value)?,
        }
        Ok(Reply::plain(SessionView::whole(&caller.space.session(&id)?)))
    }
}

/// Finds a session, of which nothing may be recorded here yet where another engine drives it.
fn found(space: &SessionSpace, name: &str) -> Result<SessionId, Refusal> {
    match space.find_session(name) {
        Ok(id) => Ok(id),
        Err(error) => hosted_run(space, name).map_err(|_| error.into()),
    }
}

/// Fire timers that are due and expire holds, in all sessions.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionTick {}

impl Verb for SessionTick {
    type Answer = Vec<SessionView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<SessionView>>, Refusal> {
        let moved = session::tick(caller.space)?;
        let notices = Notice::mended(caller.space);
        Ok(Reply { notices, ..Reply::plain(summaries(caller.space, &moved)?) })
    }
}
