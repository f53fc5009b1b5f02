//! Answering a hold. The answer is a commit on the agent's branch.

use agentic_model::{Instant, Value};
use agentic_replay::SessionId;
use agentic_replay::engine::{DurableEngine, RunId};
use agentic_session::decide::{
    Action, ApprovalScope, COMMAND_LINE, Decision, DecisionDraft, ExpiryFollowing, ShownQuestion,
    answer,
};
use agentic_session::engine::EmbeddedEngine;
use agentic_session::hold::PendingHold;
use agentic_session::hold::name::{HoldName, NamedRequest};
use agentic_session::{Error, go_on};
use agentic_store::error::GitError;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::redaction::{CallerRedactor, refuse_secrets};
use crate::verb::{Reply, Verb, VerbCompletion, value};
use crate::view::question::{RENDERER, question, text_hash};
use crate::view::{DecideView, PendingView};
use crate::{Caller, HeldRequest, Notice, Refusal};

/// Answer a hold. Only a person may do that.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// A request as it is listed, an agent with one open hold, or the key of a run.
    pub request: String,
    /// The node of a pipeline that asks, where the run has several holds.
    #[serde(default)]
    pub node: Option<String>,
    /// The answer.
    pub answer: HoldAnswer,
    /// Why.
    #[serde(default)]
    pub why: String,
    /// Refuse unless the request has this hash.
    #[serde(default)]
    pub expect: Option<String>,
    /// Who decides, such as `user:ada`; else whom git knows here.
    #[serde(default)]
    pub by: Option<String>,
    /// What the person saw before deciding.
    #[serde(default)]
    pub seen: Option<SeenQuestion>,
    /// Who goes on with the session.
    #[serde(default)]
    pub then: AfterDecision,
}

/// An answer to a hold.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HoldAnswer {
    /// An action, with its value.
    Act {
        /// `approve`, `reject`, `edit` or `respond`.
        #[serde(deserialize_with = "value::read_action")]
        #[schemars(with = "String")]
        action: Action,
        /// The value, where the action takes one.
        #[serde(default, deserialize_with = "value::read_given")]
        #[schemars(with = "serde_json::Value")]
        value: Option<Value>,
        /// For how long an approval counts: `once` or `rest-of-session`.
        #[serde(default, deserialize_with = "value::read_scope")]
        #[schemars(with = "String")]
        scope: ApprovalScope,
    },
    /// One of the choices that are offered: `accept`, `reject` or another.
    Choice(String),
    /// An unverified decision becomes one's own.
    Accept {
        /// Its commit.
        commit: String,
        /// For how long an approval counts: `once` or `rest-of-session`.
        #[serde(default, deserialize_with = "value::read_scope")]
        #[schemars(with = "String")]
        scope: ApprovalScope,
    },
}

/// The text that a person saw, as the verb that showed it named it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeenQuestion {
    /// The hash of the text. Another text that would be shown now is refused.
    pub shown: String,
    /// When it was shown.
    #[serde(deserialize_with = "value::read_instant")]
    #[schemars(with = "String")]
    pub at: Instant,
}

/// Who goes on with a session after a decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterDecision {
    /// Whoever decides, if nobody drives it.
    #[default]
    GoOn,
    /// Somebody elsewhere.
    Leave,
}

/// A decision that is durable. The session has not gone on yet.
#[derive(Debug)]
#[must_use = "the session waits for it"]
pub struct RecordedDecision {
    /// What was decided.
    pub action: String,
    /// The commit.
    pub commit: String,
    /// What did not keep it from being recorded.
    pub notices: Vec<Notice>,
    request: String,
    principal: String,
    session: SessionId,
    then: AfterDecision,
    spoken_as: HoldLanguage,
}

/// What became of the session after a decision.
#[derive(Debug)]
pub struct FollowedDecision {
    /// What is to be told of it.
    pub notices: Vec<Notice>,
    /// Whether it went on, as far as it could.
    pub completion: VerbCompletion,
}

/// How a hold was spoken of: the state of its session is told in the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoldLanguage {
    Session,
    Run,
}

impl Verb for Decide {
    type Answer = DecideView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<DecideView>, Refusal> {
        let mut recorded = self.record(caller)?;
        let mut notices = std::mem::take(&mut recorded.notices);
        let followed = recorded.follow(caller);
        notices.extend(followed.notices);
        let answer = recorded.view(caller)?;
        Ok(Reply { answer, notices, completion: followed.completion })
    }
}

impl Decide {
    /// Records the decision, for a surface that tells the person before the session goes on.
    ///
    /// # Errors
    /// Fails when an agent asks, and when the hold is decided already, overdue, not this person's to
    /// decide or not what the person saw. The same answer of the same person again succeeds.
    pub fn record(self, caller: &Caller<'_>) -> Result<RecordedDecision, Refusal> {
        caller.require_person("decide")?;
        let space = caller.space;
        let principal = self.by.clone().map_or_else(|| caller.principal(), Ok)?;
        let name = HoldName { request: &self.request, node: self.node.as_deref() };
        let named = match name.find(space)? {
            NamedRequest::Decided(earlier) if !self.says_which() => {
                return Err(earlier.refusal(space).into());
            }
            named @ (NamedRequest::Open(_) | NamedRequest::Decided(_)) => named,
        };
        let (then, spoken_as) = (self.then, self.answer.language());
        let request = self.request.clone();
        let mut redactor = CallerRedactor::new(caller)?;
        let mut draft = self.draft(caller, &named, principal)?;
        draft.rationale = redactor.text("the reason", draft.rationale);
        draft.value.iter().try_for_each(|value| refuse_secrets(caller, "the value", value))?;
        let hold = held_request(&named);
        if let Some((host, engines)) = caller.host_of(&hold.session)? {
            let done = engines.decide(&host, space, hold, &draft)?;
            return Ok(RecordedDecision {
                action: done.action,
                commit: done.commit,
                notices: redactor.notices(),
                request: hold.session.short_request(&hold.request),
                principal: done.principal,
                session: hold.session,
                then,
                spoken_as,
            });
        }
        let done = answer(space, named, &draft, then.after_expiry());
        let done = done.map_err(|error| unsigned(caller, &request, error))?;
        Ok(RecordedDecision {
            action: done.decision.action.name().to_owned(),
            commit: done.commit.to_string(),
            notices: Notice::of(&done.written).into_iter().chain(redactor.notices()).collect(),
            request: done.session.short_request(&done.decision.request),
            principal: done.decision.principal,
            session: done.session,
            then,
            spoken_as,
        })
    }

    /// Tells whether the name says which question is meant, so that an answer may be given again. The
    /// name of an agent does not; a choice is one of the run that offers it.
    fn says_which(&self) -> bool {
        let is_choice = matches!(self.answer, HoldAnswer::Choice(_));
        is_choice || self.node.is_some() || self.request.contains('.')
    }

    fn draft(
        self,
        caller: &Caller<'_>,
        named: &NamedRequest,
        principal: String,
    ) -> Result<DecisionDraft, Refusal> {
        let open = match named {
            NamedRequest::Open(pending) => Some(&**pending),
            NamedRequest::Decided(_) => None,
        };
        let shown = match (self.seen, open) {
            // Whoever has answered already is told so, or answers the same once more: what is shown now
            // names that answer, and is another text.
            (Some(_), Some(pending)) if has_answered(pending, &principal) => None,
            (Some(seen), Some(pending)) => Some(seen.check(pending)?),
            (Some(_), None) | (None, _) => None,
        };
        let proven = caller.surroundings.person.as_ref().map(|person| person.authn.clone());
        let authn = caller.authn.clone().or(proven);
        let (expect, client) = (self.expect, caller.client);
        let draft = |action, value, scope| DecisionDraft {
            action,
            value,
            scope,
            rationale: self.why,
            expect,
            principal,
            client,
            authn,
            shown,
            accepts: None,
        };
        match self.answer {
            HoldAnswer::Act { action, value, scope } => Ok(draft(action, value, scope)),
            HoldAnswer::Choice(choice) => {
                let (action, value) = Action::of_choice(&choice);
                Ok(draft(action, value, ApprovalScope::Once))
            }
            HoldAnswer::Accept { commit, scope } => {
                let commit = caller.space.repository().resolve_commit(&commit)?;
                let Decision { action, value, principal, rationale, .. } =
                    named.proposed(caller.space, commit)?.clone();
                let mut draft = draft(action, value, scope);
                if draft.rationale.is_empty() {
                    draft.rationale = rationale;
                }
                Ok(DecisionDraft { accepts: Some((commit, principal)), ..draft })
            }
        }
    }
}

/// Returns the hold that a name leads to.
fn held_request(named: &NamedRequest) -> HeldRequest {
    let (session, request) = match named {
        NamedRequest::Open(pending) => (pending.hold.session, pending.hold.id),
        NamedRequest::Decided(earlier) => (earlier.session, earlier.id),
    };
    HeldRequest { session, request }
}

/// Says what to do where a decision could not be signed: elsewhere than at a terminal nobody can be asked
/// for a passphrase.
fn unsigned(caller: &Caller<'_>, request: &str, error: Error) -> Refusal {
    let is_unsigned = matches!(
        &error,
        Error::Space(agentic_space::Error::Store(agentic_store::Error::Git(
            GitError::NotSigned { .. }
        )))
    );
    if !is_unsigned || caller.client == COMMAND_LINE {
        return Refusal::from(error);
    }
    let hint = format!("decide at a terminal, where you can be asked: `agentic decide {request}`");
    Refusal::conflict(&error.to_string(), &hint)
}

/// Tells whether a hold is settled, or this person has a vote in it.
fn has_answered(pending: &PendingHold, principal: &str) -> bool {
    let is_settled = pending.policy.settle(&pending.votes).is_some();
    is_settled || pending.votes.iter().any(|(_, vote)| vote.principal == principal)
}

impl AfterDecision {
    fn after_expiry(self) -> ExpiryFollowing {
        match self {
            AfterDecision::GoOn => ExpiryFollowing::GoOn,
            AfterDecision::Leave => ExpiryFollowing::Leave,
        }
    }
}

impl HoldAnswer {
    fn language(&self) -> HoldLanguage {
        match self {
            HoldAnswer::Act { .. } | HoldAnswer::Accept { .. } => HoldLanguage::Session,
            HoldAnswer::Choice(_) => HoldLanguage::Run,
        }
    }
}

impl SeenQuestion {
    /// Checks that it is what would be shown now.
    fn check(self, pending: &PendingHold) -> Result<ShownQuestion, Refusal> {
        let text = question(&PendingView::new(pending, pending.hold.asked_at));
        if text_hash(&text) != self.shown {
            let request = pending.hold.session.short_request(&pending.hold.id);
            return Err(Refusal::conflict(
                &format!("what {request} asks is not what was shown any more"),
                &format!("look at it again: `agentic pending {request}`"),
            ));
        }
        Ok(ShownQuestion { hash: self.shown, renderer: RENDERER.to_owned(), at: self.at })
    }
}

impl RecordedDecision {
    /// Returns the session that asked.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Lets the session go on, unless it was to be left.
    pub fn follow(&self, caller: &Caller<'_>) -> FollowedDecision {
        if let Ok(Some((host, engines))) = caller.host_of(&self.session) {
            let run = RunId::new(self.session.to_string());
            let engine = engines.connect(&host, caller.space, caller.client);
            let waits = self.then == AfterDecision::GoOn;
            // The engine drives it by itself: here it is only waited for.
            let followed = engine.and_then(|engine| match waits {
                true => Ok(engine.go_on(&run).and_then(|()| engine.status(&run)).map(drop)?),
                false => Ok(()),
            });
            let failed = followed.err().map(|why| Notice::NotFollowed { why: why.sentence() });
            let notices = failed.into_iter().collect();
            return FollowedDecision { notices, completion: VerbCompletion::Whole };
        }
        let outcome = match self.then {
            AfterDecision::GoOn => go_on(caller.space, &self.session),
            AfterDecision::Leave => Ok(()),
        };
        let mut notices = Notice::mended(caller.space);
        let completion = match outcome {
            Ok(()) => VerbCompletion::Whole,
            // The answer could not be recorded, or what comes after: whoever opens the session next
            // does.
            Err(Error::Space(agentic_space::Error::Store(fault))) if fault.is_fault() => {
                VerbCompletion::Short(Refusal::refused(
                    &format!("the decision is committed; the session cannot go on: {fault}"),
                    "when that is mended, `agentic session resume` or any other command goes on with it",
                ))
            }
            Err(error) => {
                notices.push(Notice::NotFollowed { why: error.to_string() });
                VerbCompletion::Whole
            }
        };
        FollowedDecision { notices, completion }
    }

    /// Returns it as data, with how the session stands now.
    ///
    /// # Errors
    /// Fails when the session cannot be read.
    pub fn view(self, caller: &Caller<'_>) -> Result<DecideView, Refusal> {
        let (agent, state) = match self.spoken_as {
            HoldLanguage::Session => {
                let summary = caller.space.session(&self.session)?;
                (summary.agent, summary.state)
            }
            HoldLanguage::Run => {
                let run = RunId::new(self.session.to_string());
                let status = EmbeddedEngine::new(caller.space, caller.client).status(&run)?;
                (status.agent, status.state)
            }
        };
        let next = self.next(caller);
        Ok(DecideView {
            request: self.request,
            action: self.action,
            commit: self.commit,
            agent: agent.to_string(),
            principal: self.principal,
            state: state.as_str().to_owned(),
            session: self.session.to_string(),
            next,
        })
    }

    /// Returns the lines that go on with whoever asked, where that was put down meanwhile: a
    /// conversation of a coding agent, say. Nothing is started here.
    pub fn next(&self, caller: &Caller<'_>) -> Vec<String> {
        let Ok(summary) = caller.space.session(&self.session) else { return Vec::new() };
        let asked = summary.asked.iter().filter_map(|asked| asked.payload.get("payload"));
        let lines = asked.filter_map(|payload| payload.get("resume").and_then(Value::as_text));
        lines.filter(|line| line.starts_with(RESUMES)).map(str::to_owned).collect()
    }
}

/// What a line begins with that goes on with a conversation.
const RESUMES: &str = "AGENTIC_HOLD=defer ";
