//! Whether a trial happened: the ids of sessions are hashes of their agent, flow, input and key, so that
//! what was fixed says which sessions may have run it.

use agentic_model::guidance::ErrorClass;
use agentic_model::kind::TRIAL;
use agentic_model::{AgentName, Cid, Object, Value, canonical};
use agentic_replay::{SessionId, SessionState};
use agentic_statistics::trial::TrialVerdict;

use super::score_proof::ProgramScores;
use super::terms::TrialTerms;
use super::{TRIAL_AGENT, TRIAL_FIXED, TRIAL_KEY};
use crate::SessionSpace;
use crate::hosted::host_of;

/// A trial that a session here bears out.
#[derive(Debug, Clone)]
pub struct ProvenTrial {
    /// The session.
    pub session: SessionId,
    /// The behaviours, the one that was there first.
    pub arms: Vec<String>,
    /// The behaviour that scored the runs.
    pub scorer: Option<String>,
}

/// Why a trial says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrialDoubt {
    /// It lacks what makes a trial.
    #[error("it does not say what was fixed before its first run")]
    Malformed,
    /// It is of another flow, or of no session here.
    #[error("no session here ran it by the flow of trials that ships with this program")]
    NotShipped,
    /// Its session came to something else.
    #[error("its session came to something else")]
    Otherwise,
    /// A score of it is not what a session here gave.
    #[error("no session gave one of its scores")]
    UnprovenScore,
    /// It is of other versions.
    #[error("it tried another version")]
    OtherVersion,
    /// It is against something else than what is in force.
    #[error("it was against another version than the one that is in force")]
    OtherBaseline,
    /// By all trials that are known now it does not say that the version is better.
    #[error("it does not show that the version is better: by the trials that are known now it says `{}`", .0.word())]
    NotBetter(TrialVerdict),
}

impl TrialDoubt {
    /// Returns what kind of refusal it is: whoever made a trial up may not adopt by it.
    pub fn class(self) -> ErrorClass {
        match self {
            TrialDoubt::Malformed
            | TrialDoubt::NotShipped
            | TrialDoubt::Otherwise
            | TrialDoubt::UnprovenScore => ErrorClass::NotAllowed,
            TrialDoubt::OtherVersion | TrialDoubt::OtherBaseline | TrialDoubt::NotBetter(_) => {
                ErrorClass::Refused
            }
        }
    }
}

impl ProvenTrial {
    /// Checks what an object says against the records of the session that it names.
    ///
    /// # Errors
    /// Fails with what is wrong.
    pub fn of(space: &SessionSpace, trial: &Object) -> Result<ProvenTrial, TrialDoubt> {
        let field = |name: &str| trial.map().get(name);
        let fixed = field("input").filter(|_| trial.kind().as_str() == TRIAL);
        let fixed = fixed.ok_or(TrialDoubt::Malformed)?;
        let text = |name: &str| fixed.get(name).and_then(Value::as_text);
        let agent = text("agent").filter(|agent| agent.starts_with(TRIAL_AGENT));
        let agent = agent.and_then(|agent| AgentName::parse(agent).ok());
        let agent = agent.ok_or(TrialDoubt::Malformed)?;
        let named = field("session").and_then(Value::as_text).and_then(SessionId::parse);
        let session = named.filter(|id| shipped_sessions(space, &agent, fixed).contains(id));
        let session = session.ok_or(TrialDoubt::NotShipped)?;
        let summary = space.session(&session).map_err(|_| TrialDoubt::NotShipped)?;
        // What it goes on with after an upgrade counts, too.
        if !space.trial_flows().contains(&summary.flow) {
            return Err(TrialDoubt::NotShipped);
        }
        let result = summary.result.as_ref().filter(|_| summary.state == SessionState::Done);
        let given = |name: &str| result.and_then(|result| result.get(name));
        let is_same = |name: &&str| given(name).is_some() && given(name) == field(name);
        let judged = result.and_then(|it| TrialTerms::of_fixed(Some(fixed)).judge_result(it));
        let verdict = judged.map_or(TrialVerdict::Inconclusive, |judged| judged.verdict);
        let is_judged_so = field("verdict").and_then(Value::as_text) == Some(verdict.word());
        if !["blocks", "out_of_budget"].iter().all(is_same) || !is_judged_so {
            return Err(TrialDoubt::Otherwise);
        }
        let scorer = text("scorer");
        // What people decided the records of the trial itself say.
        let program = scorer.filter(|scorer| !scorer.contains(':'));
        if let (Some(scorer), Some(result)) = (program, result)
            && !(ProgramScores { result, scorer }).are_given(space)
        {
            return Err(TrialDoubt::UnprovenScore);
        }
        let arms = fixed.get("arms").and_then(Value::as_list).unwrap_or_default();
        let arms = arms.iter().filter_map(Value::as_text).map(str::to_owned).collect();
        Ok(ProvenTrial { session, arms, scorer: scorer.map(str::to_owned) })
    }
}

/// Says whether the session of a trial waits for the answer of a request, which somebody performs.
pub fn is_asked_in_trial(space: &SessionSpace, briefing: &Object, request: &str) -> bool {
    let Some(fixed) = briefing.map().get(TRIAL_FIXED) else { return false };
    let agent = fixed.get("agent").and_then(Value::as_text);
    let Some(agent) = agent.and_then(|agent| AgentName::parse(agent).ok()) else { return false };
    let is_open = |id: &SessionId| {
        // What a server drives is known here only as far as it is sealed.
        if host_of(space, id).is_some() {
            return true;
        }
        let Ok(summary) = space.session(id) else { return false };
        let mut open = summary.asked.iter().filter(|asked| asked.answer.is_none());
        space.trial_flows().contains(&summary.flow)
            && open.any(|asked| asked.id.to_string() == request)
    };
    shipped_sessions(space, &agent, fixed).iter().any(is_open)
}

/// Lists the ids that the session of a trial has, by each flow that ships or has shipped.
fn shipped_sessions(space: &SessionSpace, agent: &AgentName, fixed: &Value) -> Vec<SessionId> {
    let Ok(bytes) = canonical::encode(fixed) else { return Vec::new() };
    let input = Cid::of(&bytes);
    let derive = |flow: &Cid| SessionId::derive(agent, flow, &input, TRIAL_KEY);
    space.trial_flows().iter().map(derive).collect()
}
