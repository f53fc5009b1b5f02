//! Sessions: durable runs of flows on behalf of agents.

mod check;
mod drive;
mod look;
mod page;
mod watch;

pub use self::check::{ReplaySessions, SessionVerify};
pub use self::drive::{
    ForkedChildren, SessionCancel, SessionFork, SessionResume, SessionSignal, SessionStart,
    SessionTick, SessionUpgrade, SetAnswer,
};
pub use self::look::{SessionDetail, SessionDiff, SessionList, SessionShow, session_reply};
pub use self::page::{CompareSessions, RecentSessions, ReplayedSession, SESSIONS_MAX};
pub use self::watch::SessionWatch;

use agentic_diag::SourceText;
use agentic_flow::Rhai;
use agentic_model::{Cid, Object};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::behaviours::behaviour_to_run;
use crate::program::{ProgramFindings, ProgramSource};
use crate::redaction::refuse_secret_text;
use crate::{Caller, Refusal, Surroundings};

/// A flow as it comes from outside.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowSource {
    /// The text of a script.
    Script(String),
    /// The id of a stored one, or a prefix of it.
    Stored(String),
    /// The name of a behaviour: what is in force by it.
    Behaviour(String),
}

/// What reading a script came to.
#[derive(Debug)]
pub enum ScriptOutcome {
    /// It parses.
    Flow(FlowSource),
    /// It does not, for these reasons.
    Faulty(ProgramFindings, Refusal),
}

impl FlowSource {
    /// Reads the script of a file, which must parse.
    ///
    /// # Errors
    /// Fails when it cannot be read as text.
    pub fn of_script(file: ProgramSource, here: &Surroundings) -> Result<ScriptOutcome, Refusal> {
        let program = file.read(here, Some(&Rhai))?;
        let source = SourceText::new(program.name.as_str(), program.text()?);
        let findings = agentic_flow::check(source.text());
        let Some(first) = findings.first() else {
            return Ok(ScriptOutcome::Flow(FlowSource::Script(source.text().to_owned())));
        };
        let message = format!("the flow `{}` does not parse: {}", program.name, first.message);
        let refusal = Refusal::refused(&message, "`agentic flow check FILE` shows where");
        Ok(ScriptOutcome::Faulty(ProgramFindings::of(source, findings), refusal))
    }

    fn object(&self, caller: &Caller<'_>) -> Result<Object, Refusal> {
        Ok(match self {
            FlowSource::Script(text) => {
                refuse_secret_text(caller, "the flow", text)?;
                agentic_session::flow_object(text)?
            }
            FlowSource::Stored(id) => {
                let stored = caller.space.find_object(id).and_then(|cid| caller.space.object(cid));
                match stored {
                    // What is not here may be a behaviour of a peer.
                    Err(_) if id.starts_with(Cid::PREFIX) => runnable(caller, id)?,
                    stored => stored?,
                }
            }
            FlowSource::Behaviour(name) => runnable(caller, name)?,
        })
    }
}

/// Finds the flow of a behaviour that may be started here.
fn runnable(caller: &Caller<'_>, named: &str) -> Result<Object, Refusal> {
    let hint = "give it to an agent: `agentic spawn NAME --behaviour B`";
    Ok(behaviour_to_run(caller, named, hint)?.object)
}
