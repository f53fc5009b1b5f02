//! Answering a hold. The answer is a commit on the agent's branch.

mod elsewhere;
mod recorded;

use agentic_model::{Instant, Value};
use agentic_session::Error;
use agentic_session::decide::{
    Action, ApprovalScope, COMMAND_LINE, Decision, DecisionDraft, ExpiryFollowing, ShownQuestion,
    answer,
};
use agentic_session::hold::PendingHold;
use agentic_session::hold::name::{HoldName, NamedRequest};
use agentic_store::error::GitError;
use schemars::JsonSchema;
use serde::Deserialize;

use self::recorded::{DecisionFollowing, HoldLanguage};
pub use self::recorded::{FollowedDecision, RecordedDecision};
use crate::redaction::CallerRedactor;
use crate::verb::peer_reply::{AcceptedReply, peer_hold};
use crate::verb::{Reply, Verb, value};
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
    /// For whom a hold of a peer is decided, such as `user:ada`, by a capability that they gave.
    #[serde(default)]
    pub for_person: Option<String>,
    /// That capability.
    #[serde(default)]
    pub grant: Option<String>,
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

/// What a decision is drafted from, besides what was said.
struct DraftGround<'a> {
    named: &'a NamedRequest,
    /// The decision of a peer that it makes its own.
    reply: Option<AcceptedReply>,
    principal: String,
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
        let named = match name.find(space) {
            Ok(NamedRequest::Decided(earlier)) if !self.says_which() => {
                return Err(earlier.refusal(space).into());
            }
            Ok(named @ (NamedRequest::Open(_) | NamedRequest::Decided(_))) => named,
            Err(error) => match peer_hold(caller, &self.request)? {
                Some(hold) => return self.record_elsewhere(caller, &hold, principal),
                None => return Err(error.into()),
            },
        };
        if self.for_person.is_some() || self.grant.is_some() {
            return Err(Refusal::usage(
                "only a hold of a peer is decided for somebody else",
                "leave out `--for` and `--grant`",
            ));
        }
        let following = self.following();
        let request = self.request.clone();
        let mut redactor = CallerRedactor::new(caller)?;
        let reply = self.accepted_reply(caller, &named)?;
        if let Some(AcceptedReply::Done(done)) = reply {
            let notices = Notice::of(&done.written).into_iter().collect();
            return Ok(RecordedDecision::of(done, following, notices));
        }
        let ground = DraftGround { named: &named, reply, principal };
        let draft = self.draft(caller, ground, &mut redactor)?;
        let hold = held_request(&named);
        let is_for_later =
            following.then == AfterDecision::Leave && caller.is_driven_elsewhere(&hold.session);
        if !is_for_later && let Some((host, engines)) = caller.host_of(&hold.session)? {
            let done = engines.decide(&host, space, hold, &draft)?;
            return Ok(RecordedDecision {
                action: done.action,
                commit: done.commit,
                notices: redactor.notices(),
                request: hold.session.short_request(&hold.request),
                principal: done.principal,
                session: hold.session,
                following,
                elsewhere: None,
            });
        }
        let done = answer(space, named, &draft, following.then.after_expiry());
        let done = done.map_err(|error| unsigned(caller, &request, error))?;
        let notices = Notice::of(&done.written).into_iter().chain(redactor.notices()).collect();
        Ok(RecordedDecision::of(done, following, notices))
    }

    /// Tells whether the name says which question is meant, so that an answer may be given again. The
    /// name of an agent does not; a choice is one of the run that offers it.
    fn says_which(&self) -> bool {
        let is_choice = matches!(self.answer, HoldAnswer::Choice(_));
        is_choice || self.node.is_some() || self.request.contains('.')
    }

    fn following(&self) -> DecisionFollowing {
        DecisionFollowing { then: self.then, spoken_as: self.answer.language() }
    }

    /// Drafts it without secrets: those of the reason are covered up, a value with one is refused.
    fn draft(
        self,
        caller: &Caller<'_>,
        ground: DraftGround<'_>,
        redactor: &mut CallerRedactor,
    ) -> Result<DecisionDraft, Refusal> {
        redactor.refuse_text("the name of who decides", self.by.as_deref().unwrap_or_default())?;
        let mut draft = self.draft_as_said(caller, ground)?;
        draft.rationale = redactor.text("the reason", draft.rationale);
        draft.value.iter().try_for_each(|value| redactor.refuse("the value", value))?;
        Ok(draft)
    }

    fn draft_as_said(
        self,
        caller: &Caller<'_>,
        ground: DraftGround<'_>,
    ) -> Result<DecisionDraft, Refusal> {
        let DraftGround { named, reply, principal } = ground;
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
                let Decision { action, value, principal, rationale, .. } = match reply {
                    Some(AcceptedReply::Own(decision)) => decision,
                    Some(AcceptedReply::Done(_)) | None => {
                        named.proposed(caller.space, commit)?.clone()
                    }
                };
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
    pub(super) fn check(self, pending: &PendingHold) -> Result<ShownQuestion, Refusal> {
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
