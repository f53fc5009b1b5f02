//! Holds and decisions as JSON.

use std::collections::BTreeMap;

use agentic_model::{AgentName, Instant, Oid, json};
use agentic_replay::{Coverage, HoldReason, SessionId};
use agentic_session::decide::{Decision, first_voices, n_agreeing};
use agentic_session::hold::PendingHold;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::view::PeerReplyView;
use crate::view::question::{QuestionView, meanings};

/// One open hold, as a server of durable runs lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServedHoldView {
    /// What `agentic decide` takes in the repository that has the run.
    pub request: String,
    /// The session.
    pub session: String,
    /// The agent.
    pub agent: String,
    /// The key of the run.
    pub key: String,
    /// The id of the space that has the run.
    pub space: String,
    /// Where in the program.
    pub path: String,
    /// The beginning of the question, or what sort of request it is.
    pub question: String,
}

/// One open hold.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PendingView {
    /// What `agentic decide` takes.
    pub request: String,
    /// The session.
    pub session: String,
    /// The agent.
    pub agent: String,
    /// The sessions that wait for the one that asks, from the outermost on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingView>,
    /// Where in the program.
    pub path: String,
    /// What sort of request.
    pub kind: String,
    /// `asked`, `not-allowed` or `in-doubt`.
    pub reason: String,
    /// What is wrong with what it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The data of the request.
    pub payload: Json,
    /// The JSON Schema of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Json>,
    /// The actions that are offered.
    pub actions: Vec<String>,
    /// Who may decide; anyone, if empty.
    pub assignees: Vec<String>,
    /// The role that everybody who decides must have besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The texts that a response may be; anything, if absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// How often it went on to other people, because nobody decided in time.
    #[serde(skip_serializing_if = "is_zero")]
    pub escalated: usize,
    /// What `approve --scope rest-of-session` would permit besides, where it can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest_of_session: Option<String>,
    /// What each action would do.
    pub means: BTreeMap<String, String>,
    /// The value when nobody decides in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_expiry: Option<Json>,
    /// When it was asked.
    pub asked_at: String,
    /// Until when it may be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Whether it is too late.
    pub overdue: bool,
    /// How long it has been waiting, in milliseconds.
    pub age_ms: i64,
    /// The hash of the request, for `--expect`.
    pub request_hash: String,
    /// The votes, where several people must approve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub votes: Option<VotesView>,
    /// Who has answered what so far, oldest first, where several people must agree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub voted: Vec<VoteView>,
    /// Commits that say they decide it and do not count: `agentic decide --accept`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unverified: Vec<UnverifiedView>,
    /// What peers decided of it, or what we did of a hold of theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<PeerReplyView>,
}

/// A session that waits for another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitingView {
    /// The session.
    pub session: String,
    /// Its agent.
    pub agent: String,
}

/// A commit that says it decides a hold and does not count.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnverifiedView {
    /// The commit.
    pub commit: String,
    /// What it says is decided.
    pub action: String,
    /// Who it says decided.
    pub principal: String,
}

/// The votes of a hold.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VotesView {
    /// How many different people must give the same answer.
    pub need: usize,
    /// How many gave the answer that most of them gave, rejections apart.
    pub have: usize,
}

/// A vote.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VoteView {
    /// Its commit.
    pub commit: String,
    /// What this person answered.
    pub action: String,
    /// Who.
    pub principal: String,
}

/// A hold, open or decided.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HoldFateView {
    /// It is open.
    Open(Box<QuestionView>),
    /// It is closed.
    Decided(ClosedHoldView),
}

/// A hold that is closed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClosedHoldView {
    /// The request.
    pub request: String,
    /// The session.
    pub session: String,
    /// What was decided.
    pub action: String,
    /// Who decided.
    pub principal: String,
    /// The commit, if one decided it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Why, in the words of who decided.
    pub reason: String,
    /// What peers decided of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<PeerReplyView>,
}

/// The answer of `agentic decide`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DecideView {
    /// The request.
    pub request: String,
    /// What was decided.
    pub action: String,
    /// The commit.
    pub commit: String,
    /// The agent.
    pub agent: String,
    /// Who decided.
    pub principal: String,
    /// How the session stands now.
    pub state: String,
    /// The session.
    pub session: String,
    /// What goes on with whoever asked, where that was put down meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// A question that was put before people.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AskedView {
    /// What `agentic decide` takes.
    pub request: String,
    /// The session that asks.
    pub session: String,
    /// The agent.
    pub agent: String,
    /// How the session stands: `held` until somebody has answered, then `done`.
    pub state: String,
    /// Where it is answered in a browser, while the page is served.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The answer: `action`, `value` and `principal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Json>,
}

/// An open hold as a form of another program.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HoldFormView {
    /// The request.
    pub request: String,
    /// The agent that asks.
    pub agent: String,
    /// The text that the person is shown.
    pub message: String,
    /// The JSON Schema of what is filled in: `action`, `value` and `reason`.
    pub fields: Json,
    /// What comes back with the answer, sealed.
    pub state: String,
}

/// What became of one answer of a client.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnsweredView {
    /// The request.
    pub request: String,
    /// What was decided; `cancel` when nothing was.
    pub action: String,
    /// The commit, if something was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The agent.
    pub agent: String,
    /// Who answered.
    pub principal: String,
    /// How the session stands now.
    pub state: String,
    /// The session.
    pub session: String,
}

/// Lists who has answered what: everybody counts once, by their first answer.
fn voted(votes: &[(Oid, Decision)]) -> Vec<VoteView> {
    let view = |(commit, vote): &(Oid, Decision)| VoteView {
        commit: commit.to_string(),
        action: vote.action.name().to_owned(),
        principal: vote.principal.clone(),
    };
    first_voices(votes).map(view).collect()
}

impl UnverifiedView {
    fn new((commit, decision): &(Oid, Decision)) -> UnverifiedView {
        UnverifiedView {
            commit: commit.to_string(),
            action: decision.action.name().to_owned(),
            principal: decision.principal.clone(),
        }
    }
}

impl PendingView {
    /// Shows a hold as it stands now.
    pub fn new(pending: &PendingHold, now: Instant) -> PendingView {
        let (hold, policy) = (&pending.hold, &pending.policy);
        let waiting = |(session, agent): &(SessionId, AgentName)| WaitingView {
            session: session.to_string(),
            agent: agent.to_string(),
        };
        let actions: Vec<String> =
            policy.actions.iter().map(|action| action.name().to_owned()).collect();
        let voted = voted(&pending.votes);
        let votes = VotesView { need: policy.need, have: n_agreeing(&pending.votes) };
        PendingView {
            request: hold.session.short_request(&hold.id),
            session: hold.session.to_string(),
            agent: hold.agent.to_string(),
            waiting: pending.waiting.iter().map(waiting).collect(),
            path: hold.ask.path.to_string(),
            kind: hold.ask.kind.clone(),
            reason: hold.reason.name().to_owned(),
            warning: pending.warning.clone(),
            question: pending.question().map(str::to_owned),
            payload: json::to_json(&hold.payload),
            schema: policy.schema.as_ref().map(json::to_json),
            actions: actions.clone(),
            assignees: policy.assignees.clone(),
            role: policy.role.clone(),
            choices: policy.choices.clone(),
            escalated: policy.level,
            rest_of_session: covered(pending),
            means: meanings(hold.reason.name(), &hold.ask.kind, &actions),
            on_expiry: policy.on_expiry.as_ref().map(json::to_json),
            asked_at: hold.asked_at.to_string(),
            deadline: policy.deadline.map(|deadline| deadline.to_string()),
            overdue: pending.overdue,
            age_ms: pending.age_millis(now),
            request_hash: hold.ask.hash.to_string(),
            votes: (policy.need > 1).then_some(votes),
            voted,
            unverified: pending.unverified.iter().map(UnverifiedView::new).collect(),
            replies: Vec::new(),
        }
    }
}

/// Says what an approval for the rest of the session would cover, if the hold asks for a permission.
fn covered(pending: &PendingHold) -> Option<String> {
    let hold = &pending.hold;
    let is_permission = hold.reason == HoldReason::NotAllowed;
    is_permission.then(|| Coverage::of(&hold.ask.kind, &hold.payload).words())
}

#[allow(clippy::trivially_copy_pass_by_ref)] // This is how the serializer asks.
fn is_zero(count: &usize) -> bool {
    *count == 0
}
