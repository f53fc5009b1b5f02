//! Checking sessions against their programs and records.

use agentic_model::guidance::ErrorClass;
use agentic_session as session;
use agentic_session::ReplayVerdict;
use agentic_session::error::SessionError;
use schemars::JsonSchema;
use serde::Deserialize;

use super::FlowSource;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::{ComparedView, VerdictView, VerifyView};
use crate::{Caller, Refusal};

/// Run sessions again from their records, compare, perform nothing.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReplaySessions {
    /// An id or a prefix of it, or an agent; all sessions without.
    pub session: Option<String>,
    /// With another program.
    pub flow: Option<FlowSource>,
}

impl Verb for ReplaySessions {
    type Answer = Vec<VerdictView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<VerdictView>>, Refusal> {
        let space = caller.space;
        let flow = self.flow.map(|flow| flow.object(caller)).transpose()?;
        let ids = match &self.session {
            Some(session) => vec![space.find_session(session)?],
            None => space.sessions()?,
        };
        let mut reply = Reply::plain(Vec::new());
        for id in &ids {
            let verdict = session::replay(space, id, flow.as_ref())?;
            // What is damaged weighs more than what diverges.
            reply.completion = match (&verdict, reply.completion) {
                (ReplayVerdict::Same | ReplayVerdict::Purged(_), earlier)
                | (ReplayVerdict::Diverged(_), earlier @ VerbCompletion::Over(_)) => earlier,
                (ReplayVerdict::Diverged(_), _) => VerbCompletion::Short(Refusal::new(
                    ErrorClass::Diverged,
                    "a program does something else than was recorded",
                    "keep the pinned program, or fork before the record that differs with `agentic session fork --at N --flow F`",
                )),
                (ReplayVerdict::Corrupt(_), _) => VerbCompletion::Over(ErrorClass::Corrupt),
            };
            reply.answer.push(VerdictView::new(id.to_string(), &verdict));
        }
        Ok(reply)
    }
}

/// Check a session's records, and replay it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionVerify {
    /// An id or a prefix of it, or an agent.
    pub session: String,
    /// Make its commits again in an empty repository, and compare their ids.
    #[serde(default)]
    pub rebuild: bool,
}

impl Verb for SessionVerify {
    type Answer = VerifyView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<VerifyView>, Refusal> {
        let space = caller.space;
        let id = space.find_session(&self.session)?;
        let summary = space.session(&id)?;
        match session::replay(space, &id, None)? {
            // What it lacks is among what was not compared.
            ReplayVerdict::Same | ReplayVerdict::Purged(_) => {}
            ReplayVerdict::Diverged(divergence) => {
                let error = SessionError::Diverged { id: id.short(), divergence };
                return Err(session::Error::Session(error).into());
            }
            ReplayVerdict::Corrupt(reason) => {
                let what = format!("session {}", id.short());
                return Err(agentic_store::Error::corrupt(what, reason).into());
            }
        }
        let proof = session::prove(space, &id)?;
        let rebuilt = match self.rebuild {
            false => None,
            true => {
                let folder =
                    std::env::temp_dir().join(format!("agentic-rebuild-{}", std::process::id()));
                let made = session::rebuild(space, &id, &folder);
                // What was made for the comparison alone goes with it.
                let _ = std::fs::remove_dir_all(&folder);
                Some(made?.iter().map(ToString::to_string).collect())
            }
        };
        Ok(Reply::plain(VerifyView {
            session: id.to_string(),
            records: summary.n_records,
            chain: summary.chain.to_string(),
            compared: ComparedView::from(&proof),
            uncompared: proof.uncompared,
            rebuilt,
        }))
    }
}
