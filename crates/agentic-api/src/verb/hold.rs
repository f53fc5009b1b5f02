//! One hold, open or decided, and who may decide it.

use agentic_session::decide::is_assigned;
use agentic_session::hold::earlier::EarlierAnswer;
use agentic_session::hold::name::{HoldName, NamedRequest};
use agentic_space::signing::SigningChoice;
use agentic_store::Error as StoreError;
use agentic_store::error::GitError;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::peer_reply::ShownReplies;
use crate::verb::{Reply, Verb};
use crate::view::{ClosedHoldView, DeciderView, HoldFateView, PendingView, QuestionView};
use crate::{Caller, Refusal};

/// Show one hold: as it is put before whoever decides or, once it is decided, by whom and how.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldFate {
    /// A request as it is listed, an agent with one open hold, or the key of a run.
    pub request: String,
}

impl Verb for HoldFate {
    type Answer = HoldFateView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<HoldFateView>, Refusal> {
        let name = HoldName { request: &self.request, node: None };
        let now = caller.space.now();
        Ok(Reply::plain(match name.find(caller.space)? {
            NamedRequest::Open(pending) => {
                if let Some(earlier) = EarlierAnswer::of_settled(&pending) {
                    return Ok(Reply::plain(HoldFateView::Decided(closed(caller, &earlier)?)));
                }
                let mut view = PendingView::new(&pending, now);
                ShownReplies::read(caller)?.add_to(&mut view);
                HoldFateView::Open(Box::new(QuestionView::new(view, now)))
            }
            NamedRequest::Decided(earlier) => HoldFateView::Decided(closed(caller, &earlier)?),
        }))
    }
}

fn closed(caller: &Caller<'_>, earlier: &EarlierAnswer) -> Result<ClosedHoldView, Refusal> {
    let (principal, action) = earlier.winner();
    let decision = earlier.decision.as_ref();
    let at = decision.and_then(|decision| decision.record.get("decided_at")?.as_text());
    let request = earlier.session.short_request(&earlier.id);
    Ok(ClosedHoldView {
        replies: ShownReplies::to_decided(caller, &request)?,
        request,
        session: earlier.session.to_string(),
        action: action.to_owned(),
        principal,
        commit: earlier.commit.map(|commit| commit.to_string()),
        at: at.map(str::to_owned),
        reason: decision.map(|decision| decision.rationale.clone()).unwrap_or_default(),
    })
}

/// Say who would decide: the person whom git knows here, if they may decide this hold.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowDecider {
    /// A request as it is listed, an agent with one open hold, or the key of a run.
    pub request: String,
}

impl Verb for ShowDecider {
    type Answer = Option<DeciderView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Option<DeciderView>>, Refusal> {
        let name = HoldName { request: &self.request, node: None };
        let found = name.find(caller.space)?;
        let Some(decider) = known_decider(caller)? else { return Ok(Reply::plain(None)) };
        let is_theirs = match found {
            NamedRequest::Open(pending) => {
                is_assigned(caller.space, &pending.policy, &decider.principal)?
            }
            NamedRequest::Decided(_) => true,
        };
        Ok(Reply::plain(is_theirs.then_some(decider)))
    }
}

/// Says why nobody decides anything here, if so: git does not know who that would be. Whoever only looks
/// need not be known.
pub fn why_nobody_decides(caller: &Caller<'_>) -> Option<Refusal> {
    match caller.space.repository().committer() {
        Err(error @ StoreError::Git(GitError::NoIdentity)) => Some(Refusal::of(&error)),
        Ok(_) | Err(_) => None,
    }
}

/// Says who decides here, and what signs their decisions; nobody where git does not know who that is.
pub(super) fn known_decider(caller: &Caller<'_>) -> Result<Option<DeciderView>, Refusal> {
    match why_nobody_decides(caller) {
        Some(_) => Ok(None),
        None => decider(caller).map(Some),
    }
}

fn decider(caller: &Caller<'_>) -> Result<DeciderView, Refusal> {
    let (space, principal) = (caller.space, caller.principal()?);
    let key = match SigningChoice::of_people(space)? {
        // One that cannot be had is told when it is to sign.
        SigningChoice::Signed => space.repository().signer().ok().map(|signer| signer.name()),
        SigningChoice::Plain => None,
    };
    let login = caller.surroundings.person.as_ref().map(|person| person.authn.clone());
    Ok(DeciderView { principal, address: space.repository().committer()?.email, key, login })
}
